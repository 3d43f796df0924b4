"""Differences that are not symmetric: seen by their skewness, judged by the sign test.

The signed-rank test takes the differences to be symmetric around the effect. Where one arm now and then stalls they are
not. The sign test assumes nothing about their form: it asks whether the median is 0, and its interval is one of order
statistics (Hollander, Wolfe and Chicken, 3.4 to 3.6). It needs more blocks to see the same effect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from txop.stats.samples import ROUNDING, Floats, significance_level

STRONG_P = 0.01
"""Below this p-value of D'Agostino's test differences are called strongly skewed."""

FEWEST = 8
"""With fewer differences the test of the skewness does not hold (D'Agostino 1970)."""


@dataclass(frozen=True)
class SignTest:
    """The median of differences, and whether it is 0."""

    n: int
    """Differences other than 0."""
    median: float
    low: float | None
    """Ends of the interval for the median; ``None`` when so few values have none at the confidence asked."""
    high: float | None
    attained_confidence: float | None
    p: float
    """Exact, two-sided; differences of 0 are left out."""


def skewness(d: Floats) -> tuple[float, float] | None:
    """Sample skewness and the two-sided p-value of D'Agostino's test that normal differences are as skewed; ``None``
    for fewer than :data:`FEWEST` values, or equal ones."""
    n = d.size
    if n < FEWEST:
        return None
    size = float(np.abs(d).max())
    if size == 0:
        return None
    centred = d / size - float(np.mean(d / size))
    m2 = float(np.mean(centred**2))
    if m2 <= ROUNDING**2:
        return None
    g1 = float(np.mean(centred**3)) / m2**1.5
    y = g1 * math.sqrt((n + 1) * (n + 3) / (6.0 * (n - 2)))
    beta2 = 3.0 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2.0) * (n + 5) * (n + 7) * (n + 9))
    w2 = -1 + math.sqrt(2 * (beta2 - 1))
    delta = 1 / math.sqrt(0.5 * math.log(w2))
    alpha = math.sqrt(2.0 / (w2 - 1))
    z = delta * math.asinh(y / alpha)
    return g1, math.erfc(abs(z) / math.sqrt(2))


def sign_test(d: Floats, *, confidence: float) -> SignTest:
    """Test whether the median of ``d`` is 0, and give an interval for it."""
    from scipy.special import bdtr

    alpha = significance_level(confidence)
    ordered = np.sort(d)
    rounding = ROUNDING * float(np.abs(d).max())
    above, below = int(np.count_nonzero(d > rounding)), int(np.count_nonzero(d < -rounding))
    left = above + below
    p = min(1.0, 2 * float(bdtr(min(above, below), left, 0.5))) if left else 1.0
    # The interval from the k-th smallest to the k-th largest misses the median with probability 2 P(B < k).
    k = 0
    while k < d.size // 2 and 2 * float(bdtr(k, d.size, 0.5)) <= alpha * (1 + ROUNDING):
        k += 1
    if k == 0:
        return SignTest(left, float(np.median(d)), None, None, None, p)
    attained = 1 - 2 * float(bdtr(k - 1, d.size, 0.5))
    return SignTest(left, float(np.median(d)), float(ordered[k - 1]), float(ordered[-k]), attained, p)
