"""One snapshot of a wireless interface: what ``iw`` and mac80211's debugfs said in one turn of the loop."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field

from txop.formats import iw_interface, iw_station, iw_survey, mac80211_debugfs, minstrel
from txop.formats.error import FormatError
from txop.formats.iw_interface import Interface, Link
from txop.formats.iw_station import LinkFigures
from txop.formats.iw_survey import SurveyChannel
from txop.formats.minstrel import RateTable
from txop.measure.probes.sampler import Sample

IW = "iw station dump"

_OF_STATION = re.compile(
    r"/stations/(?P<address>[0-9a-f]{2}(?::[0-9a-f]{2}){5})/(?P<file>airtime|aqm|aql|rc_stats_csv)$"
)


@dataclass(frozen=True)
class Queued:
    """All queues of a station."""

    backlog_packets: int
    drops: int
    """Since the association."""


@dataclass
class WirelessSnapshot:
    """What one turn of the loop saw. ``None``: iw did not report it."""

    at_s: float
    """From the start of the measured window."""
    interface: Interface | None = None
    link: Link | None = None
    connected: bool | None = None
    peers: dict[str, LinkFigures] = field(default_factory=dict)
    """By address."""
    surveyed: SurveyChannel | None = None
    """The channel in use."""
    airtime_us: dict[str, int] = field(default_factory=dict)
    """Airtime from debugfs, both directions, by address of the station."""
    pending_us: dict[str, int] = field(default_factory=dict)
    """Airtime that waits in the driver, best effort (debugfs, aql), by address."""
    queued: dict[str, Queued] = field(default_factory=dict)
    """Queues of mac80211 (debugfs, aqm), by address."""
    rates: dict[str, RateTable] = field(default_factory=dict)
    """What minstrel counts (debugfs, rc_stats_csv), by address."""
    problem: str | None = None
    """Why there is no interface."""

    @property
    def channel(self) -> tuple[int, float, int | None, float | None] | None:
        """Number, frequency and width in MHz, centre in MHz."""
        found = self.interface.channel if self.interface is not None else None
        return None if found is None else (found.number, found.frequency_mhz, found.width_mhz, found.center1_mhz)


def snapshot_of(at_s: float, sample: Sample) -> WirelessSnapshot:
    """One turn of the loop, parsed."""
    snapshot = WirelessSnapshot(at_s)
    try:
        found = iw_interface.parse_interfaces(sample.files.get("/iw/info", ""))
        snapshot.interface = found[0] if found else None
    except FormatError as error:
        snapshot.problem = error.what
    with suppress(FormatError):
        if (text := sample.files.get("/iw/link", "")).strip():
            snapshot.link = iw_interface.parse_link(text)
            snapshot.connected = snapshot.link is not None
    with suppress(FormatError):
        snapshot.peers = {each.address: each.figures for each in iw_station.parse(sample.files.get("/iw/station", ""))}
    with suppress(FormatError):
        surveys = iw_survey.parse(sample.files.get("/iw/survey", ""))
        mhz = snapshot.channel[1] if snapshot.channel is not None else None
        snapshot.surveyed = next((s for s in surveys if s.in_use or (mhz is not None and s.frequency_mhz == mhz)), None)
    for path, text in sample.files.items():
        station = _OF_STATION.search(path)
        # In a guest the stations' own radios are on the same machine, each with the access point as its station.
        if station is not None and (not snapshot.peers or station["address"] in snapshot.peers):
            with suppress(FormatError):
                _debugfs(snapshot, station["address"], station["file"], text)
    return snapshot


def _debugfs(snapshot: WirelessSnapshot, address: str, file: str, text: str) -> None:
    if file == "airtime":
        airtime = mac80211_debugfs.parse_airtime(text)
        snapshot.airtime_us[address] = airtime.rx_us + airtime.tx_us
    elif file == "aql":
        depth_us = mac80211_debugfs.parse_aql(text).depth_us
        if "BE" in depth_us:
            snapshot.pending_us[address] = depth_us["BE"]
    elif file == "rc_stats_csv":
        snapshot.rates[address] = minstrel.parse(text)
    else:
        queues = mac80211_debugfs.parse_aqm(text).queues
        snapshot.queued[address] = Queued(sum(q.backlog_packets for q in queues), sum(q.drops for q in queues))
