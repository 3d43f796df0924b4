"""Where the time of packets went: the share, the median and the tail of each stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from txop.timeline.packet import Packet, Point, Stage, spans

ATTRIBUTED_AT_LEAST = 0.99
"""A packet is accounted for when that much of its time belongs to stages."""


@dataclass(frozen=True)
class Distribution:
    """Times of some packets, ns."""

    n: int
    p50_ns: int
    p95_ns: int
    p99_ns: int


@dataclass(frozen=True)
class StageShare:
    """What one stage took of the packets that passed it."""

    name: str
    share: float
    """Of the time of all packets."""
    times: Distribution


@dataclass(frozen=True)
class Way:
    """The packets of one protocol in one direction."""

    by_device: bool
    protocol: str
    with_payload: bool
    """Of TCP: data, and not acknowledgements alone."""
    packets: int
    not_arrived: int
    total: Distribution | None
    stages: tuple[StageShare, ...]
    unattributed: float
    """Share of the time that belongs to no stage."""
    accounted: float
    """Share of the packets of which :data:`ATTRIBUTED_AT_LEAST` is attributed."""
    tries: float | None
    """Transmissions on the air for a packet, mean."""
    acknowledged: Distribution | None
    """From a packet's last bit on the air to the end of its acknowledgement: beside the way, as it has arrived."""
    completed: Distribution | None
    """From there until mac80211 of the sender knows."""
    slowest: int | None
    """Number of the packet that took longest, among all of the run; ``None``: none arrived."""


def distribution(times: Iterable[int]) -> Distribution | None:
    """The nearest ranks of some times; ``None`` without any.

    >>> distribution(range(1, 101))
    Distribution(n=100, p50_ns=50, p95_ns=95, p99_ns=99)
    """
    ordered = sorted(times)
    if not ordered:
        return None

    def rank(percent: int) -> int:
        return ordered[max(-(-len(ordered) * percent // 100), 1) - 1]

    return Distribution(len(ordered), rank(50), rank(95), rank(99))


def way(numbered: Sequence[tuple[int, Packet]], path: tuple[Stage, ...]) -> Way:
    """Where the time of packets of one way went, each with its number; there has to be one."""
    packets = [packet for _, packet in numbered]
    first = packets[0]
    times: dict[str, list[int]] = defaultdict(list)
    whole = lost = accounted = 0
    totals = []
    for packet in packets:
        total = packet.total_ns
        if total is None:
            continue
        totals.append(total)
        unknown = 0
        for span in spans(packet, path):
            if span.stage is None:
                unknown += span.length_ns
            else:
                times[span.stage.name].append(span.length_ns)
        whole += total
        lost += unknown
        accounted += unknown <= (1 - ATTRIBUTED_AT_LEAST) * total
    shares = []
    for stage in path:
        found = distribution(times.get(stage.name, ()))
        if found is not None:
            shares.append(StageShare(stage.name, sum(times[stage.name]) / whole if whole else 0.0, found))
    aired = [packet.tries for packet in packets if packet.tries]
    return Way(
        by_device=first.by_device,
        protocol=first.protocol,
        with_payload=bool(first.payload),
        packets=len(totals),
        not_arrived=len(packets) - len(totals),
        total=distribution(totals),
        stages=tuple(shares),
        unattributed=lost / whole if whole else 0.0,
        accounted=accounted / len(totals) if totals else 0.0,
        tries=sum(aired) / len(aired) if aired else None,
        slowest=_slowest(numbered),
        acknowledged=distribution(
            packet.acknowledged_ns - packet.points[Point.SENT]
            for packet in packets
            if packet.acknowledged_ns is not None and packet.points.get(Point.SENT, 1 << 62) <= packet.acknowledged_ns
        ),
        completed=distribution(
            packet.completed_ns - packet.acknowledged_ns
            for packet in packets
            if packet.completed_ns is not None
            and packet.acknowledged_ns is not None
            and packet.acknowledged_ns <= packet.completed_ns
        ),
    )


def _slowest(numbered: Sequence[tuple[int, Packet]]) -> int | None:
    longest: tuple[int, int] | None = None
    for number, packet in numbered:
        total = packet.total_ns
        if total is not None and (longest is None or total > longest[0]):
            longest = total, number
    return None if longest is None else longest[1]


def kinds(packets: Iterable[Packet]) -> list[list[tuple[int, Packet]]]:
    """Packets with their numbers, by direction, protocol, and whether they carry data; those with most bytes first."""
    found: dict[tuple[bool, str, bool], list[tuple[int, Packet]]] = defaultdict(list)
    for number, packet in enumerate(packets):
        found[packet.by_device, packet.protocol, bool(packet.payload)].append((number, packet))
    return sorted(found.values(), key=lambda group: -sum(packet.length for _, packet in group))
