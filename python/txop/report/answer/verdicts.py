"""The verdict on each arm in one line: what was declared before the campaign, and the largest harm beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from txop.compare import words
from txop.compare.result import ComparedFigure, CompareResult, DirectRow, Row, Verdict
from txop.core.metrics import CPU_SHARES

MOST_HARMS = 3
"""Exploratory figures named in a line; the others are counted."""
_MOST_NAMED = 4
_MOST_LINES = 12

Found = tuple[ComparedFigure, Row]


@dataclass(frozen=True)
class Line:
    """One arm against another, in a line."""

    arm: str
    against: str
    verdict: Verdict | None
    """Where all declared figures agree; ``None`` for several verdicts, or none at all."""
    text: str
    more: int
    """Figures that got worse and are not named."""


@dataclass(frozen=True)
class Verdicts:
    """The answer of a campaign."""

    lead: Sequence[str]
    """What limits all of it."""
    lines: Sequence[Line]
    more: int
    """Comparisons that have no line."""
    full: Sequence[str]
    """The same with every figure and interval: the headline, and what each change does."""


def verdicts(result: CompareResult, most_harms: int = MOST_HARMS) -> Verdicts:
    """The lines of a comparison: each arm against the baseline, then arms that differ by one change."""
    others = [arm.name for arm in result.arms if arm.name != result.baseline]
    full = [*result.headline, *(f"{change.sentence}." for change in result.changes)]
    if not others or not any(point for f in result.figures for values in f.arms for point in values.points):
        return Verdicts(result.headline, [], 0, full)
    pairs = [(arm, result.baseline) for arm in others]
    pairs += dict.fromkeys((row.arm, row.against) for figure in result.figures for row in figure.direct)
    lines = [_line(result, arm, against, most_harms) for arm, against in pairs[:_MOST_LINES]]
    return Verdicts(result.headline[: -len(others)], lines, len(pairs) - len(lines), full)


def rows_between(figures: Iterable[ComparedFigure], arm: str, against: str, baseline: str) -> list[Found]:
    """The rows that compare two arms."""
    found: list[Found] = []
    for figure in figures:
        rows: Sequence[Row] = figure.rows if against == baseline else figure.direct
        found += [(figure, row) for row in rows if row.arm == arm and _against(row, baseline) == against]
    return found


def harms(result: CompareResult, arm: str, against: str) -> list[Found]:
    """Exploratory figures in which ``arm`` is worse, the largest first, by how often each exceeds its margin."""
    found = rows_between(result.figures, arm, against, result.baseline)
    worse = [(figure, row) for figure, row in found if figure.role == "exploratory" and row.verdict == "worse"]
    return sorted(worse, key=lambda each: -_size(each[1]))


def _line(result: CompareResult, arm: str, against: str, most_harms: int) -> Line:
    rows = rows_between(result.figures, arm, against, result.baseline)
    rows = [(figure, row) for figure, row in rows if figure.role == "primary"]
    worse = harms(result, arm, against)
    parts = []
    if not rows:
        parts.append("no primary figure could be compared")
    elif all(row.n <= 1 for _, row in rows):
        parts.append(f"{_named(rows)} (n=1, which says nothing about chance)")
    else:
        for verdict, said in (
            ("better", "better in"),
            ("worse", "worse in"),
            ("equivalent", "equivalent in"),
            ("not-judged", "not judged:"),
            ("inconclusive", "inconclusive in"),
        ):
            if mine := [(figure, row) for figure, row in rows if row.verdict == verdict]:
                parts.append(f"{said} {_named(mine)}")
    named = _different(worse)[:most_harms]
    more = len(worse) - len(named)
    if worse:
        link = "but " if any(row.verdict == "better" for _, row in rows) else ""
        text = f"{link}worse in {_named(named)}" + (f" and {more} more" if more else "")
        parts.append(text + words.EXPLORATORY)
    unpaired = ". Unpaired: drift is not controlled" if any(not row.paired for _, row in rows) else ""
    reached = {row.verdict for _, row in rows}
    return Line(arm, against, reached.pop() if len(reached) == 1 else None, "; ".join(parts) + unpaired + ".", more)


def _against(row: Row, baseline: str) -> str:
    return row.against if isinstance(row, DirectRow) else baseline


def _size(row: Row) -> float:
    if row.estimate is None:
        return float("inf")
    return abs(row.estimate) / row.margin if row.margin else abs(row.estimate) * 1e6


def _different(found: Sequence[Found]) -> list[Found]:
    """Without figures that say what one before them says: the same test, values and change under another name, or CPU
    busy beside CPU idle."""
    seen: dict[object, Found] = {}
    for figure, row in found:
        same: object = figure.name
        if figure.metric.key in CPU_SHARES:
            same = (figure.test, CPU_SHARES)
        elif row.estimate is not None:
            same = (figure.test, row.estimate, row.low, row.high, row.baseline_median, row.arm_median)
        seen.setdefault(same, (figure, row))
    return list(seen.values())


def _named(found: Sequence[Found]) -> str:
    shown = [words.changed(figure, row) for figure, row in found[:_MOST_NAMED]]
    more = len(found) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
