"""Order statistics of the Walsh averages (d_i + d_j)/2, i <= j, of a sample.

There are n(n+1)/2 of them: half a million for 1000 differences. Few values are all in a list; of many, the ones that
are asked for are selected from the sorted rows of the matrix without making it: each step takes the weighted median of
the rows' medians and leaves out at least a quarter of what is left (Johnson and Mizoguchi, SIAM J. Comput. 7 (1978),
147-153). Both ways give the same numbers to the last bit.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from txop.stats.samples import ROUNDING, Floats

LISTED = 64
"""Up to this many differences all averages are listed."""

_LEFT = 4
"""Once no more than this number of averages per difference is left, they are listed."""

Counts = NDArray[np.intp]


class WalshAverages:
    """The Walsh averages of ``d``, in order; those that are 0 up to rounding are exactly 0.

    >>> averages = WalshAverages(np.array([1.0, 3.0, 8.0]))
    >>> [averages.at(k) for k in range(averages.count)], averages.median(), averages.negative()
    ([1.0, 2.0, 3.0, 4.5, 5.5, 8.0], 3.75, 0)
    """

    def __init__(self, d: Floats) -> None:
        self.count = d.size * (d.size + 1) // 2
        self._zero = ROUNDING * float(np.abs(d).max())
        self._halves = np.sort(d / 2)
        self._listed = _list(self._halves) if d.size <= LISTED else None

    def at(self, k: int) -> float:
        """The one that has ``k`` others below it: 0 for the lowest."""
        return self._both(k)[0]

    def median(self) -> float:
        """The Hodges-Lehmann estimate of the centre."""
        if self.count % 2:
            return self.at(self.count // 2)
        low, high = self._both(self.count // 2 - 1)
        return (low + high) / 2

    def negative(self) -> int:
        """How many are below 0."""
        if self._listed is not None:
            return int(np.searchsorted(self._listed, -self._zero))
        below, up_to = _around(self._halves, -self._zero)
        near = _between(self._halves, below, up_to)
        return int((below - np.arange(below.size)).sum() + np.count_nonzero(near < -self._zero))

    def _both(self, k: int) -> tuple[float, float]:
        """The ``k``-th and, if there is one, the next; else twice the last."""
        if self._listed is not None:
            low, high = float(self._listed[k]), float(self._listed[min(k + 1, self.count - 1)])
        else:
            low, high = _select(self._halves, k)
        return self._rounded(low), self._rounded(high)

    def _rounded(self, average: float) -> float:
        return 0.0 if abs(average) <= self._zero else average


def _list(halves: Floats) -> Floats:
    first, second = _pairs(halves.size)
    listed: Floats = halves[first] + halves[second]
    listed.sort()
    return listed


@lru_cache(maxsize=LISTED)
def _pairs(n: int) -> tuple[Counts, Counts]:
    return np.triu_indices(n)


def _select(halves: Floats, k: int) -> tuple[float, float]:
    """The ``k``-th sum of two of the ascending ``halves``, and the next; row i holds the sums with j >= i."""
    n = halves.size
    rows = np.arange(n)
    start, end = rows, np.full(n, n)  # what is left of each row
    while (end - start).sum() > _LEFT * n:
        left = np.flatnonzero(end > start)
        middles = halves[left] + halves[(start[left] + end[left]) // 2]
        order = np.argsort(middles)
        weights = np.cumsum((end - start)[left][order])
        pivot = float(middles[order[np.searchsorted(weights, weights[-1] / 2)]])
        lower, up_to = _around(halves, pivot)
        if k < (lower - rows).sum():
            end = lower
        elif k >= (up_to - rows).sum():
            start = up_to
        else:
            start, end = np.maximum(start, lower), np.minimum(end, up_to)
            break
    sums = np.sort(_between(halves, start, end))
    place = k - int((start - rows).sum())
    low = float(sums[place])
    return low, float(sums[place + 1]) if place + 1 < sums.size else _next(halves, end, low)


def _next(halves: Floats, start: Counts, low: float) -> float:
    """The lowest sum from column ``start`` of each row on; ``low`` when nothing is left."""
    left = np.flatnonzero(start < halves.size)
    return float((halves[left] + halves[start[left]]).min()) if left.size else low


def _around(halves: Floats, limit: float) -> tuple[Counts, Counts]:
    """Columns of each row between which all sums lie that are ``limit``, or might be: the difference that is looked
    for is rounded, as is the sum."""
    rows = np.arange(halves.size)
    rounding = 4 * np.finfo(np.float64).eps * max(abs(limit), -float(halves[0]), float(halves[-1]))
    other = limit - halves
    lower = np.searchsorted(halves, other - rounding, side="left")
    up_to = np.searchsorted(halves, other + rounding, side="right")
    return np.maximum(lower, rows), np.maximum(up_to, rows)


def _between(halves: Floats, start: Counts, end: Counts) -> Floats:
    """The sums of each row from column ``start`` to before ``end``, in no order."""
    sizes = end - start
    row = np.repeat(np.arange(halves.size), sizes)
    column = np.arange(row.size) + np.repeat(start - (np.cumsum(sizes) - sizes), sizes)
    sums: Floats = halves[row] + halves[column]
    return sums
