"""Targets that go away between runs, and how they are found again."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from fake_target import FakeTarget
from txop.archive.layout import Layout
from txop.archive.reader import read_archive
from txop.campaign import machines
from txop.campaign.ending import Cause, End, Outcome
from txop.campaign.engine import Campaign
from txop.campaign.machines import MachineTestbed
from txop.campaign.state import State
from txop.campaign.testbed import Reachability
from txop.cli.campaign_live import LiveReporter
from txop.plan.load import parse_plan
from txop.targets import hooks
from txop.targets.contract import Silence, TargetLostError

from .conftest import Noted

PLAN = b"""
title = "t"
[target.dut]
kind = "local"
[target.dut.hooks]
reset = ["touch RESET"]
power_cycle = ["touch POWER"]
settle_s = SETTLE
[target.peer]
kind = "local"
[target.sniffer]
kind = "local"
[[arm]]
name = "a"
load = ["true"]
[[arm]]
name = "b"
load = ["true"]
[[test]]
name = "tx"
kind = "tcp-tx"
"""


class Away(FakeTarget):
    """Refuses this number of attempts to connect."""

    refuses = 0

    async def connect(self) -> None:
        if self.refuses > 0:
            self.refuses -= 1
            raise TargetLostError(self.name, "no route to host")
        await super().connect()


@pytest.fixture
def testbed(tmp_path: Path) -> Callable[[float | str], MachineTestbed]:
    """Targets that answer, and hooks that leave the files RESET and POWER."""

    def make(settle_s: float | str) -> MachineTestbed:
        text = PLAN.replace(b"SETTLE", str(settle_s).encode())
        for word in (b"RESET", b"POWER"):
            text = text.replace(word, str(tmp_path / word.decode()).encode())
        plan = parse_plan(text, tmp_path / "plan.toml").plan
        made = MachineTestbed(plan, tmp_path, Layout(tmp_path / "archive"), Silence(), Noted([]))
        for name in made.targets.by_name:
            target = Away(name)
            target.answer("true")
            target.connected = True
            target.connects = 1
            made.targets.by_name[name] = target
        return made

    return make


def away(testbed: MachineTestbed, name: str, attempts: int) -> Away:
    target = testbed.targets.by_name[name]
    assert isinstance(target, Away)
    target.connected = False
    target.refuses = attempts
    return target


def test_every_target_that_was_lost_is_connected_again_before_a_run(testbed, tmp_path):
    found = testbed(1.0)
    away(found, "peer", 0)
    away(found, "sniffer", 0)
    reached = asyncio.run(found.reach())
    assert reached == Reachability(again=("peer", "sniffer"))
    assert all(target.connected for target in found.targets.by_name.values())
    away(found, "peer", 1)
    assert asyncio.run(found.reach()) == Reachability(lost=("peer",))
    assert not (tmp_path / "RESET").exists()


def test_a_connection_that_breaks_for_a_moment_runs_no_hook(testbed, tmp_path, monkeypatch):
    monkeypatch.setattr(machines, "RETRY_S", 0.01)
    found = testbed(5.0)
    away(found, "dut", 3)
    away(found, "peer", 0)
    assert asyncio.run(found.recover("dut"))
    assert not (tmp_path / "RESET").exists()
    assert not (tmp_path / "POWER").exists()
    assert all(target.connected for target in found.targets.by_name.values()), "others were lost in the same moment"


@pytest.mark.parametrize(("attempts", "back", "power"), [(1, True, False), (2, True, True), (9, False, True)])
def test_hooks_are_run_when_it_stays_away(testbed, tmp_path, monkeypatch, attempts, back, power):
    monkeypatch.setattr(machines, "RETRY_S", 0.01)
    found = testbed(0.0)
    away(found, "dut", attempts)
    assert asyncio.run(found.recover("dut")) is back
    assert (tmp_path / "RESET").exists()
    assert (tmp_path / "POWER").exists() is power


def test_how_long_a_lost_one_is_tried_is_not_how_long_a_hook_may_take(testbed, tmp_path, monkeypatch):
    """``reconnect_s`` is over at once, ``settle_s`` is not."""
    monkeypatch.setattr(machines, "RETRY_S", 0.01)
    monkeypatch.setattr(hooks, "RETRY_S", 0.01)
    found = testbed("60\nreconnect_s = 0")
    away(found, "dut", 4)
    assert asyncio.run(found.recover("dut"))
    assert (tmp_path / "RESET").exists()
    assert not (tmp_path / "POWER").exists()


def test_a_target_that_comes_back_between_runs_costs_no_run(bench):
    assert bench.go(found={2: Reachability(again=("peer",)), 4: Reachability(lost=("sniffer",))}).end is End.FINISHED
    archive = read_archive(bench.layout.root)
    assert {run.state for run in archive.runs} == {"valid"}
    assert bench.testbed.recovered == ["sniffer"]
    assert "peer was lost, and answers again" in bench.notices
    assert "sniffer answers again" in bench.notices


def test_a_target_that_stays_away_between_runs_stops_the_campaign_and_voids_nothing(bench):
    outcome = bench.go(found={2: Reachability(lost=("peer",))}, answers=False)
    assert outcome == Outcome(End.STOPPED, Cause.TARGET_LOST, {"target": "peer"})
    assert [run.state for run in read_archive(bench.layout.root).runs] == ["valid"]
    assert bench.go().end is End.FINISHED


def test_an_arm_that_was_to_stay_is_put_in_place_again_after_its_target_was_lost(make_bench, plan_text):
    bench = make_bench(plan_text.replace("blocks = 3", "blocks = 1\nmax_repeats = 0") + '\nreload = "arm"\n')
    bench.go(found={2: Reachability(again=("dut",))})
    placed = [step for step in bench.testbed.steps if step.startswith(("place", "remove"))]
    first, second = placed[0], placed[-2]
    assert placed == [first, "remove", first, "remove", second, "remove"]
    assert first != second


def test_what_is_to_come_counts_the_repeats_that_are_due_already(bench):
    left = []

    class Counting(Noted):
        def run_ended(self, run, runs_to_come, seconds_expected):
            left.append((run.state, runs_to_come, seconds_expected > 0))

    notices: list[str] = []
    bench.testbed.mishap = lambda run: "gate" if run == "003-new-rx" else None
    asyncio.run(Campaign(bench.layout, bench.plan, bench.testbed, Counting(notices)).go())
    assert left[-1][1:] == (0, False)
    assert all(more == (to_come > 0) for _, to_come, more in left)
    voided = next(index for index, (state, *_) in enumerate(left) if state == "void")
    planned = len(bench.plan.arm) * len(bench.plan.test) * bench.plan.design.blocks
    assert left[voided][1] == planned - (voided + 1) + 2, "the test of the void run is repeated for both arms"
    assert State.of(bench.plan, read_archive(bench.layout.root).events).runs_to_come() == 0


def test_no_run_is_said_to_be_the_last_while_others_are_to_come(bench):
    said = io.StringIO()
    with LiveReporter(Console(file=said, width=500), bench.plan, quiet=False) as reporter:
        bench.testbed.mishap = lambda run: "gate" if run == "003-new-rx" else None
        asyncio.run(Campaign(bench.layout, bench.plan, bench.testbed, reporter).go())
    lines = [line for line in said.getvalue().splitlines() if line.startswith("block")]
    assert len(lines) == 14
    assert all("to go)" in line or "longer than expected)" in line for line in lines[:-1])
    assert "to go" not in lines[-1]
    assert not any("(0 s to go)" in line for line in lines)
