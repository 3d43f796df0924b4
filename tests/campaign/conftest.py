"""A testbed without machines: arms are numbers, a run takes no time, and anything can be made to go wrong."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from quiet_reporter import Quiet
from txop.archive.layout import Layout
from txop.campaign.active_run import ActiveRun
from txop.campaign.ending import Outcome
from txop.campaign.engine import Campaign
from txop.campaign.placed_arm import ArmError, PlacedArm
from txop.campaign.step_by_step import StepByStep
from txop.campaign.testbed import CarryOut, Reachability
from txop.measure.instrument import GateFinding, Instrument, Reading, RunContext, RunFacts
from txop.plan.arm import Arm
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.targets.contract import TargetLostError, Targets

PLAN = """
title = "two arms"
[target.dut]
kind = "local"
[target.peer]
kind = "local"
[[arm]]
name = "old"
[[arm]]
name = "new"
[[test]]
name = "tx"
kind = "tcp-tx"
duration_s = 0.001
[[test]]
name = "rx"
kind = "tcp-rx"
duration_s = 0.001
[design]
blocks = 3
warm_up_s = 0
idle_s = 0
gap_s = 0
"""

Mishap = Callable[[str], str | None]
"""Given a run's name and how often it was begun: ``None``, or what goes wrong."""


class FakeInstrument:
    name = "fake"
    essential = True

    def __init__(self, testbed: FakeTestbed) -> None:
        self._testbed = testbed

    async def prepare(self, run: RunContext) -> None:
        self._testbed.steps.append("prepare")

    async def start(self, run: RunContext) -> None:
        what = self._testbed.mishap(run.folder.name)
        if what == "lost":
            raise TargetLostError("dut", "connection closed")
        if what == "hang":
            await asyncio.sleep(3600)
        if what == "die":
            raise SystemExit(9)

    async def stop(self, run: RunContext) -> None:
        self._testbed.steps.append("stop")

    def read(self, facts: RunFacts) -> Reading:
        reading = Reading()
        if self._testbed.mishap(facts.folder.name) == "defect":
            raise KeyError("end")
        if self._testbed.mishap(facts.folder.name) == "surrogate":
            reading.gates.append(GateFinding("traffic-failed", "void", "it said \ud800", "dut"))
            reading.warnings.append("\udfff")
            reading.series["rtt\ud800"] = [(0.0, 1.0)]
        if self._testbed.mishap(facts.folder.name) == "gate":
            reading.gates.append(GateFinding("association-lost", "void", "deauthenticated by the access point", "dut"))
        reading.put("throughput_mbit_s", 40.0 + (facts.arm.name == "new"), "fake")
        return reading


class FakeTestbed(StepByStep):
    def __init__(self, mishap: Mishap) -> None:
        self.mishap = mishap
        self.steps: list[str] = []
        self.recovered: list[str] = []
        self.resets: list[bool] = []
        """Whether cold, for each failed arm."""
        self.reached = 0
        self.found: dict[int, Reachability] = {}
        """What the so-and-so-many-th look at the targets finds; others find all well."""
        self.answers = True
        self.closed = 0
        self.targets = Targets()
        self.peer_address = "192.0.2.1"

    async def open(self) -> dict[str, dict[str, Any]]:
        return {"dut": {"kernel": "6.12"}}

    async def place(self, arm: Arm, folder: Path) -> PlacedArm:
        self.steps.append(f"place {arm.name}")
        if self.mishap(folder.name) == "load":
            raise ArmError("arm-load-failed", "insmod: No such device")
        return PlacedArm(0.1, {"srcversion": "ABC"})

    async def remove(self, folder: Path) -> list[str]:
        self.steps.append("remove")
        return []

    async def reach(self) -> Reachability:
        self.reached += 1
        return self.found.pop(self.reached, Reachability())

    async def recover(self, target: str) -> bool:
        self.recovered.append(target)
        return self.answers

    async def reset(self, target: str, *, cold: bool) -> bool:
        self.resets.append(cold)
        return self.answers

    def instruments(self, test: Test) -> Sequence[Instrument]:
        return [FakeInstrument(self)]

    async def close(self) -> None:
        self.closed += 1


class Parallel(FakeTestbed):
    """A testbed whose runs go on by themselves, several at once."""

    at_once = 2
    machine_per_run = True

    def __init__(self, mishap: Mishap) -> None:
        super().__init__(mishap)
        self.under_way = 0
        self.most = 0

    @asynccontextmanager
    async def group(self, arm: Arm, runs: int) -> AsyncIterator[CarryOut]:
        assert runs == 1, "no arm stays in place"
        yield self.carry_out

    async def carry_out(self, active: ActiveRun) -> None:
        active.placed = PlacedArm(0.1, {"srcversion": "ABC"})
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            for _ in range(20):
                await asyncio.sleep(0)
            name = active.label.run
            if self.mishap(name) == "full":
                raise OSError(errno.ENOSPC, "No space left on device")
            if self.mishap(name) == "hang":
                await asyncio.sleep(3600)
            active.context.marks.window, active.context.marks.end = 1.0, 2.0
            active.began += active.instruments
        finally:
            self.under_way -= 1


class Noted(Quiet):
    """Keeps what users see."""

    def __init__(self, notices: list[str]) -> None:
        self._notices = notices

    def notice(self, text: str) -> None:
        self._notices.append(text)


class Bench:
    """An archive, and campaign processes that come and go on it."""

    def __init__(self, root: Path, plan_text: str) -> None:
        import tomllib

        self.plan = Plan.model_validate(tomllib.loads(plan_text))
        self.layout = Layout(root)
        self.layout.create(plan_text, root)
        self.testbed = FakeTestbed(lambda run: None)
        self.notices: list[str] = []
        """What users saw."""

    def go(self, mishap: Mishap = lambda run: None, **attributes: Any) -> Outcome:
        self.testbed = FakeTestbed(mishap)
        for name, value in attributes.items():
            setattr(self.testbed, name, value)
        return asyncio.run(Campaign(self.layout, self.plan, self.testbed, Noted(self.notices)).go())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "archive", PLAN)


@pytest.fixture
def make_bench(tmp_path: Path) -> Callable[[str], Bench]:
    return lambda text: Bench(tmp_path / "archive", text)


@pytest.fixture
def plan_text() -> str:
    return PLAN


@pytest.fixture
def fake_testbed() -> type[FakeTestbed]:
    return FakeTestbed


@pytest.fixture
def side_by_side() -> Callable[..., tuple[Parallel, Coroutine[Any, Any, Outcome]]]:
    """A testbed with several runs at once, and the campaign in it."""

    def begin(
        bench: Bench, mishap: Mishap = lambda run: None, at_once: int = 2
    ) -> tuple[Parallel, Coroutine[Any, Any, Outcome]]:
        testbed = Parallel(mishap)
        testbed.at_once = at_once
        return testbed, Campaign(bench.layout, bench.plan, testbed, Quiet()).go()

    return begin
