"""The runs of a test: which of them count, which form pairs, and each figure's values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from txop.archive.counting import Counting
from txop.archive.run_file import Bound, RunFile
from txop.core.origin import Origin
from txop.plan.measurement import Test

Column = list[float | None]
"""A figure of each run of a test, by the run's place."""


@dataclass(frozen=True)
class Pairs:
    """The runs of two arms, by block."""

    blocks: list[tuple[int, RunFile | None, RunFile | None]]
    """Blocks in which either has a run, ascending."""
    places: list[tuple[int, int]]
    """For each of them the places of the two runs in a column; that of no run is the last, which has no figure."""
    excluded: list[str]
    """Blocks that hold no valid pair, with the reason."""
    names: frozenset[str]
    """Names of these runs."""
    whole: bool
    """The two arms have no other run, void or repeated."""


_SEEDED = frozenset({Origin.GUEST_EXACT, Origin.SIMULATED})
"""Origins with blocks that are seeds: the same seed gives the same figure at any time."""


@dataclass
class TestSet:
    """A test and its runs. What all its figures have in common is found once."""

    __test__ = False  # pytest: not a test case

    test: Test
    runs: list[RunFile]
    """Those that count."""
    all: list[RunFile]
    """These and the void and repeated ones."""
    count: Counting | None = None
    """Tells which runs of two arms form pairs; ``None``: all runs that share a block."""
    _pairs: dict[tuple[str, str], Pairs] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def in_time(self) -> bool:
        """Whether the order of its blocks is one in time, as where they are not seeds."""
        return not all(run.origin in _SEEDED for run in self.runs)

    def column(self, key: str) -> Column:
        """The figure of each of ``all``, and ``None`` behind them; ``math.inf`` when it is infinite."""
        return self._columns.get(key) or [None] * (len(self.all) + 1)

    def of(self, arm: str, column: Column) -> list[tuple[RunFile, float]]:
        """The runs of an arm that count and have the figure."""
        placed = self._counting_places.get(arm, ())
        return [(run, figure) for run, place in placed if (figure := column[place]) is not None]

    def in_blocks(self, arm: str, column: Column) -> dict[int, tuple[RunFile, float]]:
        """The runs of an arm that have the figure, with it, by block, void ones and repeats as well."""
        placed = ((run, column[self._places[run.run]]) for run in self._everything.get(arm, ()))
        return {run.block: (run, figure) for run, figure in placed if figure is not None}

    def has(self, run: RunFile, column: Column) -> bool:
        """Whether a run has the figure."""
        return column[self._places[run.run]] is not None

    def pairs(self, baseline: str, arm: str) -> Pairs:
        """The runs of two arms by block."""
        if (baseline, arm) not in self._pairs:
            self._pairs[baseline, arm] = self._pair(baseline, arm)
        return self._pairs[baseline, arm]

    def _pair(self, baseline: str, arm: str) -> Pairs:
        if self.count is None:
            x, y = ({run.block: run for run in self._counting.get(who, ())} for who in (baseline, arm))
            excluded: list[str] = []
        else:
            found = self.count.pairing(baseline, arm)
            x, y = {a.block: a for a, _ in found.pairs}, {b.block: b for _, b in found.pairs}
            excluded = list(found.without)
        names = frozenset(run.run for side in (x, y) for run in side.values())
        whole = all(run.run in names for who in (baseline, arm) for run in self._everything.get(who, ()))
        blocks = [(block, x.get(block), y.get(block)) for block in sorted(x.keys() | y.keys())]
        nowhere = len(self.all)
        places = [
            (nowhere if one is None else self._places[one.run], nowhere if other is None else self._places[other.run])
            for _, one, other in blocks
        ]
        return Pairs(blocks, places, excluded, names, whole)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {run.run: place for place, run in enumerate(self.all)}

    @cached_property
    def _counting_places(self) -> dict[str, list[tuple[RunFile, int]]]:
        places = self._places
        return {arm: [(run, places[run.run]) for run in runs] for arm, runs in self._counting.items()}

    @cached_property
    def _columns(self) -> dict[str, Column]:
        columns: dict[str, Column] = {}
        size = len(self.all) + 1
        for place, run in enumerate(self.all):
            for key, value in run.metrics.items():  # figure_value, a million times
                column = columns.get(key)
                if column is None:
                    column = columns[key] = [None] * size
                column[place] = math.inf if value.infinite else value.value
        return columns

    def sources(self, key: str) -> list[str]:
        """Where the figure comes from, in the runs that count and have it."""
        return sorted(self._sources.get(key, ()))

    @cached_property
    def _sources(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for run in self.runs:
            for key, value in run.metrics.items():
                if value.infinite or value.value is not None:
                    found.setdefault(key, set()).add(value.source)
        return found

    @cached_property
    def present(self) -> set[str]:
        """Arms that have a run."""
        return set(self._everything)

    @cached_property
    def _counting(self) -> dict[str, list[RunFile]]:
        return _by_arm(self.runs)

    @cached_property
    def _everything(self) -> dict[str, list[RunFile]]:
        return _by_arm(self.all)

    def bound_of(self, key: str, run: RunFile) -> Bound | None:
        """Which bound a figure of a run is; ``None``: the figure itself."""
        bounded = self._bounds.get(key)
        return bounded.get(run.run) if bounded else None

    def bound(self, key: str, arm: str) -> Bound | None:
        """Which bound a figure is in any run of an arm that counts."""
        if key not in self._bounds:
            return None
        return next((b for run in self._counting.get(arm, ()) if (b := self.bound_of(key, run))), None)

    @cached_property
    def _bounds(self) -> dict[str, dict[str, Bound]]:
        """By metric and run, those figures that are bounds."""
        found: dict[str, dict[str, Bound]] = {}
        for run in self.all:
            for key, value in run.metrics.items():
                if value.bound is not None:
                    found.setdefault(key, {})[run.run] = value.bound
        return found


def _by_arm(runs: Sequence[RunFile]) -> dict[str, list[RunFile]]:
    found: dict[str, list[RunFile]] = {}
    for run in runs:
        found.setdefault(run.arm, []).append(run)
    return found
