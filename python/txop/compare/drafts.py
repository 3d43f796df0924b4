"""Rows before they are judged together: the values of two arms, compared in one figure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from txop.archive.counting import figure_value
from txop.archive.run_file import Bound, RunFile
from txop.compare.infinite import JudgedComparison, compare_values
from txop.compare.result import Adjustment, ArmValues, Estimate, Infinity, NotAvailable, NotJudged, Point
from txop.compare.select import metric_of
from txop.compare.test_set import Column, TestSet
from txop.core.metrics import BELOW_NOISE, Metric
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.plan_check.changes import OneChange
from txop.stats.settings import ComparisonSettings
from txop.stats.spread import mark_far


@dataclass
class Draft:
    """A row before it is judged together with others."""

    arm: str
    against: str
    metric: Metric
    judged: JudgedComparison
    blocks: list[int]
    excluded: list[str]
    below_noise: int
    """Blocks (unpaired: runs) that are left out because a figure was smaller than the noise of its reading."""
    with_voided: Estimate | None
    medians: tuple[float, float]
    paired: bool
    runs: tuple[list[str], list[str]]
    """Unpaired: names of the runs compared, of the baseline and of the arm."""
    bounds: tuple[Bound | None, Bound | None] = (None, None)
    not_judged: NotJudged | None = None
    adjustment: Adjustment | None = None


@dataclass
class FigureDraft:
    """A figure of a test, with its rows."""

    name: str
    test: Test
    metric: Metric
    primary: bool
    sources: list[str]
    arms: list[ArmValues]
    rows: list[Draft] = field(default_factory=list)
    direct: list[tuple[OneChange, Draft]] = field(default_factory=list)


@dataclass(frozen=True)
class ArmPairs:
    """Which arms are compared with which, and how."""

    plan: Plan
    baseline: str
    arms: Sequence[str]
    """All arms, the baseline among them. Each other one is compared with it."""
    paired: bool
    beside: Sequence[OneChange] = ()
    """Pairs of arms that are compared directly, besides every arm with the baseline."""

    @property
    def all(self) -> list[tuple[OneChange | None, str, str]]:
        """Each arm with the one that it is compared with; those ``beside`` with their change."""
        with_baseline = [(None, arm, self.baseline) for arm in self.arms if arm != self.baseline]
        return [*with_baseline, *((pair, pair.arm, pair.against) for pair in self.beside)]


def figure_draft(
    pairs: ArmPairs, tests: TestSet, key: str, missing: list[NotAvailable], *, primary: bool
) -> FigureDraft | None:
    """A figure in all arms, with the comparisons of ``pairs``. What cannot be compared is added to ``missing``."""
    plan, arms = pairs.plan, pairs.arms
    metric = metric_of(plan, tests.test, key)
    name = f"{tests.test.name}.{key}"
    column = tests.column(key)
    values = {arm: tests.of(arm, column) for arm in arms}
    present = tests.present
    without = [arm for arm in arms if not values[arm] and arm in present]
    if len(without) == len([arm for arm in arms if arm in present]):
        missing.append(NotAvailable(figure=name, arm=None, reason=_reason(tests.all, key)))
        return None
    missing += [
        NotAvailable(figure=name, arm=arm, reason=_reason([r for r in tests.all if r.arm == arm], key))
        for arm in without
    ]
    sources = tests.sources(key)
    draft = FigureDraft(name, tests.test, metric, primary, sources, [])
    draft.arms = [_arm_values(arm, values[arm], tests, key) for arm in arms]
    for pair, arm, against in pairs.all:
        if not values[arm] or not values[against]:
            continue
        try:
            row = _row(pairs, tests, key, against, arm)
        except _NoPairsError:
            reason = f"no block in which both it and {against} have the figure"
            missing.append(NotAvailable(figure=name, arm=arm, reason=reason))
        except ValueError as error:
            missing.append(NotAvailable(figure=name, arm=arm, reason=str(error)))
        else:
            if pair is None:
                draft.rows.append(row)
            else:
                draft.direct.append((pair, row))
    return draft


class _NoPairsError(ValueError):
    pass


def _row(compared: ArmPairs, tests: TestSet, key: str, baseline: str, arm: str) -> Draft:
    plan, paired = compared.plan, compared.paired
    metric = metric_of(plan, tests.test, key)
    column = tests.column(key)
    names: tuple[list[str], list[str]] = ([], [])
    blocks: list[int] = []
    excluded: list[str] = []
    below_noise = 0
    if paired:
        pairs = tests.pairs(baseline, arm)
        excluded += pairs.excluded
        before, after = [], []
        for (block, first, second), (here, there) in zip(pairs.blocks, pairs.places, strict=True):
            one, other = column[here], column[there]
            if one is not None and other is not None:
                blocks.append(block)
                before.append(one)
                after.append(other)
                continue
            lacking = [
                f"{who}: {'no run' if run is None else _reason([run], key)}"
                for who, run, value in ((baseline, first, one), (arm, second, other))
                if value is None
            ]
            excluded.append(f"block {block}: {'; '.join(lacking)}")
            below_noise += _is_below_noise(first, key) or _is_below_noise(second, key)
    else:
        both = tests.of(baseline, column), tests.of(arm, column)
        before, after = ([value for _, value in side] for side in both)
        names = ([run.run for run, _ in both[0]], [run.run for run, _ in both[1]])
        lacking_runs = [run for run in tests.runs if run.arm in (baseline, arm) and not tests.has(run, column)]
        excluded += [f"{run.run}: {_reason([run], key)}" for run in lacking_runs]
        below_noise = sum(_is_below_noise(run, key) for run in lacking_runs)
    if not before or not after:
        raise _NoPairsError
    run_compare = _comparer(plan, metric, baseline, arm, in_time=tests.in_time)
    judged = run_compare(before, after, paired)
    draft = Draft(
        arm,
        baseline,
        metric,
        judged,
        blocks,
        excluded,
        below_noise,
        _with_voided(tests, column, (baseline, arm), run_compare) if paired else None,
        (_median(before), _median(after)),
        paired,
        names,
        (tests.bound(key, baseline), tests.bound(key, arm)),
    )
    return _of_bounds(draft) if any(draft.bounds) else draft


def _of_bounds(draft: Draft) -> Draft:
    """A row of bounds: medians and nothing that would take them for figures."""
    comparison = replace(
        draft.judged.comparison,
        better=None,
        estimate=math.nan,
        low=None,
        high=None,
        attained_confidence=None,
        p=None,
        points=(),
        marked=(),
        sd_d=None,
        drift=None,
        verdict=None,
        small_but_real=False,
        notes=(),
        estimate_unmarked=None,
        skewness=None,
        sign=None,
        differences=(),
    )
    return replace(draft, judged=JudgedComparison(comparison), blocks=[], with_voided=None, not_judged="bounds")


_Comparer = Callable[[Sequence[float], Sequence[float], bool], JudgedComparison]


def _comparer(plan: Plan, metric: Metric, baseline: str, arm: str, *, in_time: bool) -> _Comparer:
    settings = ComparisonSettings.of(metric, baseline, arm, confidence=plan.design.confidence, in_time=in_time)

    def run_compare(before: Sequence[float], after: Sequence[float], paired: bool) -> JudgedComparison:
        return compare_values(before, after, settings, paired=paired)

    return run_compare


def _with_voided(tests: TestSet, column: Column, arms: tuple[str, str], run_compare: _Comparer) -> Estimate | None:
    """The comparison over every block in which both arms have the figure, void or not; ``None`` if that is the same."""
    pairs = tests.pairs(*arms)
    if pairs.whole:
        return None
    x, y = (tests.in_blocks(arm, column) for arm in arms)
    blocks = sorted(x.keys() & y.keys())
    mine = pairs.names
    if all(x[block][0].run in mine and y[block][0].run in mine for block in blocks):
        return None
    try:
        judged = run_compare([x[b][1] for b in blocks], [y[b][1] for b in blocks], True)
    except ValueError:
        return None
    return estimate_of(judged)


def estimate_of(judged: JudgedComparison) -> Estimate:
    """Effect and interval, with infinity put back in."""
    c = judged.comparison
    estimate, low, high = (judged.shown(value) for value in (c.estimate, c.low, c.high))
    return Estimate(
        n=c.n,
        estimate=finite(estimate),
        infinite=infinity(estimate),
        low=finite(low),
        high=finite(high),
        low_infinite=infinity(low),
        high_infinite=infinity(high),
        confidence=c.attained_confidence,
        asked_confidence=c.confidence,
        p=c.p,
    )


_FAR_SHARE = 0.05
"""A value nearer to the median than this share of it is not far, however close the others lie together."""


def _far(values: Sequence[float]) -> list[bool]:
    """Which of an arm's values are to be looked at.

    >>> _far([10.0, 10.01, 9.99, 10.0, 10.02, 10.2]), _far([10.0, 10.01, 9.99, 10.0, 10.02, 12.0])[-1]
    ([False, False, False, False, False, False], True)
    """
    if not values:
        return []
    marks = mark_far(values)
    least = _FAR_SHARE * abs(marks.median)
    return [bool(far) and abs(value - marks.median) > least for far, value in zip(marks.far, values, strict=True)]


def _arm_values(arm: str, values: Sequence[tuple[RunFile, float]], tests: TestSet, key: str) -> ArmValues:
    known = [value for _, value in values if math.isfinite(value)]
    far = iter(_far(known))
    median = _median([value for _, value in values])
    return ArmValues(
        arm=arm,
        n=len(values),
        median=finite(median),
        median_infinite=math.isinf(median),
        lowest=min(known, default=None),
        highest=max(known, default=None),
        points=[
            Point(run.block, run.run, value, bound=tests.bound_of(key, run), flagged=next(far))
            if math.isfinite(value)
            else Point(run.block, run.run, None, infinite=True, flagged=bool(known))
            for run, value in values
        ],
        bound=tests.bound(key, arm),
    )


def _median(values: Sequence[float]) -> float:
    """The median, infinite when half of the values or more are; NaN without values."""
    if not values:
        return math.nan
    ordered = sorted(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return high if math.isinf(high) else low / 2 + high / 2


def finite(value: float | None) -> float | None:
    """``value``, or ``None`` for what is no finite number."""
    return value if value is not None and math.isfinite(value) else None


def infinity(value: float | None) -> Infinity | None:
    """Which infinity ``value`` is."""
    if value is None or not math.isinf(value):
        return None
    return "above" if value > 0 else "below"


def _is_below_noise(run: RunFile | None, key: str) -> bool:
    """Whether a run lacks a figure because it was too small to be seen."""
    value = None if run is None else run.metrics.get(key)
    return value is not None and value.value is None and value.below_noise


def _reason(runs: Sequence[RunFile], key: str) -> str:
    """Why runs lack a figure: the most frequent reason."""
    lacking = [run for run in runs if figure_value(run, key) is None]
    together = len(lacking) > 1  # the interval of each run is its own
    reasons = Counter(
        BELOW_NOISE
        if together and _is_below_noise(run, key)
        else (run.metrics[key].reason or "no reason given")
        if key in run.metrics
        else "not measured"
        for run in lacking
    )
    if not reasons:
        return "only void runs have it"
    found, _ = reasons.most_common(1)[0]
    return found if len(reasons) == 1 else f"{found} (and {len(reasons) - 1} other reasons)"
