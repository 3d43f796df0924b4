"""Noise whose neighbouring samples are alike, for tests of what marks a series."""

from __future__ import annotations

import math

import numpy as np


def slow_noise(n: int, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """A stationary AR(1) series with mean 0 and variance 1."""
    steps = rng.normal(0, 1, n)
    x = np.empty(n)
    x[0] = steps[0]
    for i in range(1, n):
        x[i] = correlation * x[i - 1] + math.sqrt(1 - correlation**2) * steps[i]
    return x
