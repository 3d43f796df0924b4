"""``txop simulate --html``: the results as one self-contained page."""

from __future__ import annotations

from txop.present import format as fmt
from txop.present.chapters import drawn_sections
from txop.present.page import render
from txop.simulate.plots import draw
from txop.simulate.simulation import Simulation
from txop.simulate.view import headline, sections

ROWS_SHOWN = 40
"""Rows of a table shown before "show all"."""

ROWS_MAX = 2000
"""Rows of a table put into the page at all; CSV and JSON have every row."""


def page(simulation: Simulation) -> str:
    """The page of ``simulation``, as HTML text."""
    chapters = drawn_sections(sections(simulation), lambda name: draw(simulation, name))
    return render(
        "txop.simulate", "simulate.html.j2", simulation=simulation, chapters=chapters, fmt=fmt, definitions={},
        headline=headline(simulation), rows_shown=ROWS_SHOWN, rows_max=ROWS_MAX,
    )  # fmt: skip
