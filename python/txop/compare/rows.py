"""Every figure of every test, each arm against the baseline; the primary ones adjusted together."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from txop.archive.counting import Counting, figure_value
from txop.archive.run_file import RunFile
from txop.compare import words
from txop.compare.infinite import Judged, compare_values, without_spread
from txop.compare.result import (
    ArmValues,
    ComparedFigure,
    DirectRow,
    Drift,
    Estimate,
    Infinity,
    MetricFacts,
    NotAvailable,
    Pair,
    Point,
    Row,
    SignTest,
)
from txop.compare.select import metric_keys, metric_of
from txop.core.metrics import BELOW_NOISE, Metric
from txop.core.origin import Origin
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.plan_check.changes import OneChange
from txop.stats.sentence import sentence
from txop.stats.spread import mark_far
from txop.stats.verdict import with_holm

_MOST_EXCLUDED = 100
"""How many blocks that lack a figure are listed per row."""


_Column = list[float | None]
"""A figure of each run of a test, by the run's place."""


@dataclass(frozen=True)
class _Pairs:
    """The runs of two arms, by block."""

    blocks: list[tuple[int, RunFile | None, RunFile | None]]
    """Blocks in which either has a run, ascending."""
    places: list[tuple[int, int]]
    """For each of them the places of the two runs in a column; that of no run is the last, which has no figure."""
    excluded: list[str]
    """Blocks that hold no valid pair, with the reason."""
    names: frozenset[str]
    """Names of these runs."""
    whole: bool
    """The two arms have no other run, void or repeated."""


_SEEDED = frozenset({Origin.GUEST_EXACT, Origin.SIMULATED})
"""Origins whose blocks are seeds: the same seed gives the same figure at any time."""


@dataclass
class TestSet:
    """A test and its runs. What all its figures have in common is found once."""

    test: Test
    runs: list[RunFile]
    """Those that count."""
    all: list[RunFile]
    """These and the void and repeated ones."""
    count: Counting | None = None
    """Tells which runs of two arms form pairs; ``None``: all runs that share a block."""
    _pairs: dict[tuple[str, str], _Pairs] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def in_time(self) -> bool:
        """Whether the order of its blocks is one in time, as where they are not seeds."""
        return not all(run.origin in _SEEDED for run in self.runs)

    def column(self, key: str) -> _Column:
        """The figure of each of ``all``, and ``None`` behind them; ``math.inf`` when it is beyond every number."""
        return self._columns.get(key) or [None] * (len(self.all) + 1)

    def of(self, arm: str, column: _Column) -> list[tuple[RunFile, float]]:
        """The runs of an arm that count and have the figure."""
        placed = self._counting_places.get(arm, ())
        return [(run, figure) for run, place in placed if (figure := column[place]) is not None]

    def in_blocks(self, arm: str, column: _Column) -> dict[int, tuple[RunFile, float]]:
        """The runs of an arm that have the figure, with it, by block, void ones and repeats as well."""
        placed = ((run, column[self._places[run.run]]) for run in self._everything.get(arm, ()))
        return {run.block: (run, figure) for run, figure in placed if figure is not None}

    def has(self, run: RunFile, column: _Column) -> bool:
        """Whether a run has the figure."""
        return column[self._places[run.run]] is not None

    def pairs(self, baseline: str, arm: str) -> _Pairs:
        """The runs of two arms by block."""
        if (baseline, arm) not in self._pairs:
            self._pairs[baseline, arm] = self._pair(baseline, arm)
        return self._pairs[baseline, arm]

    def _pair(self, baseline: str, arm: str) -> _Pairs:
        if self.count is None:
            x, y = ({run.block: run for run in self._counting.get(who, ())} for who in (baseline, arm))
            excluded: list[str] = []
        else:
            found = self.count.pairing(baseline, arm)
            x, y = {a.block: a for a, _ in found.pairs}, {b.block: b for _, b in found.pairs}
            excluded = list(found.without)
        names = frozenset(run.run for side in (x, y) for run in side.values())
        whole = all(run.run in names for who in (baseline, arm) for run in self._everything.get(who, ()))
        blocks = [(block, x.get(block), y.get(block)) for block in sorted(x.keys() | y.keys())]
        nowhere = len(self.all)
        places = [
            (nowhere if one is None else self._places[one.run], nowhere if other is None else self._places[other.run])
            for _, one, other in blocks
        ]
        return _Pairs(blocks, places, excluded, names, whole)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {run.run: place for place, run in enumerate(self.all)}

    @cached_property
    def _counting_places(self) -> dict[str, list[tuple[RunFile, int]]]:
        places = self._places
        return {arm: [(run, places[run.run]) for run in runs] for arm, runs in self._counting.items()}

    @cached_property
    def _columns(self) -> dict[str, _Column]:
        columns: dict[str, _Column] = {}
        size = len(self.all) + 1
        for place, run in enumerate(self.all):
            for key, value in run.metrics.items():  # figure_value, a million times
                column = columns.get(key)
                if column is None:
                    column = columns[key] = [None] * size
                column[place] = math.inf if value.infinite else value.value
        return columns

    def sources(self, key: str) -> list[str]:
        """Where the figure comes from, in the runs that count and have it."""
        return sorted(self._sources.get(key, ()))

    @cached_property
    def _sources(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for run in self.runs:
            for key, value in run.metrics.items():
                if value.infinite or value.value is not None:
                    found.setdefault(key, set()).add(value.source)
        return found

    @cached_property
    def present(self) -> set[str]:
        """Arms that have a run."""
        return set(self._everything)

    @cached_property
    def _counting(self) -> dict[str, list[RunFile]]:
        return _by_arm(self.runs)

    @cached_property
    def _everything(self) -> dict[str, list[RunFile]]:
        return _by_arm(self.all)


@dataclass
class _Draft:
    """A row before Holm's method."""

    arm: str
    against: str
    metric: Metric
    judged: Judged
    blocks: list[int]
    excluded: list[str]
    with_voided: Estimate | None
    medians: tuple[float, float]
    paired: bool


@dataclass
class _FigureDraft:
    name: str
    test: Test
    metric: Metric
    primary: bool
    sources: list[str]
    arms: list[ArmValues]
    rows: list[_Draft] = field(default_factory=list)
    direct: list[tuple[OneChange, _Draft]] = field(default_factory=list)


def compare_figures(
    plan: Plan,
    sets: Sequence[TestSet],
    baseline: str,
    arms: Sequence[str],
    primary: Sequence[str],
    *,
    paired: bool,
    beside: Sequence[OneChange] = (),
) -> tuple[list[ComparedFigure], list[NotAvailable]]:
    """The figures of all tests, primary ones first, and what could not be compared.

    ``beside``: pairs of arms that are compared directly, besides every arm with the baseline. The primary comparisons
    of all of them are one family.
    """
    drafts: list[_FigureDraft] = []
    missing: list[NotAvailable] = []
    there = set()
    for tests in sets:
        for key in metric_keys(tests.all):
            name = f"{tests.test.name}.{key}"
            there.add(name)
            draft = _figure(plan, tests, key, name in primary, baseline, arms, missing, paired=paired, beside=beside)
            if draft is not None:
                drafts.append(draft)
    missing += [
        NotAvailable(figure=name, arm=None, reason="declared primary, but no run has it")
        for name in primary
        if name not in there
    ]
    drafts.sort(key=lambda d: primary.index(d.name) if d.primary else len(primary))
    family = [row for draft in drafts if draft.primary for row in (*draft.rows, *(row for _, row in draft.direct))]
    declared = family_size(primary, arms, beside)
    adjusted = with_holm([row.judged.comparison for row in family], declared=declared)
    for row, comparison in zip(family, adjusted, strict=True):
        endless = row.judged.limit < math.inf
        row.judged = Judged(
            without_spread(comparison) if endless else comparison, row.judged.limit, row.judged.low_limit
        )
    return [_finished(draft) for draft in drafts], missing


def family_size(primary: Sequence[str], arms: Sequence[str], beside: Sequence[OneChange]) -> int:
    """How many comparisons are judged together."""
    return len(primary) * (len(arms) - 1 + len(beside))


def _figure(
    plan: Plan,
    tests: TestSet,
    key: str,
    primary: bool,
    baseline: str,
    arms: Sequence[str],
    missing: list[NotAvailable],
    *,
    paired: bool,
    beside: Sequence[OneChange],
) -> _FigureDraft | None:
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
    draft = _FigureDraft(name, tests.test, metric, primary, sources, [_arm_values(arm, values[arm]) for arm in arms])
    wanted = [(None, arm, baseline) for arm in arms if arm != baseline]
    for pair, arm, against in [*wanted, *((pair, pair.arm, pair.against) for pair in beside)]:
        if not values[arm] or not values[against]:
            continue
        try:
            row = _row(plan, tests, key, metric, against, arm, paired=paired)
        except _NoPairs:
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


class _NoPairs(ValueError):  # noqa: N818 - found and reported
    pass


def _row(plan: Plan, tests: TestSet, key: str, metric: Metric, baseline: str, arm: str, *, paired: bool) -> _Draft:
    column = tests.column(key)
    blocks: list[int] = []
    excluded: list[str] = []
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
    else:
        before = [value for _, value in tests.of(baseline, column)]
        after = [value for _, value in tests.of(arm, column)]
        excluded += [
            f"{run.run}: {_reason([run], key)}"
            for run in tests.runs
            if run.arm in (baseline, arm) and not tests.has(run, column)
        ]
    if not before or not after:
        raise _NoPairs
    run_compare = _comparer(plan, metric, baseline, arm, in_time=tests.in_time)
    judged = run_compare(before, after, paired)
    return _Draft(
        arm,
        baseline,
        metric,
        judged,
        blocks,
        excluded,
        _with_voided(tests, column, (baseline, arm), run_compare) if paired else None,
        (_median(before), _median(after)),
        paired,
    )


def _difference_unit(metric: Metric) -> str:
    return "percentage points" if metric.unit == "%" else metric.unit


_Comparer = Callable[[Sequence[float], Sequence[float], bool], Judged]


def _comparer(plan: Plan, metric: Metric, baseline: str, arm: str, *, in_time: bool) -> _Comparer:
    def run_compare(before: Sequence[float], after: Sequence[float], paired: bool) -> Judged:
        return compare_values(
            before,
            after,
            paired=paired,
            scale=metric.scale,
            better=metric.better,
            margin=metric.margin,
            confidence=plan.design.confidence,
            baseline_name=baseline,
            arm_name=arm,
            unit=_difference_unit(metric),
            in_time=in_time,
        )

    return run_compare


def _with_voided(tests: TestSet, column: _Column, arms: tuple[str, str], run_compare: _Comparer) -> Estimate | None:
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
    return _estimate(judged)


def _estimate(judged: Judged) -> Estimate:
    c = judged.comparison
    estimate, low, high = (judged.shown(value) for value in (c.estimate, c.low, c.high))
    return Estimate(
        n=c.n,
        estimate=_finite(estimate),
        infinite=_infinity(estimate),
        low=_finite(low),
        high=_finite(high),
        confidence=c.attained_confidence,
        p=c.p,
    )


def _finished(draft: _FigureDraft) -> ComparedFigure:
    metric = draft.metric
    return ComparedFigure(
        name=draft.name,
        test=draft.test.name,
        metric=MetricFacts(
            key=metric.key,
            title=metric.title,
            unit=metric.unit,
            better=metric.better,
            scale=metric.scale,
            margin=metric.margin,
            digits=metric.digits,
            definition=metric.definition,
        ),
        role="primary" if draft.primary else "exploratory",
        sources=draft.sources,
        arms=draft.arms,
        rows=[_finished_row(draft.name, row) for row in draft.rows],
        direct=[
            DirectRow(
                **dict(_finished_row(draft.name, row)), against=pair.against, change=pair.change, given=list(pair.given)
            )
            for pair, row in draft.direct
        ],
    )


def _finished_row(figure: str, row: _Draft) -> Row:
    judged, c = row.judged, row.judged.comparison
    endless = judged.limit < math.inf
    unit = c.unit if c.scale == "ratio" else "pp" if row.metric.unit == "%" else row.metric.unit
    points = [judged.shown(point) for point in c.points]
    made = Row(
        **dict(_estimate(judged)),
        arm=row.arm,
        paired=row.paired,
        effect_unit=unit,
        n_baseline=c.n_baseline,
        n_arm=c.n_arm,
        baseline_median=_finite(row.medians[0]),
        arm_median=_finite(row.medians[1]),
        pairs=[Pair(block, _finite(point), _infinity(point)) for block, point in zip(row.blocks, points, strict=True)]
        if row.paired
        else [],
        p_adjusted=c.p_adjusted,
        sd_d=_finite(c.sd_d),
        smallest_detectable_effect=_finite(c.smallest_detectable_effect),
        margin=c.margin,
        verdict=c.verdict or "not-judged",
        small_but_real=c.small_but_real,
        blocks_needed=c.blocks_needed,
        beyond_limit=c.beyond_limit,
        skewness=_finite(c.skewness),
        sign_test=None
        if c.sign is None
        else SignTest(
            n=c.sign.n,
            median=_finite(c.sign.median),
            low=_finite(c.sign.low),
            high=_finite(c.sign.high),
            confidence=c.sign.attained_confidence,
            p=c.sign.p,
        ),
        drift=None if c.drift is None else Drift(rho=c.drift.rho, p=c.drift.p),
        excluded=row.excluded[:_MOST_EXCLUDED],
        with_voided=row.with_voided,
        method=("exact " if c.exact else "normal approximation of ")
        + (
            "Wilcoxon signed-rank, Hodges-Lehmann, by block" if row.paired else "Mann-Whitney, Hodges-Lehmann, unpaired"
        ),
        sentence="",
        warnings=[*_below_noise(row.excluded), *(_numbered(warning, row.blocks) for warning in c.warnings)],
    )
    text = words.row_sentence(figure, made, row.against) if endless else f"{figure}: {sentence(c)}"
    return made.model_copy(update={"sentence": text})


def _below_noise(excluded: Sequence[str]) -> list[str]:
    """Said where runs are missing because their figure was too small to be seen: the others are not a fair sample."""
    count = sum(BELOW_NOISE in text for text in excluded)
    if not count:
        return []
    blocks = "1 block" if count == 1 else f"{count} blocks"
    return [f"{blocks} left out with a run {BELOW_NOISE}; the typical figure is lower than that of the others"]


_POSITIONS = re.compile(r"^blocks? ([\d, ]+) far from the others")


def _numbered(warning: str, blocks: Sequence[int]) -> str:
    """A warning that counts pairs from 1, with the numbers of their blocks."""
    found = _POSITIONS.match(warning)
    if not found or not blocks:
        return warning
    named = ", ".join(str(blocks[int(part) - 1]) for part in found[1].split(","))
    return warning[: found.start(1)] + named + warning[found.end(1) :]


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


def _arm_values(arm: str, values: Sequence[tuple[RunFile, float]]) -> ArmValues:
    finite = [value for _, value in values if math.isfinite(value)]
    far = iter(_far(finite))
    median = _median([value for _, value in values])
    return ArmValues(
        arm=arm,
        n=len(values),
        median=_finite(median),
        median_infinite=math.isinf(median),
        lowest=min(finite, default=None),
        highest=max(finite, default=None),
        points=[
            Point(run.block, run.run, value, flagged=next(far))
            if math.isfinite(value)
            else Point(run.block, run.run, None, infinite=True, flagged=bool(finite))
            for run, value in values
        ],
    )


def _by_arm(runs: Sequence[RunFile]) -> dict[str, list[RunFile]]:
    found: dict[str, list[RunFile]] = {}
    for run in runs:
        found.setdefault(run.arm, []).append(run)
    return found


def _median(values: Sequence[float]) -> float:
    """The median, infinite when half of the values or more are; NaN without values."""
    if not values:
        return math.nan
    ordered = sorted(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return high if math.isinf(high) else low / 2 + high / 2


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _infinity(value: float | None) -> Infinity | None:
    if value is None or not math.isinf(value):
        return None
    return "above" if value > 0 else "below"


def _reason(runs: Sequence[RunFile], key: str) -> str:
    """Why runs lack a figure: the most frequent reason."""
    texts = [
        (run.metrics[key].reason or "no reason given") if key in run.metrics else "not measured"
        for run in runs
        if figure_value(run, key) is None
    ]
    if len(texts) > 1:  # the interval of each run is its own
        texts = [BELOW_NOISE if text.startswith(BELOW_NOISE) else text for text in texts]
    reasons = Counter(texts)
    if not reasons:
        return "only runs that do not count have it"
    found, _ = reasons.most_common(1)[0]
    return found if len(reasons) == 1 else f"{found} (and {len(reasons) - 1} other reasons)"
