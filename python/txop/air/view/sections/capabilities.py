"""Section 8: claimed, and seen used."""

from __future__ import annotations

from txop.air.model import CapabilityAudit, CapabilityRow
from txop.air.report import AirReport
from txop.air.view.options import Options, unavailable
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Grid, Lines, Section

WHOLE_AUDITS = 2
"""Stations with an audit shown in full: the access points and stations with most frames; the others follow below."""


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    wanted = [audit for audit in report.capabilities if options.wants(audit.address)]
    order = {address: index for index, address in enumerate(_explained(report))}
    wanted.sort(key=lambda audit: (order.get(audit.address, len(order)), -audit.frames))
    blocks: list[Block] = [_grid(audit, whole=index < WHOLE_AUDITS) for index, audit in enumerate(wanted[:_MOST])]
    if len(wanted) > _MOST:
        blocks.append(
            Lines((f"{fmt.plural(len(wanted) - _MOST, 'more station')}: --station ADDRESS, --csv or --json.",))
        )
    if not blocks:
        blocks.append(Lines((_NOTHING,)))
    return Section("capabilities", 8, "Capability audit", blocks, unavailable(report, "capabilities"))


_NOTHING = (
    "None of its frames shows what a station claims or uses: claims are read from the capability elements (HT, VHT, "
    "HE, EHT, RSN) of undamaged beacons, probes, and requests to associate."
)

_MOST = 6
"""Audits shown at all."""


def _explained(report: AirReport) -> list[str]:
    """Both ends of the explained direction."""
    return [address for fall in report.waterfalls[:1] for address in (fall.ta, fall.ra)]


def _grid(audit: CapabilityAudit, *, whole: bool) -> Grid:
    columns = (
        Column("Capability", right=False),
        Column("Advertised", "claimed", right=False),
        Column("Details", rank=2, right=False),
        Column("Frames", "used"),
        Column("Evidence", rank=2, right=False),
        Column("Note", rank=3, right=False),
    )
    role = {"ap": "AP", "station": "STA", "mesh": "mesh", "ibss": "IBSS"}.get(audit.role, audit.role)
    network = f" ({audit.ssid})" if audit.ssid else ""
    source = audit.claimed_in or "no whole beacon, probe or association frame"
    note = f"Claims from: {source}. Use seen in {fmt.plural(audit.frames, 'frame')} of it not known to be damaged."
    title = f"{role} {audit.address}{network}"
    return Grid(title, columns, [_row(row) for row in audit.rows], note, "capabilities", whole=whole)


def _row(row: CapabilityRow) -> tuple[Cell, ...]:
    claimed = {"yes": Cell("yes", 1, "good"), "no": Cell("no", 0)}.get(row.claimed, cells.missing())
    return (
        Cell(row.capability),
        claimed,
        Cell(row.claimed_detail or ""),
        cells.count(row.seen),
        Cell(row.seen_detail or ""),
        Cell(row.note.text if row.note is not None else ""),
    )
