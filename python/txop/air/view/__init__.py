"""The report in sections of text and tables, the same for the terminal and for the HTML page."""

from __future__ import annotations

from txop.air.view.headline import Headline, headline
from txop.air.view.sections import SECTION_NAMES, sections
from txop.present.blocks import Cell, Column, Facts, Grid, Lines, Plot, Section

__all__ = [
    "SECTION_NAMES", "Cell", "Column", "Facts", "Grid", "Headline", "Lines", "Plot", "Section", "headline", "sections",
]  # fmt: skip
