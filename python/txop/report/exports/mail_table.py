"""The scorecard in a mail: a row of text for each arm, a column for each figure, as many as the width takes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from txop.present.format import plural
from txop.report.answer.scorecard import Score, Scorecard

_GAP = "  "
_NARROWEST = 12
"""Columns that a heading has at least before it is broken."""


@dataclass(frozen=True)
class _Column:
    heading: list[str]
    cells: list[tuple[str, str]]
    """For each arm: median with change, and the verdict on it."""

    @property
    def width(self) -> int:
        return max(len(text) for text in [*self.heading, *(line for cell in self.cells for line in cell)])


def table(
    card: Scorecard, baseline: str, *, width: int, most_arms: int, page: str, safe: Callable[[str], str]
) -> tuple[list[str], list[str]]:
    """Lines of the table, and sentences of what is not in it.

    ``safe`` makes a text safe to print; ``page`` is where the rest is.
    """
    arms = list(dict.fromkeys(row.arm for row in card.rows))
    shown = [baseline, *(arm for arm in arms if arm != baseline)][: most_arms + 1]
    notes = [f"{plural(len(arms) - len(shown), 'more arm')} in {page}."] if len(arms) > len(shown) else []
    columns, missing = [], 0
    for test in dict.fromkeys(row.test for row in card.rows):
        scores = {row.arm: row.scores for row in card.rows if row.test == test}
        for at, figure in enumerate(card.columns):
            if any(scores[arm][at].verdict for arm in arms):
                columns.append(_column(f"{test} {figure}", [scores[arm][at] for arm in shown], safe))
            else:
                missing += 1
    names = [safe(name) for name in shown]
    first = max(map(len, names), default=0)
    taken = _fitting(columns, width - first)
    if more := len(columns) - taken + missing:
        without = f", {missing} without a comparison" if missing else ""
        notes.append(f"{plural(more, 'more figure')} in {page}{without}.")
    return list(_drawn(names, first, columns[:taken])) if taken else [], notes


def _column(name: str, scores: Sequence[Score], safe: Callable[[str], str]) -> _Column:
    cells = []
    for score in scores:
        if score.absence == "unavailable":
            cells.append(("not available", ""))
            continue
        judged = f"{score.said} {score.n and f'({score.n})'}".strip()
        change = score.change if score.verdict else ""
        cells.append((safe(f"{score.text} {change}".strip()), safe(judged)))
    widest = max((len(line) for cell in cells for line in cell), default=0)
    heading = textwrap.wrap(safe(name), max(widest, _NARROWEST), break_on_hyphens=False)
    return _Column(heading, cells)


def _fitting(columns: Sequence[_Column], room: int) -> int:
    """How many columns fit; one is shown even if it does not."""
    for taken, column in enumerate(columns):
        room -= len(_GAP) + column.width
        if room < 0:
            return max(taken, 1)
    return len(columns)


def _drawn(names: Sequence[str], first: int, columns: Sequence[_Column]) -> list[str]:
    height = max(len(column.heading) for column in columns)
    rows = [
        ["median"[:first] if level == height - 1 else "", *(_at(column.heading, level, height) for column in columns)]
        for level in range(height)
    ]
    for at, name in enumerate(names):
        rows.append([name, *(column.cells[at][0] for column in columns)])
        if any(column.cells[at][1] for column in columns):
            rows.append(["", *(column.cells[at][1] for column in columns)])
    widths = [first, *(column.width for column in columns)]
    return [_GAP.join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip() for row in rows]


def _at(heading: Sequence[str], level: int, height: int) -> str:
    """A line of a heading that stands at the bottom."""
    above = height - len(heading)
    return heading[level - above] if level >= above else ""
