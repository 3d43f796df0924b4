"""How an effect of several causes divides among them: Shapley values, and bootstrap intervals over samples.

The Shapley value of a cause is the mean of what it adds, over all orders in which the causes can be added (L. S.
Shapley, "A Value for n-Person Games", 1953). Values of all causes sum to the whole effect.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import factorial
from statistics import fmean

Corner = frozenset[int]

RESAMPLES = 4000
_SEED = 20261130
"""The same archive gives the same interval."""
MIN_SAMPLES = 6
"""With fewer there is no interval: a sign alone is chance more often than 1 in 20."""


@dataclass(frozen=True)
class Effect:
    """A mean over samples, and its interval."""

    mean: float
    low: float | None
    high: float | None
    """``None``: fewer than :data:`MIN_SAMPLES` samples."""


def shapley(value: Mapping[Corner, float], causes: int) -> list[float]:
    """The Shapley value of each cause; ``value`` has every set of causes.

    >>> shapley({frozenset(): 10, frozenset({0}): 20, frozenset({1}): 10, frozenset({0, 1}): 40}, 2)
    [20.0, 10.0]
    """
    found = []
    for cause in range(causes):
        others = [each for each in range(causes) if each != cause]
        total = 0.0
        for size in range(causes):
            weight = factorial(size) * factorial(causes - size - 1) / factorial(causes)
            for chosen in itertools.combinations(others, size):
                without = frozenset(chosen)
                total += weight * (value[without | {cause}] - value[without])
        found.append(total)
    return found


def alone(value: Mapping[Corner, float], cause: int) -> float:
    """What a cause does by itself."""
    return value[frozenset({cause})] - value[frozenset()]


def last(value: Mapping[Corner, float], cause: int, causes: int) -> float:
    """What it adds where all others are there."""
    everything = frozenset(range(causes))
    return value[everything] - value[everything - {cause}]


def whole(value: Mapping[Corner, float], causes: int) -> float:
    """What all of them do together."""
    return value[frozenset(range(causes))] - value[frozenset()]


def together(value: Mapping[Corner, float], causes: int) -> float:
    """What they do together beyond the sum of what each does alone."""
    return whole(value, causes) - sum(alone(value, cause) for cause in range(causes))


def effect(values: Sequence[float], confidence: float = 0.95) -> Effect:
    """The mean of a value per sample, with a percentile interval of means of resampled values (B. Efron, 1979)."""
    mean = fmean(values)
    if len(values) < MIN_SAMPLES:
        return Effect(mean, None, None)
    draw = random.Random(_SEED)  # noqa: S311
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    cut = round((1 - confidence) / 2 * RESAMPLES)
    return Effect(mean, means[cut], means[-cut - 1])
