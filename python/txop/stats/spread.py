"""How values are spread: marks on outliers, distribution functions, and how their quantiles shift.

A lost packet is an infinite delay: it stays in the sample, so a distribution function levels off below 1 and high
quantiles become infinite. Dropping lost packets would reward the driver that loses them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from txop.stats.limits import MAX_BLOCKS
from txop.stats.samples import Floats, finite, not_nan, significance_level
from txop.stats.signed_rank import signed_rank

MARK_ABOVE = 5.0
NORMAL_MAD = 1.4826
"""Standard deviation of a normal distribution over its median absolute deviation."""
PROBABILITIES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
MAX_GRID = 10_000
MAX_DRAWS = 10_000


@dataclass(frozen=True)
class Marks:
    """Values far from the rest. A mark is shown; it excludes nothing."""

    far: NDArray[np.bool_]
    """By position: more than five robust standard deviations from the median."""
    median: float
    mad: float
    """Median absolute deviation from the median, unscaled."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Band:
    """Distribution function of several runs with a band."""

    grid: Floats
    mean: Floats
    """Mean of the runs' distribution functions: every run counts the same."""
    low: Floats
    high: Floats
    per_run: Floats
    """One row for each run."""
    confidence: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shift:
    """How one quantile of a run differs between two arms, over blocks."""

    probability: float
    estimate: float | None
    """Arm minus baseline, in the samples' unit; ``inf`` where packets are typically lost in one arm only, ``None``
    where some block lost them in both."""
    low: float | None
    """``None``: no interval, for the reason in ``warnings``."""
    high: float | None
    n: int
    warnings: tuple[str, ...] = ()


def mark_far(values: ArrayLike) -> Marks:
    """Mark values with ``|x - median| / (1.4826 * MAD) > 5``.

    With more than half of the values equal the MAD is 0 and says nothing: then nothing is marked, and a warning says
    so.

    Raises:
        ValueError: no values, or one that is not finite.
    """
    x = finite(values, "values")
    median = float(np.median(x))
    distance = np.abs(x - median)
    mad = float(np.median(distance))
    if mad == 0:
        odd = int(np.count_nonzero(distance))
        note = (f"more than half of the values are equal; the {odd} others are not judged",) if odd else ()
        return Marks(np.zeros(x.size, dtype=np.bool_), median, mad, note)
    return Marks(distance > MARK_ABOVE * NORMAL_MAD * mad, median, mad)


def ecdf(values: ArrayLike, grid: ArrayLike) -> Floats:
    """Share of ``values`` at or below each point of ``grid``; infinite values count and are never reached.

    Raises:
        ValueError: no values, one that is NaN, or a grid that is not finite or longer than :data:`MAX_GRID`.
    """
    x = np.sort(not_nan(values, "values"))
    points = finite(grid, "grid", at_most=MAX_GRID)
    shares: Floats = np.searchsorted(x, points, side="right") / x.size
    return shares


def cdf_band(
    runs: Sequence[ArrayLike], grid: ArrayLike, *, seed: int, confidence: float = 0.95, draws: int = 2000
) -> Band:
    """Mean distribution function of ``runs`` with a pointwise band from resampling whole runs.

    Packets of one run are alike, so packets are never resampled. With few runs a resampled band is too narrow (six
    runs: about 86 % instead of 95 %): it is for the eye, and no verdict uses it.

    Raises:
        ValueError: no runs, too many, a run with no values or with NaN, a bad grid, or more than 10,000 draws.
    """
    alpha = significance_level(confidence)
    if not 0 < len(runs) <= MAX_BLOCKS:
        raise ValueError(f"a band takes 1 to {MAX_BLOCKS} runs, got {len(runs)}")
    if not 0 < draws <= MAX_DRAWS:
        raise ValueError(f"a band takes 1 to {MAX_DRAWS} draws, got {draws}")
    points = finite(grid, "grid", at_most=MAX_GRID)
    per_run = np.array([ecdf(run, points) for run in runs])
    weights = np.random.default_rng(seed).multinomial(len(runs), [1 / len(runs)] * len(runs), size=draws) / len(runs)
    low, high = np.empty(points.size), np.empty(points.size)
    for start in range(0, points.size, 500):
        part = slice(start, start + 500)
        low[part], high[part] = np.quantile(weights @ per_run[:, part], [alpha / 2, 1 - alpha / 2], axis=0)
    mean = per_run.mean(axis=0)
    few = (f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}: the band is too narrow",) if len(runs) < 10 else ()
    return Band(points, mean, np.minimum(low, mean), np.maximum(high, mean), per_run, confidence, few)


def quantile(values: ArrayLike, probability: float) -> float:
    """Smallest value with at least ``probability`` of the sample at or below it; infinite where that many are lost.

    Raises:
        ValueError: no values, one that is NaN, or a probability outside 0 to 1.
    """
    return _quantile(np.sort(not_nan(values, "values")), probability)


def quantile_shifts(
    baseline_runs: Sequence[ArrayLike],
    arm_runs: Sequence[ArrayLike],
    *,
    probabilities: Sequence[float] = PROBABILITIES,
    confidence: float = 0.95,
) -> tuple[Shift, ...]:
    """For each probability, the arm's quantile minus the baseline's within each block, summarised over blocks.

    The i-th runs of both arms share a block. Estimate and interval are those of
    :func:`~txop.stats.signed_rank.signed_rank`, for each probability alone. As soon as a quantile is infinite in some
    run, only the median difference is given.

    Raises:
        ValueError: arms with different numbers of runs, none, too many, or a run that is empty or has NaN.
    """
    if len(baseline_runs) != len(arm_runs):
        raise ValueError(f"{len(baseline_runs)} baseline runs and {len(arm_runs)} arm runs do not form blocks")
    if not 0 < len(arm_runs) <= MAX_BLOCKS:
        raise ValueError(f"a comparison takes 1 to {MAX_BLOCKS} blocks, got {len(arm_runs)}")
    before = [np.sort(not_nan(run, "baseline run")) for run in baseline_runs]
    after = [np.sort(not_nan(run, "arm run")) for run in arm_runs]
    return tuple(
        _shift(
            probability,
            [(_quantile(b, probability), _quantile(a, probability)) for b, a in zip(before, after, strict=True)],
            confidence,
        )
        for probability in probabilities
    )


def _quantile(ascending: Floats, probability: float) -> float:
    if not 0 <= probability <= 1:
        raise ValueError(f"a quantile's probability is between 0 and 1, not {probability}")
    # The subtraction undoes the rounding of products such as 0.07 * 100 = 7.000000000000001.
    return float(ascending[max(0, math.ceil(probability * ascending.size - 1e-9) - 1)])


def _shift(probability: float, blocks: list[tuple[float, float]], confidence: float) -> Shift:
    n = len(blocks)
    infinite = sum(not (math.isfinite(b) and math.isfinite(a)) for b, a in blocks)
    if not infinite:
        result = signed_rank([a - b for b, a in blocks], confidence=confidence)
        if math.isfinite(result.low):
            return Shift(probability, result.estimate, result.low, result.high, n, result.warnings)
        return Shift(probability, result.estimate, None, None, n, result.warnings)
    warning = f"this quantile is infinite (lost packets) in {infinite} of {n} blocks: no interval"
    if any(math.isinf(b) and math.isinf(a) for b, a in blocks):
        return Shift(probability, None, None, None, n, (warning,))
    ascending = sorted(a - b for b, a in blocks)
    middle = ascending[(n - 1) // 2] / 2 + ascending[n // 2] / 2
    return Shift(probability, None if math.isnan(middle) else middle, None, None, n, (warning,))
