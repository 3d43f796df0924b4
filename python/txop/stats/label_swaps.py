"""Many figures of two arms judged together: which of them moved, with one error rate for all.

If two builds do not differ, nobody can tell which of them a block's runs are of: the two labels of a block can be
swapped, and every choice of blocks gives figures that are just as likely as those that were measured. So the share of
these choices in which *any* of the figures looks as clear as this one is an exact p-value, whatever the distribution
of the figures and however they depend on each other (Fisher 1935; Westfall and Young, Resampling-based multiple
testing, 1993, single-step and step-down maximum; Romano and Wolf 2005). Several readings of one quantity cost nothing,
as they move together.

Figures that were declared before the campaign have their own test (:mod:`txop.stats.holm`). For the others,
:func:`adjusted` counts a choice against a figure also when it would give a verdict on a declared one, unless a declared
figure has a verdict already. So at most alpha of campaigns without any difference name a figure at all, declared or
not; with what is :data:`RESERVED`, 1.02 alpha.

A figure's effect is measured in its own standard errors (Student's t of its differences, as the normal quantile of the
same probability), so that figures with different units, noise and numbers of blocks can be compared with each other.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from txop.stats import normal
from txop.stats.limits import EXACT_PAIRS
from txop.stats.samples import ROUNDING, Floats, midranks
from txop.stats.signed_rank import doubled_cdf

EXACT_BLOCKS = 14
"""Up to this many blocks all choices are counted; beyond, :data:`DRAWS` of them are drawn."""
DRAWS = 10_000
"""The measured labels and 9,999 random choices: a p-value of 0.05 then has a standard error of 0.002."""
SEED = 20261129
RESERVED = 50
"""One part in so many of alpha is for figures that were not declared, whatever those that were leave: one that is so
clear has a verdict also beside a declared figure that is all noise."""
ESTIMATED_BLOCKS = 60
"""Beyond this many blocks the estimate of a random choice is the mean of its differences in place of the
Hodges-Lehmann estimate: labels that were swapped at random leave differences that are symmetric around 0."""
_CHUNK = 2_000_000
"""Averages of pairs that are held at once."""


@dataclass(frozen=True)
class Declared:
    """What a declared figure needs for a verdict."""

    level: float
    """Largest p-value; that of the first step where several are adjusted together."""
    margin: float
    """Smallest estimate, on the axis of the values."""


class Swaps(Protocol):
    """Choices of labels, the measured ones first, and what figures show with each."""

    @property
    def choices(self) -> int:
        """How many there are."""

    def sizes(self, figure: int) -> Floats:
        """Size of the effect of a figure in its standard errors, for each choice; 0 or more, or infinite."""

    def verdicts(self, figure: int, declared: Declared) -> NDArray[np.bool_]:
        """Whether the figure would have a verdict, for each choice."""


def adjusted(swaps: Swaps, figures: Sequence[int], declared: Mapping[int, Declared]) -> list[float]:
    """Adjusted p-values of ``figures``, in their order.

    Args:
        swaps: The choices of labels.
        figures: Those that are looked at, as ``swaps`` numbers them.
        declared: Declared figures that have no verdict yet; empty where one of them has.
    """
    if not figures:
        return []
    sizes = np.array([swaps.sizes(figure) for figure in figures])
    taken = _taken(swaps, declared)
    order = np.argsort(-sizes[:, 0], kind="stable")
    found = [1.0] * len(figures)
    largest = np.zeros(sizes.shape[1])
    shares = []
    for place in order[::-1]:  # from the least clear: the maximum over those that are no clearer
        largest = np.maximum(largest, sizes[place])
        shares.append(_share(largest >= sizes[place, 0] * (1 - 1e-9), taken))
    least = 0.0
    for place, share in zip(order, shares[::-1], strict=True):
        least = max(least, share)
        found[int(place)] = least
    return found


def least(swaps: Swaps, declared: Mapping[int, Declared]) -> float:
    """The smallest p-value that :func:`adjusted` can give any figure, however clear it is."""
    measured = np.zeros(swaps.choices, dtype=np.bool_)
    measured[0] = True
    return _share(measured, _taken(swaps, declared))


def _share(as_clear: NDArray[np.bool_], taken: NDArray[np.bool_]) -> float:
    """The share of choices that count against a figure."""
    return float(min(np.mean(taken | as_clear), RESERVED * np.mean(as_clear)))


def _taken(swaps: Swaps, declared: Mapping[int, Declared]) -> NDArray[np.bool_]:
    """The choices that would give a verdict on a declared figure."""
    taken = np.zeros(swaps.choices, dtype=np.bool_)
    for figure, what in declared.items():
        taken |= swaps.verdicts(figure, what)
    return taken


class BlockSwaps:
    """Swaps of the labels within blocks. Shapes: choices x blocks x figures."""

    def __init__(self, differences: Sequence[Mapping[Any, float]]) -> None:
        """``differences``: of each figure its difference in each block that has one, finite."""
        blocks = list(dict.fromkeys(block for each in differences for block in each))
        place = {block: index for index, block in enumerate(blocks)}
        self._d = np.zeros((len(blocks), len(differences)))
        self._known = np.zeros(self._d.shape, dtype=np.bool_)
        self._scale: list[float] = []
        for column, each in enumerate(differences):
            size = max((abs(value) for value in each.values()), default=0.0) or 1.0
            for block, value in each.items():
                self._d[place[block], column] = value / size
                self._known[place[block], column] = True
            self._scale.append(size)
        self._blocks = len(blocks)

    @property
    def choices(self) -> int:
        """As :attr:`Swaps.choices`."""
        return len(self._signs)

    @cached_property
    def _signs(self) -> NDArray[np.int8]:
        """Choices x blocks; by symmetry the first block keeps its labels."""
        if self._blocks <= EXACT_BLOCKS:
            codes = np.arange(2 ** max(0, self._blocks - 1))[:, None]
            bits = (codes >> np.arange(self._blocks)[None, :]) & 1
            return (1 - 2 * bits).astype(np.int8)
        signs = np.random.default_rng(SEED).integers(0, 2, (DRAWS, self._blocks), dtype=np.int8) * 2 - 1
        signs[0] = 1
        return signs

    @cached_property
    def _sums(self) -> Floats:
        """Choices x figures."""
        return self._signed(self._d)

    def _signed(self, values: Floats) -> Floats:
        """``values`` (blocks x anything) added up with the signs of each choice."""
        parts = np.array_split(self._signs, max(1, self._signs.size // _CHUNK))
        return np.concatenate([part.astype(np.float64) @ values for part in parts])

    def sizes(self, figure: int) -> Floats:
        """As :meth:`Swaps.sizes`."""
        n = int(self._known[:, figure].sum())
        squares = float((self._d[:, figure] ** 2).sum())
        if n < 2 or squares == 0:
            return np.zeros(len(self._signs))
        found = _t(np.minimum(self._sums[:, figure] ** 2 / (squares * n), 1.0), n - 1)
        if n == int(self._known.sum(axis=0).max()):
            return found
        from scipy.special import ndtri

        return np.minimum(found, -float(ndtri(2.0**-n)))  # of fewer blocks than others: no clearer than they allow

    def verdicts(self, figure: int, declared: Declared) -> NDArray[np.bool_]:
        """As :meth:`Swaps.verdicts`, by the exact signed-rank test."""
        d = np.where(np.abs(self._d[:, figure]) <= ROUNDING, 0.0, self._d[:, figure])
        ranks = np.zeros(d.size)
        ranks[d != 0] = midranks(np.abs(d[d != 0]), tolerance=ROUNDING) if d.any() else 0.0
        statistic = np.abs(self._signed(np.sign(d) * ranks))
        found = _p_values(statistic, ranks[d != 0]) <= declared.level * (1 + 1e-9)
        known = self._known[:, figure]
        smallest = declared.margin / self._scale[figure] * (1 - 1e-9)
        n = int(known.sum())
        i, j = np.triu_indices(n)
        for part in np.array_split(np.flatnonzero(found), max(1, int(found.sum()) * i.size // _CHUNK)):
            flipped = self._signs[np.ix_(part, known)] * d[known]
            if n > ESTIMATED_BLOCKS:
                estimates = flipped.mean(axis=1)
            else:
                estimates = np.median((flipped[:, i] + flipped[:, j]) / 2, axis=1)
            found[part] = np.abs(estimates) >= smallest
        return found


@dataclass(frozen=True)
class Samples:
    """One figure of two arms with runs that share no blocks."""

    group: Hashable
    """Figures of one group are of the same runs, such as those of one test."""
    baseline: Mapping[Any, float]
    """By run."""
    arm: Mapping[Any, float]


class RunSwaps:
    """Swaps of labels among the runs of each group: random choices of as many runs for each arm as there are."""

    def __init__(self, samples: Sequence[Samples]) -> None:
        self._samples = samples
        runs: dict[Hashable, tuple[dict[Hashable, None], dict[Hashable, None]]] = {}
        for each in samples:
            first, second = runs.setdefault(each.group, ({}, {}))
            first.update(dict.fromkeys(each.baseline))
            second.update(dict.fromkeys(each.arm))
        rng = np.random.default_rng(SEED)
        self._places: dict[Hashable, dict[Hashable, int]] = {}
        self._labels: dict[Hashable, NDArray[np.bool_]] = {}
        """By group, choices x runs: whether a run has the label of the arm."""
        for group, (first, second) in runs.items():
            self._places[group] = {run: at for at, run in enumerate([*first, *second])}
            labels = np.zeros(len(first) + len(second), dtype=np.bool_)
            labels[len(first) :] = True
            drawn = rng.permuted(np.tile(labels, (DRAWS, 1)), axis=1)
            drawn[0] = labels
            self._labels[group] = drawn

    @property
    def choices(self) -> int:
        """As :attr:`Swaps.choices`."""
        return DRAWS

    def _of(self, figure: int) -> tuple[Floats, NDArray[np.bool_]]:
        """The values, and choices x values: which of them are the arm's."""
        each = self._samples[figure]
        values = {**each.baseline, **each.arm}
        places = self._places[each.group]
        return np.array(list(values.values())), self._labels[each.group][:, [places[run] for run in values]]

    def sizes(self, figure: int) -> Floats:
        """As :meth:`Swaps.sizes`: Student's t of two samples of one variance."""
        values, labels = self._of(figure)
        values = (values - values.mean()) / (float(np.abs(values - values.mean()).max()) or 1.0)
        n, arm = values.size, labels.sum(axis=1)
        between = np.zeros(len(labels))
        both = (arm > 0) & (arm < n)
        sums = labels @ values
        between[both] = sums[both] ** 2 * n / (arm[both] * (n - arm[both]))
        total = float((values**2).sum())
        if n < 3 or total <= ROUNDING:
            return np.zeros(len(labels))
        return _t(np.minimum(between / total, 1.0), n - 2)

    def verdicts(self, figure: int, declared: Declared) -> NDArray[np.bool_]:
        """As :meth:`Swaps.verdicts`, by the rank sum, with a distribution that is that of the choices themselves."""
        values, labels = self._of(figure)
        ranks = midranks(values, tolerance=ROUNDING * float(np.abs(values).max()))
        arm = labels.sum(axis=1)
        statistic = np.abs(labels @ ranks - arm * (values.size + 1) / 2)
        found = _upper_shares(statistic) <= _with_slack(declared.level)
        for at in np.flatnonzero(found):
            theirs, mine = values[~labels[at]], values[labels[at]]
            shift = np.median(mine[:, None] - theirs[None, :]) if theirs.size and mine.size else 0.0
            found[at] = abs(float(shift)) >= declared.margin * (1 - 1e-9)
        return found


def _t(share: Floats, freedom: int) -> Floats:
    """Size of Student's t for the share of the squares that the effect explains, as the normal quantile of the same
    probability: with few blocks a large t is no rarity."""
    from scipy.special import ndtri, stdtr

    rest = 1 - share
    rest[rest <= ROUNDING] = 0
    with np.errstate(divide="ignore"):
        t = np.where(rest == 0, math.inf, np.sqrt(freedom * share / np.where(rest == 0, 1, rest)))
        z: Floats = np.where(np.isinf(t), math.inf, -ndtri(stdtr(freedom, -t)))
    return z


def _p_values(statistic: Floats, ranks: Floats) -> Floats:
    """Two-sided p-values of signed rank sums, given their size."""
    if ranks.size == 0:
        return np.ones(statistic.size)
    if ranks.size > EXACT_PAIRS:
        positive = (ranks.sum() + statistic) / 2
        values, place = np.unique(positive, return_inverse=True)
        distribution = normal.tied_signed_ranks(ranks)
        return np.array([distribution.two_sided_p(float(value)) for value in values])[place]
    cdf = doubled_cdf(ranks)
    smaller = np.rint(ranks.sum() - statistic).astype(np.int64)
    p_values: Floats = np.minimum(1.0, 2 * cdf[np.clip(smaller, 0, cdf.size - 1)])
    return p_values


def _with_slack(level: float) -> float:
    """``level``, with three standard errors of a share of random choices, so that it errs on the safe side."""
    return level * (1 + 1e-9) + 3 * math.sqrt(level * (1 - level) / DRAWS)


def _upper_shares(statistic: Floats) -> Floats:
    """For each value the share of values that are as large, which is its p-value."""
    ordered = np.sort(statistic)
    below = np.searchsorted(ordered, statistic * (1 - 1e-9) - 1e-12, side="left")
    return (statistic.size - below) / statistic.size
