"""Two samples that share no blocks: exact Mann-Whitney test, Hodges-Lehmann shift, exact interval.

The same idea as in :mod:`txop.stats.signed_rank`, with the m*n differences ``arm_j - baseline_i`` in place of the
Walsh averages (Hollander, Wolfe and Chicken, 4.1 to 4.3). With ties R's ``wilcox.test(arm, baseline)`` takes a normal
approximation; here the p-value counts all ways to deal the tied ranks to the two samples, and the interval errs on
the safe side.

Anything that changed between the two sets of runs (temperature, neighbours, a rebooted access point) is in the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from txop.stats import normal
from txop.stats.limits import EXACT_RUNS, MAX_BLOCKS
from txop.stats.samples import ROUNDING, Floats, finite, midranks, significance_level
from txop.stats.signed_rank import attained, tail_count, two_sided_p

MANY_RUNS = (
    f"more than {EXACT_RUNS} runs of an arm: p-value and interval by the normal approximation, with continuity and tie "
    "correction"
)

UNPAIRED = "unpaired, drift not controlled"
"""Said with every result of this module."""


@dataclass(frozen=True)
class TwoSample:
    """Result of :func:`mann_whitney`; numbers in the unit of the samples."""

    n_baseline: int
    n_arm: int
    estimate: float
    """Hodges-Lehmann shift from baseline to arm: the median of all differences."""
    low: float
    """Lower end of the interval; ``-inf`` when there are too few runs for the confidence asked."""
    high: float
    confidence: float
    attained_confidence: float
    p: float
    """Two-sided p-value for no shift. Without ties it is at most ``1 - confidence`` exactly when the interval
    excludes 0."""
    warnings: tuple[str, ...] = (UNPAIRED,)


def mann_whitney(baseline: ArrayLike, arm: ArrayLike, *, confidence: float = 0.95) -> TwoSample:
    """Test whether ``arm`` is shifted against ``baseline``, and estimate by how much.

    Raises:
        ValueError: an empty sample, more than :data:`~txop.stats.limits.MAX_BLOCKS` values, or one that is not finite.
    """
    x = finite(baseline, "baseline", at_most=MAX_BLOCKS)
    y = finite(arm, "arm", at_most=MAX_BLOCKS)
    alpha = significance_level(confidence)
    shifts = (y[:, None] - x[None, :]).ravel()
    rounding = ROUNDING * max(float(np.abs(x).max()), float(np.abs(y).max()))
    shifts[np.abs(shifts) <= rounding] = 0.0
    shifts.sort()
    many = max(x.size, y.size) > EXACT_RUNS
    cdf = None if many else null_cdf(x.size, y.size)
    untied = normal.two_samples(x.size, y.size)
    k = untied.tail_count(alpha) if cdf is None else tail_count(cdf, alpha)
    warnings = [UNPAIRED, MANY_RUNS] if many else [UNPAIRED]
    if k == 0:
        low, high = -np.inf, np.inf
        warnings.append(f"{x.size} against {y.size} runs can never give p <= {alpha:.3g}, so there is no interval")
    else:
        low, high = shifts[k - 1], shifts[-k]
    ranks = midranks(np.concatenate((x, y)), tolerance=rounding)
    tied = np.unique(ranks).size < ranks.size
    if tied:
        warnings.append("some runs are tied; the interval errs on the safe side")
    if cdf is None:
        statistic = float(ranks[: x.size].sum()) - x.size * (x.size + 1) / 2
        p = normal.tied_two_samples(ranks, x.size).two_sided_p(statistic)
    elif tied:
        p = _tied_p(ranks, x.size)
    else:
        p = two_sided_p(cdf, int(np.count_nonzero(shifts < 0)))
    return TwoSample(
        n_baseline=x.size,
        n_arm=y.size,
        estimate=float(np.median(shifts)),
        low=float(low),
        high=float(high),
        confidence=confidence,
        attained_confidence=untied.attained(k) if cdf is None else attained(cdf, k),
        p=p,
        warnings=tuple(warnings),
    )


def null_cdf(m: int, n: int) -> Floats:
    """P(U <= u) for u = 0 to m*n, with U the Mann-Whitney statistic of samples of ``m`` and ``n`` without ties."""
    return _null_cdf(min(m, n), max(m, n))


@lru_cache(maxsize=32)
def _null_cdf(m: int, n: int) -> Floats:
    # The largest of i + j values belongs to the first sample with probability i / (i + j), and then exceeds all j
    # of the second: mass(i, j)[u] = i/(i+j) mass(i-1, j)[u-j] + j/(i+j) mass(i, j-1)[u].
    row = [np.ones(1) for _ in range(n + 1)]
    for i in range(1, m + 1):
        above, row = row, [np.ones(1)]
        for j in range(1, n + 1):
            mass = np.zeros(i * j + 1)
            mass[j:] = above[j] * (i / (i + j))
            mass[: row[-1].size] += row[-1] * (j / (i + j))
            row.append(mass)
    cdf = np.cumsum(row[n])
    cdf.flags.writeable = False
    return cdf


def _tied_p(ranks: Floats, m: int) -> float:
    """Share of the ways to choose ``m`` of ``ranks`` with a sum that is as far from the mean sum as that of the first
    ``m``."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    ours = doubled[:m]
    if 2 * m > ranks.size:
        ours, m = doubled[m:], ranks.size - m
    largest = int(np.sort(doubled)[-m:].sum())
    ways = np.zeros((m + 1, largest + 1))
    ways[0, 0] = 1
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, :-rank]
    mean = m * (ranks.size + 1)
    far = np.abs(np.arange(largest + 1) - mean) >= abs(int(ours.sum()) - mean)
    return min(1.0, float(ways[m, far].sum() / ways[m].sum()))
