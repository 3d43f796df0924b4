"""Campaigns that go well, badly, and on."""

from __future__ import annotations

import asyncio
import json
import os
import time

import pytest

from txop.archive.counting import counting
from txop.archive.layout import ArchiveError, ArchiveLock
from txop.archive.reader import read_archive
from txop.campaign.ending import Cause, End, stopped
from txop.campaign.engine import MAX_VOID_IN_A_ROW
from txop.compare.archive import compare
from txop.measure.instrument import Reading


def test_a_campaign_runs_every_arm_in_every_block(bench):
    assert bench.go().end is End.FINISHED
    archive = read_archive(bench.layout.root)
    assert archive.finished
    assert not archive.damage
    assert len(archive.runs) == 3 * 2 * 2
    assert {(run.block, run.arm, run.test) for run in archive.runs} == {
        (block, arm, test) for block in (1, 2, 3) for arm in ("old", "new") for test in ("tx", "rx")
    }
    assert all(run.state == "valid" for run in archive.runs)
    assert [e.event for e in archive.events][:3] == ["campaign-started", "connected", "block-started"]
    assert archive.provenance == {"dut": {"kernel": "6.12"}}


def test_each_run_loads_and_unloads_its_arm(bench):
    bench.go()
    assert bench.testbed.steps.count("remove") == 12
    assert sum(step.startswith("place") for step in bench.testbed.steps) == 12


def test_reload_arm_loads_once_per_arm_and_block(make_bench, plan_text):
    bench = make_bench(plan_text + '\nreload = "arm"\n')
    bench.go()
    assert bench.testbed.steps.count("remove") == 6
    assert sum(step.startswith("place") for step in bench.testbed.steps) == 6
    loads = [run.metrics["load_time_s"] for run in read_archive(bench.layout.root).runs]
    assert sorted(load.value for load in loads if load.value is not None) == [0.1] * 6
    assert {load.reason for load in loads if load.value is None} == {"an earlier run of the block loaded it"}


def test_an_arm_that_was_to_stay_is_taken_away_when_the_campaign_stops(make_bench, plan_text):
    more = "".join(f'[[test]]\nname = "{name}"\nkind = "tcp-tx"\nduration_s = 0.001\n' for name in ("c", "d"))
    bench = make_bench(plan_text.replace("[design]", more + "[design]") + '\nreload = "arm"\n')
    assert bench.go(lambda run: "gate").end is End.STOPPED
    assert len(read_archive(bench.layout.root).runs) == MAX_VOID_IN_A_ROW == 6  # the second arm has two of four
    assert [step[:6] for step in bench.testbed.steps if step[:5] in ("place", "remov")] == ["place ", "remove"] * 2


def test_what_could_not_be_undone_is_in_the_run_or_told_when_the_run_was_cut_short(bench, fake_testbed, monkeypatch):
    async def remove(self, folder):
        return [f"{folder.name}: the module stays"]

    monkeypatch.setattr(fake_testbed, "remove", remove)
    with pytest.raises(SystemExit):
        bench.go(lambda run: "die" if run.startswith("001-new") else None)
    kept = {run.run: run.warnings for run in read_archive(bench.layout.root).runs}
    assert all(warnings == [f"{run}: the module stays"] for run, warnings in kept.items())
    (told,) = bench.notices
    assert told.startswith("001-new")
    assert told.partition(":")[0] not in kept


def test_what_is_left_of_an_arm_of_a_lost_target_is_for_who_brings_it_back(make_bench, plan_text):
    bench = make_bench(plan_text.replace("blocks = 3", "blocks = 1\nmax_repeats = 0") + '\nreload = "arm"\n')
    bench.go(lambda run: "lost" if run in ("001-old-tx", "001-new-rx") else None)
    placed = [step for step in bench.testbed.steps if step.startswith(("place", "remove"))]
    assert sorted(placed) == ["place new", "place old", "place old", "remove", "remove"]
    assert bench.testbed.recovered == ["dut", "dut"]


def test_a_void_run_repeats_its_test_for_every_arm_at_the_end(bench):
    assert bench.go(lambda run: "gate" if run == "002-old-tx" else None).end is End.FINISHED
    archive = read_archive(bench.layout.root)
    repeats = [run for run in archive.runs if run.replaces is not None]
    assert {(run.block, run.arm, run.test, run.replaces) for run in repeats} == {
        (4, "old", "tx", 2),
        (4, "new", "tx", 2),
    }
    assert [run.run for run in archive.runs if run.state == "void"] == ["002-old-tx"]
    assert sorted({run.block for run in counting(archive, "tx").runs}) == [1, 3, 4]
    assert sorted({run.block for run in counting(archive, "rx").runs}) == [1, 2, 3]


def test_repeats_end(bench):
    outcome = bench.go(lambda run: "gate" if run.endswith("old-tx") else None)
    assert (outcome.end, outcome.cause) == (End.FINISHED, Cause.VOID_RUNS_LEFT)
    archive = read_archive(bench.layout.root)
    assert max(run.block for run in archive.runs) == 3 + 2
    assert counting(archive, "tx").pairing("old", "new").pairs == []


def test_the_order_is_random_but_the_same_for_the_same_seed(make_bench, plan_text):
    from txop.campaign.schedule import arm_order

    bench = make_bench(plan_text.replace("blocks = 3", "blocks = 100"))
    orders = [arm_order(bench.plan, n) for n in range(1, 101)]
    assert orders == [arm_order(bench.plan, n) for n in range(1, 101)]
    first = sum(order[0] == "old" for order in orders)
    assert 30 < first < 70


def test_a_failed_load_voids_the_run_and_is_recovered_from_cold_the_second_time(bench):
    bench.go(lambda run: "load" if run.startswith("001") else None)
    archive = read_archive(bench.layout.root)
    void = [run for run in archive.runs if run.state == "void"]
    assert {run.void[0].gate for run in void} == {"arm-load-failed"}
    assert bench.testbed.resets[:2] == [False, True]
    assert archive.finished


def test_a_lost_target_that_answers_again_costs_one_run(bench):
    assert bench.go(lambda run: "lost" if run == "001-new-rx" else None).end is End.FINISHED
    archive = read_archive(bench.layout.root)
    assert [run.void[0].gate for run in archive.runs if run.state == "void"] == ["target-lost"]


def test_a_target_lost_for_good_stops_the_campaign_and_resume_goes_on(bench):
    outcome = bench.go(lambda run: "lost" if run == "002-old-tx" else None, answers=False)
    assert outcome == stopped(Cause.TARGET_LOST, target="dut")
    last = read_archive(bench.layout.root).events[-1]
    assert (last.event, last.get("code"), last.get("target")) == ("campaign-stopped", "target-lost", "dut")
    assert not read_archive(bench.layout.root).finished
    assert bench.go().end is End.FINISHED
    archive = read_archive(bench.layout.root)
    assert archive.finished
    assert len(counting(archive, "tx").runs) == len(counting(archive, "rx").runs) == 6


def test_always_the_same_failure_stops_early(bench):
    outcome = bench.go(lambda run: "load")
    assert outcome.end is End.STOPPED
    assert (outcome.cause, outcome.facts["runs"]) == (Cause.VOID_IN_A_ROW, MAX_VOID_IN_A_ROW)
    assert len(read_archive(bench.layout.root).runs) == 6


@pytest.mark.parametrize("deaths", [["001-old-tx"], ["001-new-rx", "002-new-tx", "003-old-rx"]])
def test_a_process_that_dies_costs_the_run_it_was_in(bench, deaths):
    for death in deaths:
        with pytest.raises(SystemExit):
            bench.go(lambda run, death=death: "die" if run == death else None)
    assert bench.go().end is End.FINISHED
    archive = read_archive(bench.layout.root)
    assert archive.finished
    assert len(archive.runs) == 12
    assert not archive.damage
    aside = [folder.name for folder in bench.layout.runs.iterdir() if ".interrupted-" in folder.name]
    assert sorted(aside) == sorted(f"{death}.interrupted-1" for death in deaths)


@pytest.mark.parametrize("cut", [1, 10, 37])
def test_a_journal_cut_anywhere_in_its_last_line_is_taken_up(bench, cut):
    with pytest.raises(SystemExit):
        bench.go(lambda run: "die" if run == "002-new-rx" else None)
    journal = bench.layout.journal
    journal.write_bytes(journal.read_bytes()[:-cut])
    assert bench.go().end is End.FINISHED
    archive = read_archive(bench.layout.root)
    assert archive.finished
    assert len([run for run in archive.runs if run.replaces is None]) == 12


def test_a_block_interrupted_for_long_is_begun_again(make_bench, plan_text):
    bench = make_bench(plan_text + "\nmax_gap_s = 0\n")
    with pytest.raises(SystemExit):
        bench.go(lambda run: "die" if run == "002-old-rx" else None)
    time.sleep(0.01)
    assert bench.go().end is End.FINISHED
    archive = read_archive(bench.layout.root)
    assert [e.get("block") for e in archive.events if e.event == "block-abandoned"] == [2]
    assert {run.replaces for run in archive.runs if run.block == 4} == {2}
    # what was complete of the block before the interruption still counts
    assert {run.test for run in archive.runs if run.block == 4} == {"rx"}
    assert sorted({run.block for run in counting(archive, "rx").runs}) == [1, 3, 4]


def test_a_finished_campaign_is_left_alone(bench):
    bench.go()
    before = bench.layout.journal.read_bytes()
    assert bench.go().end is End.FINISHED
    assert bench.layout.journal.read_bytes() == before


def test_two_campaigns_cannot_share_an_archive(bench):
    with ArchiveLock(bench.layout), pytest.raises(ArchiveError, match="another txop"):
        bench.go()


def test_a_child_that_was_just_forked_does_not_keep_the_lock(bench):
    with ArchiveLock(bench.layout) as lock:
        kept = os.dup(lock._handle)  # as a child has it until it calls exec
    try:
        with ArchiveLock(bench.layout):
            pass
    finally:
        os.close(kept)


def test_a_full_disk_stops_cleanly(bench, monkeypatch):
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(100, 99, 1))
    with pytest.raises(OSError, match="No space left"):
        bench.go()
    archive = read_archive(bench.layout.root)
    assert archive.runs == []
    assert (archive.events[-1].event, archive.events[-1].get("code")) == ("campaign-stopped", "failed")
    monkeypatch.undo()
    assert bench.go().end is End.FINISHED


def test_the_time_budget_ends_after_a_block(make_bench, plan_text):
    bench = make_bench(plan_text + "\ntime_budget_s = 0\n")
    assert bench.go().end is End.STOPPED
    assert len(read_archive(bench.layout.root).runs) == 4


def test_ctrl_c_leaves_nothing_half(bench, fake_testbed):
    import asyncio

    from quiet_reporter import Quiet
    from txop.campaign.engine import Campaign

    testbed = fake_testbed(lambda run: "hang" if run == "001-new-tx" else None)

    async def cancelled() -> None:
        task = asyncio.ensure_future(Campaign(bench.layout, bench.plan, testbed, Quiet()).go())
        await asyncio.sleep(0.3)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert testbed.closed == 1
    assert testbed.steps[-2:] == ["stop", "remove"]
    last = json.loads(bench.layout.journal.read_text().splitlines()[-1])
    assert (last["event"], last["code"]) == ("campaign-stopped", "interrupted")
    assert bench.go().end is End.FINISHED
    assert len(read_archive(bench.layout.root).runs) == 12


@pytest.mark.parametrize("at_once", [1, 2, 3, 8])
def test_runs_that_go_on_by_themselves_go_on_side_by_side(bench, side_by_side, at_once):
    testbed, campaign = side_by_side(bench, at_once=at_once)
    assert asyncio.run(campaign).end is End.FINISHED
    assert testbed.most == min(at_once, 4)  # never beyond the block: it has two arms and two tests
    archive = read_archive(bench.layout.root)
    assert len({run.run for run in archive.runs}) == len(archive.runs) == 12
    assert all(run.state == "valid" for run in archive.runs)
    blocks = [e.get("block") for e in archive.events if e.event == "run-started"]
    assert blocks == sorted(blocks)


def test_where_each_run_has_a_machine_of_its_own_no_arm_stays(make_bench, plan_text, side_by_side):
    bench = make_bench(plan_text + '\nreload = "arm"\n')
    _, campaign = side_by_side(bench, at_once=1)
    assert asyncio.run(campaign).end is End.FINISHED
    assert {run.metrics["load_time_s"].value for run in read_archive(bench.layout.root).runs} == {0.1}


def test_a_disk_that_is_full_ends_the_runs_beside_it(bench, side_by_side):
    testbed, campaign = side_by_side(bench, {"001-old-tx": "full", "001-new-tx": "hang"}.get)
    with pytest.raises(OSError, match="No space"):
        asyncio.run(campaign)
    assert testbed.under_way == 0
    assert testbed.closed == 1


def test_ctrl_c_ends_all_runs_that_are_under_way_and_resume_does_them_again(bench, side_by_side):
    testbed, campaign = side_by_side(bench, {"001-old-rx": "hang", "001-new-rx": "hang"}.get)

    async def interrupted():
        task = asyncio.create_task(campaign)
        while testbed.under_way < 2 or len(read_archive(bench.layout.root).runs) < 2:
            await asyncio.sleep(0.001)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupted())
    assert testbed.under_way == 0
    again, campaign = side_by_side(bench)
    assert asyncio.run(campaign).end is End.FINISHED
    archive = read_archive(bench.layout.root)
    assert len(archive.runs) == 12
    aside = [folder.name for folder in bench.layout.runs.iterdir() if ".interrupted-" in folder.name]
    assert sorted(aside) == ["001-new-rx.interrupted-1", "001-old-rx.interrupted-1"]
    assert again.closed == 1


def test_runs_that_are_all_void_stop_the_campaign_side_by_side_too(bench, side_by_side):
    testbed, campaign = side_by_side(bench, lambda run: "gate")
    assert asyncio.run(campaign).end is End.STOPPED
    assert len(read_archive(bench.layout.root).runs) <= MAX_VOID_IN_A_ROW + testbed.at_once - 1


def test_what_must_see_the_arm_come_up_begins_before_it_and_is_read_when_it_fails(bench, monkeypatch):
    steps: list[str] = []

    class Watcher:
        name, essential = "watcher", False

        async def before_arm(self, run):
            steps.append(f"{run.folder.name} before {len(bench.testbed.steps)}")

        async def prepare(self, run):
            steps.append(f"{run.folder.name} prepare")

        async def start(self, run):
            pass

        async def stop(self, run):
            steps.append(f"{run.folder.name} stop")

        def read(self, facts):
            reading = Reading()
            reading.put("load_faults", 2.0, "kernel log")
            return reading

    usual = type(bench.testbed).instruments
    monkeypatch.setattr(type(bench.testbed), "instruments", lambda self, test: [Watcher(), *usual(self, test)])
    bench.go(lambda run: "load" if run == "001-old-tx" else None)
    archive = read_archive(bench.layout.root)
    failed = next(run for run in archive.runs if run.run == "001-old-tx")
    assert failed.void[0].gate == "arm-load-failed"
    assert failed.metrics["load_faults"].value == 2
    mine = [step for step in steps if step.startswith("001-old-tx")]
    assert [step.split()[1] for step in mine] == ["before", "stop"]
    other = [step.split()[1] for step in steps if step.startswith("002-old-tx")]
    assert other == ["before", "prepare", "stop"]
    before = next(step for step in steps if step.startswith("002-old-tx before"))
    placed = [i for i, step in enumerate(bench.testbed.steps) if step == "place old"]
    assert int(before.split()[-1]) in placed, "nothing of the run has happened by then"
    facts = next(arm for arm in compare(archive).arms if arm.name == "old")
    assert facts.load_failures == 1
