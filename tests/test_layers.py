"""What import-linter holds the packages to: an import upwards and a circle of two files fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINT = Path(sys.executable).with_name("lint-imports")


@pytest.fixture
def package(tmp_path):
    ignored = shutil.ignore_patterns("*.so", "bin", "__pycache__")
    shutil.copytree(ROOT / "python" / "txop", tmp_path / "txop", ignore=ignored)
    return tmp_path / "txop"


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [LINT, "--no-logo", "--no-cache", "--config", ROOT / "pyproject.toml"]
    environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_an_import_upwards_and_a_circle_are_named(package):
    with (package / "core" / "origin.py").open("a") as file:
        file.write("from txop.report import trend\n")
    with (package / "core" / "errors.py").open("a") as file:
        file.write("from txop.core import nearest\n")
    with (package / "core" / "nearest.py").open("a") as file:
        file.write("from txop.core import errors\n")
    ran = lint(package.parent)
    assert ran.returncode == 1
    assert "txop.core is not allowed to import txop.report" in ran.stdout, ran.stdout
    assert "Contracts: 0 kept, 2 broken." in ran.stdout, ran.stdout
    assert "txop.core.origin -> txop.report.trend" in ran.stdout, ran.stdout
