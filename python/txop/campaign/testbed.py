"""What a campaign works on: targets, and a way to carry out runs of an arm. One implementation for machines that run
drivers (:mod:`txop.campaign.machines`) and one for emulated links (:mod:`txop.campaign.emulated`), both driven from
outside (:mod:`txop.campaign.step_by_step`); one for guests, each of which goes through its run by itself
(:mod:`txop.campaign.guests`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from txop.campaign.active_run import ActiveRun
from txop.measure.instrument import Instrument
from txop.plan.arm import Arm
from txop.plan.measurement import Test
from txop.targets.contract import Targets

CarryOut = Callable[[ActiveRun], Awaitable[None]]
"""Carries out one run, up to the last of its files: puts its arm in place unless an earlier run has, idles, warms up,
measures, collects. What goes wrong voids the run (:meth:`ActiveRun.voided_by_failures`); only what makes every further
run impossible leaves as an exception."""


@dataclass(frozen=True)
class Reachability:
    """Which targets answer, before a run."""

    again: tuple[str, ...] = ()
    """Those that were gone and are connected again."""
    lost: tuple[str, ...] = ()
    """Those that do not answer."""


class Looks(Protocol):
    """Looks at a campaign before its end, each of which may end it."""

    def registered(self, blocks: int) -> Mapping[str, object] | None:
        """What the journal has of the look after so many blocks; ``None``: none is registered there."""

    def decided(self, blocks: int) -> bool:
        """Whether what there is after so many blocks decides it. The journal has the look already."""


@runtime_checkable
class Prepared(Protocol):
    """A testbed that knows what it took to make ready."""

    @property
    def spent(self) -> Mapping[str, float]:
        """Seconds of this machine's: ``build_s`` for drivers and images, ``start_s`` for guests that are saved."""


class Testbed(Protocol):
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

    async def reach(self) -> Reachability:
        """Ask every target for a sign of life, and connect those again that are gone. No hook is run."""

    async def recover(self, target: str) -> bool:
        """Bring a lost target back: connect again; only when that fails its reset hook, and then its power-cycle hook.
        Whether it answers. What a lost connection left half undone is undone."""

    async def reset(self, target: str, *, cold: bool) -> bool:
        """Reset a target that answers, because its arm failed: by its reset hook, with ``cold`` by its power-cycle
        hook. Whether it answers."""

    async def close(self) -> None:
        """Let go of everything. Never raises."""
