"""A packet, the points that it passes on its way, and the stages between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


class Point(StrEnum):
    """Where a packet is seen, in the order in which it passes."""

    BEGUN = "begun"
    """The program gave it to its socket: TCP began the buffer that its last byte is in."""
    QUEUED = "queued"
    """It came to the device (``__dev_queue_xmit``)."""
    STARTED = "started"
    """The queue discipline gave it to the driver, or to mac80211."""
    DEQUEUED = "dequeued"
    """mac80211's queue (TXQ) gave it to the driver."""
    SUBMITTED = "submitted"
    """The driver gave the bus the transfer that it is in (``usb_submit_urb``)."""
    TAKEN = "taken"
    """The chip took the transfer that it is in, or was told of its descriptor."""
    AIRED = "aired"
    """The first PPDU with it began."""
    SENT = "sent"
    """Its last bit of the PPDU that the receiver received."""
    FETCHED = "fetched"
    """The chip gave it to its host, or interrupted it."""
    DELIVERED = "delivered"
    """IP of the receiver had it."""
    READ = "read"
    """The program had it from its socket."""


@dataclass(frozen=True)
class Stage:
    """What a packet does between two points."""

    begin: Point
    end: Point
    name: str


_P = Point
_SENDER = (
    Stage(_P.BEGUN, _P.QUEUED, "socket"),
    Stage(_P.QUEUED, _P.STARTED, "queue discipline"),
)
_READER = Stage(_P.DELIVERED, _P.READ, "reader")
_TXQ = Stage(_P.STARTED, _P.DEQUEUED, "TXQ of mac80211")


def stages(
    *, by_device: bool, has_txq: bool, sees_submitted: bool, sees_taken: bool, sees_fetched: bool
) -> tuple[Stage, ...]:
    """The stages of packets.

    Args:
        by_device: The device under test sends them; otherwise it receives them.
        has_txq: The sender has the queues of mac80211.
        sees_submitted: The trace of the kernel says when the driver gave them to the bus.
        sees_taken: The trace of the device says when it took them.
        sees_fetched: It says when it gave them to its host.
    """
    path = [*_SENDER]
    left = _P.STARTED
    if has_txq:
        path.append(_TXQ)
        left = _P.DEQUEUED
    if by_device and sees_submitted:
        path.append(Stage(left, _P.SUBMITTED, "driver"))
        left = _P.SUBMITTED
    if by_device and sees_taken:
        name = "bus" if sees_submitted else "driver and bus"
        path += [Stage(left, _P.TAKEN, name), Stage(_P.TAKEN, _P.AIRED, "chip and channel access")]
    else:
        path.append(Stage(left, _P.AIRED, "driver, chip and channel access" if by_device else "access point's radio"))
    path.append(Stage(_P.AIRED, _P.SENT, "air, with retries"))
    if not by_device and sees_fetched:
        path += [Stage(_P.SENT, _P.FETCHED, "chip and bus"), Stage(_P.FETCHED, _P.DELIVERED, "driver to IP")]
    else:
        path.append(Stage(_P.SENT, _P.DELIVERED, "access point to IP" if by_device else "chip, driver to IP"))
    return (*path, _READER)


@dataclass
class Packet:
    """A packet on its way between two sockets; times are ns of the one clock."""

    source: str
    """IPv4 address."""
    target: str
    protocol: str
    """TCP, UDP, ICMP, or a number."""
    length: int
    """Bytes of the IP packet."""
    payload: int
    """Bytes of TCP's payload, of others what follows the IP header."""
    by_device: bool = True
    """The device under test sends it."""
    points: dict[Point, int] = field(default_factory=dict)
    tries: int = 0
    """Transmissions on the air."""
    acknowledged_ns: int | None = None
    """End of the acknowledgement on the air."""
    completed_ns: int | None = None
    """mac80211 of the sender learned what had become of it."""

    @property
    def ends(self) -> Point | None:
        """Its last point: a program read it, or IP had it; ``None``: it did not arrive."""
        return next((point for point in (Point.READ, Point.DELIVERED) if point in self.points), None)

    @property
    def begins(self) -> Point:
        """Its first point."""
        return next(point for point in Point if point in self.points)

    @property
    def total_ns(self) -> int | None:
        """From the first point to the last; ``None``: it did not arrive."""
        return None if self.ends is None else self.points[self.ends] - self.points[self.begins]


@dataclass(frozen=True)
class Span:
    """A stage of one packet."""

    stage: Stage | None
    """``None``: a point within is missing, so the time belongs to no one stage."""
    begin_ns: int
    end_ns: int

    @property
    def length_ns(self) -> int:
        """How long it took."""
        return self.end_ns - self.begin_ns


def spans(packet: Packet, path: tuple[Stage, ...]) -> Iterator[Span]:
    """The stages of a packet that arrived, one after the other without a gap: they sum to :attr:`Packet.total_ns`.

    A packet that the kernel itself made begins where it is queued, and one that the kernel reads ends where IP has it.
    """
    ends = packet.ends
    if ends is None:
        return
    at, last = packet.points[packet.begins], packet.points[ends]
    expected = packet.begins
    for stage in path:
        end = packet.points.get(stage.end)
        if end is None:
            continue
        # what clocks of programs and chips cannot be: a stage never ends before it begins
        end = min(max(end, at), last)
        if end > at or expected is stage.begin:
            yield Span(stage if expected is stage.begin else None, at, end)
        at, expected = end, stage.end
    if at < last:
        yield Span(None, at, last)
