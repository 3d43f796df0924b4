"""The verdict on each arm in one line: what was declared before the campaign, and what else gained or cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from txop.compare import words
from txop.compare.answer import rows_between
from txop.compare.result import Answer, CompareResult, Verdict

MOST_NAMED = 3
"""Gains, and costs, named in a line; the others are counted."""
_MOST_LINES = 12


@dataclass(frozen=True)
class Line:
    """One arm against another, in a line."""

    arm: str
    against: str
    verdict: Verdict | None
    """Where all declared figures agree; ``None`` for several verdicts, or none at all."""
    text: str


@dataclass(frozen=True)
class Sentence:
    """A sentence of an answer."""

    text: str
    preliminary: bool = False
    """It says that the campaign has not come to its planned end."""


@dataclass(frozen=True)
class Verdicts:
    """The answer of a campaign."""

    lead: Sequence[Sentence]
    """What limits all of it."""
    lines: Sequence[Line]
    more: int
    """Comparisons that have no line."""
    full: Sequence[Sentence]
    """The same with every gain and cost, and the changes of which nothing can be told."""


def verdicts(result: CompareResult, most: int = MOST_NAMED, *, details: bool = False) -> Verdicts:
    """The lines of a comparison: each arm against the baseline, then arms that differ by one change. ``details``: with
    p and n of each primary figure."""
    others = [arm.name for arm in result.arms if arm.name != result.baseline]
    headline = [
        Sentence(text, preliminary=place == 0 and not result.design.finished)
        for place, text in enumerate(result.headline)
    ]
    lead = headline[: -len(others)] if others else headline
    everything = (
        f"{a.arm} against {a.against}: {words.said(result.figures, a, result.baseline)}" for a in result.answers
    )
    changes = (f"{change.sentence}." for change in result.changes if change.arm is None)
    full = [*lead, *map(Sentence, [*everything, *changes])]
    if not others or not any(point for f in result.figures for values in f.arms for point in values.points):
        return Verdicts(headline, [], 0, full)
    lines = [_line(result, answer, most, details=details) for answer in result.answers[:_MOST_LINES]]
    return Verdicts(lead, lines, len(result.answers) - len(lines), full)


def _line(result: CompareResult, answer: Answer, most: int, *, details: bool) -> Line:
    rows = rows_between(result.figures, answer.arm, answer.against, result.baseline)
    reached = {row.verdict for figure, row in rows if figure.name in answer.primary}
    text = words.said(result.figures, answer, result.baseline, most=most, details=details)
    return Line(answer.arm, answer.against, reached.pop() if len(reached) == 1 else None, text)
