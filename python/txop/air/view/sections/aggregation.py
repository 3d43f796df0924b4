"""Section 5: A-MPDU and A-MSDU."""

from __future__ import annotations

from txop.air.model import Aggregation, AirReport
from txop.air.view.options import Options, unavailable
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Grid, Plot, Rows, Section


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    columns = (
        Column("Transmitter", right=False),
        Column("Receiver", right=False),
        Column("TID"),
        Column("PPDUs", "ppdus"),
        Column("A-MPDUs", "ampdu", 2),
        Column("MPDUs/PPDU mean", "ampdu"),
        Column("Median", "ampdu", 2),
        Column("p95", "ampdu", 2),
        Column("Largest", "ampdu"),
        Column("Bytes median", "ampdu", 2),
        Column("Duration median", "ppdu_duration"),
        Column("p95", "ppdu_duration", 3),
        Column("A-MSDU", "amsdu", 3),
    )
    wanted = [a for a in report.aggregation if options.wants(a.ta, a.ra)]
    blocks: list[Block] = [Grid("", columns, Rows(wanted, _row), unit_of_rows="flows")]
    if any(a.histogram for a in report.aggregation):
        blocks.append(Plot("aggregation"))
    return Section("aggregation", 5, "Aggregation", blocks, unavailable(report, "aggregation"))


def _row(a: Aggregation) -> tuple[Cell, ...]:
    size, length, time = a.mpdus_per_ppdu, a.bytes_per_ppdu, a.duration_us
    return (
        Cell(a.ta),
        Cell(a.ra),
        Cell("none", -1) if a.tid is None else cells.count(a.tid),
        cells.count(a.ppdus),
        cells.count(a.ampdus),
        cells.missing() if size is None else Cell(fmt.number(size.mean), size.mean),
        cells.count(size.median if size else None),
        cells.count(size.p95 if size else None),
        cells.count(size.max if size else None),
        cells.missing() if length is None else Cell(fmt.size_bytes(length.median), length.median),
        cells.time_us(time.median if time else None),
        cells.time_us(time.p95 if time else None),
        cells.ratio(a.amsdu_mpdus, a.mpdus),
    )
