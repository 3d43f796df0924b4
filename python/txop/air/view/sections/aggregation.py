"""Section 5: A-MPDU and A-MSDU, and PPDUs of several users."""

from __future__ import annotations

from txop.air.model import Aggregation, MultiUser, MultiUserPpdus, SigBRate
from txop.air.report import AirReport
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
    shared = [row for row in report.multi_user if options.wants(row.ta, row.ra)]
    if shared:
        blocks.append(_multi_user(shared))
    wholes = [row for row in report.multi_user_ppdus if options.wants(row.ta)]
    if wholes:
        blocks.append(_wholes(wholes))
    return Section("aggregation", 5, "Aggregation", blocks, unavailable(report, "aggregation"))


def _multi_user(rows: list[MultiUser]) -> Grid:
    columns = (
        Column("Transmitter", right=False),
        Column("Receiver", right=False),
        Column("Data frames"),
        Column("SU"),
        Column("ER SU", rank=3),
        Column("MU"),
        Column("Trigger-based"),
        Column("Unknown", rank=3),
        Column("OFDMA at least"),
        Column("n", rank=2),
        Column("Part of the band"),
        Column("PPDUs timed", rank=2),
        Column("With others", rank=3),
        Column("Tones: frames", rank=2, right=False),
    )
    note = (
        "Data frames (MPDUs) in HE and EHT PPDUs. OFDMA at least: the share in a unit smaller than the PPDU's width, "
        "or of which the U-SIG says it; where the width is not given, in one smaller than 242 tones. Part of the "
        "band: tones of the unit by those of the width, over the time of the MU and trigger-based PPDUs with L-SIG, "
        "unit and width are known; with others: PPDUs of which frames of other users were captured, too."
    )
    return Grid("HE and EHT PPDUs by format", columns, Rows(rows, _shared), note, unit_of_rows="links")


def _wholes(rows: list[MultiUserPpdus]) -> Grid:
    columns = (
        Column("Transmitter", right=False),
        Column("PPDUs"),
        Column("Allocation known"),
        Column("Units"),
        Column("Users"),
        Column("Captured"),
        Column("Not captured"),
        Column("Contradictory", rank=2),
        Column("Parts without stamp", rank=3),
        Column("SIG", rank=1),
        Column("SIG timed", rank=3),
        Column("SIG-B MCS", rank=3, right=False),
        Column("Tones: units", rank=2, right=False),
        Column("Most often", rank=3, right=False),
    )
    note = (
        "HE and EHT PPDUs to several users, parts with the same hardware stamp as one. Units and users: those in the "
        "header of the PPDUs with a known allocation (radiotap HE-MU and EHT: HE-SIG-B or EHT-SIG, all content "
        "channels; MU-MIMO: the number of users). Captured: users with at least one frame that is not damaged. Not "
        "captured: the others; a unit may also be allocated and left empty. SIG: time of HE-SIG-B or EHT-SIG, which "
        "say who has which unit, by the time of the PPDUs with both in their header (SIG timed)."
    )
    return Grid("PPDUs to several users", columns, Rows(rows, _whole), note, unit_of_rows="transmitters")


def _sig_b(rate: SigBRate) -> str:
    return f"{rate.mcs} DCM" if rate.dcm else f"{rate.mcs}"


def _whole(row: MultiUserPpdus) -> tuple[Cell, ...]:
    most = row.allocations[0] if row.allocations else None
    return (
        Cell(row.ta),
        cells.count(row.ppdus),
        cells.count(row.allocation_known),
        cells.count(row.units),
        cells.count(row.users),
        cells.count(row.users_captured),
        cells.count(row.users_not_captured),
        cells.count(row.contradictory),
        cells.count(row.parts_without_stamp),
        cells.share(row.sig_share),
        cells.count(row.sig_timed),
        Cell(", ".join(f"{_sig_b(rate)}: {fmt.count(rate.ppdus)}" for rate in row.sig_b_rates)),
        Cell(", ".join(f"{unit.tones}: {fmt.count(unit.units)}" for unit in row.resource_units)),
        cells.missing() if most is None else Cell(f"{most.units} ({most.users} users)"),
    )


def _shared(row: MultiUser) -> tuple[Cell, ...]:
    return (
        Cell(row.ta),
        Cell(row.ra),
        cells.count(row.frames),
        cells.count(row.single_user),
        cells.count(row.extended_range),
        cells.count(row.multi_user),
        cells.count(row.trigger_based),
        cells.count(row.format_unknown),
        cells.share(row.certainly_ofdma_share),
        cells.count(row.unit_known),
        cells.share(row.band_share),
        cells.count(row.ppdus_timed),
        cells.count(row.ppdus_joint),
        Cell(", ".join(f"{unit.tones}: {fmt.count(unit.frames)}" for unit in row.resource_units)),
    )


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
