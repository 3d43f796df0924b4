"""``airtime``, ``aqm`` and ``aql``, files that mac80211 has per station in debugfs.

``/sys/kernel/debug/ieee80211/phyN/netdev:X/stations/MAC/``; facts of several versions of
``net/mac80211/debugfs_sta.c``. A kernel without
``CONFIG_MAC80211_DEBUGFS`` (Debian's) has none of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of

_AIRTIME = re.compile(r"(?P<side>RX|TX): (?P<us>[0-9]{1,20}) us")
_AIRTIME_HEAD = re.compile(r"RX: [0-9]{1,20} us")
_AIRTIME_ROW = re.compile(r"TX: [0-9]{1,20} us|Weight: [0-9]{1,10}|(?:Deficit|Virt-T): (?:V|B)[OIEK]: .{1,150}")
_WEIGHT = re.compile(r"Weight: (?P<weight>[0-9]{1,10})")
_PER_QUEUE = re.compile(r"(?P<queue>VO|VI|BE|BK): (?P<us>-?[0-9]{1,20}) us")

_CODEL = re.compile(r"target (?P<target>[0-9]{1,10})us interval (?P<interval>[0-9]{1,10})us ecn (?P<ecn>yes|no)")
_LIMITS = re.compile(r"(?P<queue>VO|VI|BE|BK): (?P<low>[0-9]{1,10})/(?P<high>[0-9]{1,10})")
_TXQ = re.compile(
    r"(?P<tid>[0-9]{1,2}) (?P<ac>[0-3]) (?P<counts>(?:[0-9]{1,10} ){9})"
    r"0x[0-9a-f]{1,16}\((?P<words>[A-Z -]{1,60})\)"
)


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


@dataclass(frozen=True, slots=True)
class TransmitQueue:
    """One line of ``aqm``."""

    tid: int
    access_category: int
    """0 voice, 1 video, 2 best effort, 3 background."""

    backlog_bytes: int
    backlog_packets: int
    new_flows: int
    drops: int
    ecn_marks: int
    over_limit: int
    hash_collisions: int
    tx_bytes: int
    """32 bits wide in the kernel, so it wraps."""

    tx_packets: int
    states: tuple[str, ...]
    """``RUN``, ``STOP``, ``AMPDU``, ``NO-AMSDU``, ``DIRTY``, ..."""


@dataclass(frozen=True, slots=True)
class QueueManagement:
    """``aqm``."""

    target_us: int | None
    interval_us: int | None
    ecn: bool | None
    queues: tuple[TransmitQueue, ...]


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """``aql``: airtime that waits in the driver, per access category, and its limits."""

    depth_us: Mapping[str, int]
    limit_low_us: Mapping[str, int]
    limit_high_us: Mapping[str, int]


def is_airtime(line: str) -> bool:
    """Whether ``line`` is the first of ``airtime``."""
    return _AIRTIME_HEAD.fullmatch(line[:200].strip()) is not None


def is_airtime_row(line: str) -> bool:
    """Whether ``line`` is another one of it."""
    return _AIRTIME_ROW.fullmatch(line[:200].strip()) is not None


def is_codel(line: str) -> bool:
    """Whether ``line`` is the first of ``aqm``, with CoDel's settings."""
    return _CODEL.fullmatch(line[:200].strip()) is not None


def is_aqm(line: str) -> bool:
    """Whether ``line`` is that, or the one that names the columns."""
    return is_codel(line) or line.lstrip().startswith("tid ac backlog-bytes ")


def is_aqm_row(line: str) -> bool:
    """Whether ``line`` is that of a queue."""
    return _TXQ.fullmatch(line[:400].strip()) is not None


def is_aql(line: str) -> bool:
    """Whether ``line`` is the first of ``aql``."""
    return line.lstrip().startswith("Q depth: ")


def is_aql_row(line: str) -> bool:
    """Whether ``line`` is the other one of it."""
    return line.lstrip().startswith("Q limit[low/high]: ")


def parse_airtime(data: str | bytes) -> Airtime:
    """``airtime``. Raises FormatError."""
    text = text_of(data, "mac80211 airtime")
    times = {found["side"]: int(found["us"]) for found in _AIRTIME.finditer(text[:65_536])}
    if set(times) != {"RX", "TX"}:
        raise FormatError(f"mac80211 airtime expected; {quoted_start(text)}")
    weight = _WEIGHT.search(text[:65_536])
    deficit = {}
    for _, line in lines_of(text[:65_536]):
        if line.lstrip().startswith("Deficit: "):
            deficit = {found["queue"]: int(found["us"]) for found in _PER_QUEUE.finditer(line)}
    return Airtime(times["RX"], times["TX"], int(weight["weight"]) if weight is not None else None, deficit)


def parse_aqm(data: str | bytes) -> QueueManagement:
    """``aqm``. Raises FormatError when it has no head."""
    text = text_of(data, "mac80211 aqm").lstrip()
    head = _CODEL.match(text)
    if head is None and not text.startswith("tid ac "):
        raise FormatError(f"mac80211 aqm expected; {quoted_start(text)}")
    queues = []
    for _, line in lines_of(text):
        found = _TXQ.fullmatch(line[:400].strip())
        if found is None:
            continue
        counts = [int(word) for word in found["counts"].split()]
        bytes_waiting, packets_waiting, flows, drops, marks, over, collisions, tx_bytes, tx_packets = counts
        queues.append(
            TransmitQueue(
                tid=int(found["tid"]),
                access_category=int(found["ac"]),
                backlog_bytes=bytes_waiting,
                backlog_packets=packets_waiting,
                new_flows=flows,
                drops=drops,
                ecn_marks=marks,
                over_limit=over,
                hash_collisions=collisions,
                tx_bytes=tx_bytes,
                tx_packets=tx_packets,
                states=tuple(found["words"].split()),
            )
        )
    return QueueManagement(
        int(head["target"]) if head is not None else None,
        int(head["interval"]) if head is not None else None,
        head["ecn"] == "yes" if head is not None else None,
        tuple(queues),
    )


def parse_aql(data: str | bytes) -> QueueLimits:
    """``aql`` of a station. Raises FormatError."""
    text = text_of(data, "mac80211 aql")
    depth: dict[str, int] = {}
    low: dict[str, int] = {}
    high: dict[str, int] = {}
    for _, row in lines_of(text[:65_536]):
        line = row.lstrip()
        if line.startswith("Q depth:"):
            depth = {found["queue"]: int(found["us"]) for found in _PER_QUEUE.finditer(line)}
        elif line.startswith("Q limit"):
            for found in _LIMITS.finditer(line):
                low[found["queue"]], high[found["queue"]] = int(found["low"]), int(found["high"])
    if not depth and not low:
        raise FormatError(f"mac80211 aql expected; {quoted_start(text)}")
    return QueueLimits(depth, low, high)
