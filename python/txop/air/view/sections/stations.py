"""Section 2: stations, networks, links, rates."""

from __future__ import annotations

from collections import defaultdict

from txop.air.model import Bss, Link, RateRow, Station
from txop.air.report import AirReport
from txop.air.view import names
from txop.air.view.access_points import access_points
from txop.air.view.devices import devices
from txop.air.view.options import Options, unavailable
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Grid, Plot, Rows, Section


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    blocks: list[Block] = [_stations(report, options), _networks(report), access_points(report, options)]
    blocks += [*devices(report, options), _links(report, options)]
    link = rated_link(report)
    if link is not None:
        blocks += [Plot("rates"), _rates(report, link)]
    return Section(
        "stations", 2, "Stations and networks", blocks, unavailable(report, "stations", "bss", "access points", "links")
    )


def rated_link(report: AirReport) -> Link | None:
    """The link with the rates shown: the explained direction, else the one with most data frames."""
    for fall in report.waterfalls[:1]:
        for link in report.links:
            if (link.ta, link.ra) == (fall.ta, fall.ra) and link.rates:
                return link
    rated = [link for link in report.links if link.rates and link.data_frames]
    return max(rated, key=lambda link: link.data_frames, default=None)


def _stations(report: AirReport, options: Options) -> Grid:
    columns = (
        Column("Address", right=False),
        Column("Role", right=False),
        Column("SSID", rank=2, right=False),
        Column("Sent", "sent"),
        Column("Received", "received", 3),
        Column("Bytes", "bytes", 3),
        Column("Data", "data", 2),
        Column("Retry % data sent", "retry_mpdu"),
        Column("n", "retry_mpdu", 2),
        Column("Retry % Wireshark, sent + received", "retry_wireshark", 3),
        Column("n", "retry_wireshark", 3),
        Column("Airtime", "airtime_share"),
        Column("Signal", "signal", 2),
        Column("Most used rate", "rate", 3, right=False),
        Column("PM", "power", 3),
        Column("Seen", "seen", 3, right=False),
        Column("From ghosts", "ghost_frames", 3),
    )
    near: dict[str, int] = defaultdict(int)
    for ghost in report.ghosts:
        if ghost.of is not None:
            near[ghost.of] += ghost.frames_sent + ghost.frames_received
    shown = [
        s
        for s in report.stations
        if (options.list_ghosts or s.kind != "ghost") and s.kind != "group" and options.wants(s.address)
    ]
    rows = Rows(shown, lambda s: _station(report, s, near.get(s.address, 0)))
    groups = sum(s.kind == "group" for s in report.stations)
    notes = [f"{groups} group address{'es' if groups > 1 else ''} not listed." if groups else ""]
    if report.ghosts and not options.list_ghosts:
        notes.append(
            f"Not counted here: {fmt.plural(report.ghost_effect.ghosts, 'ghost')} with "
            f"{fmt.plural(report.ghost_effect.ghost_frames, 'frame')}. Section 3 lists ghosts, with their likely "
            "origin where one is known."
        )
    return Grid("Stations", columns, rows, " ".join(n for n in notes if n), "stations")


def _station(report: AirReport, s: Station, from_ghosts: int) -> tuple[Cell, ...]:
    kind = {"ap": "AP", "station": "STA", "mesh": "mesh", "ibss": "IBSS", "ghost": "ghost", "group": "group"}.get(
        s.kind, "?"
    )
    signal = s.signal_dbm
    return (
        Cell(s.address, tone="dim" if s.kind == "ghost" else ""),
        Cell(kind),
        Cell(s.ssid or ""),
        cells.count(s.frames_sent),
        cells.count(s.frames_received),
        Cell(fmt.size_bytes(s.bytes_sent), s.bytes_sent),
        cells.count(s.data_frames_sent),
        cells.percent(s.mpdu_retry.percent),
        cells.count(s.mpdu_retry.frames),
        cells.percent(s.wireshark.retry_percent),
        cells.count(s.wireshark.packets),
        cells.ratio(s.airtime_us, report.shared_us),
        cells.missing() if signal is None else Cell(fmt.dbm(signal.median), signal.median),
        names.top_rate(s.rates),
        cells.count(s.power_management_frames),
        names.seen(s.first_seen_us, s.last_seen_us),
        cells.count(from_ghosts),
    )


def _networks(report: AirReport) -> Grid:
    columns = (
        Column("BSSID", right=False),
        Column("SSID", right=False),
        Column("Channel"),
        Column("Packets"),
        Column("Retry % Wireshark", "retry_bss"),
        Column("Beacons", rank=2),
        Column("Data", "data", 2),
        Column("Probes", rank=3),
        Column("Addresses", "wireshark_addresses", 2),
    )
    return Grid("Networks", columns, Rows(report.bss, _network), unit_of_rows="networks")


def _network(b: Bss) -> tuple[Cell, ...]:
    return (
        Cell(b.bssid),
        cells.text(b.ssid),
        cells.count(b.channel),
        cells.count(b.packets),
        cells.percent(b.retry_percent),
        cells.count(b.beacons),
        cells.count(b.data_packets),
        cells.count(b.probes),
        cells.count(b.stations),
    )


def _links(report: AirReport, options: Options) -> Grid:
    columns = (
        Column("Transmitter", right=False),
        Column("Receiver", right=False),
        Column("Direction", rank=2, right=False),
        Column("Frames", "frames"),
        Column("Bytes", "bytes", 3),
        Column("Data", "data", 2),
        Column("Retry % MPDU", "retry_mpdu"),
        Column("n", "retry_mpdu", 2),
        Column("Retry % bytes", "retry_bytes", 3),
        Column("Retry % Wireshark", "retry_wireshark", 3),
        Column("Airtime", "airtime_share", 2),
        Column("Signal", "signal", 3),
        Column("Most used data rate", "rate", 2, right=False),
    )
    hidden = set() if options.list_ghosts else {ghost.address for ghost in report.ghosts}
    shown = [
        link
        for link in report.links
        if options.wants(link.ta, link.ra) and link.ta not in hidden and link.ra not in hidden
    ]
    return Grid("Links", columns, Rows(shown, lambda link: _link(report, link)), unit_of_rows="links")


def _link(report: AirReport, link: Link) -> tuple[Cell, ...]:
    signal = link.signal_dbm
    return (
        Cell(link.ta),
        Cell(link.ra),
        Cell(names.DIRECTIONS.get(link.direction, link.direction)),
        cells.count(link.frames),
        Cell(fmt.size_bytes(link.bytes), link.bytes),
        cells.count(link.data_frames),
        cells.percent(link.mpdu_retry.percent),
        cells.count(link.mpdu_retry.frames),
        cells.percent(link.byte_retry_percent),
        cells.percent(link.wireshark_retry.percent),
        cells.ratio(link.airtime_us, report.shared_us),
        cells.missing() if signal is None else Cell(fmt.dbm(signal.median), signal.median),
        names.top_rate(link.rates),
    )


def _rates(report: AirReport, link: Link) -> Grid:
    columns = (
        Column("Rate", "rate", right=False),
        Column("PHY rate", rank=2),
        Column("Frames", "frames"),
        Column("Share"),
        Column("Retries"),
        Column("Retry %"),
        Column("Bytes", "bytes", 2),
    )
    total = sum(row.frames for row in link.rates)
    return Grid(
        f"Rates, {names.direction(report, link.ta, link.ra)}",
        columns,
        [_rate(row, total) for row in link.rates],
        unit_of_rows="rates",
    )


def _rate(row: RateRow, total: int) -> tuple[Cell, ...]:
    return (
        Cell(row.label, row.mbit_s),
        cells.missing() if row.mbit_s is None else Cell(fmt.mbit_s(row.mbit_s), row.mbit_s),
        cells.count(row.frames),
        cells.ratio(row.frames, total),
        cells.count(row.retries),
        cells.ratio(row.retries, row.frames),
        Cell(fmt.size_bytes(row.bytes), row.bytes),
    )
