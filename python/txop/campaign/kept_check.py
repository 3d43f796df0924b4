"""Whether runs that are kept are what a guest leaves here and now: some of them are run again, and compared."""

from __future__ import annotations

import random
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from txop.campaign.guest_runs import GuestOfRun
from txop.campaign.guests import GuestTestbed
from txop.campaign.reporter import Reporter
from txop.campaign.schedule import planned
from txop.guest.exactness import difference
from txop.guest.inputs import Inputs
from txop.guest.run_store import RunStore
from txop.measure.instrument import RunContext
from txop.plan.model import Plan


@dataclass(frozen=True)
class KeptRun:
    """A run of a plan that is kept."""

    block: int
    arm: str
    test: str
    inputs: Inputs


@dataclass(frozen=True)
class Compared:
    """A run that was run again."""

    run: KeptRun
    differs: str | None
    """Where; ``None``: the bytes are the same."""


class KeptCheck:
    """Runs of a plan's guests that are kept."""

    def __init__(self, plan: Plan, folder: Path, reporter: Reporter, store: RunStore) -> None:
        """``folder``: what file names in the plan are relative to."""
        self._plan = plan
        self._store = store
        self._testbed = GuestTestbed(plan, folder, reporter, 1, store)

    async def find(self) -> tuple[list[KeptRun], int]:
        """The runs of the plan that are kept, and how many it has. Builds what they take.

        Raises:
            TargetError: Something for it is missing.
            StoreError: The cache cannot be read.
        """
        await self._testbed.open()
        runs, found = 0, []
        for block in planned(self._plan):
            for arm, test in block.runs():
                runs += 1
                context = self._testbed.context(arm, test)
                inputs = self._guest(context, arm, block.number).inputs
                if inputs is not None and self._store.has(inputs.key):
                    found.append(KeptRun(block.number, arm, test, inputs))
        return found, runs

    async def compare(self, found: list[KeptRun], sample: int, seed: int) -> AsyncIterator[Compared]:
        """Run some of them again, drawn with a seed. One that differs is removed from the cache.

        Raises:
            ArmError: The guest failed.
            TargetError: The same.
            StoreError: The cache cannot be read.
        """
        chosen = found if sample >= len(found) else random.Random(seed).sample(found, sample)  # noqa: S311 - a sample
        for run in chosen:
            with tempfile.TemporaryDirectory(prefix="txop-cache-") as name:
                kept, again = Path(name) / "kept", Path(name) / "again"
                if self._store.take(run.inputs.key, kept) is None:
                    yield Compared(run, "it is damaged, and was removed")
                    continue
                what = self._guest(self._testbed.context(run.arm, run.test), run.arm, run.block)
                await self._testbed.arm(run.arm).run_again(what, again)
                differs = difference(kept, again)
                if differs is not None:
                    self._store.remove(run.inputs.key)
                yield Compared(run, differs)

    def _guest(self, context: RunContext, arm: str, block: int) -> GuestOfRun:
        return self._testbed.arm(arm).guest_of(context, self._testbed.instruments(context.test), block)
