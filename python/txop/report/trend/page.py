"""``txop trend --html``: the trend as one self-contained page."""

from __future__ import annotations

from txop.present.chapters import drawn_sections
from txop.present.page import render
from txop.report.trend.result import Trend
from txop.report.trend.view import draw, sections


def page(trend: Trend, tool: str) -> str:
    """The page, as HTML text; ``tool`` is what wrote it."""
    chapters = drawn_sections(sections(trend), lambda name: draw(trend, name))
    return render("txop.report.trend", "trend.html.j2", trend=trend, chapters=chapters, tool=tool)
