"""Tests whether the difference between two arms changes with the order of the blocks.

Randomised blocks keep a drift of *both* arms out of the verdict. What they cannot keep out is an effect that itself
changes (an arm that heats up, a leak): then one number for the effect hides something, and that is reported.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from txop.stats.samples import ROUNDING, Floats, finite, midranks

EXACT_UP_TO = 9
"""Up to this many blocks the p-value counts all orders; beyond it, and with ties, it uses Student's t."""


@dataclass(frozen=True)
class Drift:
    """Spearman's rank correlation of the block's position with the difference."""

    rho: float
    p: float
    """Two-sided."""
    exact: bool


def drift(differences: ArrayLike) -> Drift | None:
    """Correlate ``differences``, in the order of their blocks, with that order.

    ``None`` when there is nothing to see: fewer than four blocks, or differences that are all the same.

    Raises:
        ValueError: no values, or one that is not finite.
    """
    d = finite(differences, "differences")
    n = d.size
    ranks = midranks(d, tolerance=ROUNDING * float(np.abs(d).max()))
    if n < 4 or np.all(ranks == ranks[0]):
        return None
    order = np.arange(1.0, n + 1)
    centred, order = ranks - ranks.mean(), order - order.mean()
    rho = float(centred @ order / math.sqrt((centred @ centred) * (order @ order)))
    rho = max(-1.0, min(1.0, rho))
    if n <= EXACT_UP_TO and np.unique(ranks).size == n:
        return Drift(rho, float(np.mean(_null_sizes(n) >= abs(rho) - 1e-9)), exact=True)
    from scipy.special import stdtr

    if abs(rho) > 1 - ROUNDING:
        return Drift(rho, 0.0, exact=False)
    t = abs(rho) * math.sqrt((n - 2) / (1 - rho * rho))
    return Drift(rho, min(1.0, float(2 * stdtr(n - 2, -t))), exact=False)


@lru_cache(maxsize=8)
def _null_sizes(n: int) -> Floats:
    """|rho| of every order of ``n`` ranks."""
    orders = np.array(list(itertools.permutations(range(1, n + 1))), dtype=np.float64)
    distance = ((orders - np.arange(1, n + 1)) ** 2).sum(axis=1)
    sizes: Floats = np.abs(1 - 6 * distance / (n * (n * n - 1)))
    return sizes
