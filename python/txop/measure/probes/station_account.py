"""Airtime and mac80211 queues of each station, as the access point's kernel counts them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from txop.core.metrics import station_key
from txop.formats.proc_stat import increase
from txop.measure.instrument import Reading
from txop.measure.probes.chip import STATIONS_FILE
from txop.measure.probes.wireless_snapshot import IW, WirelessSnapshot
from txop.measure.traffic.iperf3_reading import jain

DEBUGFS = "mac80211 debugfs"
_NAMED = re.compile(r"(?P<name>[a-z0-9][a-z0-9_-]{0,39}) (?P<address>[0-9a-f]{2}(?::[0-9a-f]{2}){5})")


def named_stations(folder: Path) -> dict[str, str]:
    """Addresses of the stations of a run by name; empty where they were not written down."""
    try:
        text = (folder / STATIONS_FILE).read_bytes()[:65_536].decode("ascii", "replace")
    except OSError:
        return {}
    return {found["name"]: found["address"] for row in text.splitlines() if (found := _NAMED.fullmatch(row))}


def put_stations(reading: Reading, inside: Sequence[WirelessSnapshot], addresses: Mapping[str, str]) -> None:
    """Figures and series of each named station, over the time between the first and the last snapshot."""
    for name, address in addresses.items():
        _share(reading, inside, name, address)
        _queues(reading, inside, name, address)


def _share(reading: Reading, inside: Sequence[WirelessSnapshot], name: str, address: str) -> None:
    key = station_key(name, "airtime_percent")
    for source, of in SOURCES:
        known = [(snapshot.at_s, us) for snapshot in inside if (us := of(snapshot).get(address)) is not None]
        if len(known) < 2 or known[-1][0] <= known[0][0]:
            continue
        grown = increase(known[0][1], known[-1][1])
        if grown is not None:
            reading.put(key, grown / (known[-1][0] - known[0][0]) / 1e4, source)
            return
    reading.put(key, None, IW, "fewer than two looks at the station's airtime within the window")


def _queues(reading: Reading, inside: Sequence[WirelessSnapshot], name: str, address: str) -> None:
    """What debugfs shows; nothing where the kernel has no such files."""
    pending = [
        (snapshot.at_s, snapshot.pending_us[address] / 1e3) for snapshot in inside if address in snapshot.pending_us
    ]
    if pending:
        key = station_key(name, "aql_pending_ms")
        reading.put(key, sum(ms for _, ms in pending) / len(pending), f"{DEBUGFS}, aql")
        reading.series[key] = [(round(at_s, 3), ms) for at_s, ms in pending]
    queued = [(snapshot.at_s, snapshot.queued[address]) for snapshot in inside if address in snapshot.queued]
    if not queued:
        return
    key = station_key(name, "txq_backlog_packets")
    reading.put(key, sum(each.backlog_packets for _, each in queued) / len(queued), f"{DEBUGFS}, aqm")
    reading.series[key] = [(round(at_s, 3), float(each.backlog_packets)) for at_s, each in queued]
    seconds = queued[-1][0] - queued[0][0]
    dropped = increase(queued[0][1].drops, queued[-1][1].drops)
    rate = None if dropped is None or seconds <= 0 else dropped / seconds
    why = None if rate is not None else "fewer than two looks at the queues within the window"
    reading.put(station_key(name, "txq_drops_per_s"), rate, f"{DEBUGFS}, aqm", why)


def put_fairness(reading: Reading, inside: Sequence[WirelessSnapshot], *, of_test: bool) -> None:
    """Jain's index of the airtime that the stations of an access point had."""
    for source, of in SOURCES:
        shares = _grown(inside, of)
        if len(shares) >= 2 and sum(shares) > 0:
            reading.put("airtime_jain_index", jain(shares), source)
            return
    if of_test:
        reading.put("airtime_jain_index", None, IW, "the driver does not count the airtime of its stations")


def _debugfs_airtime(snapshot: WirelessSnapshot) -> Mapping[str, int | None]:
    return snapshot.airtime_us


def _reported_airtime(snapshot: WirelessSnapshot) -> Mapping[str, int | None]:
    return {
        address: None if peer.tx_duration_us is None or peer.rx_duration_us is None
        else peer.tx_duration_us + peer.rx_duration_us
        for address, peer in snapshot.peers.items()
    }  # fmt: skip


def _grown(
    inside: Sequence[WirelessSnapshot], of: Callable[[WirelessSnapshot], Mapping[str, int | None]]
) -> list[float]:
    """How much each station's counter grew within the window; empty when one of them has no reading."""
    accounts = [each for snapshot in inside if (each := of(snapshot))]
    if len(accounts) < 2:
        return []
    grown = [increase(value, accounts[-1].get(address)) for address, value in accounts[0].items()]
    known = [float(value) for value in grown if value is not None]
    return known if len(known) == len(grown) else []


SOURCES: tuple[tuple[str, Callable[[WirelessSnapshot], Mapping[str, int | None]]], ...] = (
    (DEBUGFS, _debugfs_airtime),
    (f"{IW} (tx and rx duration)", _reported_airtime),
)
"""Sources of airtime, the best first."""
