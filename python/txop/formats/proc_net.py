"""``/proc/net/dev``, ``/proc/net/snmp`` and ``/proc/net/netstat``: counters of interfaces and of the network
protocols.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.proc_stat import increase
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


def parse_protocols(data: str | bytes) -> Mapping[str, Mapping[str, int]]:
    """``/proc/net/snmp`` or ``/proc/net/netstat``: protocol, then counter; for instance ``["Tcp"]["RetransSegs"]``.

    Each protocol has a line of names and a line of values. ``MaxConn`` may be -1. Raises FormatError when there is no
    pair.
    """
    what = "/proc/net/snmp or netstat"
    text = text_of(data, what)
    tables: dict[str, dict[str, int]] = {}
    names: dict[str, list[str]] = {}
    for number, line in lines_of(text):
        protocol, colon, rest = line.partition(":")
        if not colon:
            continue
        if protocol not in names:
            names[protocol] = rest.split()
            continue
        columns = names.pop(protocol)
        values = [whole(word, least=-(2**63)) for word in rest.split()]
        if len(values) != len(columns):
            raise FormatError(f"{what}: {len(columns)} names and {len(values)} values of one protocol", line=number)
        tables.setdefault(protocol, {}).update(
            {name: value for name, value in zip(columns, values, strict=True) if value is not None}
        )
    if not tables:
        raise FormatError(f"{what} expected; {quoted_start(text)}")
    return tables


def counter_increase(
    before: Mapping[str, Mapping[str, int]], after: Mapping[str, Mapping[str, int]], protocol: str, name: str
) -> int | None:
    """How much a counter grew; ``None`` when it is missing on one side or went back."""
    return increase(before.get(protocol, {}).get(name), after.get(protocol, {}).get(name))
