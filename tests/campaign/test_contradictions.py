"""Archives of campaigns as the engine makes them give no finding; a run that contradicts them is repeated."""

from __future__ import annotations

import asyncio
import json

import pytest

from txop.archive.counting import counting
from txop.archive.damage import Code
from txop.archive.reader import read_archive
from txop.campaign.ending import End


def codes(bench) -> list[Code]:
    return [finding.code for finding in read_archive(bench.layout.root).findings]


def edit(path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize("mishap", [None, "gate", "lost", "load", "surrogate", "defect", "die"])
def test_what_a_campaign_leaves_contradicts_nothing(bench, mishap):
    def mishaps(run: str) -> str | None:
        return mishap if run == "002-old-rx" else None

    if mishap == "die":
        with pytest.raises(SystemExit):
            bench.go(mishaps)
        assert codes(bench) == []
    assert bench.go(lambda run: None if mishap == "die" else mishaps(run)).end is End.FINISHED
    assert codes(bench) == []


def test_runs_side_by_side_contradict_nothing(bench, side_by_side):
    _, campaign = side_by_side(bench)
    assert asyncio.run(campaign).end is End.FINISHED
    assert codes(bench) == []


def test_the_journal_records_the_plan_and_an_edit_is_noticed(bench):
    assert bench.go().end is End.FINISHED
    plan = bench.layout.plan
    edit(plan, 'title = "two arms"', 'title = "old and new"')
    assert codes(bench) == []
    edit(plan, "[design]\n", '[design]\nprimary = ["rx.throughput_mbit_s"]\n')
    assert codes(bench) == [Code.PLAN_EDITED]
    assert not read_archive(bench.layout.root).primary_is_known


def test_a_plan_edited_before_a_resume_stays_noticed(bench):
    with pytest.raises(SystemExit):
        bench.go(lambda run: "die" if run == "002-old-rx" else None)
    edit(bench.layout.plan, "[design]\n", '[design]\nprimary = ["rx.throughput_mbit_s"]\n')
    assert bench.go().end is End.FINISHED
    assert codes(bench) == [Code.PLAN_EDITED]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"state":"valid"', '"state":"void","void":[{"gate":"interrupted","cause":"x"}]', Code.RUN_END),
        ('"value":40.0', '"value":-40.0', Code.RUN_VALUE),
        ('"value":40.0', '"value":"40.0"', Code.RUN_MALFORMED),
        ('"unit":"Mbit/s"', '"unit":"kbit/s"', Code.RUN_UNIT),
    ],
)
def test_a_run_that_contradicts_the_rest_is_lost_and_repeated(bench, old, new, code):
    with pytest.raises(SystemExit):
        bench.go(lambda run: "die" if run == "002-old-rx" else None)
    path = bench.layout.run("001-old-tx") / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()), separators=(",", ":")).replace('"void":[],', "", 1))
    edit(path, old, new)
    before = read_archive(bench.layout.root)
    assert [(finding.code, finding.run) for finding in before.findings] == [(code, "001-old-tx")]
    assert bench.go().end is End.FINISHED
    archive = read_archive(bench.layout.root)
    lost = [event.get("run") for event in archive.events if event.event == "run-lost"]
    assert lost == ["001-old-tx"]
    assert sorted({run.block for run in counting(archive, "tx").runs}) == [2, 3, 4]
    assert "001-old-tx" in {finding.run for finding in archive.findings}, "the file is still there, and still wrong"


def test_a_missing_end_that_later_events_prove_is_named_and_the_run_counts(bench):
    bench.go()
    lines = bench.layout.journal.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not ('"run-finished"' in line and '"003-old-rx"' in line)]
    assert len(kept) == len(lines) - 1
    bench.layout.journal.write_text("".join(kept))
    assert codes(bench) == [Code.JOURNAL_LACKS_END]
    assert "003-old-rx" in {run.run for run in counting(read_archive(bench.layout.root), "rx").runs}
