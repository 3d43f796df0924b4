"""Archives to report on: the golden one, a hostile one, tiny ones; and their pages, made once."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from txop.archive.reader import Archive, read_archive
from txop.compare.archive import compare
from txop.compare.result import CompareResult
from txop.report.campaign import page

DATA = Path(__file__).parent.parent / "data"
GOLDEN = DATA / "archive-v1"

HOSTILE = "<script>window.owned = 1</script><img src=x onerror=alert(1)>\"'{{ 7 * 7 }} & \x1b[2J\u202e\n=cmd"
"""Text that tries HTML, attributes, the template, a terminal and a new line."""

HOSTILE_LINK = "javascript:window.owned=1"


@pytest.fixture(scope="session")
def golden() -> Archive:
    return read_archive(GOLDEN)


@pytest.fixture(scope="session")
def golden_result(golden: Archive) -> CompareResult:
    return compare(golden)


@pytest.fixture(scope="session")
def golden_page(golden: Archive, golden_result: CompareResult) -> str:
    return page(golden, golden_result, GOLDEN / "report.html")


@pytest.fixture(scope="session")
def small(sample: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign with one test."""
    root: Path = sample.make(tmp_path_factory.mktemp("small") / "archive", plan_text=sample.plan_of_tx())
    return root


@pytest.fixture(scope="session")
def poisoned(sample: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of one test in which every text from outside is hostile."""
    text = json.dumps(HOSTILE)
    plan = sample.plan_of_tx()
    for key in ("title", "description", "hardware", "ap", "distance", "remarks", "upstream"):
        lines = [f"{key} = {text}" if line.startswith(f"{key} = ") else line for line in plan.splitlines()]
        plan = "\n".join(lines) + "\n"
    plan = plan.replace('link = "https://example.org/linux/commit/10"', f'link = "{HOSTILE_LINK}"')
    root: Path = sample.make(tmp_path_factory.mktemp("hostile") / "archive", plan_text=plan)
    run = root / "runs" / "002-vendor-tx" / "run.json"
    document = json.loads(run.read_text(encoding="utf-8"))
    document["warnings"] = [HOSTILE]
    document["faults"] = [
        {"key": HOSTILE, "title": HOSTILE, "severity": HOSTILE, "target": HOSTILE, "count": 3, "lines": [HOSTILE] * 9}
    ]
    document["verified"] = {HOSTILE: HOSTILE}
    document["files"] = {HOSTILE + ".pcap": HOSTILE, "../../../secret.pcap": "x"}
    document["air"]["advice"] = [HOSTILE]
    document["air"]["waterfall"].append({"cause": HOSTILE, "label": HOSTILE, "share": 0.3})
    run.write_text(json.dumps(document), encoding="utf-8")
    (run.parent / "evil name <b>.pcapng").write_bytes(b"")
    with (root / "journal.jsonl").open("a", encoding="ascii") as journal:
        event = {"event": "connected", "at": HOSTILE, "monotonic_s": 1.0, "target": "dut"}
        journal.write(json.dumps({**event, "provenance": {HOSTILE: HOSTILE}}) + "\n")
    return root


@pytest.fixture(scope="session")
def poisoned_page(poisoned: Path) -> str:
    archive = read_archive(poisoned)
    return page(archive, compare(archive), poisoned / "report.html")
