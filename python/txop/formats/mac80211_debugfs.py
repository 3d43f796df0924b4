"""Files that mac80211 has per station in debugfs: ``airtime``, ``aqm``, ``aql``, ``rc_stats_csv``.

``/sys/kernel/debug/ieee80211/phyN/netdev:X/stations/MAC/``; facts of several versions of
``net/mac80211/debugfs_sta.c`` and ``net/mac80211/rc80211_minstrel_ht_debugfs.c``. A kernel without
``CONFIG_MAC80211_DEBUGFS`` (Debian's) has none of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, real, text_of, whole

_AIRTIME = re.compile(r"(?P<side>RX|TX): (?P<us>[0-9]{1,20}) us")
_WEIGHT = re.compile(r"Weight: (?P<weight>[0-9]{1,10})")
_PER_QUEUE = re.compile(r"(?P<queue>VO|VI|BE|BK): (?P<us>-?[0-9]{1,20}) us")
_CODEL = re.compile(r"target (?P<target>[0-9]{1,10})us interval (?P<interval>[0-9]{1,10})us ecn (?P<ecn>yes|no)")
_LIMITS = re.compile(r"(?P<queue>VO|VI|BE|BK): (?P<low>[0-9]{1,10})/(?P<high>[0-9]{1,10})")
_TXQ = re.compile(
    r"(?P<tid>[0-9]{1,2}) (?P<ac>[0-3]) (?P<counts>(?:[0-9]{1,10} ){9})"
    r"0x[0-9a-f]{1,16}\((?P<words>[A-Z -]{1,60})\)"
)
_RATE_NAME = re.compile(r"MCS(?P<mcs>[0-9]{1,2})(?:/(?P<nss>[0-9]{1,2}))? *| *(?P<mbit>[0-9]{1,3}\.[0-9])M")
_MODE = re.compile(r"(?:(?P<kind>HT|VHT)(?P<width>[248])0|(?P<legacy>CCK|OFDM))")


@dataclass(frozen=True, slots=True)
class Airtime:
    """``airtime``: since association, or since somebody wrote to the file."""

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


@dataclass(frozen=True, slots=True)
class MinstrelRate:
    """One line of ``rc_stats_csv`` (minstrel_ht). Probabilities in percent, throughput in Mbit/s as minstrel
    estimates it.
    """

    mode: str
    """``HT20``, ``VHT80``, ``OFDM``, ``CCK``, ..."""

    guard_interval: str | None
    """``LGI``, ``SGI``; CCK: ``LP``, ``SP`` (preamble)."""

    streams: int
    best: str
    """Letters of what minstrel uses it for: ``A`` to ``D`` fastest, ``P`` most reliable, ``S`` sampled."""

    mcs: int | None
    """HT: the index that counts the streams too; ``None`` for OFDM and CCK."""

    legacy_mbit_s: float | None
    index: int
    airtime_us: int
    """Of one average packet."""

    max_throughput_mbit_s: float
    average_throughput_mbit_s: float
    average_probability_percent: float
    retry_count: int
    last_success: int
    last_attempts: int
    success_sum: int
    attempt_sum: int
    ideal_packets: int
    lookaround_packets: int
    average_ampdu_length: float
    """Of the station, the same in every line."""


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


def parse_aqm(data: str | bytes) -> QueueManagement:
    """``aqm``. Raises FormatError when it has no head."""
    text = text_of(data, "mac80211 aqm")
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
    for _, line in lines_of(text[:65_536]):
        if line.startswith("Q depth:"):
            depth = {found["queue"]: int(found["us"]) for found in _PER_QUEUE.finditer(line)}
        elif line.startswith("Q limit"):
            for found in _LIMITS.finditer(line):
                low[found["queue"]], high[found["queue"]] = int(found["low"]), int(found["high"])
    if not depth and not low:
        raise FormatError(f"mac80211 aql expected; {quoted_start(text)}")
    return QueueLimits(depth, low, high)


def parse_rc_stats_csv(data: str | bytes) -> tuple[MinstrelRate, ...]:
    """``rc_stats_csv`` of minstrel_ht. A line has 18 fields, or 19 on older kernels, which also gave a deviation.

    Raises FormatError for a line that is neither; an empty file is a station without rates yet.
    """
    what = "minstrel rc_stats_csv"
    text = text_of(data, what)
    rates = []
    for number, line in lines_of(text):
        if not line.strip():
            continue
        rate = _rate(line[:400].split(","))
        if rate is None:
            raise FormatError(f"{what} expected; {quoted_start(line)}", line=number)
        rates.append(rate)
    return tuple(rates)


def _rate(cells: list[str]) -> MinstrelRate | None:
    if len(cells) == 19:
        cells = cells[:10] + cells[11:]
    if len(cells) != 18:
        return None
    mode, name = _MODE.fullmatch(cells[0]), _RATE_NAME.fullmatch(cells[4])
    if mode is None or name is None or not re.fullmatch(r"[A-DPS]{0,6}", cells[3]):
        return None
    reals = [real(cells[index]) for index in (7, 8, 9, 17)]
    counts = [whole(cells[index]) for index in (2, 5, 6, 10, 11, 12, 13, 14, 15, 16)]
    known_reals = [value for value in reals if value is not None]
    known = [count for count in counts if count is not None]
    if len(known_reals) != 4 or len(known) != 10:
        return None
    streams, index, airtime, retry, last_success, last_attempts, success, attempts, ideal, lookaround = known
    return MinstrelRate(
        mode=cells[0],
        guard_interval=cells[1] or None,
        streams=streams,
        best=cells[3],
        mcs=whole(name["mcs"]) if name["mcs"] is not None else None,
        legacy_mbit_s=real(name["mbit"]),
        index=index,
        airtime_us=airtime,
        max_throughput_mbit_s=known_reals[0],
        average_throughput_mbit_s=known_reals[1],
        average_probability_percent=known_reals[2],
        retry_count=retry,
        last_success=last_success,
        last_attempts=last_attempts,
        success_sum=success,
        attempt_sum=attempts,
        ideal_packets=ideal,
        lookaround_packets=lookaround,
        average_ampdu_length=known_reals[3],
    )
