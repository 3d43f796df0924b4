"""Section 3: addresses that exist only because of damage."""

from __future__ import annotations

from txop.air.model import Ghost, RetryCount
from txop.air.report import AirReport
from txop.air.view.options import Options, unavailable
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Fact, Facts, Grid, Rows, Section


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    effect = report.ghost_effect
    checked = report.summary.fcs.good + report.summary.fcs.bad
    good = f"of which {fmt.count(effect.addresses_good)} in frames not known to be damaged"
    without = f"without damaged frames {_retry(effect.retry_good)}"
    if not checked:
        good, without = "the FCS of no frame could be checked", "without damaged frames not available"
    facts = [
        Fact("Addresses", f"{fmt.count(effect.addresses)}, {good}"),
        Fact("Ghosts", f"{fmt.count(effect.ghosts)} with {fmt.plural(effect.ghost_frames, 'frame')}", "ghost"),
        Fact("Retry % of data frames (with Null)", f"{_retry(effect.retry_all)}; {without}"),
    ]
    if effect.addresses_evicted:
        facts.append(
            Fact("Addresses not kept", f"{fmt.count(effect.addresses_evicted)} (their frames are in every total)")
        )
    blocks: list[Block] = [Facts(facts)]
    if report.ghosts:
        blocks.append(_grid(report, options))
    return Section("ghosts", 3, "Ghost addresses", blocks, unavailable(report, "ghosts"))


def _retry(count: RetryCount) -> str:
    return f"{fmt.percent(count.percent, 2)} ({fmt.count(count.retries)} of {fmt.count(count.frames)})"


def _grid(report: AirReport, options: Options) -> Grid:
    columns = (
        Column("Ghost", "ghost", right=False),
        Column("Likely origin", right=False),
        Column("Bits", "distance"),
        Column("Sent", "sent"),
        Column("Received", "received"),
        Column("Bad FCS", "fcs"),
        Column("Why", rank=2, right=False),
    )
    shown = [
        g
        for g in sorted(report.ghosts, key=lambda g: (g.of is None, -(g.frames_sent + g.frames_received)))
        if options.wants(g.address, g.of)
    ]
    return Grid("", columns, Rows(shown, _ghost), unit_of_rows="ghosts")


def _ghost(g: Ghost) -> tuple[Cell, ...]:
    return (
        Cell(g.address),
        cells.text(g.of),
        cells.count(g.distance),
        cells.count(g.frames_sent),
        cells.count(g.frames_received),
        cells.count(g.bad_fcs),
        Cell(g.reason),
    )
