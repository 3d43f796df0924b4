"""The package as a Python user meets it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import txop


def test_version_is_that_of_the_distribution():
    assert txop.__version__ == version("txop")


def test_importing_txop_is_cheap():
    heavy = "{'polars', 'altair', 'numpy', 'typer', 'rich'}"
    code = f"import sys, txop; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_unknown_attributes_are_attribute_errors():
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = txop.no_such_thing


def test_the_native_stub_declares_exactly_what_the_module_has():
    import ast
    from pathlib import Path

    from txop import _native

    stub = ast.parse((Path(txop.__file__).parent / "_native.pyi").read_text(encoding="utf-8"))
    declared = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert declared == {name for name in dir(_native) if not name.startswith("__")}


def test_no_link_of_the_repository_dangles():
    from pathlib import Path

    root = Path(__file__).parents[1]
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("NOT CHECKED: this is not a git checkout, or git is missing")
    links = [root / name for name in listed.stdout.splitlines() if (root / name).is_symlink()]
    assert links
    assert [link for link in links if not link.exists()] == []


def test_the_version_to_cite_is_that_of_cargo_toml():
    import re
    from pathlib import Path

    root = Path(__file__).parents[1]
    workspace = (root / "Cargo.toml").read_text(encoding="utf-8").partition("[workspace.package]")[2]
    decided = re.search(r'^version = "(.*)"$', workspace, re.MULTILINE)
    cited = re.search(r"^version: (.*)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert decided is not None
    assert cited is not None
    assert cited.group(1) == decided.group(1)
