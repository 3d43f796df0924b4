"""Command logs of an SDIO card in the making, as docs/virtual-sdio.md lays them out."""

from __future__ import annotations

import struct
from pathlib import Path

LINK_TYPE = 147
MAILBOX_END = 0x1000
BLOCK = 128


def message(endpoint: int, payload: bytes) -> bytes:
    """A message of HTC, in whole blocks."""
    bare = struct.pack("<BBHBB", endpoint, 0, len(payload), 0, 0) + payload
    return bare + bytes(-len(bare) % BLOCK)


class CommandLog:
    """Commands of 10 µs, 5 µs after one another."""

    def __init__(self) -> None:
        self.now_ns = 1_000_000_000
        self.records: list[tuple[int, bytes]] = []

    def command(self, number: int, argument: int, response: int | None = 0x1000, data: bytes = b"") -> None:
        """One command; ``None``: the card does not answer."""
        self.now_ns += 15_000
        flags = 2 | (response is not None)
        header = b"SDIO" + struct.pack(
            "<BBBBIIIIBBHI", 1, 1, number, flags, argument, response or 0, 10_000, 25_000_000, 4, 0, BLOCK, len(data)
        )
        self.records.append((self.now_ns, header + data))

    def line(self, level: bool) -> None:
        """The interrupt line changes."""
        self.records.append((self.now_ns, b"SDIO" + struct.pack("<BBB", 1, 2, level) + bytes(25)))

    def read_byte(self, address: int, value: int, function: int = 0) -> None:
        """CMD52."""
        self.command(52, function << 28 | address << 9, 0x1000 | value)

    def transfer(self, data: bytes, *, write: bool, address: int | None = None) -> None:
        """CMD53 of function 1; without an address to the end of the mailbox."""
        at = MAILBOX_END - len(data) if address is None else address
        self.command(53, write << 31 | 1 << 28 | 1 << 26 | at << 9 | len(data) & 0x1FF, data=data)

    def start(self, manufacturer: bytes = b"\x71\x02\x01\x03") -> None:
        """The card is enumerated, its firmware starts, and endpoint 2 carries best effort."""
        self.command(0, 0, 0)
        self.command(8, 0x1AA, None)
        for address, value in zip((9, 10, 11), (0, 0x10, 0), strict=True):
            self.read_byte(address, value)
        for address, value in enumerate(b"\x20\x04" + manufacturer + b"\xff", 0x1000):
            self.read_byte(address, value)
        self.transfer(b"\1\0\0\0", write=True)
        self.transfer(message(0, struct.pack("<HHBBHH", 3, 0x101, 0, 2, 2048, 0)), write=False, address=0x800)

    def write(self, path: Path) -> Path:
        """As a pcap file with nanoseconds."""
        out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, LINK_TYPE)]
        for at, data in self.records:
            out.append(struct.pack("<IIII", at // 10**9, at % 10**9, len(data), len(data)) + data)
        path.write_bytes(b"".join(out))
        return path
