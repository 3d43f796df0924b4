"""A run that is being carried out: its context, its instruments, and what has gone wrong so far."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from txop.archive.run_file import Reused, Voiding
from txop.campaign.placed_arm import ArmError, PlacedArm
from txop.campaign.reporter import Reporter
from txop.core.origin import Start
from txop.measure.instrument import Instrument, RunContext
from txop.targets.contract import TargetError, TargetLostError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
"""Errors of the archive that end a campaign: no further run could be kept."""

STEP_TIMEOUT_S = 60.0
"""For one step of one instrument."""


@dataclass(frozen=True)
class RunLabel:
    """Which run it is."""

    run: str
    block: int
    position: int
    arm: str
    test: str
    replaces: int | None = None


@dataclass
class ActiveRun:
    """A run that is being carried out by a testbed. Whatever goes wrong voids it, with the cause."""

    label: RunLabel
    context: RunContext
    instruments: Sequence[Instrument]
    reporter: Reporter
    began: list[Instrument] = field(default_factory=list)
    """Instruments with files to read: those that have begun, in that order."""
    void: list[Voiding] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    placed: PlacedArm | None = None
    """How the arm was put in place; ``None``: it was not."""
    lost: str | None = None
    """Target that was lost."""
    start: Start | None = None
    """Where it began; ``None``: not in a guest."""
    spent: dict[str, float] = field(default_factory=dict)
    """Seconds of this machine's, by field of :class:`~txop.archive.run_file.RunTiming`."""
    reused: Reused | None = None
    """What its files are from; ``None``: it is run."""

    def void_for(self, gate: str, cause: str, target: str | None = None) -> None:
        """Void the run."""
        self.void.append(Voiding(gate=gate, cause=cause, target=target))

    @contextmanager
    def voided_by_failures(self) -> Iterator[None]:
        """Within it, an arm or a target that fails ends the block and voids the run."""
        try:
            yield
        except ArmError as error:
            self.void_for(error.gate, error.cause, error.target)
        except TargetLostError as error:
            self.lost = error.target
            self.void_for("target-lost", error.what, error.target)
        except TargetError as error:
            self.void_for("instrument-failed", error.what, error.target)

    async def guarded(self, step: Awaitable[None], instrument: Instrument) -> None:
        """Do a step of an instrument. Failures void the run when the instrument is essential, else they are
        warnings."""
        try:
            async with asyncio.timeout(STEP_TIMEOUT_S):
                await step
        except TargetLostError as error:
            self.lost = error.target
            if instrument.essential or not self.void:
                self.void_for("target-lost", error.what, error.target)
        except (TargetError, TimeoutError, ValueError) as error:
            what = error.what if isinstance(error, TargetError) else f"{type(error).__name__} {error}".strip()
            if instrument.essential:
                self.void_for("traffic-failed", f"{instrument.name}: {what}", getattr(error, "target", None))
            else:
                self.warnings.append(f"{instrument.name}: {what}")
        except OSError as error:
            if error.errno in FULL:
                raise
            self.warnings.append(f"{instrument.name}: {error.strerror or error}")
