"""The page of a campaign, put together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.core.origin import Origin
from txop.core.whole_file import whole_file
from txop.present.blocks import Cell, Column, Grid, Lines
from txop.present.chapters import Painter
from txop.present.page import render
from txop.report.answer import published
from txop.report.campaign import bus, effects, faults, method, runs
from txop.report.campaign.captures import capture_links
from txop.report.campaign.gallery import Gallery
from txop.report.campaign.glance import drawn_with, glance
from txop.report.campaign.opening import opening
from txop.report.campaign.pieces import Chapter, Fold, Paragraph, Pictures, Piece
from txop.report.campaign.provenance import provenance
from txop.report.campaign.testbed import testbed

PAGE_NAME = "report.html"
"""The page inside an archive, where nothing else is asked for."""


def write_page(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write the page of a comparison; ``target`` is there whole or as it was before.

    Works on unfinished and damaged archives, and says so on the page. Links to captures are relative to ``target``.

    Raises:
        OSError: it could not be written.
    """
    text = page(archive, result, target)
    with whole_file(target) as out:
        out.write(text)


def page(archive: Archive, result: CompareResult, target: Path) -> str:
    """The page as HTML text, for a file at ``target``."""
    gallery = Gallery(archive, result, Painter())
    top = opening(archive, result, gallery.inks, gallery.answer())
    overview = gallery.overview()
    chapters = _without_empty([chapter for chapter in _chapters(archive, result, gallery, target) if chapter.pieces])
    return render(
        "txop.report.campaign",
        "campaign.html.j2",
        result=result,
        top=top,
        glance=glance(archive, result),
        testbed=testbed(archive),
        overview=overview,
        **drawn_with(),
        description=" ".join(result.description.split()),
        chapters=chapters,
        definitions=method.definitions(result),
        rows_shown=runs.ROWS_SHOWN,
        rows_max=runs.ROWS_MAX,
    )


_OF_RECORDINGS = ("values", "time", "latency", "host", "air", "bus", "faults")
"""Chapters that are left out when they have nothing but the reason why."""


def _without_empty(chapters: list[Chapter]) -> list[Chapter]:
    """The chapters that have something to show, and one with the reasons of the others."""
    empty = [
        chapter
        for chapter in chapters
        if chapter.name in _OF_RECORDINGS and all(isinstance(piece, Paragraph) for piece in chapter.pieces)
    ]
    if not empty:
        return chapters
    left_out = [
        f"{chapter.title}: {' '.join(piece.text for piece in chapter.pieces if isinstance(piece, Paragraph))}"
        for chapter in empty
    ]
    kept = [chapter for chapter in chapters if chapter not in empty]
    return [*kept, Chapter("missing", "Chapters left out", "Left out", [Lines(left_out)])]


def _chapters(archive: Archive, result: CompareResult, gallery: Gallery, target: Path) -> Iterator[Chapter]:
    yield Chapter("effects", "Effects against the baseline", "Effects", list(_effects(result, gallery)))
    yield Chapter("published", "Beside published figures", "Published", _published(archive, result))
    yield Chapter("values", "Valid runs", "Valid runs", gallery.values())
    yield Chapter("time", "Over time", "Over time", gallery.time())
    yield Chapter("latency", "Latency", "Latency", gallery.latency())
    yield Chapter("host", "CPU, context switches, interrupts", "CPU cost", list(_host(result, gallery)))
    yield Chapter("air", "On the air", "On the air", gallery.air())
    yield Chapter("bus", "On the USB", "On the USB", bus.chapter(archive, result))
    yield Chapter("faults", "Kernel log", "Kernel log", faults.faults(archive, result))
    yield Chapter("void", "Void runs", "Void runs", faults.not_counted(result))
    yield Chapter("method", "Method", "Method", method.methods(result))
    yield Chapter("runs", "All runs", "All runs", list(_runs(archive, result, target)))
    yield Chapter("provenance", "Provenance", "Provenance", provenance(archive))
    yield Chapter("reproduce", "Reproduce", "Reproduce", method.reproduce(archive, result))


def _published(archive: Archive, result: CompareResult) -> list[Piece]:
    rows = [tuple(map(Cell, row.cells())) for row in published.beside(archive, result)]
    if not rows:
        return []
    columns = [Column(head, right=head in ("published", "here, median", "difference")) for head in published.HEAD]
    return [Grid("", columns, rows, published.NOTE, whole=True)]


def _effects(result: CompareResult, gallery: Gallery) -> Iterator[Piece]:
    main, rest = effects.primary(result), effects.exploratory(result)
    if main:
        yield from gallery.forest(main, "primary")
        yield effects.table(main, "Primary figures", adjusted=result.design.family > 1)
        yield Paragraph(
            "▲ better, ▼ worse, = equivalent, ? inconclusive, · informational. Detectable: the smallest effect that a "
            "campaign of this size and noise finds four times out of five.",
            "note",
        )
    else:
        yield Paragraph("No primary figure could be compared.")
    changes = effects.changes(result)
    if changes is not None:
        yield changes
    note = effects.figure_notes(main)
    if note is not None:
        yield note
    missing = effects.unavailable(result)
    if rest:
        pieces: list[Piece] = [
            Paragraph("Not declared before the campaign and not adjusted: hints for the next one, no findings.")
        ]
        for test in result.tests:
            mine = [figure for figure in rest if figure.test == test.name]
            if mine:
                pieces += gallery.forest(effects.named(mine), f"exploratory-{test.name}")
                pieces.append(effects.table(mine, test.name, adjusted=False))
        count = sum(len(figure.rows) + len(figure.direct) for figure in rest)
        yield Fold(f"Exploratory figures ({count} comparisons)", pieces)
    if missing is not None:
        yield Fold(f"Not available ({len(result.not_available)})", [missing])


def _runs(archive: Archive, result: CompareResult, target: Path) -> Iterator[Piece]:
    yield runs.all_runs(archive, result)
    links = capture_links(archive, target)
    if links is not None:
        yield Fold(f"Captures ({len(links.items)})", [links])


def _host(result: CompareResult, gallery: Gallery) -> Iterator[Piece]:
    tables = effects.side_by_side(result, effects.HOST, "Median per run")
    tables = [piece for piece in tables if isinstance(piece, Grid)]
    if not tables:
        yield Paragraph("Not available: no run has counters of the host.")
        return
    if result.origin is Origin.EMULATED:
        text = "Of the machine that carries both ends and the emulated link: the cost of the emulator. Not judged."
        yield Paragraph(text, "note")
    yield from tables
    drawn = gallery.host()
    if drawn:
        yield Pictures(drawn)
