"""``txop air --html``: the report as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from txop.air.compare import compare, different_pairs, letter
from txop.air.definitions import DEFINITIONS
from txop.air.page.causes import ink
from txop.air.page.plots import draw, waterfall
from txop.air.report import AirReport
from txop.air.view import Facts, Grid, Plot, headline, sections
from txop.air.view.glyphs import glyph
from txop.air.view.sections import without_content
from txop.air.view.selection import chosen
from txop.air.view.side_by_side import grid
from txop.present import format as fmt
from txop.present.blocks import Block
from txop.present.chapters import DrawnSection, Painter, Picture, Piece
from txop.present.page import render
from txop.present.window import described, span

ROWS_SHOWN = 12
"""Rows of a table shown before "show all"."""

ROWS_MAX = 500
"""Rows of a table put into the page at all; CSV and JSON have every row."""


Row = tuple[Piece, ...]
"""Pieces that stand side by side where there is room."""


def page(report: AirReport, *, list_ghosts: bool = False, station: str | None = None) -> str:
    """The page of ``report``, as HTML text.

    Args:
        report: The report.
        list_ghosts: List ghost addresses as stations too.
        station: Show only rows of this address.
    """
    painter = Painter()
    beside = ("events",) if report.events.frames else ()
    parts = sections(report, list_ghosts=list_ghosts, station=station, beside=beside)
    head = headline(report, station)
    falls = [painter.picture(waterfall(flow.waterfall, flow.title)) for flow in head.flows]
    chapters = [
        DrawnSection(
            part,
            _rows([painter.picture(draw(report, b.name, b.index)) if isinstance(b, Plot) else b for b in part.blocks]),
        )
        for part in parts
        if part.name != "waterfall"
    ]
    for place, part in enumerate(parts):
        if part.name == "waterfall":
            rows = [_beside(picture, block) for picture, block in zip_longest(falls, part.blocks)]
            chapters.insert(place, DrawnSection(part, rows))
    return render(
        "txop.air.page",
        "air.html.j2",
        report=report,
        headline=head,
        chapters=chapters,
        without_content=without_content(report),
        definitions=DEFINITIONS,
        ink=ink,
        glyph=glyph,
        fmt=fmt,
        span=span(report.summary.span_us, report.summary.first_time_unix_s),
        window=described(report.summary.window) if report.summary.window is not None else None,
        chosen=chosen(report),
        rows_shown=ROWS_SHOWN,
        rows_max=ROWS_MAX,
    )


def comparison_page(reports: Sequence[AirReport]) -> str:
    """Two captures or more side by side, as HTML text."""
    comparison = compare(reports)
    heads = [headline(report) for report in reports]
    arms = [
        {
            "letter": letter(n),
            "report": report,
            "flow": head.flows[0] if head.flows else None,
            "captured": head.captured,
            "window": described(report.summary.window) if report.summary.window is not None else None,
            "chosen": chosen(report),
        }
        for n, (report, head) in enumerate(zip(reports, heads, strict=True))
    ]
    return render(
        "txop.air.page",
        "compare.html.j2",
        comparison=comparison,
        warning=different_pairs(reports),
        arms=arms,
        grid=grid(comparison),
        figure=None,
        definitions=DEFINITIONS,
        ink=ink,
        glyph=glyph,
        fmt=fmt,
        tool=reports[0].tool,
    )


def _beside(picture: Picture | None, block: Block | None) -> Row:
    pieces: list[Piece] = [] if picture is None else [picture]
    if block is not None and not isinstance(block, Plot):
        pieces.append(block)
    return tuple(pieces)


def _rows(pieces: Sequence[Piece | Plot | None]) -> list[Row]:
    """A narrow plot shares its row with the table or the facts that follow it."""
    rows: list[Row] = []
    for piece in pieces:
        if piece is None or isinstance(piece, Plot):
            continue
        last = rows[-1] if rows else ()
        alone = len(last) == 1 and isinstance(last[0], Picture) and not last[0].wide
        if alone and isinstance(piece, Grid | Facts):
            rows[-1] = (*last, piece)
        else:
            rows.append((piece,))
    return rows
