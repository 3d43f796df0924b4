"""Archives by rule, whole and small, to damage."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from txop.archive.layout import Layout
from txop.archive.plan_record import plan_record


@pytest.fixture(scope="session")
def whole(sample: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign of three arms, one test and eight blocks, of which one repeats a void run; its journal has
    the fingerprints of the plan."""
    text = sample.plan_of_tx(7).replace("blocks = 7", 'blocks = 7\nprimary = ["tx.throughput_mbit_s"]')
    root: Path = sample.make(tmp_path_factory.mktemp("whole") / "archive", plan_text=text)
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
