"""What a campaign works on: targets, and a way to carry out runs of an arm. One implementation for machines that run
drivers (:mod:`txop.campaign.machines`) and one for emulated links (:mod:`txop.campaign.emulated`), both driven from
outside (:mod:`txop.campaign.step_by_step`); one for guests, each of which goes through its run by itself
(:mod:`txop.campaign.guests`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from txop.campaign.course import Course
from txop.measure.instrument import Instrument
from txop.plan.model import Arm, Test
from txop.targets.contract import Targets

CarryOut = Callable[[Course], Awaitable[None]]
"""Carries out one run, up to the last of its files: puts its arm in place unless an earlier run has, idles, warms up,
measures, collects. What goes wrong voids the run (:meth:`~txop.campaign.course.Course.voided_by_failures`); only what
makes every further run impossible leaves as an exception."""


class Laboratory(Protocol):
    """The place where a campaign runs."""

    @property
    def targets(self) -> Targets:
        """The machines."""

    @property
    def peer_address(self) -> str:
        """Where traffic of the device under test goes."""

    @property
    def at_once(self) -> int:
        """How many runs of a block may go on side by side: more than one where they do not disturb each other."""

    @property
    def machine_per_run(self) -> bool:
        """Whether every run has machines of its own: no arm stays in place for the next one, and a pause between them
        is for nothing."""

    async def open(self) -> dict[str, dict[str, Any]]:
        """Connect everything; facts of each target. Raises :class:`~txop.targets.contract.TargetError`."""

    def instruments(self, test: Test) -> Sequence[Instrument]:
        """What records a run of this test, traffic last."""

    def group(self, arm: Arm, runs: int) -> AbstractAsyncContextManager[CarryOut]:
        """What carries out the next ``runs`` of an arm, for which it is put in place once. The last of them takes it
        away; at the end of the block it is gone in any case."""

    async def recover(self, target: str, *, cold: bool) -> bool:
        """Bring a target back that was lost or whose arm failed: connect again, then its reset hook, and with ``cold``
        its power-cycle hook. Whether it answers."""

    async def close(self) -> None:
        """Let go of everything. Never raises."""
