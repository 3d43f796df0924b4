"""Did a rate jump within a window? A driver that switches something on does that. This marks a run; it never feeds a
verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from txop.stats.ramp import MIN_SAMPLES, SHARE
from txop.stats.samples import Floats, finite
from txop.stats.steady import MAX_SAMPLES, effective_sample_size

MIN_SIDE = 2
"""Samples before the jump, and after it, at least."""
STANDARD_ERRORS = 6.0
"""More than a ramp takes: the place of the jump is the one of many that fits best."""


@dataclass(frozen=True)
class Step:
    """A window in which the rate jumped."""

    before: float
    """Mean before the jump."""
    after: float
    """Mean after it."""
    samples: int
    """Samples before it."""
    standard_errors: float
    """The difference, in standard errors of it; infinite where the series is such a step exactly."""


def step(series: ArrayLike) -> Step | None:
    """Where a window jumps from one level to another; ``None``: nowhere, or there are fewer than 6 samples.

    The place is the one that leaves the least spread around two means. The means differ by more than a tenth of the
    mean, and by more than six standard errors, by that spread and by the number of samples that are independent in it.
    How often that errs is measured by bench/ramp.py (docs/statistics.md).

    Raises:
        ValueError: no samples, too many, or one that is not finite.
    """
    x = finite(series, "series", at_most=MAX_SAMPLES)
    largest = float(np.abs(x).max())
    if x.size < MIN_SAMPLES or largest == 0:
        return None
    scaled: Floats = x / largest
    at = _best(scaled)
    before, after = float(scaled[:at].mean()), float(scaled[at:].mean())
    if abs(after - before) <= SHARE * abs(float(scaled.mean())):
        return None
    left = scaled - np.where(np.arange(x.size) < at, before, after)
    variance = float(left @ left) / (x.size - 3)
    independent = effective_sample_size(left) / x.size
    sides = (max(1.0, side * independent) for side in (at, x.size - at))
    error = math.sqrt(variance * sum(1 / side for side in sides))
    errors = abs(after - before) / error if error > 0 else math.inf
    return Step(largest * before, largest * after, at, errors) if errors > STANDARD_ERRORS else None


def _best(x: Floats) -> int:
    """Samples before the jump that leaves the least spread around two means."""
    before = np.arange(MIN_SIDE, x.size - MIN_SIDE + 1)
    after = x.size - before
    centred = np.cumsum(x - x.mean())[before - 1]
    # What two means in place of one take off the sum of squares: the centred sums of both sides are opposites.
    return int(before[int(np.argmax(centred**2 * (1 / before + 1 / after)))])
