"""``txop simulate --html``: the results as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from txop.report import format as fmt
from txop.report.blocks import Block, Facts, Grid, Lines, Plot, Section
from txop.report.page import render
from txop.report.plot import svg
from txop.simulate.model import Simulation
from txop.simulate.plots import draw
from txop.simulate.view import sections

ROWS_SHOWN = 40
"""Rows of a table shown before "show all"."""

ROWS_MAX = 2000
"""Rows of a table put into the page at all; CSV and JSON have every row."""


@dataclass(frozen=True)
class Figure:
    """A finished plot."""

    svg: Markup
    caption: str
    wide: bool


Piece = Figure | Facts | Grid | Lines


@dataclass(frozen=True)
class Chapter:
    """A section with its plots drawn."""

    section: Section
    pieces: Sequence[Piece]


def page(simulation: Simulation) -> str:
    """The page of ``simulation``, as HTML text."""
    drawn = 0

    def piece(block: Block) -> Piece | None:
        nonlocal drawn
        if not isinstance(block, Plot):
            return block
        drawing = draw(simulation, block.name)
        if drawing is None:
            return None
        drawn += 1
        return Figure(svg(drawing.spec, ident=f"p{drawn}", label=drawing.caption), drawing.caption, wide=True)

    chapters = [
        Chapter(part, [found for block in part.blocks if (found := piece(block)) is not None])
        for part in sections(simulation)
    ]
    return render(
        "txop.simulate", "simulate.html.j2", simulation=simulation, chapters=chapters, fmt=fmt, definitions={},
        rows_shown=ROWS_SHOWN, rows_max=ROWS_MAX,
    )  # fmt: skip
