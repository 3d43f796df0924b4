"""Which runs of an archive count in a comparison, and which figure of theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.origin import Origin


@dataclass(frozen=True)
class Counting:
    """The runs of one test that a comparison uses."""

    runs: list[RunFile]
    """Valid ones, in the order of blocks."""
    left_out: list[str]
    """Arms without a single valid run of this test; the other arms are compared without them."""

    def of(self, arm: str) -> list[RunFile]:
        """Those of one arm."""
        return [run for run in self.runs if run.arm == arm]

    @property
    def blocks(self) -> list[int]:
        """Their blocks."""
        return sorted({run.block for run in self.runs})


def counting(archive: Archive, test: str) -> Counting:
    """The runs of ``test`` that count: those of complete blocks; of imported figures, every valid run.

    An arm that never got through the test does not keep the others from being compared.
    """
    valid = [run for run in archive.runs if run.test == test and run.state == "valid"]
    there = {run.arm for run in valid}
    left_out = [arm.name for arm in archive.plan.arm if arm.name not in there]
    none_there = len(left_out) == len(archive.plan.arm)
    if none_there or all(run.origin is Origin.IMPORTED for run in valid):
        runs = valid
    else:
        runs = archive.counting(test, without=left_out)
    return Counting(sorted(runs, key=lambda run: (run.block, run.position, run.run)), left_out)


def figure_value(run: RunFile, key: str) -> float | None:
    """The figure of a run; ``math.inf`` when it is beyond every number, ``None`` when it is not available."""
    value = run.metrics.get(key)
    if value is None:
        return None
    return math.inf if value.infinite else value.value
