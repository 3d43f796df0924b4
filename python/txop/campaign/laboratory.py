"""What a campaign works on: targets, and a way to put an arm in place. One implementation for machines that run drivers
(:mod:`txop.campaign.machines`), one for emulated links (:mod:`txop.campaign.emulated`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from txop.measure.instrument import Instrument, RunContext
from txop.plan.model import Arm, Test
from txop.targets.contract import Targets


class ArmError(Exception):
    """An arm could not be put in place, or is not the one that was asked for."""

    def __init__(self, gate: str, cause: str, target: str = "dut") -> None:
        super().__init__(cause)
        self.gate = gate
        self.cause = cause
        self.target = target


@dataclass
class Placed:
    """An arm that is in place."""

    seconds: float | None
    """From the start of the load until it was up and verified; ``None``: see ``no_seconds``."""
    verified: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    clock: str = "clock of this machine"
    """By which ``seconds`` are counted."""
    no_seconds: str = "it never came up"
    """Why there are none: a trial of faults may find that, or an earlier run put the arm in place."""


class Laboratory(Protocol):
    """The place where a campaign runs."""

    @property
    def targets(self) -> Targets:
        """The machines."""

    @property
    def peer_address(self) -> str:
        """Where traffic of the device under test goes."""

    async def open(self) -> dict[str, dict[str, Any]]:
        """Connect everything; facts of each target. Raises :class:`~txop.targets.contract.TargetError`."""

    async def place(self, arm: Arm, folder: Path) -> Placed:
        """Load an arm, bring the link up, verify. ``folder``: of the run. Raises :class:`ArmError`."""

    async def remove(self, folder: Path) -> list[str]:
        """Undo :meth:`place`, also a failed one; what could not be undone, in words."""

    async def recover(self, target: str, *, cold: bool) -> bool:
        """Bring a target back that was lost or whose arm failed: connect again, then its reset hook, and with ``cold``
        its power-cycle hook. Whether it answers."""

    def instruments(self, test: Test) -> Sequence[Instrument]:
        """What records a run of this test, traffic last."""

    async def close(self) -> None:
        """Let go of everything. Never raises."""


@runtime_checkable
class RunsByItself(Protocol):
    """A laboratory in which a run, once begun, goes on without txop: nothing may come from outside while it lasts."""

    @property
    def at_once(self) -> int:
        """How many runs of a block may go on side by side: more than one where they do not disturb each other."""

    async def run_through(self, context: RunContext, placed: Placed, block: int) -> None:
        """Do all of a run: idle, warm-up, window. Leaves the files that the instruments read, and sets the marks, by
        the clock of the machine itself. Completes ``placed``, which had only been prepared.

        Raises :class:`ArmError` when the arm could not be put in place, :class:`~txop.targets.contract.TargetError`
        when something else went wrong.
        """
