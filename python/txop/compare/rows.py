"""Every figure of every test, each arm against the baseline; the primary ones adjusted together."""

from __future__ import annotations

import math
from collections.abc import Sequence

from txop.compare import words
from txop.compare.drafts import ArmPairs, Draft, FigureDraft, estimate_of, figure_draft, finite, infinity
from txop.compare.result import ComparedFigure, DirectRow, Drift, MetricFacts, NotAvailable, Pair, Row, SignTest
from txop.compare.select import metric_keys
from txop.compare.test_set import TestSet
from txop.compare.together import judge_together
from txop.core.metrics import BELOW_NOISE
from txop.stats.sentence import sentence

_MOST_EXCLUDED = 100
"""How many blocks that lack a figure are listed per row."""


def compare_figures(
    pairs: ArmPairs, sets: Sequence[TestSet], primary: Sequence[str]
) -> tuple[list[ComparedFigure], list[NotAvailable], set[tuple[str, str]]]:
    """The figures of all tests, primary ones first, what could not be compared, and the pairs of arms with exploratory
    figures that can have a verdict at all.

    The primary comparisons of all ``pairs`` are one family.
    """
    drafts: list[FigureDraft] = []
    missing: list[NotAvailable] = []
    there = set()
    for tests in sets:
        for key in metric_keys(tests.all):
            name = f"{tests.test.name}.{key}"
            there.add(name)
            draft = figure_draft(pairs, tests, key, missing, primary=name in primary)
            if draft is not None:
                drafts.append(draft)
    missing += [
        NotAvailable(figure=name, arm=None, reason="declared primary, but no run has it")
        for name in primary
        if name not in there
    ]
    drafts.sort(key=lambda d: primary.index(d.name) if d.primary else len(primary))
    nameable = judge_together(drafts, family=family_size(primary, pairs), pairs=len(pairs.all))
    return [_finished(draft) for draft in drafts], missing, nameable


def family_size(primary: Sequence[str], pairs: ArmPairs) -> int:
    """How many comparisons are judged together."""
    return len(primary) * len(pairs.all)


def _finished(draft: FigureDraft) -> ComparedFigure:
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
        rows=[_finished_row(draft.name, row, primary=draft.primary) for row in draft.rows],
        direct=[
            DirectRow(
                **dict(_finished_row(draft.name, row, primary=draft.primary)),
                against=pair.against,
                change=pair.change,
                given=list(pair.given),
            )
            for pair, row in draft.direct
        ],
    )


def _finished_row(figure: str, row: Draft, *, primary: bool) -> Row:
    judged, c = row.judged, row.judged.comparison
    endless = judged.limit < math.inf
    unit = c.unit if c.scale == "ratio" else "pp" if row.metric.unit == "%" else row.metric.unit
    points = [judged.shown(point) for point in c.points]
    made = Row(
        **dict(estimate_of(judged)),
        arm=row.arm,
        paired=row.paired,
        effect_unit=unit,
        n_baseline=c.n_baseline,
        n_arm=c.n_arm,
        baseline_median=finite(row.medians[0]),
        arm_median=finite(row.medians[1]),
        pairs=[Pair(block, finite(point), infinity(point)) for block, point in zip(row.blocks, points, strict=True)]
        if row.paired
        else [],
        p_adjusted=c.p_adjusted,
        adjustment=row.adjustment,
        sd_d=finite(c.sd_d),
        smallest_detectable_effect=finite(c.smallest_detectable_effect) if primary else None,
        margin=c.margin,
        verdict=c.verdict or "not-judged",
        not_judged=None if c.verdict is not None else row.not_judged or "explains",
        bounds=row.bounds,
        small_but_real=c.small_but_real,
        blocks_needed=c.blocks_needed if primary else None,
        beyond_limit=primary and c.beyond_limit,
        skewness=finite(c.skewness),
        sign_test=None
        if c.sign is None
        else SignTest(
            n=c.sign.n,
            median=finite(c.sign.median),
            low=finite(c.sign.low),
            high=finite(c.sign.high),
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
        warnings=[*_below_noise(row.below_noise), *(c.warnings_of(row.blocks) if row.blocks else c.warnings)],
    )
    if any(row.bounds):
        text = words.bounds_sentence(figure, made, row.against, row.metric.digits)
    else:
        text = words.row_sentence(figure, made, row.against) if endless else f"{figure}: {sentence(c)}"
    return made.model_copy(update={"sentence": text})


def _below_noise(count: int) -> list[str]:
    """Said where runs are missing because their figure was too small to be seen: the others are not a fair sample."""
    if not count:
        return []
    blocks = "1 block" if count == 1 else f"{count} blocks"
    return [f"{blocks} left out with a run {BELOW_NOISE}; the typical figure is lower than that of the others"]
