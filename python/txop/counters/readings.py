"""Parts of a paste, read: each reading with what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from txop.counters.paste import Part, Paste
from txop.formats import ath9k_debugfs, ethtool, iw_station, iw_survey, minstrel, mt76_debugfs, proc_wireless
from txop.formats.error import FormatError
from txop.formats.iw_station import Station
from txop.formats.iw_survey import SurveyChannel
from txop.formats.minstrel import RateTable
from txop.formats.mt76_debugfs import TransmitStatistics
from txop.formats.proc_wireless import WirelessCounters

Value = Station | SurveyChannel | RateTable | WirelessCounters | TransmitStatistics | Mapping[str, int | None]


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


@dataclass
class Readings:
    """All that a paste has, in its order."""

    readings: list[Reading]
    driver: str | None
    """That ``ethtool -i`` names, where all of them name one."""
    unreadable: list[Part]
    """Parts that looked like a tool's output and were not."""


def read(paste: Paste) -> Readings:
    """The readings of a paste."""
    found: list[Reading] = []
    unreadable: list[Part] = []
    drivers: set[str] = set()
    for part in paste.parts:
        try:
            found += _of(part, drivers)
        except FormatError:
            unreadable.append(part)
    return Readings(found, drivers.pop() if len(drivers) == 1 else None, unreadable)


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
            return [Reading(Subject(part.kind), ath9k_debugfs.parse_xmit(part.text), part, named=False)]
        case "mt76-tx-stats":
            return [Reading(Subject(part.kind), mt76_debugfs.parse_tx_stats(part.text), part, named=False)]
        case _:
            return []


def _stations(part: Part) -> list[Reading]:
    stations = iw_station.parse(part.text)
    names = [(each.interface, each.address) for each in stations]
    seen: dict[tuple[str, str], int] = {}
    found = []
    for each in stations:
        name = (each.interface, each.address)
        seen[name] = seen.get(name, 0) + 1
        subject = Subject(part.kind, each.interface, each.address, None, seen[name])
        # A mask that stands for several peers names none of them.
        found.append(Reading(subject, each, part, named=names.count(name) == 1))
    return found
