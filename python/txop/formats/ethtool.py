"""``ethtool -S``: the statistics of a driver; ``ethtool -i``: its name.

A driver that has no value for a 64-bit statistic often prints all ones (cfg80211 does for channel times that it does
not know); that is ``None`` here. Signed figures come as unsigned ones: a noise of -92 dBm from mac80211 is printed as
164.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import COUNTER_MAX, lines_of, text_of, whole

_FAILED = re.compile(
    r"(?:netlink error|Cannot get [^:\n]{1,60}|ethtool): (?P<what>[^\n]{1,200})|(?P<none>no stats available)"
)
_STATISTIC = re.compile(r"(?P<name>[^\n]{1,128}?) *: *(?P<value>-?[0-9]{1,20}(?:\.[0-9]{1,9})?)")


_DRIVER = re.compile(r"driver: (?P<name>[A-Za-z0-9_-]{1,64})")


def is_driver(line: str) -> bool:
    """Whether ``line`` is the first of ``ethtool -i``."""
    return _DRIVER.fullmatch(line[:200].strip()) is not None


def parse_driver(data: str | bytes) -> str | None:
    """The driver that ``ethtool -i`` names; ``None``: it names none."""
    for _, line in lines_of(text_of(data, "ethtool -i")):
        if (found := _DRIVER.fullmatch(line[:200].strip())) is not None:
            return found["name"]
    return None


def signed_dbm(value: int | None) -> int | None:
    """A level that mac80211 (net/mac80211/ethtool.c) prints as an unsigned octet; 0, where it knows none, is ``None``.

    >>> signed_dbm(205), signed_dbm(0), signed_dbm(None)
    (-51, None, None)
    """
    if value is None or not 128 <= value <= 255:
        return None
    return value - 256


def _failure(what: str, text: str) -> FormatError:
    failed = _FAILED.search(text[:65_536])
    if failed is None:
        return FormatError(f"{what} expected; {quoted_start(text)}")
    return FormatError(f"{what}: ethtool reported: {visible(failed['what'] or failed['none'])}")


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
