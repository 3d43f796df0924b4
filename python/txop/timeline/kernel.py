"""Follows packets through what a guest's kernel was traced to do: sockets, queues, mac80211, IP and the readers.

A packet in the kernel is a buffer with an address, and addresses are used again: a packet has its address from the
moment at which it is given to its driver. Before that and after the air its headers say which packet it is.
"""

from __future__ import annotations

import bisect
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from txop.formats.air_frames import packet_number
from txop.formats.trace_ring import TracedEvent
from txop.timeline.headers import ETHERNET_BYTES, ETHERTYPE_IPV4, Flow, Headers, ipv4
from txop.timeline.packet import Packet, Point

_SEQUENCES = 1 << 32
_BEHIND = 1 << 31
_DESCRIPTOR_BYTES = 128
"""What a driver puts in front of a frame in a transfer, at most."""
_KEPT = 65_536
"""Packets that were queued and are remembered, of one connection."""


@dataclass(frozen=True)
class Radio:
    """How mac80211 names a packet on the air."""

    transmitter: bytes
    receiver: bytes
    sequence: int
    packet_number: int | None


@dataclass
class Followed:
    """A packet, and what it is known by elsewhere."""

    packet: Packet
    headers: Headers
    ethernet_source: bytes
    ethernet_target: bytes
    ordinal: int = 0
    """How many before it had the same headers: acknowledgements may."""
    radio: Radio | None = None
    place: int = 0
    """Where its frame is in the memory of the kernel."""


@dataclass
class _Stream:
    """What a program has written to a TCP socket so far."""

    base: int
    places: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def grow(self, at: int, time: int) -> None:
        """From this byte on, what is written is written later than that."""
        place = (at - self.base) % _SEQUENCES
        if self.places and place <= self.places[-1]:
            if place == self.places[-1]:
                self.times[-1] = time
            return
        self.places.append(place)
        self.times.append(time)

    def written(self, byte: int) -> int | None:
        """When the buffer with a byte was begun; ``None``: before the trace."""
        place = (byte - self.base) % _SEQUENCES
        if place >= _BEHIND:
            return None
        found = bisect.bisect_right(self.places, place) - 1
        return self.times[found] if found >= 0 else None


@dataclass(frozen=True)
class _Queued:
    time: int
    sequence: int
    payload: int


class Kernel:
    """Takes the events of a trace in their order."""

    def __init__(self) -> None:
        self.followed: list[Followed] = []
        self._by_buffer: dict[int, Followed] = {}
        self._by_place: dict[int, Followed] = {}
        self._received: dict[int, Followed] = {}
        self._by_key: dict[tuple[object, ...], deque[Followed]] = defaultdict(lambda: deque(maxlen=_KEPT))
        self._ordinals: Counter[tuple[object, ...]] = Counter()
        self._by_copy: dict[tuple[object, ...], Followed] = {}
        self._queued: dict[tuple[object, ...], tuple[int, int | None]] = {}
        self._segments: dict[Flow, deque[_Queued]] = defaultdict(lambda: deque(maxlen=_KEPT))
        self._streams: dict[Flow, _Stream] = {}
        self._sending: dict[int, int] = {}
        self._under_way: dict[Flow, dict[int, Followed]] = defaultdict(dict)
        self._unread: dict[Flow, list[Followed]] = defaultdict(list)
        self._takers: dict[str, Callable[[TracedEvent], None]] = {
            "queue": self._queue,
            "start": self._start,
            "start_lbs": self._start,
            "start_ath6kl": self._start,
            "start_wired": self._start,
            "dequeue": self._dequeue,
            "submit": self._submit,
            "status": self._status,
            "status_later": self._status,
            "deliver": self._deliver,
            "clone": self._clone,
            "write": self._write,
            "write_on": self._write,
            "read": self._read,
            "send_udp": self._send,
            "send_raw": self._send,
            "send_ping": self._send,
            "skb_copy_datagram_iovec": lambda event: self._copied(event, "skbaddr"),
            "consumed": lambda event: self._copied(event, "skb"),
        }

    def take(self, events: Iterable[TracedEvent]) -> None:
        """Follow what they show."""
        for event in events:
            taker = self._takers.get(event.name)
            if taker is not None:
                taker(event)

    def _send(self, event: TracedEvent) -> None:
        self._sending[event.pid] = event.time

    def _write(self, event: TracedEvent) -> None:
        flow, at = _flow_of(event, sends=True), event.number("at")
        if flow not in self._streams:
            self._streams[flow] = _Stream(at)
        self._streams[flow].grow(at, event.time)

    def _queue(self, event: TracedEvent) -> None:
        headers = _of_ethernet(event.raw("head"))
        if headers is None:
            return
        if headers.flow is not None:
            self._segments[headers.flow].append(_Queued(event.time, headers.sequence, headers.payload))
        else:
            # a program's own call sends its packet before it returns
            self._queued[headers.key] = event.time, self._sending.pop(event.pid, None)

    def _start(self, event: TracedEvent) -> None:
        head = event.raw("head")
        headers = _of_ethernet(head)
        if headers is None:
            self._by_buffer.pop(event.number("skb"), None)
            return
        source, target = headers.addresses
        packet = Packet(source, target, headers.protocol, headers.length, headers.payload)
        begun, queued = self._before(headers, event.time)
        if begun is not None:
            packet.points[Point.BEGUN] = begun
        if queued is not None:
            packet.points[Point.QUEUED] = queued
        packet.points[Point.STARTED] = event.time
        followed = Followed(packet, headers, head[6:12], head[0:6], self._ordinals[headers.key])
        self._ordinals[headers.key] += 1
        self.followed.append(followed)
        self._by_buffer[event.number("skb")] = followed
        self._by_key[headers.key].append(followed)
        if headers.flow is not None and headers.payload:
            self._under_way[headers.flow][headers.sequence] = followed

    def _before(self, headers: Headers, time: int) -> tuple[int | None, int | None]:
        """When a program wrote a packet's last byte, and when it, or the larger one it was cut from, was queued."""
        if headers.flow is None:
            queued, begun = self._queued.pop(headers.key, (None, None))
            return begun, queued
        last = (headers.sequence + max(headers.payload, 1) - 1) % _SEQUENCES
        found = next(
            (
                each.time
                for each in reversed(self._segments[headers.flow])
                if each.time <= time
                and (headers.sequence - each.sequence) % _SEQUENCES < max(each.payload, 1)
                and bool(each.payload) is bool(headers.payload)
            ),
            None,
        )
        stream = self._streams.get(headers.flow)
        begun = stream.written(last) if stream is not None and headers.payload else None
        return (None if begun is None or begun > time else begun), found

    def _dequeue(self, event: TracedEvent) -> None:
        followed = self._by_buffer.get(event.number("skb"))
        if followed is None or Point.DEQUEUED in followed.packet.points:
            return
        followed.packet.points[Point.DEQUEUED] = event.time
        followed.place = event.number("data")
        self._by_place[followed.place] = followed
        head = event.raw("head")
        sequence = int.from_bytes(head[22:24], "little") >> 4
        followed.radio = Radio(head[10:16], head[4:10], sequence, packet_number(head))

    def _submit(self, event: TracedEvent) -> None:
        """A transfer begins with what the driver put in front of the frame."""
        begin = event.number("data")
        for place in range(begin, begin + _DESCRIPTOR_BYTES, 2):
            followed = self._by_place.pop(place, None)
            if followed is not None:
                followed.packet.points[Point.SUBMITTED] = event.time
                return

    def _status(self, event: TracedEvent) -> None:
        followed = self._by_buffer.pop(event.number("skb"), None)
        if followed is None or Point.DEQUEUED not in followed.packet.points:
            return  # a buffer of a driver that has a MAC of its own, and tells nothing
        followed.packet.completed_ns = event.time
        if self._by_place.get(followed.place) is followed:
            del self._by_place[followed.place]

    def _deliver(self, event: TracedEvent) -> None:
        headers = ipv4(event.raw("head"))
        if headers is None:
            return
        buffer = event.number("skb")
        self._received.pop(buffer, None)
        # some say the same, as acknowledgements of what came twice: the first is the first to arrive
        same = self._by_key.get(headers.key)
        found = same.popleft() if same else None
        arrived = [] if found is None else [found]
        if headers.flow is not None and headers.payload:
            under_way = self._under_way[headers.flow]
            if found is None:  # several that were merged on their way up
                within = [at for at in under_way if (at - headers.sequence) % _SEQUENCES < headers.payload]
                arrived = [under_way[at] for at in within]
            for each in arrived:
                under_way.pop(each.headers.sequence, None)
        for each in arrived:
            if Point.DELIVERED in each.packet.points:
                continue
            each.packet.points[Point.DELIVERED] = event.time
            self._received[buffer] = each
            if headers.flow is None:
                self._by_copy[headers.key] = each
            if headers.flow is not None and each.headers.payload:
                self._unread[headers.flow].append(each)

    def _clone(self, event: TracedEvent) -> None:
        """A raw socket gets a copy."""
        headers = ipv4(event.raw("head"))
        found = None if headers is None else self._by_copy.get(headers.key)
        if found is not None:
            self._received[event.number("skb")] = found

    def _copied(self, event: TracedEvent, field_name: str) -> None:
        found = self._received.pop(event.number(field_name), None)
        if found is not None and found.headers.flow is None:
            found.packet.points.setdefault(Point.READ, event.time)

    def _read(self, event: TracedEvent) -> None:
        flow, at = _flow_of(event, sends=False), event.number("at")
        unread = self._unread.get(flow)
        if not unread:
            return
        left = []
        for each in unread:
            end = each.headers.sequence + each.headers.payload
            if (at - end) % _SEQUENCES < _BEHIND:
                each.packet.points[Point.READ] = event.time
            else:
                left.append(each)
        self._unread[flow] = left


def _of_ethernet(head: bytes) -> Headers | None:
    return ipv4(head[ETHERNET_BYTES:]) if head[12:14] == ETHERTYPE_IPV4 else None


def _flow_of(event: TracedEvent, *, sends: bool) -> Flow:
    """The connection of a socket, in the direction of what it sends or receives (Linux net/sock.h, sock_common)."""
    addresses, ports = event.raw("address"), event.raw("ports")
    other, own = addresses[0:4], addresses[4:8]
    other_port, own_port = ports[0:2], ports[2:4][::-1]
    if sends:
        return own, other, own_port, other_port
    return other, own, other_port, own_port
