"""``/proc/net/dev``: counters of interfaces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of, whole

_INTERFACE = re.compile(r" *([^\s:][^\s]{0,63}?):([0-9\s]{31,1500})")


@dataclass(frozen=True, slots=True)
class InterfaceCounters:
    """One line of ``/proc/net/dev``."""

    rx_bytes: int
    rx_packets: int
    rx_errors: int
    rx_dropped: int
    tx_bytes: int
    tx_packets: int
    tx_errors: int
    tx_dropped: int


def parse_dev(data: str | bytes) -> Mapping[str, InterfaceCounters]:
    """``/proc/net/dev`` by interface name. Raises FormatError when it has no head."""
    what = "/proc/net/dev"
    text = text_of(data, what)
    if "Receive" not in text[:1000]:
        raise FormatError(f"{what} expected; {quoted_start(text)}")
    counters = {}
    for _, line in lines_of(text):
        found = _INTERFACE.fullmatch(line[:2000])
        if found is None:
            continue
        values = [whole(word) for word in found[2].split()]
        known = [value for value in values if value is not None]
        if len(known) == 16:
            counters[found[1]] = InterfaceCounters(*known[:4], *known[8:12])
    return counters
