"""The answer of a comparison: the declared figures, and which others gained or cost, each quantity once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from txop.compare.result import Answer, ComparedFigure, DirectRow, Row, Verdict
from txop.core.metrics import fact_of, weight_of

Found = tuple[ComparedFigure, Row]


def answers(
    figures: Sequence[ComparedFigure], baseline: str, arms: Sequence[str], nameable: Collection[tuple[str, str]]
) -> list[Answer]:
    """The answer of each pair of arms: every other arm against the baseline, then those that differ by one change.
    ``nameable``: pairs with exploratory figures that can have a verdict at all."""
    pairs = [(arm, baseline) for arm in arms if arm != baseline]
    pairs += dict.fromkeys((row.arm, row.against) for figure in figures for row in figure.direct)
    return [_answer(figures, arm, against, baseline, (arm, against) in nameable) for arm, against in pairs]


def worse_alone(figure: ComparedFigure, row: Row) -> bool:
    """Whether an arm is worse in a figure that was named in advance, and so is judged by itself: its own p-value and
    interval, and the margin."""
    if row.verdict == "worse" or figure.role == "primary" or row.verdict == "not-judged" or row.p is None:
        return row.verdict == "worse"
    if row.confidence is None or row.p > (1 - row.asked_confidence) * (1 + 1e-12):
        return False
    grown = row.infinite == "above" or (row.estimate or 0) > 0
    beyond = row.infinite is not None or abs(row.estimate or 0) >= row.margin
    if grown:
        one_side = row.low_infinite == "above" or (row.low is not None and row.low >= 0)
    else:
        one_side = row.high_infinite == "below" or (row.high is not None and row.high <= 0)
    return beyond and one_side and grown == (figure.metric.better == "lower")


def rows_between(figures: Iterable[ComparedFigure], arm: str, against: str, baseline: str) -> list[Found]:
    """The rows that compare two arms."""
    found: list[Found] = []
    for figure in figures:
        rows: Sequence[Row] = figure.rows if against == baseline else figure.direct
        found += [(figure, row) for row in rows if row.arm == arm and _against(row, baseline) == against]
    return found


def _answer(figures: Sequence[ComparedFigure], arm: str, against: str, baseline: str, can_name: bool) -> Answer:
    rows = rows_between(figures, arm, against, baseline)
    others = [(figure, row) for figure, row in rows if figure.role == "exploratory" and row.verdict != "not-judged"]
    return Answer(
        arm=arm,
        against=against,
        primary=[figure.name for figure, _ in rows if figure.role == "primary"],
        gains=[figure.name for figure, _ in _one_each(others, "better")],
        costs=[figure.name for figure, _ in _one_each(others, "worse")],
        looked_at=len({_fact(figure)[0] for figure, _ in others}),
        can_name=can_name,
    )


def _one_each(rows: Sequence[Found], verdict: Verdict) -> list[Found]:
    """The view of each quantity that says most, among those with this verdict: what users notice first, then the
    largest in margins."""
    chosen: dict[tuple[str, str], Found] = {}
    for figure, row in sorted(rows, key=lambda each: _fact(each[0])[1]):
        if row.verdict == verdict:
            chosen.setdefault(_fact(figure)[0], (figure, row))
    same: dict[object, Found] = {}
    for figure, row in chosen.values():  # the sender's retries are those of its direction, frame by frame
        seen = (figure.test, figure.metric.unit, row.estimate, row.low, row.high, row.baseline_median, row.arm_median)
        same.setdefault(seen, (figure, row))
    return sorted(same.values(), key=lambda each: (weight_of(each[0].metric.key), -_in_margins(each[1])))


def _fact(figure: ComparedFigure) -> tuple[tuple[str, str], int]:
    name, rank = fact_of(figure.metric.key)
    return (figure.test, name), rank


def _in_margins(row: Row) -> float:
    if row.estimate is None:
        return float("inf")
    return abs(row.estimate) / row.margin if row.margin else abs(row.estimate) * 1e6


def _against(row: Row, baseline: str) -> str:
    return row.against if isinstance(row, DirectRow) else baseline
