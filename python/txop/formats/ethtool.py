"""ethtool: ``-i`` (driver), ``-S`` (statistics), ``-c`` (coalescing) and the link.

A driver that has no value for a 64-bit statistic often prints all ones (cfg80211 does for channel times that it does
not know); that is ``None`` here. Signed figures come as unsigned ones: a noise of -92 dBm from mac80211 is printed as
164.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import COUNTER_MAX, lines_of, text_of, whole

_FAILED = re.compile(
    r"(?:netlink error|Cannot get [^:\n]{1,60}|ethtool): (?P<what>[^\n]{1,200})|(?P<none>no stats available)"
)
_STATISTIC = re.compile(r"(?P<name>[^\n]{1,128}?) *: *(?P<value>-?[0-9]{1,20}(?:\.[0-9]{1,9})?)")
_SPEED = re.compile(r"(?P<mbit>[0-9]{1,7})Mb/s")


@dataclass(frozen=True, slots=True)
class DriverInfo:
    """``ethtool -i``. ``None``: empty or ``N/A``."""

    driver: str
    version: str | None
    """Of the driver; in-tree drivers give the kernel's."""

    firmware_version: str | None
    bus_info: str | None
    supports_statistics: bool | None


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """``ethtool X``. ``None``: unknown to the driver, as for most wireless ones."""

    speed_mbit_s: int | None
    full_duplex: bool | None
    auto_negotiation: bool | None
    link_detected: bool | None


def _failure(what: str, text: str) -> FormatError:
    failed = _FAILED.search(text[:65_536])
    if failed is None:
        return FormatError(f"{what} expected; {quoted_start(text)}")
    return FormatError(f"{what}: ethtool says: {visible(failed['what'] or failed['none'])}")


def parse_driver(data: str | bytes) -> DriverInfo:
    """``ethtool -i``. Raises FormatError, also for ethtool's own errors."""
    what = "ethtool -i"
    text = text_of(data, what)
    fields = _fields(text)
    if not fields.get("driver"):
        raise _failure(what, text)

    def said(key: str) -> str | None:
        value = fields.get(key, "")
        return None if value in ("", "N/A") else visible(value)

    return DriverInfo(
        driver=visible(fields["driver"]),
        version=said("version"),
        firmware_version=said("firmware-version"),
        bus_info=said("bus-info"),
        supports_statistics={"yes": True, "no": False}.get(fields.get("supports-statistics", "")),
    )


def _fields(text: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for _, line in lines_of(text):
        key, colon, value = line[:1000].partition(":")
        if colon:
            fields.setdefault(key.strip(), value.strip())
    return fields


def parse_statistics(data: str | bytes) -> Mapping[str, int | None]:
    """``ethtool -S`` by name, in the driver's order; ``None`` for all ones. A name that is repeated gets ``#2``,
    ``#3``.

    Raises FormatError, also when the driver has none.
    """
    what = "ethtool -S"
    text = text_of(data, what)
    statistics: dict[str, int | None] = {}
    seen: dict[str, int] = {}
    headed = False
    for _, line in lines_of(text):
        if line.strip() == "NIC statistics:":
            headed = True
        elif headed and (found := _STATISTIC.fullmatch(line.strip()[:300])) is not None:
            name = visible(found["name"])
            seen[name] = seen.get(name, 0) + 1
            value = whole(found["value"], least=-(2**63))
            label = name if seen[name] == 1 else f"{name}#{seen[name]}"
            statistics[label] = None if value == COUNTER_MAX else value
    if not headed:
        raise _failure(what, text)
    return statistics


def parse_coalescing(data: str | bytes) -> Mapping[str, int | None]:
    """``ethtool -c``: ``rx-usecs``, ``rx-frames``, ...; ``None`` for ``n/a``. Adaptive modes are 1 (on) or 0 (off).

    Raises FormatError, also when the driver has no such settings.
    """
    what = "ethtool -c"
    text = text_of(data, what)
    if "Coalesce parameters" not in text[:65_536]:
        raise _failure(what, text)
    settings: dict[str, int | None] = {}
    for _, line in lines_of(text):
        if line.startswith("Coalesce parameters"):
            continue
        switches = re.findall(r"(RX|TX): (on|off|n/a)", line[:200])
        if switches:
            prefix = line.partition(" RX")[0].strip().lower().replace(" ", "-") or "adaptive"
            for side, state in switches:
                settings[f"{prefix}-{side.lower()}"] = {"on": 1, "off": 0}.get(state)
            continue
        key, colon, value = line[:200].partition(":")
        if colon:
            settings[key.strip()] = whole(value)
    return settings


def parse_link(data: str | bytes) -> LinkSettings:
    """``ethtool X``. Raises FormatError, also for ethtool's own errors."""
    what = "ethtool"
    text = text_of(data, what)
    if re.search(r"^Settings for ", text[:65_536], re.MULTILINE) is None:
        raise _failure(what, text)
    fields = _fields(text)
    speed = _SPEED.fullmatch(fields.get("Speed", ""))
    return LinkSettings(
        speed_mbit_s=int(speed["mbit"]) if speed is not None else None,
        full_duplex={"Full": True, "Half": False}.get(fields.get("Duplex", "")),
        auto_negotiation={"on": True, "off": False}.get(fields.get("Auto-negotiation", "")),
        link_detected={"yes": True, "no": False}.get(fields.get("Link detected", "").split(" ")[0]),
    )
