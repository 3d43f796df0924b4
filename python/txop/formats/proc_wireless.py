"""``/proc/net/wireless``: signal and discarded packets of each wireless interface, as wireless extensions have them.

net/wireless/wext-proc.c prints it; for drivers of cfg80211 ``cfg80211_wireless_stats`` (net/wireless/wext-compat.c)
fills it in, which knows the level, packets that were given up after all retries (``retry``) and ``misc``, and nothing
else: the noise is then printed as -256 (not known), and ``beacon``, ``nwid``, ``crypt`` and ``frag`` stay 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of, whole

_WHAT = "/proc/net/wireless"
_ROW = re.compile(
    r"(?P<name>[^\s:|]{1,64}): +(?P<status>[0-9a-f]{4}) +(?P<quality>-?[0-9]{1,4})[. ] *(?P<level>-?[0-9]{1,4})[. ] *"
    r"(?P<noise>-?[0-9]{1,4})[. ](?P<counts>(?: +[0-9]{1,10}){6})"
)
_NOT_KNOWN_DBM = -256


@dataclass(frozen=True, slots=True)
class WirelessCounters:
    """One interface."""

    interface: str
    quality: int
    """Of a driver of cfg80211 with a signal in dBm: signal + 110, of -110 to -40 dBm."""
    level: int | None
    """dBm, where it is below 0; ``None`` for -256."""
    noise_dbm: int | None
    discarded_retry: int
    """Packets that were given up after all retries."""
    discarded_misc: int
    missed_beacons: int


def parse(data: str | bytes) -> tuple[WirelessCounters, ...]:
    """Every interface. Raises FormatError when neither the head nor a line of it is there."""
    text = text_of(data, _WHAT)
    found = []
    headed = False
    for _, line in lines_of(text):
        headed = headed or is_head(line)
        row = _ROW.fullmatch(line[:300].strip())
        if row is None:
            continue
        counts = [int(word) for word in row["counts"].split()]
        found.append(
            WirelessCounters(
                interface=row["name"],
                quality=int(row["quality"]),
                level=_dbm(row["level"]),
                noise_dbm=_dbm(row["noise"]),
                discarded_retry=counts[3],
                discarded_misc=counts[4],
                missed_beacons=counts[5],
            )
        )
    if not headed and not found:
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")
    return tuple(found)


def is_head(line: str) -> bool:
    """Whether ``line`` is one of the two above the interfaces."""
    return line.lstrip().startswith("Inter-|") or (line.lstrip().startswith("face |") and "nwid" in line)


def is_row(line: str) -> bool:
    """Whether ``line`` is that of an interface."""
    return _ROW.fullmatch(line[:300].strip()) is not None


def _dbm(word: str) -> int | None:
    value = whole(word, least=-256, most=255)
    return None if value == _NOT_KNOWN_DBM else value
