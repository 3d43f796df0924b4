"""What a guest leaves for a timeline, made by rule: every point of every packet is known."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from txop.timeline.packet import Point
from txop.timeline.recording import ADDRESS, CLOCK, FORMATS, MISSING, RING, STATISTICS

DEVICE, PEER = bytes.fromhex("020000000a01"), bytes.fromhex("020000000000")
DEVICE_IP, PEER_IP = bytes([10, 80, 210, 2]), bytes([10, 80, 210, 1])
VIRTUAL_TO_DEVICE = -400_000_000
EPOCH_NS = 1_767_225_600_000_000_000
PAGE = 4096

_FIELDS = {
    "queue": (("skb", 8), ("head", 56)),
    "start": (("skb", 8), ("head", 56)),
    "dequeue": (("skb", 8), ("data", 8), ("head", 40)),
    "submit": (("data", 8),),
    "status_later": (("skb", 8),),
    "deliver": (("skb", 8), ("head", 40)),
    "clone": (("skb", 8), ("head", 40)),
    "write": (("socket", 8), ("address", 8), ("ports", 4), ("at", 4)),
    "read": (("socket", 8), ("address", 8), ("ports", 4), ("at", 4)),
    "send_raw": (("socket", 8),),
    "skb_copy_datagram_iovec": (("skbaddr", 8), ("len", 4)),
    "irq_handler_entry": (("irq", 4), ("name", 4)),
}
_NUMBERS = {name: 1500 + number for number, name in enumerate(_FIELDS)}


def formats() -> str:
    blocks = []
    for name, fields in _FIELDS.items():
        rows = ["\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;"]
        at = 16
        for field_name, size in fields:
            rows.append(f"\tfield:u64 {field_name}[{size}];\toffset:{at};\tsize:{size};\tsigned:0;")
            at += size
        blocks.append(f"name: {name}\nID: {_NUMBERS[name]}\nformat:\n" + "\n".join(rows) + '\n\nprint fmt: ""\n')
    return "".join(blocks)


def event(name: str, *values: int | bytes, pid: int = 7) -> bytes:
    data = struct.pack("<HBBiQ", _NUMBERS[name], 0, 0, pid, 0)
    for (_, size), value in zip(_FIELDS[name], values, strict=True):
        data += value.to_bytes(size, "little") if isinstance(value, int) else value[:size].ljust(size, b"\0")
    return data


def ring(events: Iterable[tuple[int, bytes]]) -> bytes:
    """Pages as the kernel has them."""
    pages: list[bytes] = []
    body, start, last = b"", 0, 0
    for time, data in sorted(events, key=lambda each: each[0]):
        padded = data + bytes(-len(data) % 4)
        if not body or len(body) + len(padded) + 16 > PAGE - 16:
            if body:
                pages.append((struct.pack("<QQ", start, len(body)) + body).ljust(PAGE, b"\xee"))
            body, start, last = b"", time, time
        delta = time - last
        if delta >= 1 << 27:
            body += struct.pack("<II", 30 | (delta & (1 << 27) - 1) << 5, delta >> 27)
            delta = 0
        if len(padded) // 4 > 28:
            body += struct.pack("<II", delta << 5, len(padded) + 4) + padded
        else:
            body += struct.pack("<I", len(padded) // 4 | delta << 5) + padded
        last = time
    if body:
        pages.append((struct.pack("<QQ", start, len(body)) + body).ljust(PAGE, b"\xee"))
    return b"".join(pages)


def ipv4(source: bytes, target: bytes, protocol: int, number: int, body: bytes, length: int) -> bytes:
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body) + length, number, 0x4000, 64, protocol, 0)
    return head + source + target + body


def tcp(sequence: int, ports: tuple[int, int]) -> bytes:
    return struct.pack(">HHIIBBHHH", *ports, sequence, 1, 0x50, 0x18, 1000, 0, 0)


def echo(number: int) -> bytes:
    return struct.pack(">BBHHH", 8, 0, 0, 99, number)


def ethernet(source: bytes, target: bytes, packet: bytes) -> bytes:
    return target + source + b"\x08\0" + packet


def data_frame(source: bytes, target: bytes, sequence: int, number: int, *, retry: bool = False) -> bytes:
    """QoS data with CCMP."""
    flags = 0x41 | 0x08 * retry
    head = bytes([0x88, flags, 0, 0]) + target + source + target + struct.pack("<H", sequence << 4) + b"\0\0"
    pn = number.to_bytes(6, "little")
    return head + pn[0:2] + b"\0\x20" + pn[2:6]


def block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def air_record(end_ns: int, first_bit_us: int, frame: bytes, size: int) -> bytes:
    """OFDM at 24 Mbit/s; ``size``: bytes of the whole frame, with its FCS."""
    record = struct.pack("<BBHIQBBHHb", 0, 0, 23, 0b101111, first_bit_us, 0, 48, 2437, 0xC0, -45) + frame
    time = end_ns + EPOCH_NS
    body = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(record), 23 + size)
    return block(6, body + record)


@dataclass
class Specimen:
    """Files of a run, and what is true of its packets."""

    seed: int
    events: list[tuple[int, bytes]] = field(default_factory=list)
    air: list[tuple[int, bytes]] = field(default_factory=list)
    trace: list[tuple[int, str]] = field(default_factory=list)
    truth: list[dict[Point, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311
        self._now = 9_000_000_000
        self._buffers = [0xFFFF888000000000 + 256 * number for number in range(4)]
        self._written: dict[bool, int] = {True: 4_294_960_000, False: 70_000}

    def _kernel(self, time: int, data: bytes) -> None:
        self.events.append((time - VIRTUAL_TO_DEVICE, data))

    def packet(self, *, by_device: bool, kind: str, lost: bool = False, tries: int = 1) -> dict[Point, int]:
        """One packet after the other; buffers are used again."""
        draw, points = self._random, {}
        number = len(self.truth)
        time = self._now
        for point in Point:
            time += draw.randrange(30_000, 900_000)
            points[point] = time
        points[Point.SENT] += 2_000_000 * (tries - 1)
        for point in (Point.FETCHED, Point.DELIVERED, Point.READ):
            points[point] += 2_000_000 * (tries - 1)
        self._now = points[Point.READ]
        ends = (DEVICE, PEER) if by_device else (PEER, DEVICE)
        hosts = (DEVICE_IP, PEER_IP) if by_device else (PEER_IP, DEVICE_IP)
        buffer, other = draw.sample(self._buffers, 2)
        if kind == "tcp":
            ports = (40_000, 5201)
            at, length = self._written[by_device], draw.choice((64, 1448))
            self._written[by_device] = (at + length) % (1 << 32)
            packet = ipv4(*hosts, 6, number, tcp(at, ports), length)
            socket = struct.pack(">HH", ports[1], 0)[:2] + struct.pack("<H", ports[0])
            self._kernel(points[Point.BEGUN], event("write", 1, hosts[1] + hosts[0], socket, at))
        else:
            packet = ipv4(*hosts, 1, number, echo(number), 56)
            self._kernel(points[Point.BEGUN], event("send_raw", 1))
        self._kernel(points[Point.QUEUED], event("queue", buffer, ethernet(*ends, packet)))
        self._kernel(points[Point.STARTED], event("start", buffer, ethernet(*ends, packet)))
        frame = data_frame(*ends, number & 4095, number + 1)
        self._kernel(points[Point.DEQUEUED], event("dequeue", buffer, buffer + 100, frame))
        self._kernel(points[Point.DEQUEUED] + 10, event("dequeue", 0, 0, b""))
        self._on_air(points, ends, number, tries)
        if by_device:
            self._kernel(points[Point.SUBMITTED], event("submit", buffer + 100 - 32))
            self._transfer("out", points[Point.TAKEN], ends[1], number & 4095)
            del points[Point.FETCHED]
        else:
            del points[Point.SUBMITTED]
            del points[Point.TAKEN]
            self._transfer("in", points[Point.FETCHED], ends[1], number & 4095)
        self._kernel(points[Point.SENT] + 60_000, event("status_later", buffer))
        if lost:
            for point in (Point.DELIVERED, Point.READ, Point.FETCHED, Point.SENT):
                points.pop(point, None)
        else:
            self._kernel(points[Point.DELIVERED], event("deliver", other, packet))
            self._reader(points, hosts, other, packet, kind, by_device)
        self.truth.append(points)
        return points

    def _on_air(self, points: dict[Point, int], ends: tuple[bytes, bytes], number: int, tries: int) -> None:
        begin = points[Point.AIRED] // 1000 * 1000
        points[Point.AIRED] = begin
        last = points[Point.SENT]
        for attempt in range(tries):
            end = last if attempt == tries - 1 else begin + 2_000_000 * attempt + 40_000
            frame = data_frame(*ends, number & 4095, number + 1, retry=attempt > 0)
            first_bit = begin // 1000 + 20 if attempt == 0 else end // 1000 - 10
            self.air.append((end, air_record(end, first_bit, frame, 600)))
        ack = bytes([0xD4, 0, 0, 0]) + ends[0]
        self.air.append((last + 44_000, air_record(last + 44_000, last // 1000 + 36, ack, 14)))

    def _transfer(self, way: str, time: int, receiver: bytes, sequence: int) -> None:
        frames = [{"frame": "QoS data", "bytes": 600, "to": receiver.hex(":"), "sequence": sequence, "rate": "MCS 7"}]
        line = {"t_s": time / 1e9, "event": way, "endpoint": 2, "bytes": 640, "frames": frames}
        self.trace.append((time, json.dumps(line)))

    def _reader(
        self,
        points: dict[Point, int],
        hosts: tuple[bytes, bytes],
        buffer: int,
        packet: bytes,
        kind: str,
        by_device: bool,
    ) -> None:
        if kind == "tcp":
            socket = struct.pack(">H", 40_000) + struct.pack("<H", 5201)
            at = self._written[by_device]
            self._kernel(points[Point.READ], event("read", 2, hosts[0] + hosts[1], socket, at))
        else:
            copy = buffer + 64
            self._kernel(points[Point.DELIVERED] + 5, event("clone", copy, packet))
            self._kernel(points[Point.READ], event("skb_copy_datagram_iovec", copy, 84))

    def write(self, folder: Path) -> None:
        begin, end = 8_000_000_000, self._now + 1_000_000_000
        clock = [
            json.dumps({"virtual_ns": at - VIRTUAL_TO_DEVICE, "monotonic_ns": at, "epoch_ns": EPOCH_NS})
            for at in (begin, end)
        ]
        (folder / CLOCK).write_text("\n".join(clock) + "\n")
        (folder / RING).write_bytes(ring(self.events))
        (folder / FORMATS).write_text(formats())
        (folder / STATISTICS).write_text("entries: 0\noverrun: 0\ncommit overrun: 0\ndropped events: 0\n")
        (folder / ADDRESS).write_text(DEVICE.hex(":") + "\n")
        (folder / MISSING).write_text("p:txop/start_lbs\n")
        head = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
        head += block(1, struct.pack("<HHI", 127, 0, 0) + struct.pack("<HHB3x", 9, 1, 9) + struct.pack("<HH", 0, 0))
        ordered = sorted(self.air, key=lambda each: each[0])
        (folder / "air.pcapng").write_bytes(head + b"".join(record for _, record in ordered))
        (folder / "trace.jsonl").write_text("".join(f"{line}\n" for _, line in sorted(self.trace)))
