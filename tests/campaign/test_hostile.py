"""What tools, disks, people and old archives do to a campaign, and what it must survive."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from quiet_reporter import Quiet
from txop.archive.counting import counting
from txop.archive.damage import Code
from txop.archive.journal import JournalWriter, read_journal
from txop.archive.layout import ArchiveError, ArchiveLock
from txop.archive.reader import read_archive
from txop.archive.text import storable
from txop.campaign import session
from txop.campaign.ending import End
from txop.campaign.engine import Campaign
from txop.cli.campaign_live import LiveReporter
from txop.plan.load import load_plan
from txop.plan.model import Plan
from txop.plan.overrides import Overrides

EMULATED = """
title = "emulated"
[target.dut]
kind = "emulated"
[target.peer]
kind = "emulated"
[link.wlan.dut]
mcs = 7
[[arm]]
name = "short-queue"
load = [["touch", "{folder}/loaded"]]
unload = [["touch", "{folder}/unloaded"]]
qdisc = {{ discipline = "pfifo limit 50" }}
[[arm]]
name = "refused"
verify.commands = [["false"]]
[[test]]
name = "t"
kind = "latency"
[bring_up]
commands = [["touch", "{folder}/up"]]
down = [["touch", "{folder}/down"]]
"""


# What tools print ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mishap", ["surrogate", "defect"])
def test_what_a_tool_prints_costs_one_run_and_not_the_campaign(bench, mishap):
    assert bench.go(lambda run: mishap if run == "002-old-tx" else None).end is End.FINISHED
    archive = read_archive(bench.layout.root)
    assert not archive.damage
    assert [run.run for run in archive.runs if run.state == "void"] == ["002-old-tx"]
    assert len({run.block for run in counting(archive, "tx").runs}) == 3


@given(st.recursive(st.text(st.characters()), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_what_is_stored_is_utf_8(value):
    json.dumps(storable(value), ensure_ascii=False).encode("utf-8")


# The disk -----------------------------------------------------------------------------------------------------------


def test_a_line_that_did_not_fit_spoils_no_later_one(tmp_path):
    path = tmp_path / "journal.jsonl"
    with JournalWriter(path) as journal:
        journal.write("campaign-started")
        whole = journal._file

        class Full:
            name = str(path)

            @staticmethod
            def write(data):
                return whole.write(data[:20])

        journal._file = Full()  # type: ignore[assignment] # has what the journal uses
        with pytest.raises(OSError, match="No space left") as caught:
            journal.write("run-finished", run="001-old-tx")
        assert caught.value.errno == errno.ENOSPC
        journal._file = whole
        journal.write("campaign-stopped")
    assert [event.event for event in read_journal(path).events] == ["campaign-started", "campaign-stopped"]


# Arms that stay in place between the tests of a block -------------------------------------------------------------


def _in_place(steps):
    """Arms in place after each step; an arm must never be put in place over another."""
    there = 0
    for step in steps:
        if step.startswith("place"):
            assert there == 0, steps
            there += 1
        elif step == "remove":
            there = 0
    return there


def test_an_arm_that_failed_is_taken_away_before_the_next_try(make_bench, plan_text):
    bench = make_bench(plan_text + '\nreload = "arm"\n')
    bench.go(lambda run: "load" if run in ("001-old-tx", "001-new-rx", "002-new-tx") else None)
    assert _in_place(bench.testbed.steps) == 0


def test_ctrl_c_takes_away_an_arm_that_was_to_stay(make_bench, plan_text, fake_testbed):
    bench = make_bench(plan_text + '\nreload = "arm"\n')
    testbed = fake_testbed(lambda run: "hang" if run.endswith("tx") else None)

    async def cancelled() -> None:
        task = asyncio.ensure_future(Campaign(bench.layout, bench.plan, testbed, Quiet()).go())
        while "prepare" not in testbed.steps:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert testbed.steps[-1] == "remove"


LOCAL = """
title = "local"
[target.dut]
kind = "local"
[target.peer]
kind = "local"
[[arm]]
name = "free"
unload = [["touch", "{folder}/unloaded"]]
[[test]]
name = "t"
kind = "command"
command = ["true"]
"""


def test_closing_undoes_an_arm_that_is_still_in_place(tmp_path):
    from txop.archive.layout import Layout
    from txop.campaign.machines import MachineTestbed
    from txop.targets.contract import Silence

    text = LOCAL.format(folder=tmp_path)
    plan = Plan.model_validate(tomllib.loads(text))
    layout = Layout(tmp_path / "archive")
    layout.create(text, tmp_path)

    async def go() -> None:
        testbed = MachineTestbed(plan, tmp_path, layout, Silence(), Quiet())
        try:
            await testbed.open()
            await testbed.place(plan.arm[0], tmp_path)
        finally:
            await testbed.close()

    asyncio.run(go())
    assert (tmp_path / "unloaded").exists()


def test_an_arm_of_an_emulated_link_is_all_that_the_plan_says(tmp_path):
    if shutil.which("tc") is None or not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("emulated links with a queue discipline need tc and /dev/net/tun")
    from txop.campaign.emulated import EmulatedTestbed
    from txop.campaign.placed_arm import ArmError
    from txop.targets.contract import Silence

    plan = Plan.model_validate(tomllib.loads(EMULATED.format(folder=tmp_path)))

    async def go() -> None:
        testbed = EmulatedTestbed(plan, tmp_path, Silence())
        try:
            await testbed.open()
            placed = await testbed.place(plan.arm[0], tmp_path)
            assert placed.verified["qdisc"] == "pfifo"
            assert sorted(path.name for path in tmp_path.iterdir()) == ["loaded", "up"]
            assert await testbed.remove(tmp_path) == []
            assert {"unloaded", "down"} <= {path.name for path in tmp_path.iterdir()}
            with pytest.raises(ArmError, match="false") as caught:
                await testbed.place(plan.arm[1], tmp_path)
            assert caught.value.gate == "arm-not-verified"
            await testbed.remove(tmp_path)
        finally:
            await testbed.close()

    asyncio.run(go())


# Archives that were damaged -----------------------------------------------------------------------------------------


def _half(bench):
    with pytest.raises(SystemExit):
        bench.go(lambda run: "die" if run == "002-old-rx" else None)


@pytest.mark.parametrize(
    "line",
    [
        {"event": "block-started", "block": 2, "arms": ["old", "../../x"], "tests": ["tx", "rx"]},
        {"event": "block-started", "block": 2, "arms": ["old", "old"], "tests": ["tx"]},
        {"event": "block-started", "block": 7, "arms": ["stranger"], "tests": ["tx"]},
        {"event": "block-started", "block": 2, "arms": ["old", "new"], "tests": [[], {}]},
        {"event": "connected", "target": "dut", "provenance": [1]},
    ],
)
def test_a_journal_that_tells_of_strangers_is_survived(bench, line):
    _half(bench)
    with bench.layout.journal.open("a") as journal:
        journal.write(json.dumps({**line, "at": "2026-01-01T00:00:00Z", "monotonic_s": 1.0}) + "\n")
    assert bench.go().end is End.FINISHED
    archive = read_archive(bench.layout.root)
    strange = [] if line["event"] == "connected" else [Code.JOURNAL_STRANGE]
    assert [finding.code for finding in archive.findings] == strange
    assert len(counting(archive, "tx").runs) == 6


def test_deleted_runs_are_missing_and_done_again(bench):
    _half(bench)
    shutil.rmtree(bench.layout.runs)
    assert bench.go().end is End.FINISHED
    archive = read_archive(bench.layout.root)
    lost = [event.get("run") for event in archive.events if event.event == "run-lost"]
    assert "001-old-tx" in lost
    assert {1, 2}.isdisjoint({run.block for run in counting(archive, "tx").runs})
    assert len(counting(archive, "tx").runs) == 6


def a_pipe_in_place_of(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda layout: layout.plan.unlink(), "plan.toml cannot be read: No such file"),
        (lambda layout: layout.plan.write_text("a = " + "[" * 100_000), "plan.toml cannot be read"),
        (lambda layout: a_pipe_in_place_of(layout.plan), "not a regular file"),
        (lambda layout: layout.identity.write_text("[" * 60_000), "not an archive"),
        (lambda layout: layout.identity.write_text('{"format": "txop-archive", "version": 99}'), "newer txop"),
        (lambda layout: layout.plan.write_text('title = "x"'), "cannot be read: target"),
        (
            lambda layout: layout.identity.write_text(
                '{"format": "txop-archive", "version": 1, "plan_folder": "/", "overrides": {"blocks": "many"}}'
            ),
            "archive.json does not fit",
        ),
    ],
)
def test_an_archive_that_cannot_be_used_says_why(bench, damage, said):
    _half(bench)
    damage(bench.layout)
    with pytest.raises(ArchiveError, match=re.escape(said)):
        session.reopen(bench.layout.root)


def test_a_pipe_in_place_of_a_file_holds_nobody_up(bench):
    bench.go()
    for path in (bench.layout.run("001-old-tx") / "run.json", bench.layout.run("001-new-tx") / "series.json"):
        path.unlink()
        os.mkfifo(path)
    archive = read_archive(bench.layout.root)
    assert archive.damage == ["runs/001-old-tx/run.json: not a regular file"]
    for run in archive.runs:
        archive.series(run)
    assert len(archive.damage) == 2


def test_a_plan_whose_files_are_gone_is_not_taken_up(tmp_path):
    plan = tmp_path / "plan.toml"
    (tmp_path / "fw.bin").write_bytes(b"firmware")
    plan.write_text(
        LOCAL.format(folder=tmp_path).replace("unload =", 'firmware = {file="fw.bin",name="fw.bin"}\nunload =')
    )
    prepared = session.begin(load_plan(plan), tmp_path / "archive", Overrides())
    session.reopen(prepared.layout.root)
    (tmp_path / "fw.bin").unlink()
    with pytest.raises(ArchiveError, match=r"there is no file .*fw\.bin"):
        session.reopen(prepared.layout.root)


# People -------------------------------------------------------------------------------------------------------------


@given(st.from_regex(r"^[a-z0-9][a-z0-9_]*(-[a-z0-9_]+)*\Z").filter(lambda name: len(name) <= 40))
def test_the_two_names_of_an_a_a_campaign_are_names(name):
    plan = Plan.model_validate(
        {
            "title": "t" * 10_000,
            "target": {"dut": {"kind": "local"}},
            "arm": [{"name": name, "title": "x" * 10_000}],
            "test": [{"name": "t", "kind": "latency"}],
        }
    )
    Plan.model_validate(Overrides(aa=True).apply(plan).model_dump())


def test_a_display_that_nobody_reads_stops_nothing(bench):
    class Gone(io.StringIO):
        def write(self, text):
            raise OSError(errno.EIO, "Input/output error")

    for terminal in (False, True):
        with LiveReporter(Console(file=Gone(), force_terminal=terminal), bench.plan, quiet=False) as reporter:
            reporter.campaign("\x1b[2J" * 3000, 4, 1.0)
            reporter.notice("lost")


def test_who_closes_stderr_still_gets_the_result():
    reading, writing = os.pipe()
    os.close(reading)
    code = (
        "import sys; from txop.cli import console; from txop.cli.campaign_live import LiveReporter\n"
        "with LiveReporter(console.stderr(), None, quiet=False) as reporter:\n"
        "    reporter.notice('x')\n    reporter.notice('y')\n"
        "print('result')"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=writing, timeout=30)
    os.close(writing)
    assert done.stdout == b"result\n"


def test_a_demo_does_not_throw_away_what_another_one_writes(bench, txop):
    archive = bench.layout.root
    with ArchiveLock(bench.layout):
        done = txop("demo", "-o", str(archive.parent), "--no-open")
    assert done.returncode == 2
    assert "another txop" in done.stderr
    assert (archive / "plan.toml").exists()
