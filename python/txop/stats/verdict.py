"""Two arms compared on one metric: effect, interval, p-value, and a verdict against a margin.

:func:`compare_paired` is the method; :func:`compare_unpaired` is for old runs that share no blocks. :func:`with_holm`
then adjusts all comparisons that were declared primary, and takes back verdicts that do not survive.

On the ``ratio`` scale each block gives d = log(arm / baseline), and results are turned back into percent; on the
``difference`` scale d = arm - baseline, in the metric's unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from txop.core.metrics import Scale
from txop.stats.comparison import Comparison, Verdict
from txop.stats.drift import drift
from txop.stats.holm import holm
from txop.stats.limits import MAX_BLOCKS
from txop.stats.samples import LARGEST, ROUNDING, Floats, finite, significance_level
from txop.stats.settings import ComparisonSettings
from txop.stats.signed_rank import signed_rank
from txop.stats.skew import STRONG_P, SignTest, sign_test, skewness
from txop.stats.spread import mark_far
from txop.stats.two_sample import mann_whitney


def compare_paired(
    baseline: ArrayLike,
    arm: ArrayLike,
    settings: ComparisonSettings,
) -> Comparison:
    """Compare one figure of two arms, block by block; the i-th values share a block, in the order the blocks were run.

    Raises:
        ValueError: arms of different length, no blocks or more than 1000, a value that is not finite, a bad margin.
    """
    x = finite(baseline, settings.baseline_name, at_most=MAX_BLOCKS)
    y = finite(arm, settings.arm_name, at_most=MAX_BLOCKS)
    if x.size != y.size:
        raise ValueError(
            f"{settings.baseline_name} has {x.size} runs and {settings.arm_name} {y.size}: they do not form blocks; "
            "leave incomplete blocks out, or compare them unpaired"
        )
    significance_level(settings.confidence)
    axis = _Axis.choose(x, y, settings.scale, settings.margin, settings.unit)
    d = axis.to(y) - axis.to(x)
    largest = 1.0 if axis.scale == "ratio" else max(float(np.abs(x).max()), float(np.abs(y).max()))
    d[np.abs(d) <= ROUNDING * largest] = 0.0
    n = d.size
    result = signed_rank(d, confidence=settings.confidence)
    notes = list(axis.warnings)
    if n == 1:
        notes.append("n=1: one run of each arm says nothing about chance")
    else:
        notes += result.warnings
    size = float(np.abs(d).max()) or 1.0
    sd = float(np.std(d / size, ddof=1)) * size if n > 1 else None
    if sd is not None and sd <= ROUNDING * size:
        sd = 0.0
        notes.append("all blocks differ by exactly the same amount: these runs are not independent replicates")
    found = drift(d) if sd and settings.in_time else None
    skewed = skewness(d) if sd else None
    sign = None
    if skewed is not None and skewed[1] <= STRONG_P:
        sign = _in_unit(sign_test(d, confidence=settings.confidence), axis)
    marks = mark_far(d)
    marked = tuple(int(index) for index in np.flatnonzero(marks.far))
    unmarked = axis.back(signed_rank(d[~marks.far]).estimate) if marked else None
    bounded = math.isfinite(result.low)
    return _judged(
        Comparison(
            baseline_name=settings.baseline_name,
            arm_name=settings.arm_name,
            paired=True,
            scale=axis.scale,
            unit=axis.unit,
            better=settings.better,
            margin=axis.margin,
            confidence=settings.confidence,
            n=n,
            n_baseline=n,
            n_arm=n,
            estimate=axis.back(result.estimate),
            low=axis.back(result.low) if bounded else None,
            high=axis.back(result.high) if bounded else None,
            attained_confidence=result.attained_confidence if bounded else None,
            p=result.p if n > 1 else None,
            p_adjusted=None,
            points=tuple(map(axis.back, d.tolist())),
            marked=marked,
            sd_d=None if sd is None else sd * axis.hundred,
            drift=found,
            verdict=None,
            small_but_real=False,
            notes=tuple(notes),
            skewness=skewed[0] if skewed is not None and sign is not None else None,
            sign=sign,
            differences=tuple(d.tolist()),
            axis_margin=axis.least_margin,
            estimate_unmarked=unmarked,
        )
    )


def _in_unit(found: SignTest, axis: _Axis) -> SignTest:
    return replace(
        found,
        median=axis.back(found.median),
        low=None if found.low is None else axis.back(found.low),
        high=None if found.high is None else axis.back(found.high),
    )


def compare_unpaired(
    baseline: ArrayLike,
    arm: ArrayLike,
    settings: ComparisonSettings,
) -> Comparison:
    """Compare one figure of two arms with runs that share no blocks, such as old results.

    Whatever changed between the two sets of runs is in the result, and every result says so. What it could have
    detected is not known, so ``smallest_detectable_effect`` and ``blocks_needed`` are ``None``.

    Raises:
        ValueError: an arm with no runs or more than 1000, a value that is not finite, a bad margin.
    """
    x = finite(baseline, settings.baseline_name, at_most=MAX_BLOCKS)
    y = finite(arm, settings.arm_name, at_most=MAX_BLOCKS)
    significance_level(settings.confidence)
    axis = _Axis.choose(x, y, settings.scale, settings.margin, settings.unit)
    result = mann_whitney(axis.to(x), axis.to(y), confidence=settings.confidence)
    n = min(x.size, y.size)
    notes = [*axis.warnings, *result.warnings]
    if n == 1:
        notes.append("n=1: a single run says nothing about chance")
    bounded = math.isfinite(result.low) and n > 1
    return _judged(
        Comparison(
            baseline_name=settings.baseline_name,
            arm_name=settings.arm_name,
            paired=False,
            scale=axis.scale,
            unit=axis.unit,
            better=settings.better,
            margin=axis.margin,
            confidence=settings.confidence,
            n=n,
            n_baseline=x.size,
            n_arm=y.size,
            estimate=axis.back(result.estimate),
            low=axis.back(result.low) if bounded else None,
            high=axis.back(result.high) if bounded else None,
            attained_confidence=result.attained_confidence if bounded else None,
            p=result.p if n > 1 else None,
            p_adjusted=None,
            points=(),
            marked=(),
            sd_d=None,
            drift=None,
            verdict=None,
            small_but_real=False,
            notes=tuple(notes),
            samples=(tuple(axis.to(x).tolist()), tuple(axis.to(y).tolist())),
            axis_margin=axis.least_margin,
        )
    )


def with_holm(comparisons: Sequence[Comparison], *, declared: int = 0) -> tuple[Comparison, ...]:
    """Adjust the p-values of all comparisons that were declared primary, and judge each again.

    Pass every one, with or without a p-value; leaving out the dull ones makes the others look better than they are.
    ``declared``: how many there were to be, when some could not be made; they count in the family all the same.
    Intervals stay those of a single comparison.
    """
    family = max(declared, len(comparisons), 1)
    adjusted = holm([*(comparison.p for comparison in comparisons), *[None] * (family - len(comparisons))])
    return tuple(
        _judged(replace(comparison, p_adjusted=p, family=family))
        for comparison, p in zip(comparisons, adjusted, strict=False)
    )


def with_adjusted(comparison: Comparison, p: float | None) -> Comparison:
    """``comparison`` with a p-value adjusted by other means, such as :func:`txop.stats.label_swaps.adjusted`, and
    judged by it. What it could have detected, and the blocks it needs, are not known then."""
    return _judged(replace(comparison, p_adjusted=p, has_power=False))


def not_judged(comparison: Comparison, note: str) -> Comparison:
    """``comparison`` as one of a figure that explains, for the reason in ``note``."""
    return _judged(replace(comparison, better=None, notes=(*comparison.notes, note)))


def _judged(c: Comparison) -> Comparison:
    """``c`` with verdict and ``small_but_real`` from its other fields."""
    real = within = False
    if c.low is not None and c.high is not None:
        p = c.p_adjusted if c.p_adjusted is not None else c.p
        # Without ties the interval excludes 0 whenever p is small; with ties it may end there.
        one_side = (c.low >= 0 and c.estimate > 0) or (c.high <= 0 and c.estimate < 0)
        real = one_side and p is not None and p <= c.alpha * (1 + ROUNDING)
        within = -c.margin < c.low and c.high < c.margin
    beyond = abs(c.estimate) >= c.margin
    verdict: Verdict | None
    if c.better is None:
        verdict = None
    elif real and beyond:
        verdict = "better" if (c.estimate > 0) == (c.better == "higher") else "worse"
    else:
        verdict = "equivalent" if within else "inconclusive"
    return replace(c, verdict=verdict, small_but_real=real and verdict == "equivalent")


@dataclass(frozen=True)
class _Axis:
    """The scale that a pair of samples is compared on."""

    scale: Scale
    unit: str
    margin: float
    warnings: tuple[str, ...] = ()

    @classmethod
    def choose(cls, x: Floats, y: Floats, scale: Scale, margin: float, unit: str) -> _Axis:
        if not 0 <= margin <= LARGEST:
            raise ValueError(f"a margin is a finite number, 0 or more and not too large; got {margin}")
        if scale == "difference":
            return cls("difference", unit, margin)
        if x.min() > 0 and y.min() > 0:
            return cls("ratio", "%", margin)
        own = abs(float(np.median(x))) * (margin / 100)
        note = "some values are 0 or negative, so arms are compared by difference, not by ratio"
        if own == 0 and margin > 0:
            return cls("difference", unit, 0.0, (f"{note}; half of the baseline is 0, so no margin applies",))
        return cls("difference", unit, own, (f"{note}; the margin is {margin:g} % of the baseline's median",))

    @property
    def least_margin(self) -> float:
        """The margin on the axis; of a ratio that of an increase, which is a little smaller than that of a decrease."""
        return math.log1p(self.margin / 100) if self.scale == "ratio" else self.margin

    @property
    def hundred(self) -> float:
        return 100.0 if self.scale == "ratio" else 1.0

    def to(self, values: Floats) -> Floats:
        """``values`` on the axis on which arms differ by a shift."""
        return np.log(values) if self.scale == "ratio" else values

    def back(self, d: float) -> float:
        """``d`` as it is reported: percent, or the difference itself."""
        if self.scale == "difference":
            return d
        return 100 * math.expm1(d) if d < 700 else math.inf
