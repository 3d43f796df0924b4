"""Captures of a small USB device that a driver probes, as a virtual device writes them; docs/virtual-chips.md."""

from __future__ import annotations

import struct

DEVICE = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x200, 0xFF, 0, 0, 64, 0x1D6B, 0x0104, 0x100, 1, 2, 0, 1)
_POINTS = b"\7\5\x81\3\x08\0\x09" + b"\7\5\2\2\0\2\0" + b"\7\5\x83\2\0\2\0"
CONFIGURATION = (
    struct.pack("<BBHBBBBB", 9, 2, 9 + 9 + 5 + len(_POINTS), 1, 1, 0, 0x80, 50)
    + b"\x09\4\0\0\3\xff\xff\xff\0"
    + b"\5\x24\0\x10\1"
    + _POINTS
)
LANGUAGES = b"\4\3\x09\4"
STRING = bytes([10, 3]) + "txop".encode("utf-16-le")
CONTROL, BULK, INTERRUPT = 2, 3, 1
STALL = -32


def setup(request_type: int, request: int, value: int = 0, index: int = 0, length: int = 0) -> bytes:
    """A SETUP packet."""
    return struct.pack("<BBHHH", request_type, request, value, index, length)


class ProbeCapture:
    """A capture in the making."""

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.next_id = 1

    def submission(
        self, urb: int, endpoint: int, kind: int, length: int, data: bytes = b"", packet: bytes = b""
    ) -> None:
        """A URB is submitted."""
        self.records.append(
            struct.pack("<QcBBBHBBqiiII8s", urb, b"S", kind, endpoint, 2, 1, 0 if packet else 45, 60, 0, 0, -115,
                        length, len(data), packet) + bytes(16) + data
        )  # fmt: skip

    def completion(self, urb: int, endpoint: int, kind: int, length: int, data: bytes = b"", status: int = 0) -> None:
        """It has ended."""
        self.records.append(
            struct.pack("<QcBBBHBBqiiII8s", urb, b"C", kind, endpoint, 2, 1, 45, 0, 0, 0, status, length, len(data),
                        b"") + bytes(16) + data
        )  # fmt: skip

    def transfer(self, endpoint: int, kind: int, data: bytes = b"", *, packet: bytes = b"", status: int = 0) -> None:
        """One and the other."""
        urb, self.next_id = self.next_id, self.next_id + 1
        comes = bool(endpoint & 0x80)
        self.submission(urb, endpoint, kind, 512 if comes else len(data), b"" if comes else data, packet)
        self.completion(urb, endpoint, kind, len(data), data if comes else b"", status)

    def asks(self, packet: bytes, data: bytes = b"", status: int = 0) -> None:
        """A control request; ``data`` of its data stage."""
        self.transfer(packet[0] & 0x80, CONTROL, data, packet=packet, status=status)

    def enumeration(self) -> None:
        """The device is enumerated and configured."""
        self.asks(setup(0x80, 6, 0x100, 0, 64), DEVICE)
        self.asks(setup(0x80, 6, 0x100, 0, 18), DEVICE)
        self.asks(setup(0x80, 6, 0x200, 0, 9), CONFIGURATION[:9])
        self.asks(setup(0x80, 6, 0x200, 0, len(CONFIGURATION)), CONFIGURATION)
        self.asks(setup(0x80, 6, 0x300, 0, 255), LANGUAGES)
        self.asks(setup(0x80, 6, 0x302, 0x409, 255), STRING)
        self.asks(setup(0x00, 9, 1))

    def registers(self) -> None:
        """A driver reads and writes some, and data come and go."""
        for value in (0x10, 0x10, 0x11):
            self.asks(setup(0xC0, 5, 0x80, 0, 4), struct.pack("<I", value))
        self.asks(setup(0x40, 5, 0x80, 0, 1), b"\1")
        self.asks(setup(0xC0, 5, 0x84, 0, 2), b"\x34\x12")
        self.asks(setup(0xC0, 8, 0, 0, 6), b"\2txop\0")
        self.asks(setup(0xC0, 7, 0, 0, 4), status=STALL)
        self.transfer(2, BULK, b"firmware")
        self.transfer(0x83, BULK, b"answer")
        self.transfer(0x81, INTERRUPT, status=-104)

    def written(self) -> bytes:
        """As a pcapng file."""
        options = struct.pack("<HHB3x", 9, 1, 9) + struct.pack("<HH", 0, 0)
        out = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
        out += _block(1, struct.pack("<HHI", 220, 0, 0) + options)
        for at, data in enumerate(self.records):
            out += _block(6, struct.pack("<IIIII", 0, 0, at, len(data), len(data)) + data)
        return out


def _block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))


def whole_capture() -> bytes:
    """Enumeration and registers."""
    capture = ProbeCapture()
    capture.enumeration()
    capture.registers()
    return capture.written()
