"""Figures that ``txop compare`` has nothing to compare with: those of an archive with one arm, or of a test that only
one arm has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txop.cli.console import safe_text
from txop.compare import words
from txop.present.format import figure as written

if TYPE_CHECKING:
    from rich.table import Table

    from txop.compare.result import ArmValues, ComparedFigure


def table_of(title: str, figures: list[ComparedFigure]) -> Table:
    """A row for each figure of each arm: its runs, their median and range, and what they were read from."""
    from rich.table import Table

    table = Table(title=safe_text(title), title_justify="left")
    for name in ("Figure", "Arm"):
        table.add_column(name, overflow="fold")
    for name in ("n", "Median", "Range"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("From", overflow="fold")
    for figure in figures:
        unit = f" [{figure.metric.unit}]" if figure.metric.unit else ""
        for number, arm in enumerate(figure.arms):
            span = ""
            if arm.n > 1 and arm.lowest is not None:
                span = " to ".join(written(end, figure.metric.digits) for end in (arm.lowest, arm.highest))
            table.add_row(
                safe_text(f"{figure.metric.title}{unit}" if number == 0 else ""),
                safe_text(arm.arm),
                safe_text(str(arm.n)),
                safe_text(words.bounded(arm.bound) + _median(arm, figure)),
                safe_text(span),
                safe_text("; ".join(figure.sources) if number == 0 else ""),
            )
    return table


def _median(arm: ArmValues, figure: ComparedFigure) -> str:
    return "infinite" if arm.median_infinite else written(arm.median, figure.metric.digits)
