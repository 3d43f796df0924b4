"""Detects a rise or fall within a window. This marks a run; it never feeds a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from txop.stats.samples import Floats, finite
from txop.stats.steady import MAX_SAMPLES, effective_sample_size

MIN_SAMPLES = 6
SHARE = 0.1
"""Share of the mean: a smaller difference between the first third of a window and its last is not a ramp."""
STANDARD_ERRORS = 4.0
"""Standard errors of that difference; a difference of fewer can come from correlated noise."""
TREND_P = 0.01
BENDS = (2.0, 4.0, 8.0)
"""Curves that a ramp is taken to follow, beside the line: 1 - exp(-bend * t), t from 0 to 1 over the window."""


@dataclass(frozen=True)
class Ramp:
    """A window that lies on a rise or a fall."""

    first: float
    """Mean of its first third."""
    last: float
    """Mean of its last third."""
    standard_errors: float
    """Their difference, in standard errors of it; infinite where the series is such a curve exactly."""
    p: float
    """Kendall's test for a trend, of the samples."""


def ramp(series: ArrayLike) -> Ramp | None:
    """Whether a window had not settled; ``None``: it had, or there are fewer than 6 samples.

    Three things must hold. The last third differs from the first by more than a tenth of the mean. That is more than
    four standard errors, by the spread around the best of four curves (a line, and three that level off) and by the
    number of samples that are independent in that spread: neighbouring samples are alike, and without it slow noise
    is taken for a ramp. And Kendall's test of the samples finds a trend (p < 0.01). How often that errs is measured
    by bench/ramp.py (docs/statistics.md).

    Raises:
        ValueError: no samples, too many, or one that is not finite.
    """
    x = finite(series, "series", at_most=MAX_SAMPLES)
    if x.size < MIN_SAMPLES:
        return None
    third = x.size // 3
    first, last = float(x[:third].mean()), float(x[-third:].mean())
    if abs(last - first) <= SHARE * abs(float(x.mean())):
        return None
    error = _standard_error(x, third)
    errors = abs(last - first) / error if error > 0 else math.inf
    if errors <= STANDARD_ERRORS:
        return None
    from scipy.stats import kendalltau

    p = float(kendalltau(np.arange(x.size), x).pvalue)
    return Ramp(first, last, errors, p) if p < TREND_P else None


def _standard_error(x: Floats, third: int) -> float:
    """The standard error of the difference of two thirds."""
    largest = float(np.abs(x).max())
    left = _spread(x / largest)
    sd = largest * math.sqrt(float(left @ left) / (x.size - 3))
    independent = max(1.0, effective_sample_size(left) * third / x.size)
    return sd * math.sqrt(2 / independent)


def _spread(x: Floats) -> Floats:
    """What is left of ``x`` around the curve that fits best."""
    t = np.linspace(0.0, 1.0, x.size)
    around = [_around(curve, x) for curve in (t, *(1 - np.exp(-bend * t) for bend in BENDS))]
    return min(around, key=lambda left: float(left @ left))


def _around(curve: Floats, x: Floats) -> Floats:
    """What is left of ``x`` around a multiple of ``curve`` and a constant."""
    centred: Floats = curve - curve.mean()
    left: Floats = x - x.mean() - centred * (float(centred @ x) / float(centred @ centred))
    return left
