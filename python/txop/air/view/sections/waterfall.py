"""Section 7: where the throughput went."""

from __future__ import annotations

from txop.air.model import Waterfall
from txop.air.report import AirReport
from txop.air.view import names
from txop.air.view.headline import THROUGHPUT_FROM, headline, timed_part
from txop.air.view.options import Options, unavailable
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Grid, Lines, Section

TIMING = {
    "stamps": "gaps measured with calibrated time stamps",
    "capture-clock": "without usable hardware time stamps, gaps cannot be separated from idle time",
}


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    shown = [fall for fall in report.waterfalls if options.wants(fall.ta, fall.ra)]
    blocks: list[Block] = [_grid(report, fall) for fall in shown]
    if not blocks:
        blocks.append(Lines((f"Not available: {headline(report, options.station).unavailable}.",)))
    return Section("waterfall", 7, "Goodput waterfall", blocks, unavailable(report, "waterfall"))


def _grid(report: AirReport, fall: Waterfall) -> Grid:
    columns = (
        Column("Cause", "waterfall", right=False),
        Column("Time"),
        Column("Share", "waterfall"),
        Column("Goodput it costs", "waterfall"),
    )
    rows = [
        (
            Cell(fmt.capital(step.label), tone="good" if step.cause == "payload" else ""),
            cells.time_us(step.us),
            cells.share(step.share, 2),
            cells.missing()
            if fall.mpdus < THROUGHPUT_FROM
            else Cell(fmt.mbit_s(step.mbit_s), step.mbit_s, "good" if step.cause == "payload" else ""),
        )
        for step in fall.steps
        if step.us > 0
    ]
    total = sum(step.share for step in fall.steps)
    note = (
        f"Sum {fmt.share(total, 2)} of {fmt.duration_us(fall.observed_us)}; "
        f"effective PHY rate (payload bits by their time on the air, padding of symbols included) "
        f"{fmt.mbit_s(fall.phy_rate_mbit_s)}{timed_part(fall)}; "
        f"{TIMING.get(fall.timing, fall.timing)}. The row Payload is what is left, not a cost."
    )
    title = f"{fall.direction.capitalize()}, {names.direction(report, fall.ta, fall.ra)}"
    return Grid(title, columns, rows, note, "causes", whole=True)
