"""``bisect.html``: a bisection as one self-contained page."""

from __future__ import annotations

from txop.bisect.plots import draw
from txop.bisect.result import BisectResult
from txop.bisect.view import sections
from txop.present import format as fmt
from txop.present.chapters import drawn_sections
from txop.present.page import render

ROWS_SHOWN = 60
ROWS_MAX = 2000


def page(result: BisectResult) -> str:
    """The page, as HTML text."""
    chapters = drawn_sections(sections(result), lambda name: draw(result, name))
    return render(
        "txop.bisect", "bisect.html.j2", result=result, chapters=chapters, fmt=fmt, definitions={},
        rows_shown=ROWS_SHOWN, rows_max=ROWS_MAX,
    )  # fmt: skip
