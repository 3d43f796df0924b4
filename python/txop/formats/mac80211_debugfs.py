"""``airtime``, a file that mac80211 has per station in debugfs.

``/sys/kernel/debug/ieee80211/phyN/netdev:X/stations/MAC/``; facts of several versions of
``net/mac80211/debugfs_sta.c``. A kernel without
``CONFIG_MAC80211_DEBUGFS`` (Debian's) does not have it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of

_AIRTIME = re.compile(r"(?P<side>RX|TX): (?P<us>[0-9]{1,20}) us")
_WEIGHT = re.compile(r"Weight: (?P<weight>[0-9]{1,10})")
_PER_QUEUE = re.compile(r"(?P<queue>VO|VI|BE|BK): (?P<us>-?[0-9]{1,20}) us")


@dataclass(frozen=True, slots=True)
class Airtime:
    """``airtime``: since association, or since the file was written to."""

    rx_us: int
    tx_us: int
    weight: int | None
    deficit_us: Mapping[str, int]
    """Per access category (``VO``, ``VI``, ``BE``, ``BK``); may be negative. Empty where the kernel prints
    ``Virt-T``.
    """


def parse_airtime(data: str | bytes) -> Airtime:
    """``airtime``. Raises FormatError."""
    text = text_of(data, "mac80211 airtime")
    times = {found["side"]: int(found["us"]) for found in _AIRTIME.finditer(text[:65_536])}
    if set(times) != {"RX", "TX"}:
        raise FormatError(f"mac80211 airtime expected; {quoted_start(text)}")
    weight = _WEIGHT.search(text[:65_536])
    deficit = {}
    for _, line in lines_of(text[:65_536]):
        if line.startswith("Deficit: "):
            deficit = {found["queue"]: int(found["us"]) for found in _PER_QUEUE.finditer(line)}
    return Airtime(times["RX"], times["TX"], int(weight["weight"]) if weight is not None else None, deficit)
