"""One sample, or the differences of pairs: exact Wilcoxon signed-rank test, Hodges-Lehmann estimate, exact interval.

The test and the interval are one thing, seen from two sides. Let *W* be the n(n+1)/2 Walsh averages (d_i + d_j)/2, i
<= j, in order. Without ties the number of them on one side of the true centre has the signed-rank distribution,
whatever the symmetric distribution of *d*. So [W_(k), W_(M+1-k)] covers the centre with probability 1 - 2 P(V < k),
and the p-value for 0 is twice the probability of as few Walsh averages as lie on the thinner side of 0. (Hollander,
Wolfe and Chicken, Nonparametric Statistical Methods, 3rd edition, 3.1 to 3.3.)

Ties and zeros, where R's ``wilcox.test`` leaves exactness for a normal approximation:

- The p-value stays exact: zeros are left out, as in R, tied sizes share their ranks, and all 2^n signs are counted
  (Streitberg and Roehmel 1986). It equals that of R's package coin.
- The interval stays the closed one above. Breaking ties by an infinitesimal push can only put fewer Walsh averages on
  either side of the centre than "at or beyond" counts, so its confidence is never less than stated (Noether 1967). It
  errs on the safe side, and can end at 0 where p is small.

Beyond :data:`~txop.stats.limits.EXACT_PAIRS` pairs the distribution is taken to be normal (:mod:`txop.stats.normal`),
and the result says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from txop.stats import normal
from txop.stats.limits import EXACT_PAIRS, MAX_BLOCKS
from txop.stats.samples import ROUNDING, Floats, finite, midranks, significance_level
from txop.stats.walsh import WalshAverages

MANY_PAIRS = (
    f"more than {EXACT_PAIRS} pairs: p-value and interval by the normal approximation, with continuity and tie "
    "correction"
)


@dataclass(frozen=True)
class SignedRank:
    """Result of :func:`signed_rank`; numbers in the unit of the sample."""

    n: int
    estimate: float
    """Hodges-Lehmann pseudo-median: the median of the Walsh averages."""
    low: float
    """Lower end of the interval; ``-inf`` when the sample is too small for the confidence asked."""
    high: float
    confidence: float
    """What was asked for."""
    attained_confidence: float
    """What the interval has: at least ``confidence``; the distribution is discrete."""
    p: float
    """Two-sided p-value for the centre being 0. Without ties and zeros it is at most ``1 - confidence`` exactly when
    the interval excludes 0."""
    warnings: tuple[str, ...] = ()


def signed_rank(differences: ArrayLike, *, confidence: float = 0.95) -> SignedRank:
    """Test whether ``differences`` are centred on 0, and estimate their centre.

    Raises:
        ValueError: no values, more than :data:`~txop.stats.limits.MAX_BLOCKS`, or one that is not finite.
    """
    d = finite(differences, "differences", at_most=MAX_BLOCKS)
    alpha = significance_level(confidence)
    n = d.size
    walsh = WalshAverages(d)
    many = n > EXACT_PAIRS
    cdf = None if many else null_cdf(n)
    k = normal.signed_ranks(n).tail_count(alpha) if cdf is None else tail_count(cdf, alpha)
    warnings = [MANY_PAIRS] if many else []
    if k == 0:
        low, high = -np.inf, np.inf
        warnings.append(f"{n} {'pair' if n == 1 else 'pairs'} can never give p <= {alpha:.3g}, so there is no interval")
    else:
        low, high = walsh.at(k - 1), walsh.at(walsh.count - k)
    rounding = ROUNDING * float(np.abs(d).max())
    left = d[np.abs(d) > rounding]
    ranks = midranks(np.abs(left), tolerance=rounding)
    if left.size < n:
        warnings.append(f"{n - left.size} of {n} differences are 0; the p-value leaves them out")
    if np.unique(ranks).size < left.size:
        warnings.append("some differences are tied; the interval errs on the safe side")
    if cdf is None:
        p = normal.tied_signed_ranks(ranks).two_sided_p(float(ranks[left > 0].sum()))
    elif left.size == n and np.unique(ranks).size == n:
        p = two_sided_p(cdf, walsh.negative())
    else:
        p = two_sided_p(*_tied(ranks, left > 0)) if left.size else 1.0
    return SignedRank(
        n=n,
        estimate=walsh.median(),
        low=float(low),
        high=float(high),
        confidence=confidence,
        attained_confidence=normal.signed_ranks(n).attained(k) if cdf is None else attained(cdf, k),
        p=p,
        warnings=tuple(warnings),
    )


def _tied(ranks: Floats, positive: NDArray[np.bool_]) -> tuple[Floats, int]:
    """Distribution of twice the positive rank sum when every sign is equally likely, and that sum as it was."""
    return doubled_cdf(ranks), int(np.rint(2 * ranks[positive]).sum())


def doubled_cdf(ranks: Floats) -> Floats:
    """Distribution of twice the positive rank sum of these ranks, tied or not, when every sign is equally likely."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    mass: Floats = np.ones(1)
    for weight in doubled:
        longer = np.zeros(mass.size + weight)
        longer[: mass.size] += mass
        longer[weight:] += mass
        mass = longer / 2
    return np.cumsum(mass)


@lru_cache(maxsize=64)
def null_cdf(n: int) -> Floats:
    """P(V <= v) for v = 0 to n(n+1)/2, with V the signed-rank statistic of ``n`` values without ties."""
    mass: Floats = np.ones(1)
    for rank in range(1, n + 1):
        longer = np.zeros(mass.size + rank)
        longer[: mass.size] += mass
        longer[rank:] += mass
        mass = longer / 2
    cdf = np.cumsum(mass)
    cdf.flags.writeable = False
    return cdf


def tail_count(cdf: Floats, alpha: float) -> int:
    """How many values of the statistic together have at most ``alpha / 2``; the rank of the interval's ends."""
    return int(np.searchsorted(cdf, alpha / 2 * (1 + ROUNDING), side="right"))


def attained(cdf: Floats, k: int) -> float:
    """Confidence of the interval with ends that are the ``k``-th from each side; 1 for the whole line (``k`` = 0)."""
    return 1.0 if k == 0 else float(1 - 2 * cdf[k - 1])


def two_sided_p(cdf: Floats, statistic: int) -> float:
    """Twice the smaller tail, for a statistic with the symmetric distribution ``cdf`` on 0 to ``cdf.size - 1``."""
    return min(1.0, 2 * float(cdf[min(statistic, cdf.size - 1 - statistic)]))
