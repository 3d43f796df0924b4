"""``txop bus --html``: the report, or two side by side, as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from txop.bus.compare import Comparison, compare
from txop.bus.plots import draw
from txop.bus.report import BusReport
from txop.bus.side_by_side import grid
from txop.bus.view import called, sections, tone
from txop.present import format as fmt
from txop.present.chapters import Picture, drawn_sections
from txop.present.page import render
from txop.present.window import described

ROWS_SHOWN = 12
"""Rows of a table shown before "show all"."""

ROWS_MAX = 500
"""Rows of a table put into the page at all; CSV and JSON have every row."""


def page(report: BusReport) -> str:
    """The page of ``report``, as HTML text."""
    chapters = drawn_sections(sections(report, whole=True), lambda name: draw(report, name))
    first = next((piece for part in chapters for (piece,) in part.rows if isinstance(piece, Picture)), None)
    chapters = [replace(part, rows=[row for row in part.rows if row != (first,)]) for part in chapters]
    return render(
        "txop.bus", "bus.html.j2", report=report, chapters=chapters, first=first, called=called, tone=tone, fmt=fmt,
        definitions={}, window=described(report.summary.window) if report.summary.window is not None else None,
        rows_shown=ROWS_SHOWN, rows_max=ROWS_MAX,
    )  # fmt: skip


def comparison_page(reports: Sequence[BusReport]) -> str:
    """Two captures side by side, as HTML text."""
    comparison: Comparison = compare(reports)
    return render(
        "txop.bus", "compare.html.j2", comparison=comparison, reports=reports, tone=tone, grid=grid(comparison),
        windows=[described(each.summary.window) if each.summary.window is not None else None for each in reports],
        definitions={}, tool=reports[0].tool,
    )  # fmt: skip
