"""The judge of a bisection: the verdict of :func:`txop.stats.verdict.compare_paired` on one figure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from txop.bisect.search import Judge, Judgement
from txop.core.metrics import Metric
from txop.stats.comparison import Comparison
from txop.stats.settings import ComparisonSettings
from txop.stats.verdict import compare_paired

LookingFor = Literal["worse", "better"]


def comparison_of(
    metric: Metric,
    confidence: float,
    baseline: Sequence[float],
    values: Sequence[float],
    names: tuple[str, str] = ("good", "candidate"),
) -> Comparison:
    """Two candidates compared on a figure, by the blocks that both have; ``names``: of the first and the second.

    Raises:
        ValueError: as :func:`~txop.stats.verdict.compare_paired` does.
    """
    return compare_paired(baseline, values, ComparisonSettings.of(metric, *names, confidence=confidence))


def judge_of(metric: Metric, confidence: float, looking_for: LookingFor) -> Judge:
    """The judge of a figure. With ``looking_for="better"`` the search is for what improved it, and an improvement
    counts as what a search for a regression calls worse."""

    @lru_cache(maxsize=4096)
    def judged(baseline: tuple[float, ...], values: tuple[float, ...]) -> Judgement:
        verdict = comparison_of(metric, confidence, baseline, values).verdict
        if verdict == looking_for:
            return Judgement.WORSE
        return Judgement.UNCLEAR if verdict == "inconclusive" else Judgement.NOT_WORSE

    return lambda baseline, values: judged(tuple(baseline), tuple(values))
