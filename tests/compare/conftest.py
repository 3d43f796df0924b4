"""Archives to compare: the golden one, copies of it to change, and tiny ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from txop.archive.reader import Archive, read_archive
from txop.compare.archive import compare
from txop.compare.result import CompareResult

DATA = Path(__file__).parent.parent / "data"
GOLDEN = DATA / "archive-v1"

HOSTILE = "<script>alert(1)</script>| **b** %%x%% `c` \x1b[2J\u202e\n=cmd [[l]] ~~NOCACHE~~ </nowiki>"
"""Text that tries HTML, tables, markup of Markdown and DokuWiki, a terminal, a formula and a new line."""


@pytest.fixture(scope="session")
def golden() -> Archive:
    return read_archive(GOLDEN)


@pytest.fixture(scope="session")
def golden_result(golden: Archive) -> CompareResult:
    return compare(golden).model_copy(update={"txop": "0.1.0"})


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the golden archive, to damage."""
    return Path(shutil.copytree(GOLDEN, tmp_path / "archive"))


@pytest.fixture
def change() -> Callable[[Path, str, Callable[[dict[str, Any]], None]], None]:
    """Change the run.json of a run in an archive."""

    def apply(root: Path, run: str, how: Callable[[dict[str, Any]], None]) -> None:
        path = root / "runs" / run / "run.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        how(document)
        path.write_text(json.dumps(document), encoding="utf-8")

    return apply


@pytest.fixture
def poisoned(sample: ModuleType, tmp_path: Path, change: Any) -> Path:
    """An archive in which every text from outside is hostile."""
    text = json.dumps(HOSTILE)
    plan = sample.PLAN.replace("blocks = 8", "blocks = 6")
    for key in ("title", "description", "hardware", "ap", "distance", "remarks", "link", "upstream"):
        lines = [f"{key} = {text}" if line.startswith(f"{key} = ") else line for line in plan.splitlines()]
        plan = "\n".join(lines) + "\n"
    root: Path = sample.make(tmp_path / "poisoned", plan_text=plan)
    with (root / "journal.jsonl").open("a") as journal:
        event = {
            "event": "connected",
            "at": HOSTILE,
            "monotonic_s": 1,
            "target": HOSTILE,
            "provenance": {HOSTILE: HOSTILE},
        }
        journal.write(json.dumps(event) + "\n")

    def poison(run: dict[str, Any]) -> None:
        run["warnings"] = [HOSTILE]
        run["started_at"] = HOSTILE
        run["verified"] = {HOSTILE: HOSTILE}
        run["files"] = {f"{HOSTILE}.pcapng": HOSTILE}
        run["faults"] = [
            {"key": "x", "title": HOSTILE, "severity": "error", "target": HOSTILE, "count": 1, "lines": [HOSTILE]}
        ]
        for value in run["metrics"].values():
            value["source"] = HOSTILE
            if value["value"] is None:
                value["reason"] = HOSTILE
        for voiding in run.get("void", []):
            voiding.update(gate=HOSTILE, cause=HOSTILE)

    for path in (root / "runs").iterdir():
        change(root, path.name, poison)
    return root
