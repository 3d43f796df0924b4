"""Section 13: every Block Ack."""

from __future__ import annotations

from txop.air.model import BlockAckRow
from txop.air.report import AirReport
from txop.air.view.options import Options
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Cell, Column, Grid, Lines, Rows, Section

_COLUMNS = (
    Column("Record"),
    Column("At, s"),
    Column("Recipient", right=False),
    Column("Originator", right=False),
    Column("TID"),
    Column("First"),
    Column("Acknowledged"),
    Column("Bitmap, octets as sent", rank=2, right=False),
)


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    log = report.block_ack_log
    if log is None:
        why = "They are listed only where they are asked for: --block-acks."
        return Section("block_acks", 13, "Block Acks", [Lines((why,))])
    shown = [row for row in log.rows if options.wants(row.recipient, row.originator)]
    note = ""
    if log.rows_left_out:
        note = f"Not shown: {fmt.count(log.rows_left_out)} rows; --from and --to choose a part."
    grid = Grid(f"{fmt.count(log.frames)} frames", _COLUMNS, Rows(shown, _row), note, "Block Acks")
    return Section("block_acks", 13, "Block Acks", [grid])


def _row(row: BlockAckRow) -> tuple[Cell, ...]:
    part = None if row.acknowledged is None else f"{row.acknowledged} of {row.bits}"
    return (
        Cell(str(row.number), row.number),
        Cell(f"{row.at_us / 1e6:,.6f}", row.at_us),
        cells.text(row.recipient),
        Cell(row.originator),
        cells.count(row.tid),
        cells.text(None if row.start is None else str(row.start)),
        cells.text(part),
        cells.text(row.bitmap),
    )
