"""Testbeds that are driven from outside, step by step: an arm is put in place for a group of runs, and a run goes
through its phases by this machine's clock."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from txop.campaign.active_run import ActiveRun
from txop.campaign.clocks import note_uptimes, note_wall_clocks, started_again
from txop.campaign.gates import CLOCK_JUMP_S
from txop.campaign.placed_arm import PlacedArm
from txop.campaign.testbed import CarryOut, Reachability
from txop.campaign.turns import Turn
from txop.measure.instrument import EarlyInstrument, SelfEndingInstrument
from txop.plan.arm import Arm


class StepByStep(ABC):
    """The part of a :class:`~txop.campaign.testbed.Testbed` that such testbeds have in common."""

    at_once = 1
    machine_per_run = False
    turn: Turn | None = None
    """Held while a run is on the air, where several campaigns share an access point."""

    @abstractmethod
    async def place(self, arm: Arm, folder: Path) -> PlacedArm:
        """Load an arm, bring the link up, verify. ``folder``: of the run. Raises
        :class:`~txop.campaign.placed_arm.ArmError`."""

    async def prepare(self, arm: Arm) -> None:
        """What comes before everything that records, as it ends it: the boot of another kernel. Raises
        :class:`~txop.campaign.placed_arm.ArmError`."""
        del arm

    @abstractmethod
    async def remove(self, folder: Path) -> list[str]:
        """Undo :meth:`place`, also a failed one; what could not be undone, in words."""

    async def reach(self) -> Reachability:
        """Nothing lies between this machine and the targets that could be lost."""
        return Reachability()

    @asynccontextmanager
    async def group(self, arm: Arm, runs: int) -> AsyncIterator[CarryOut]:
        """See :class:`~txop.campaign.testbed.Testbed`."""
        group = _Group(self, arm, runs)
        try:
            yield group.carry_out
        finally:
            await group.leave()


class _Group:
    """Runs of one arm, one after the other."""

    def __init__(self, testbed: StepByStep, arm: Arm, runs: int) -> None:
        self._testbed = testbed
        self._arm = arm
        self._to_come = runs
        self._earlier: PlacedArm | None = None
        """How a run finds the arm that an earlier one has put in place."""
        self._active: ActiveRun | None = None
        """The last run that may have left something in place."""

    async def carry_out(self, active: ActiveRun) -> None:
        """One run; the last one takes the arm away, as does one that could not put it in place."""
        self._active = active
        self._to_come -= 1
        try:
            with active.voided_by_failures():
                if self._earlier is None and self._arm.boot is not None:
                    active.reporter.phase("boot", None)
                    await self._testbed.prepare(self._arm)
                if self._testbed.turn is not None:
                    await self._testbed.turn.take(active.reporter)
                await _begin_early(active)
                active.placed = self._earlier or await self._put_in_place(active)
                active.warnings += active.placed.warnings
                await _go_through_phases(active)
        finally:
            active.reporter.phase("collect", None)
            for instrument in reversed(active.began):
                await active.guarded(instrument.stop(active.context), instrument)
            if self._testbed.turn is not None:
                await self._testbed.turn.leave()
        if self._to_come == 0 or active.placed is None:
            active.warnings += await self._take_away()
        elif active.lost is not None:
            self._earlier = self._active = None  # who brings the target back takes away what is left of the arm

    async def leave(self) -> None:
        """Take the arm away when the runs came to no regular end: cancelled, failed, stopped."""
        if self._active is not None:
            reporter = self._active.reporter
            for problem in await self._take_away():
                reporter.notice(problem)

    async def _put_in_place(self, active: ActiveRun) -> PlacedArm:
        active.reporter.phase("load", None)
        placed = await self._testbed.place(self._arm, active.context.folder)
        self._earlier = PlacedArm(None, placed.verified, no_seconds="an earlier run of the block loaded it")
        return placed

    async def _take_away(self) -> list[str]:
        active, self._active, self._earlier = self._active, None, None
        return [] if active is None else await self._testbed.remove(active.context.folder)


async def _begin_early(active: ActiveRun) -> None:
    """Begin what has to see the arm come up."""
    for instrument in active.instruments:
        if isinstance(instrument, EarlyInstrument):
            active.began.append(instrument)
            await active.guarded(instrument.before_arm(active.context), instrument)


async def _go_through_phases(active: ActiveRun) -> None:
    """Idle, warm-up, window; with everything that records."""
    context, reporter = active.context, active.reporter
    plan, test, marks = context.plan, context.test, context.marks
    for instrument in active.instruments:
        if instrument not in active.began:
            active.began.append(instrument)
        await active.guarded(instrument.prepare(context), instrument)
    uptimes = await note_uptimes(context)
    await note_wall_clocks(context)
    marks.idle = time.monotonic()
    if plan.design.idle_s > 0:
        reporter.phase("idle", plan.design.idle_s)
        await asyncio.sleep(plan.design.idle_s)
    marks.load = time.monotonic()
    marks.wall_minus_monotonic_s = time.time() - time.monotonic()
    for instrument in active.instruments:
        await active.guarded(instrument.start(context), instrument)
    if active.void:
        return
    warm_up_s = plan.warm_up_s(test)
    reporter.phase("warm up", warm_up_s)
    await asyncio.sleep(max(0.0, marks.load + warm_up_s - time.monotonic()))
    marks.window = time.monotonic()
    reporter.phase("measure", test.duration_s)
    await asyncio.sleep(test.duration_s)
    for instrument in active.instruments:
        if isinstance(instrument, SelfEndingInstrument):
            await instrument.finished(context)
    marks.end = time.monotonic()
    jump_s = time.time() - time.monotonic() - marks.wall_minus_monotonic_s
    if abs(jump_s) > CLOCK_JUMP_S:
        active.void_for("clock-jumped", f"the clock of this machine was set by {jump_s:+.1f} s during the run")
    later = await note_uptimes(context, uptimes)
    await note_wall_clocks(context)
    for name, uptime in later.items():
        if name in uptimes and started_again(uptimes[name], uptime):
            active.void_for("target-rebooted", "it started again during the run", name)
