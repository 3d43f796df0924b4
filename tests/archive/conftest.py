"""Archives by rule, whole and small, to damage."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from txop.archive.layout import Layout
from txop.archive.plan_record import plan_record

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="session")
def sample() -> ModuleType:
    """The module that makes archives."""
    spec = importlib.util.spec_from_file_location("make_archive_sample", DATA / "make_archive_sample.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def whole(sample: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign of three arms, one test and eight blocks, of which one repeats a void run; its journal has
    the fingerprints of the plan."""
    text = sample.PLAN
    begin, end = text.index('[[test]]\nname = "rx"'), text.index("[design]")
    root: Path = sample.make(
        tmp_path_factory.mktemp("whole") / "archive",
        plan_text=text[:begin] + text[end:].replace("blocks = 8", 'blocks = 7\nprimary = ["tx.throughput_mbit_s"]'),
    )
    lines = (root / "journal.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    first["plan"] = plan_record(Layout(root))
    (root / "journal.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    return root


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> Path:
    """A copy of it, to damage."""
    return Path(shutil.copytree(whole, tmp_path / "archive"))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Run a command in this process: its exit code, and what it wrote to stderr."""
    from txop.cli import app

    def start(*arguments: object) -> tuple[int, str]:
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as leaving:
            app.main([str(argument) for argument in arguments])
        code = leaving.value.code
        assert isinstance(code, int)
        return code, capsys.readouterr().err

    return start
