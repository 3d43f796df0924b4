"""Checks samples, in one place."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

LARGEST = 1e100
"""No figure of a driver is larger; the bound keeps squares and differences finite."""

ROUNDING = 1e-12
"""Differences smaller than this share of the largest value are rounding, and count as zero."""


def finite(values: ArrayLike, what: str, *, at_most: int | None = None) -> Floats:
    """``values`` as a new vector of finite floats; ``what`` names it in the error.

    Raises:
        ValueError: not one-dimensional, empty, more than ``at_most`` values, or a value that is NaN, infinite or
            beyond :data:`LARGEST`.
    """
    vector = not_nan(values, what)
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise ValueError(
            f"{what}: value {bad[0] + 1} of {vector.size} is {vector[bad[0]]}; "
            "only finite numbers can be compared: leave the run out for a recorded cause, or compare how often it fails"
        )
    if np.abs(vector).max() > LARGEST:
        raise ValueError(f"{what}: a value of {np.abs(vector).max():.3g} is too large to be a measurement")
    if at_most is not None and vector.size > at_most:
        raise ValueError(
            f"{what}: {vector.size} values are more than the {at_most} this test takes; "
            "a value here is one whole run: are these samples from inside a run?"
        )
    return vector


def not_nan(values: ArrayLike, what: str) -> Floats:
    """``values`` as a new vector of floats that may hold infinities, such as the delay of a lost packet.

    Raises:
        ValueError: not one-dimensional, empty, or a value that is NaN.
    """
    vector = np.array(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError(f"{what}: expected a list of numbers, got {vector.ndim} dimensions")
    if not vector.size:
        raise ValueError(f"{what}: there are no values")
    bad = np.flatnonzero(np.isnan(vector))
    if bad.size:
        raise ValueError(f"{what}: value {bad[0] + 1} of {vector.size} is not a number")
    return vector


def significance_level(confidence: float) -> float:
    """The error rate that belongs to ``confidence``, such as 0.05 for 0.95.

    Raises:
        ValueError: ``confidence`` is not between 0 and 1.
    """
    if not (math.isfinite(confidence) and 0 < confidence < 1):
        raise ValueError(f"confidence must be between 0 and 1, such as 0.95; got {confidence}")
    return 1.0 - confidence


def midranks(values: Floats, *, tolerance: float = 0.0) -> Floats:
    """Ranks from 1; values no further than ``tolerance`` from their neighbour are tied and share the mean of their
    ranks."""
    order = np.argsort(values, kind="stable")
    starts = np.concatenate(([True], np.diff(values[order]) > tolerance))
    last = np.append(np.flatnonzero(starts)[1:], values.size)
    first = np.flatnonzero(starts) + 1
    ranks = np.empty(values.size)
    ranks[order] = ((first + last) / 2)[np.cumsum(starts) - 1]
    return ranks
