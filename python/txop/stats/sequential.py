"""Looks at a campaign before its end, registered before it begins, at levels that keep its error rate: exact for the
signed-rank statistic.

The differences of blocks come one after the other. Where nothing differs, each has either sign with equal probability,
and the rank of its size among those so far is any with equal probability, if blocks are alike (seeds of exact guests
are). So the arrangement of signs in order of size is a Markov chain on 2^n states, and how likely any of several looks
decides is counted, not estimated. Looks spend the error rate after Lan and DeMets (Biometrika 70, 1983) with their
function of Pocock's type: alpha ln(1 + (e - 1) t) after the share t of the blocks.

Several comparisons are judged together by Holm's procedure at each look. Levels are chosen so that for every number j
of comparisons in which nothing differs, each of these is called different at any look with a probability of alpha / j
at most; and an interval that lies within a margin, at any look, is wrong with alpha / 2 at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from txop.stats.samples import Floats, significance_level
from txop.stats.signed_rank import null_cdf

MOST_COUNTED = 16
"""Blocks up to which looks are counted. A campaign with more has no look beyond, but its end, for which the sum of what
was spent and what is left holds whatever the dependence."""
ABOVE = 1e-9
"""By so much of itself a level is above the value of p that it stands for, so that rounding decides nothing."""
STEP = 2
"""Blocks from one look to the next."""


@dataclass(frozen=True)
class Look:
    """A look after so many blocks."""

    blocks: int
    level: float
    """Two-sided p of one comparison, at most, with which it is called different when it is the least of all."""
    family: int
    """Comparisons judged together."""
    spent: float
    """How likely it or an earlier one calls one comparison different in which nothing differs, where nothing differs in
    any."""

    @property
    def confidence(self) -> float:
        """What a comparison of all of them with Holm's procedure has to be asked for, to judge at this level."""
        return 1.0 - self.family * self.level


@lru_cache(maxsize=32)
def looks(blocks: int, confidence: float, family: int) -> tuple[Look, ...]:
    """The looks of a campaign, the last one at its end; empty: so few blocks can decide nothing.

    Args:
        blocks: Of the plan.
        confidence: Of the whole.
        family: Comparisons judged together.

    Raises:
        ValueError: ``confidence`` is not between 0 and 1, or another is below 1.

    >>> [look.blocks for look in looks(12, 0.95, 2)], looks(6, 0.95, 2)
    ([7, 9, 11, 12], ())
    """
    alpha = significance_level(confidence)
    if blocks < 1 or family < 1:
        raise ValueError("there are no comparisons")
    first = next((n for n in range(1, blocks + 1) if 2 * null_cdf(n)[0] <= alpha / family), None)
    if first is None:
        return ()
    places = {*range(first, min(blocks, MOST_COUNTED) + 1, STEP), blocks}
    found: list[Look] = []
    chain = _Chain(family)
    for n in range(1, min(blocks, MOST_COUNTED) + 1):
        chain.grow()
        if n in places:
            level = chain.highest_level(alpha, n / blocks)
            if level is not None:
                chain.stop(level)
                found.append(Look(n, level, family, float(chain.stopped[-1])))
    if blocks > MOST_COUNTED:
        level = _left(blocks, alpha, chain.stopped)
        if level is not None:
            found.append(Look(blocks, level, family, float(chain.stopped[-1]) + level))
    return tuple(found)


def _left(blocks: int, alpha: float, stopped: Floats) -> float | None:
    """The level at the end of many blocks, of what earlier looks left."""
    family = stopped.size
    left = min((alpha / j - stopped[j - 1]) * j / family for j in range(1, family + 1))
    return float(left) if left >= 2 * null_cdf(blocks)[0] else None


class _Chain:
    """The signs of the differences so far, in order of their size, while nothing was decided."""

    def __init__(self, family: int) -> None:
        self._family = family
        self._n = 0
        self._mass: Floats = np.ones((family, 1))
        """By how many of the family differ in nothing (less one), and by arrangement: a bit for each difference, set
        where it is positive, that of the smallest first."""
        self.stopped: Floats = np.zeros(family)
        """How likely one comparison was decided, by the same number."""

    def grow(self) -> None:
        """One more block."""
        n, mass = self._n, self._mass
        grown = np.zeros((self._family, 2 << n))
        for rank in range(n + 1):
            # the new one has this rank: arrangements of the smaller ones stay, those of the larger ones move up
            view = grown.reshape(self._family, 1 << (n - rank), 2, 1 << rank)
            view += mass.reshape(self._family, 1 << (n - rank), 1, 1 << rank)
        self._n, self._mass = n + 1, grown / (2 * (n + 1))

    def highest_level(self, alpha: float, share: float) -> float | None:
        """The highest level at which a look after this share of the blocks keeps to the error rate; ``None``: none
        does."""
        cdf, p = null_cdf(self._n), self._p()
        budget = alpha * math.log1p((math.e - 1) * share)
        best = None
        for count in range(cdf.size // 2):
            level = 2 * float(cdf[count]) * (1 + ABOVE)
            for j in range(1, self._family + 1):
                spent = self.stopped[j - 1] + self._mass[j - 1][p <= level * self._family / j].sum()
                if spent > budget / j * (1 + 1e-12):
                    return best
            best = level
        return best

    def stop(self, level: float) -> None:
        """What is decided at this level does not go on."""
        p = self._p()
        for j in range(1, self._family + 1):
            decided = p <= level * self._family / j
            self.stopped[j - 1] += self._mass[j - 1][decided].sum()
            self._mass[j - 1][decided] = 0.0

    def _p(self) -> Floats:
        """Two-sided p of each arrangement."""
        arrangements = np.arange(1 << self._n)
        statistic = sum((arrangements >> bit & 1) * (bit + 1) for bit in range(self._n))
        cdf = null_cdf(self._n)
        p: Floats = np.minimum(1.0, 2 * cdf[np.minimum(statistic, cdf.size - 1 - statistic)])
        return p
