"""Which runs of an archive count in a comparison, and which figure of theirs.

Two arms are compared over the blocks in which both have a valid run: what happened to a third arm in such a block does
not matter. A block that was repeated counts once, with the attempt in which the most arms are valid, so that all pairs
share their runs where they can. Neither choice looks at a figure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.core.origin import Origin


@dataclass(frozen=True)
class Pairing:
    """The blocks of two arms."""

    pairs: list[tuple[RunFile, RunFile]]
    """Valid runs of the first and of the second arm that share a block, in the order of blocks."""
    without: list[str]
    """Blocks of the design that gave no such pair, and why."""


@dataclass(frozen=True)
class Counting:
    """The runs of one test that a comparison uses."""

    test: str
    valid: list[RunFile]
    """Valid runs of the test."""
    void: list[RunFile]
    left_out: list[str]
    """Arms without a single valid run of this test; the other arms are compared without them."""
    paired: bool
    """By block; figures that were imported share none."""
    replaces: dict[int, int]
    """Blocks that repeat another one."""

    @cached_property
    def runs(self) -> list[RunFile]:
        """Those that count, in the order of blocks: with a valid run of another arm in their block, of imported figures
        and of a lone arm all valid ones."""
        there = {run.arm for run in self.valid}
        if not self.paired:
            counting = list(self.valid)
        elif len(there) < 2:
            counting = [run for arm in there for run in self.alone(arm)]
        else:
            used: set[str] = set()
            for attempts in self._attempts.values():
                done: set[tuple[str, str]] = set()
                for found in attempts:
                    fresh = [pair for pair in combinations(sorted(found), 2) if pair not in done]
                    done.update(fresh)
                    used.update(found[arm].run for pair in fresh for arm in pair)
            counting = [run for run in self.valid if run.run in used]
        return sorted(counting, key=lambda run: (run.block, run.position, run.run))

    def of(self, arm: str) -> list[RunFile]:
        """Those of one arm."""
        return [run for run in self.runs if run.arm == arm]

    def alone(self, arm: str) -> list[RunFile]:
        """Valid runs of one arm by itself, one for each block of the design; of imported figures all of them."""
        if not self.paired:
            return [run for run in self.valid if run.arm == arm]
        found = (next((each[arm] for each in attempts if arm in each), None) for attempts in self._attempts.values())
        return sorted((run for run in found if run is not None), key=lambda run: run.block)

    def pairing(self, first: str, second: str) -> Pairing:
        """The blocks in which both arms have a valid run."""
        pairs, without = [], []
        for block in sorted({*self._attempts, *(self._original(run.block) for run in self.void)}):
            attempts = self._attempts.get(block, [])
            both = next((each for each in attempts if first in each and second in each), None)
            if both is not None:
                pairs.append((both[first], both[second]))
                continue
            lacking = [arm for arm in (first, second) if not any(arm in each for each in attempts)]
            why = "; ".join(self._why(block, arm) for arm in lacking) or "valid runs in different attempts only"
            without.append(f"block {block}: {why}")
        return Pairing(sorted(pairs, key=lambda pair: pair[0].block), without)

    def _why(self, block: int, arm: str) -> str:
        gates = [v.gate for run in self.void if run.arm == arm and self._original(run.block) == block for v in run.void]
        named = ", ".join(dict.fromkeys(gates))
        return f"{arm}: void ({named})" if named else f"{arm}: no run"

    def _original(self, block: int) -> int:
        steps = 0
        while block in self.replaces and steps <= len(self.replaces):
            block, steps = self.replaces[block], steps + 1
        return block

    @cached_property
    def _attempts(self) -> dict[int, list[dict[str, RunFile]]]:
        """By block of the design: its attempts that hold a valid run, by arm; the fullest attempt first."""
        attempts: dict[int, dict[int, dict[str, RunFile]]] = {}
        for run in self.valid:
            attempts.setdefault(self._original(run.block), {}).setdefault(run.block, {})[run.arm] = run
        return {
            block: [found for _, found in sorted(of.items(), key=lambda item: (-len(item[1]), item[0]))]
            for block, of in attempts.items()
        }


def counting(archive: Archive, test: str) -> Counting:
    """The runs of ``test`` that count, of the arms that the plan has."""
    arms = [arm.name for arm in archive.plan.arm]
    mine = [run for run in archive.runs if run.test == test and run.arm in arms]
    valid = [run for run in mine if run.state == "valid"]
    there = {run.arm for run in valid}
    return Counting(
        test=test,
        valid=valid,
        void=[run for run in mine if run.state != "valid"],
        left_out=[arm for arm in arms if arm not in there],
        paired=not valid or any(run.origin is not Origin.IMPORTED for run in valid),
        replaces={run.block: run.replaces for run in mine if run.replaces is not None},
    )


def counted_runs(archive: Archive) -> set[str]:
    """Names of the runs that count, of all tests."""
    return {run.run for test in archive.plan.test for run in counting(archive, test.name).runs}


def figure_value(run: RunFile, key: str) -> float | None:
    """The figure of a run; ``math.inf`` when it is infinite, ``None`` when it is not available."""
    value = run.metrics.get(key)
    if value is None:
        return None
    return math.inf if value.infinite else value.value
