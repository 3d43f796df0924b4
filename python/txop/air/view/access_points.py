"""The list of access points: a table of the report, and all that ``txop air --list`` prints."""

from __future__ import annotations

from txop.air.model import AccessPoint
from txop.air.report import AirReport
from txop.air.view import names
from txop.air.view.options import Options
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Cell, Column, Grid, Rows


def access_points(report: AirReport, options: Options) -> Grid:
    """One row per access point, most beacons first."""
    columns = (
        Column("BSSID", right=False),
        Column("SSID", right=False),
        Column("Channel"),
        Column("MHz", rank=3),
        Column("Width", rank=2),
        Column("802.11", rank=2, right=False),
        Column("Security", right=False),
        Column("Keys", rank=3, right=False),
        Column("Ciphers", rank=2, right=False),
        Column("PMF", rank=2, right=False),
        Column("Beacons"),
        Column("Signal", "signal"),
        Column("n", "signal", 3),
        Column("Stations with data"),
        Column("Seen", "seen", 3, right=False),
        Column("MLD", rank=3, right=False),
    )
    shown = [row for row in report.access_points if options.wants(row.bssid)]
    return Grid("Access points", columns, Rows(shown, _row), _doubt(report, shown), unit_of_rows="access points")


def unconfirmed(report: AirReport) -> frozenset[str]:
    """Senders of a single frame, in a capture most frames of which have no FCS to check: a damaged address looks like
    another access point."""
    fcs = report.summary.fcs
    if fcs.unknown <= fcs.good + fcs.bad:
        return frozenset()
    return frozenset(station.address for station in report.stations if station.frames_sent == 1)


def _doubt(report: AirReport, shown: list[AccessPoint]) -> str:
    doubted = unconfirmed(report)
    single = sum(row.bssid in doubted for row in shown)
    if not single:
        return ""
    rows = "1 of these rows rests" if single == 1 else f"{fmt.count(single)} of these rows rest"
    return f"{rows} on a single frame without an FCS to check: a damaged address looks like another access point."


def _width(row: AccessPoint) -> Cell:
    if row.width_mhz is None:
        return cells.missing()
    punctured = f", {row.punctured_mhz} punctured" if row.punctured_mhz else ""
    return Cell(f"{row.width_mhz} MHz{punctured}", row.width_mhz)


def _row(row: AccessPoint) -> tuple[Cell, ...]:
    signal = row.signal_dbm
    return (
        Cell(row.bssid),
        _names(row),
        cells.count(row.channel),
        cells.missing() if row.frequency_mhz is None else Cell(str(row.frequency_mhz), row.frequency_mhz),
        _width(row),
        Cell("/".join(row.standards)) if row.standards else cells.missing(),
        Cell(row.security, tone="bad" if row.security == "WEP" else "") if row.security else cells.missing(),
        Cell(", ".join(row.key_managements)),
        Cell(", ".join(row.pairwise_ciphers)),
        Cell(row.pmf or ""),
        cells.count(row.beacons),
        cells.missing() if signal is None else Cell(fmt.dbm(signal.median), signal.median),
        cells.missing() if signal is None else cells.count(signal.n),
        cells.count(row.stations),
        names.seen(row.first_seen_us, row.last_seen_us),
        Cell(row.mld or ""),
    )


def _names(row: AccessPoint) -> Cell:
    kind = f" [{row.kind}]" if row.kind not in ("ap", None) else ""
    names = ", ".join(row.ssids)
    if row.kind == "mesh" and not row.ssids:
        # Beacons of a mesh carry an empty SSID by rule (IEEE Std 802.11-2020, 9.4.2.2): nothing is hidden.
        return Cell(kind.strip())
    if row.hidden:
        return Cell((f"{names} (hidden)" if names else "(hidden)") + kind)
    return Cell(names + kind) if names else cells.missing()
