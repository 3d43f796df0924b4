"""Captures of a USB device in the making, and what modems carry."""

from __future__ import annotations

import struct
from pathlib import Path

IN, OUT = 0x81, 0x02


def tcp(data: int) -> bytes:
    """An IPv4 packet with a TCP segment of ``data`` bytes and the ACK flag."""
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + data, 0, 0, 64, 6, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
    return header + struct.pack(">HHIIBBHHH", 80, 81, 1, 1, 0x50, 0x10, 0, 0, 0) + bytes(data)


def qmap(datagrams: list[bytes]) -> bytes:
    """A QMAP aggregate."""
    parts = []
    for datagram in datagrams:
        pad = -len(datagram) % 4
        parts.append(struct.pack(">BBH", pad, 1, len(datagram) + pad) + datagram + bytes(pad))
    return b"".join(parts)


class Trace:
    """A capture in the making; times are µs."""

    def __init__(self, link_type: int) -> None:
        self.link_type = link_type
        self.records: list[tuple[int, bytes]] = []
        self.next_id = 0x1000

    def transfer(self, at: int, took: int, endpoint: int, data: bytes, *, status: int = 0, kind: int = 3,
                 setup: bytes = b"", asked: int | None = None) -> None:  # fmt: skip
        """A submission, and ``took`` later its completion."""
        self.next_id += 1
        done = kind == 2 and setup
        for when, event in ((at, "S"), (at + took, "C")):
            carries = (endpoint & 0x80 != 0) == (event == "C")
            payload = data if carries else b""
            if self.link_type == 220:
                length = len(data) if event == "C" or not endpoint & 0x80 else (asked or 16384)
                head = struct.pack("<QcBBBHBBqiiII", self.next_id, event.encode(), kind, endpoint, 5, 1,
                                   0 if done and event == "S" else 45, 0 if payload else 60, when // 1_000_000,
                                   when % 1_000_000, -115 if event == "S" else status, length,
                                   len(payload))  # fmt: skip
                head += (setup if event == "S" else b"").ljust(8, b"\0") + bytes(16)
            else:
                body = (setup if event == "S" else b"") + payload
                stage = (b"\0" if event == "S" else b"\3") if kind == 2 else b""
                head = struct.pack("<HQIHBHHBBI", 27 + len(stage), self.next_id, 0, 9, event == "C", 1, 5, endpoint,
                                   kind, len(body)) + stage  # fmt: skip
                payload = body
            self.records.append((when, head + payload))

    def descriptors(self, product: str = "Modem") -> None:
        """The device is enumerated: device, configuration and product string."""
        device = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x200, 0, 0, 0, 64, 0x2C7C, 0x125, 0x318, 0, 2, 0, 1)
        points = b"\7\5\x81\2\0\2\0" + b"\7\5\2\2\0\2\0" + b"\7\5\x83\3\x08\0\x09"
        configuration = struct.pack("<BBHBBBBB", 9, 2, 18 + len(points), 1, 1, 0, 0x80, 50)
        configuration += b"\x09\4\0\0\3\xff\xff\xff\0" + points
        name = product.encode("utf-16-le")
        for index, (value, data) in enumerate(
            ((0x100, device), (0x200, configuration), (0x302, bytes([2 + len(name), 3]) + name))
        ):
            setup = struct.pack("<BBHHH", 0x80, 6, value, 0, 255)
            self.transfer(1_000_000 + 1000 * index, 200, 0x80, data, kind=2, setup=setup, asked=255)

    def write(self, path: Path, snap: int = 65535) -> Path:
        """As a pcap file."""
        out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, self.link_type)]
        for at, data in sorted(self.records, key=lambda record: record[0]):
            kept = data[:snap]
            out.append(struct.pack("<IIII", at // 1_000_000, at % 1_000_000, len(kept), len(data)) + kept)
        path.write_bytes(b"".join(out))
        return path


def pcapng(trace: Trace, dropped: int) -> bytes:
    """As pcapng, whose statistics count dropped records."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))

    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", 220, 0, 0))
    for at, data in sorted(trace.records, key=lambda record: record[0]):
        out += block(6, struct.pack("<IIIII", 0, at >> 32, at & 0xFFFFFFFF, len(data), len(data)) + data)
    return out + block(5, struct.pack("<III", 0, 0, 0) + struct.pack("<HHQ", 5, 8, dropped) + bytes(4))
