"""Rank statistics of many values by the normal distribution, with continuity and tie correction.

Both statistics are sums of ranks, symmetric around their mean under no effect. The correction for continuity is half a
step of the statistic (Hollander, Wolfe and Chicken, 3.1 and 4.1); ties enter through the variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from txop.stats.samples import Floats


@dataclass(frozen=True)
class Approximation:
    """A statistic that counts from 0, with the mean and standard deviation that it has under no effect."""

    mean: float
    sd: float

    def two_sided_p(self, statistic: float) -> float:
        """Probability of a value as far from the mean as ``statistic``, or farther."""
        if self.sd == 0:
            return 1.0
        far = max(0.0, abs(statistic - self.mean) - 0.5)
        return min(1.0, 2 * _below(-far / self.sd))

    def tail_count(self, alpha: float) -> int:
        """How many values of the statistic together have at most ``alpha / 2``; the rank of the interval's ends."""
        from scipy.special import ndtri

        return max(0, math.floor(self.mean + 0.5 + float(ndtri(alpha / 2)) * self.sd))

    def attained(self, k: int) -> float:
        """Confidence of the interval with ends that are the ``k``-th from each side."""
        return 1.0 if k == 0 else 1 - 2 * _below((k - 0.5 - self.mean) / self.sd)


def signed_ranks(n: int) -> Approximation:
    """The signed-rank statistic of ``n`` values without ties, as the interval takes it."""
    return Approximation(n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24))


def tied_signed_ranks(ranks: Floats) -> Approximation:
    """The same for the ranks of values that may be tied: every sign is equally likely."""
    return Approximation(float(ranks.sum()) / 2, math.sqrt(float(ranks @ ranks)) / 2)


def two_samples(m: int, n: int) -> Approximation:
    """The Mann-Whitney statistic of samples of ``m`` and ``n`` without ties."""
    return Approximation(m * n / 2, math.sqrt(m * n * (m + n + 1) / 12))


def tied_two_samples(ranks: Floats, m: int) -> Approximation:
    """The same, when ``m`` of these ranks, which may be tied, are dealt to the first sample."""
    total = ranks.size
    n = total - m
    spread = float(((ranks - ranks.mean()) ** 2).sum()) / (total * (total - 1))
    return Approximation(m * n / 2, math.sqrt(m * n * spread))


def _below(z: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(z))
