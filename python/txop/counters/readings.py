"""Parts of a paste, read: each reading with what it is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from txop.counters.paste import Part, Paste
from txop.formats import (
    ath9k_debugfs,
    ath10k_debugfs,
    ethtool,
    iw_station,
    iw_survey,
    mac80211_debugfs,
    minstrel,
    mt76_debugfs,
    proc_wireless,
)
from txop.formats.error import FormatError
from txop.formats.iw_station import Station
from txop.formats.iw_survey import SurveyChannel
from txop.formats.mac80211_debugfs import Airtime, QueueLimits, QueueManagement
from txop.formats.minstrel import RateTable
from txop.formats.mt76_debugfs import TransmitStatistics
from txop.formats.proc_wireless import WirelessCounters

Value = (
    Station
    | SurveyChannel
    | RateTable
    | WirelessCounters
    | TransmitStatistics
    | Airtime
    | QueueManagement
    | QueueLimits
    | Mapping[str, int | None]
)


@dataclass(frozen=True)
class Subject:
    """What a reading is about. ``None``: the text does not say."""

    kind: str
    """A kind of part (:data:`txop.counters.paste.CounterKind`)."""
    interface: str | None = None
    station: str | None = None
    frequency_mhz: float | None = None
    ordinal: int = 1
    """Tells subjects apart that the text does not: peers with one masked address, tables without a name."""


@dataclass(frozen=True)
class Reading:
    """One output of a tool about one subject."""

    subject: Subject
    value: Value
    part: Part
    named: bool
    """Whether the text says which subject it is: two readings of one name are of one thing."""
    no_signal: bool = False
    """Of a peer: the signal is printed as -256 dBm, which is none."""


@dataclass
class Readings:
    """All that a paste has, in its order."""

    readings: list[Reading]
    driver: str | None
    """That ``ethtool -i`` names, where all of them name one."""
    cut: bool
    """There were more than are looked at."""


_OF_MAC80211: Mapping[str, Callable[[str], Airtime | QueueManagement | QueueLimits]] = {
    "mac80211-airtime": mac80211_debugfs.parse_airtime,
    "mac80211-aqm": mac80211_debugfs.parse_aqm,
    "mac80211-aql": mac80211_debugfs.parse_aql,
}
MAX_READINGS = 5_000
"""Readings of one text; an access point has some hundred peers."""
_NO_SIGNAL = re.compile(r"\s*signal:\s*-256\b")


def read(paste: Paste) -> Readings:
    """The readings of a paste."""
    found: list[Reading] = []
    drivers: set[str] = set()
    for part in paste.parts:
        with suppress(FormatError):  # it began like a tool's output, and was not
            found += _of(part, drivers)
    driver = drivers.pop() if len(drivers) == 1 else None
    return Readings(found[:MAX_READINGS], driver, cut=len(found) > MAX_READINGS)


def _of(part: Part, drivers: set[str]) -> list[Reading]:
    match part.kind:
        case "iw-station":
            return _stations(part)
        case "iw-survey":
            return [
                Reading(Subject(part.kind, each.interface, None, each.frequency_mhz), each, part, named=True)
                for each in iw_survey.parse(part.text)
                if each.frequency_mhz is not None
            ]
        case "ethtool":
            subject = Subject(part.kind, part.interface)
            statistics = ethtool.parse_statistics(part.text)
            return [Reading(subject, statistics, part, part.interface is not None)] if statistics else []
        case "ethtool-driver":
            if (name := ethtool.parse_driver(part.text)) is not None:
                drivers.add(name)
            return []
        case "rc-stats":
            subject = Subject(part.kind, part.interface, part.station)
            return [Reading(subject, minstrel.parse(part.text), part, part.station is not None)]
        case "proc-net-wireless":
            rows = proc_wireless.parse(part.text)
            return [Reading(Subject(part.kind, each.interface), each, part, named=True) for each in rows]
        case "ath9k-xmit":
            xmit = ath9k_debugfs.parse_xmit(part.text)
            return [Reading(Subject(part.kind, part.phy), xmit, part, named=part.phy is not None)]
        case "mt76-tx-stats":
            statistics_of_chip = mt76_debugfs.parse_tx_stats(part.text)
            return [Reading(Subject(part.kind, part.phy), statistics_of_chip, part, named=part.phy is not None)]
        case "ath10k-fw-stats":
            of_radio = ath10k_debugfs.parse_fw_stats(part.text)
            return [Reading(Subject(part.kind, part.phy), of_radio, part, named=part.phy is not None)]
        case "mac80211-airtime" | "mac80211-aqm" | "mac80211-aql":
            subject = Subject(part.kind, part.interface, part.station)
            return [Reading(subject, _OF_MAC80211[part.kind](part.text), part, part.station is not None)]
        case _:
            return []


def _stations(part: Part) -> list[Reading]:
    stations = iw_station.parse(part.text)
    names = Counter((each.interface, each.address) for each in stations)
    unknown: list[bool] = []
    for line in part.lines:
        if iw_station.is_head(line):
            unknown.append(False)
        elif unknown and _NO_SIGNAL.match(line) is not None:
            unknown[-1] = True
    seen: dict[tuple[str, str], int] = {}
    found = []
    for each, no_signal in zip(stations, unknown, strict=True):
        name = (each.interface, each.address)
        seen[name] = seen.get(name, 0) + 1
        subject = Subject(part.kind, each.interface, each.address, None, seen[name])
        # A mask that stands for several peers names none of them.
        found.append(Reading(subject, each, part, named=names[name] == 1, no_signal=no_signal))
    return found
