"""Section 12: which station sends at which rate when."""

from __future__ import annotations

from itertools import groupby

from txop.air.model import RateCell
from txop.air.report import AirReport
from txop.air.view.names import called
from txop.air.view.options import Options, unavailable
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Grid, Lines, Rows, Section

_COLUMNS = (
    Column("From, s"),
    Column("Frames"),
    Column("Retries"),
    Column("Rates, most frames first", right=False),
)


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    timeline = report.rate_timeline
    shown = [cell for cell in timeline.rows if options.wants(cell.address)]
    blocks: list[Block] = []
    for address, of_station in groupby(shown, key=lambda cell: cell.address):
        spans = [list(span) for _, span in groupby(of_station, key=lambda cell: cell.start_us)]
        title = f"{called(report, address)}, spans of {fmt.duration_us(timeline.bin_us)}"
        blocks.append(Grid(title, _COLUMNS, Rows(spans, _row), unit_of_rows="spans"))
    if not blocks:
        blocks.append(Lines(("None captured: no undamaged frame with a sender address is in what was counted.",)))
    if timeline.frames_left_out:
        blocks.append(Lines((f"{fmt.count(timeline.frames_left_out)} more: too many stations and rates.",)))
    return Section("rates", 12, "Rates over time", blocks, unavailable(report, "rates"))


def _row(span: list[RateCell]) -> tuple[Cell, ...]:
    by_frames = sorted(span, key=lambda cell: -cell.frames)
    frames = sum(cell.frames for cell in span)
    rates = ", ".join(f"{cell.label} {fmt.share(cell.frames / frames, 0)}" for cell in by_frames)
    return (
        Cell(f"{span[0].start_us / 1e6:,.1f}", span[0].start_us),
        cells.count(frames),
        cells.count(sum(cell.retries for cell in span)),
        Cell(rates, by_frames[0].mbit_s),
    )
