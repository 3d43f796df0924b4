"""The figures of an import at a glance: for each test, arm and metric the median of its runs, how many have it, and
what it was read from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from txop.core.metrics import METRICS, describe
from txop.exchange.imported import ImportedRun


@dataclass
class Figure:
    """One metric of the runs of one arm in one test."""

    test: str
    arm: str
    metric: str
    unit: str
    values: list[float] = field(default_factory=list)
    infinite: int = 0
    """Runs in which it is infinite: a quantile among lost probes."""
    missing: int = 0
    """Runs that do not have it."""
    sources: dict[str, None] = field(default_factory=dict)
    """In order, each once."""
    reasons: dict[str, None] = field(default_factory=dict)
    """Why it is missing."""

    @property
    def title(self) -> str:
        """What it is, in words."""
        return describe(self.metric).title

    @property
    def n(self) -> int:
        """How many runs have it."""
        return len(self.values) + self.infinite

    @property
    def median(self) -> float | None:
        """The median of the runs, of two in the middle their mean; ``None`` where it is infinite or there is none."""
        if not self.n:
            return None
        ordered = [*sorted(self.values), *([float("inf")] * self.infinite)]
        middle = median(ordered)
        return None if middle == float("inf") else middle


def figures_of(runs: Iterable[tuple[str, str, ImportedRun]]) -> list[Figure]:
    """The figures of runs, each with the names of its arm and test, in the order of tests, arms and metrics."""
    found: dict[tuple[str, str, str], Figure] = {}
    order = {key: at for at, key in enumerate(METRICS)}
    for arm, test, run in runs:
        for key, value in run.metrics.items():
            figure = found.setdefault((test, arm, key), Figure(test, arm, key, value.unit))
            if value.value is not None:
                figure.values.append(value.value)
            elif value.infinite:
                figure.infinite += 1
            else:
                figure.missing += 1
                figure.reasons[value.reason or "not available"] = None
            figure.sources[value.source] = None
    places = {test: at for at, test in enumerate(dict.fromkeys(test for test, _, _ in found))}
    return sorted(found.values(), key=lambda each: (places[each.test], each.arm, order.get(each.metric, len(order))))
