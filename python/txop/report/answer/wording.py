"""Figures, verdicts and arms in the words and signs of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from txop.compare import words
from txop.compare.result import ArmValues, ComparedFigure, MetricFacts, Row, Verdict
from txop.present import format as fmt
from txop.present.blocks import Cell, Tone
from txop.present.cells import missing

SIGNS: dict[Verdict, str] = {
    "better": "▲",
    "worse": "▼",
    "equivalent": "=",
    "inconclusive": "?",
    "not-judged": "·",
}
"""A sign for each verdict, so that it never depends on colour alone."""

TONES: dict[Verdict, Tone] = {
    "better": "good",
    "worse": "bad",
    "equivalent": "",
    "inconclusive": "dim",
    "not-judged": "dim",
}

INFINITE = "∞"


def verdict(row: Row) -> str:
    """Sign and word: ``▲ better``."""
    return f"{SIGNS[row.verdict]} {words.verdict(row)}"


def value(number: float | None, metric: MetricFacts, *, infinite: bool = False) -> str:
    """A figure in its digits, without the unit."""
    if infinite:
        return INFINITE
    if number is None:
        return fmt.NOT_AVAILABLE
    return fmt.figure(number, metric.digits)


def median(values: ArmValues | None, metric: MetricFacts) -> Cell:
    """The cell of an arm's median."""
    if values is None or (values.median is None and not values.median_infinite):
        return missing()
    text = value(values.median, metric, infinite=values.median_infinite)
    return Cell(words.bounded(values.bound) + text, values.median)


def unit(metric: MetricFacts) -> str:
    """``, Mbit/s``, or nothing for a figure without a unit."""
    return f", {metric.unit}" if metric.unit else ""


def heading(figure: ComparedFigure) -> str:
    """``tx throughput, Mbit/s``."""
    return words.label(figure) + unit(figure.metric)


def listed(items: Iterable[str], most: int = 8, between: str = ", ") -> str:
    """The first few, and how many more there are."""
    everything = list(items)
    shown = between.join(everything[:most])
    return f"{shown} and {len(everything) - most} more" if len(everything) > most else shown


def numbers(values: Sequence[int]) -> str:
    """Whole numbers as ranges.

    >>> numbers([1, 2, 3, 5, 7, 8])
    '1–3, 5, 7–8'
    """
    parts: list[list[int]] = []
    for number in sorted(set(values)):
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ", ".join("–".join(map(str, part)) for part in parts)
