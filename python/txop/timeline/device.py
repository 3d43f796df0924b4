"""What the virtual device wrote down outside of the guest, joined with packets: transfers, registers and the air."""

from __future__ import annotations

import bisect
import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from txop.formats.air_frames import AirFrame
from txop.formats.error import FormatError
from txop.formats.sdio_log import EXTENDED, SdioCommand
from txop.timeline.headers import ETHERTYPE_IPV4, ipv4
from txop.timeline.kernel import Followed
from txop.timeline.packet import Packet, Point

_DELIMITER_BYTES, _FCS_BYTES = 4, 4
_IPV4 = ETHERTYPE_IPV4 + b"\x45"
"""The type of a packet without options, and its first byte."""
_RESPONSE_NS = 1_000_000
"""A response ends that long after its PPDU, at most."""


Carried = tuple[object, ...]
"""A packet in a transfer: address 1 and sequence number of its frame, or the key of its headers."""


@dataclass(frozen=True)
class DeviceEvent:
    """A line of the trace of a device: a register access, a transfer, a fault."""

    time_ns: int
    """By the clock of the device."""
    kind: str
    """``read``, ``write``, ``out``, ``in``..."""
    name: str
    """Name of the register or the endpoint."""
    words: str
    """What it means."""
    carries: tuple[Carried, ...] = ()
    """What says which packets are in it."""
    length_ns: int = 0


def read_device_trace(text: str) -> Iterator[DeviceEvent]:
    """The lines of ``--trace``. A last line that is cut is left out. Raises :class:`FormatError`."""
    rows = text.split("\n")
    for number, row in enumerate(rows, 1):
        if not row.strip():
            continue
        try:
            line = json.loads(row)
            frames = tuple(
                (bytes.fromhex(each["to"].replace(":", "")), each["sequence"])
                for each in line.get("frames", ())
                if "to" in each and "sequence" in each
            )
            endpoint = line.get("endpoint")
            name = line.get("name") or line.get("register") or ("" if endpoint is None else f"endpoint {endpoint}")
            shown = line.get("means") or line.get("value")
            size = "" if line.get("bytes") is None else f"{line['bytes']} bytes"
            yield DeviceEvent(round(line["t_s"] * 1e9), line["event"], str(name), str(shown or size), frames)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            if number == len(rows):
                return
            raise FormatError("not a line of a device's trace", line=number) from None


def sdio_events(commands: Iterable[SdioCommand], epoch_ns: int) -> Iterator[DeviceEvent]:
    """Commands of an SDIO card, as events; IPv4 packets in their data are found by their headers."""
    for each in commands:
        begin = each.begin_ns - epoch_ns
        if each.number is None:
            yield DeviceEvent(begin, "line", "interrupt line", "up" if each.level else "down")
            continue
        kind = "out" if each.writes else "in"
        name = f"CMD{each.number} {'write' if each.writes else 'read'}"
        length = each.end_ns - each.begin_ns
        words = f"{each.address:#07x}, {len(each.data)} bytes"
        carries = tuple(_packets_in(each.data)) if each.number == EXTENDED else ()
        if each.number != EXTENDED:
            kind = "write" if each.writes else "read"
        # the card has what is written at once; the host has what is read with the status
        at = begin if each.writes else begin + length
        yield DeviceEvent(at, kind, name, words, carries, length)


def _packets_in(data: bytes) -> Iterator[Carried]:
    """Keys of IPv4 packets behind an Ethernet type in some bytes."""
    at = data.find(_IPV4)
    while at >= 0:
        headers = ipv4(data[at + 2 : at + 42])
        if headers is not None and 20 <= headers.length <= len(data) - at:
            yield headers.key
        at = data.find(_IPV4, at + 1)


@dataclass
class Sent:
    """A PPDU on the air, by the clock of the device."""

    begin_ns: int
    end_ns: int
    transmitter: bytes
    receiver: bytes
    rate: str
    frames: tuple[AirFrame, ...]
    ends_ns: tuple[int, ...]
    """Of each MPDU."""
    response_ns: int | None = None
    """End of its ACK or Block Ack."""
    acknowledged: tuple[bool, ...] = ()


def ppdus(frames: Iterable[AirFrame], epoch_ns: int) -> list[Sent]:
    """The PPDUs of a capture with the responses to them, in the order of the air. Responses are PPDUs, too."""
    found: list[Sent] = []
    group: list[AirFrame] = []
    for frame in frames:
        if group and (frame.ampdu is None or frame.ampdu != group[0].ampdu):
            found.append(_ppdu(group, epoch_ns))
            group = []
        group.append(frame)
        if frame.ampdu is None:
            found.append(_ppdu(group, epoch_ns))
            group = []
    if group:
        found.append(_ppdu(group, epoch_ns))
    for sent, after in itertools.pairwise(found):
        response = after.frames[0]
        if response.is_response and response.receiver == sent.transmitter and after.end_ns - sent.end_ns < _RESPONSE_NS:
            sent.response_ns = after.end_ns
            sent.acknowledged = tuple(response.acknowledges(frame) for frame in sent.frames)
    return found


def _ppdu(group: Sequence[AirFrame], epoch_ns: int) -> Sent:
    first, end_ns = group[0], group[0].end_ns - epoch_ns
    data_ns = min(first.first_bit_us * 1000, end_ns)
    places, so_far = [], 0
    for frame in group:  # a delimiter before each, and padding after each but the last (9.7.1)
        so_far += -so_far % 4 + (0 if first.ampdu is None else _DELIMITER_BYTES)
        so_far += len(frame.frame) + _FCS_BYTES
        places.append(so_far)
    ends = [data_ns + (end_ns - data_ns) * place // so_far for place in places]
    begin_ns = data_ns - 1000 * first.preamble_us
    return Sent(begin_ns, end_ns, first.transmitter, first.receiver, first.rate, tuple(group), tuple(ends))


_GIVEN = (Point.STARTED, Point.DEQUEUED, Point.SUBMITTED)


@dataclass(frozen=True)
class Try:
    """A packet in a PPDU."""

    ppdu: Sent
    place: int
    """Among its MPDUs."""

    @property
    def end_ns(self) -> int:
        """End of its last bit."""
        return self.ppdu.ends_ns[self.place]

    @property
    def is_acknowledged(self) -> bool:
        """Whether a response was positive about it."""
        return bool(self.ppdu.acknowledged) and self.ppdu.acknowledged[self.place]


@dataclass
class Air:
    """The transmissions of packets, by what a packet is known by on the air."""

    by_number: dict[tuple[bytes, bytes, int], list[Try]] = field(default_factory=lambda: defaultdict(list))
    """By transmitter, receiver (groups have a key of their own) and packet number, of frames that are protected."""
    by_key: dict[tuple[object, ...], dict[int, list[Try]]] = field(default_factory=lambda: defaultdict(dict))
    """By the headers of a packet that is not protected, and the sequence number of its frame."""

    def add(self, sent: Sent) -> None:
        """Note a PPDU."""
        for place, frame in enumerate(sent.frames):
            if not frame.is_data:
                continue
            number = frame.packet_number
            if number is not None:
                self.by_number[frame.transmitter, frame.receiver, number].append(Try(sent, place))
            elif (packet := frame.packet) is not None and (headers := ipv4(packet[:40])) is not None:
                self.by_key[headers.key].setdefault(frame.sequence, []).append(Try(sent, place))

    def tries(self, followed: Followed) -> list[Try]:
        """Every transmission of a packet, whenever it was."""
        radio = followed.radio
        if radio is not None and radio.packet_number is not None:
            return self.by_number.get((radio.transmitter, radio.receiver, radio.packet_number), [])
        found = self.by_key.get(followed.headers.key, {})
        if radio is not None and radio.sequence in found:
            return found[radio.sequence]
        # of several that say the same, the first sent is the first on the air
        return next(itertools.islice(found.values(), followed.ordinal, None), [])


class Transfers:
    """When the trace of a device shows a frame go one way."""

    def __init__(self, events: Iterable[DeviceEvent], kind: str) -> None:
        self._times: dict[Carried, list[int]] = defaultdict(list)
        for event in events:
            if event.kind == kind:
                for each in event.carries:
                    self._times[each].append(event.time_ns)

    def __bool__(self) -> bool:
        return bool(self._times)

    def first(self, carried: Carried, since_ns: int) -> int | None:
        """The first time after a moment."""
        times = self._times.get(carried, [])
        at = bisect.bisect_left(times, since_ns)
        return times[at] if at < len(times) else None


def is_disordered(packet: Packet, tries: Sequence[Try]) -> bool:
    """Whether a packet left before its driver had it, or arrived before it had left, as a skew between clocks shows."""
    if not tries:
        return False
    points = packet.points
    given = max(points[point] for point in _GIVEN if point in points)
    delivered = points.get(Point.DELIVERED)
    return tries[0].ppdu.begin_ns < given or (delivered is not None and min(each.end_ns for each in tries) > delivered)


def put_on_air(packet: Packet, tries: Sequence[Try]) -> AirFrame | None:
    """Note a packet's transmissions; the frame that arrived, ``None``: there is none, or it did not arrive."""
    packet.tries = len(tries)
    if not tries:
        return None
    packet.points[Point.AIRED] = tries[0].ppdu.begin_ns
    delivered = packet.points.get(Point.DELIVERED)
    answered = next((each for each in tries if each.is_acknowledged), None)
    packet.acknowledged_ns = None if answered is None else answered.ppdu.response_ns
    if delivered is None:
        return None
    # a receiver may have what its acknowledgement could not say
    before = [each for each in tries if each.end_ns <= delivered]
    if not before:
        return None
    chosen = next((each for each in before if each.is_acknowledged), before[-1])
    packet.points[Point.SENT] = chosen.end_ns
    return chosen.ppdu.frames[chosen.place]


def note_transfers(followed: Followed, arrived: AirFrame | None, out: Transfers, back: Transfers) -> None:
    """Note when the chip took a packet from its host, or gave it to it."""
    packet, radio, key = followed.packet, followed.radio, followed.headers.key
    if packet.by_device and out:
        if radio is not None:
            taken = out.first((radio.receiver, radio.sequence), packet.points[Point.DEQUEUED])
        else:
            taken = out.first(key, packet.points[Point.STARTED])
        _within(packet, Point.TAKEN, taken, Point.AIRED)
    elif not packet.by_device and back and arrived is not None:
        sent = packet.points[Point.SENT]
        fetched = back.first((arrived.receiver, arrived.sequence), sent)
        if fetched is None:
            fetched = back.first(key, sent)
        _within(packet, Point.FETCHED, fetched, Point.DELIVERED)


def _within(packet: Packet, point: Point, time: int | None, before: Point) -> None:
    if time is not None and time <= packet.points.get(before, time):
        packet.points[point] = time
