"""Records of a pcapng file with one interface and times in nanoseconds, as virtual devices write their captures.

For captures of other programs use ``txop air`` and ``txop bus``. Facts: draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from txop.formats.error import FormatError

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_LITTLE = 0x1A2B3C4D
_RESOLUTION = 9
"""Option if_tsresol."""
_NANOSECONDS = 9


@dataclass(frozen=True)
class PcapngRecord:
    """A record."""

    time_ns: int
    """Since 1970."""
    data: bytes
    cut: int
    """Bytes that are not in the file."""


def read_pcapng_records(data: bytes) -> Iterator[PcapngRecord]:
    """The records, in the order of the file. Raises :class:`FormatError`; a last block that is cut is left out."""
    if data[:4] != _SECTION.to_bytes(4, "little"):
        raise FormatError("not a pcapng file", offset=0)
    if int.from_bytes(data[8:12], "little") != _LITTLE:
        raise FormatError("not a capture of a virtual device: it is in another byte order", offset=8)
    at = 0
    nanoseconds = False
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if length < 12 or at + length > len(data):
            return
        body = data[at + 8 : at + length - 4]
        if kind == _INTERFACE:
            nanoseconds = _in_nanoseconds(body)
        elif kind == _PACKET and len(body) >= 20:
            if not nanoseconds:
                raise FormatError("not a capture of a virtual device: its times are not nanoseconds", offset=at)
            _, high, low, captured, original = struct.unpack_from("<IIIII", body)
            record = body[20 : 20 + captured]
            yield PcapngRecord(high << 32 | low, record, max(original - len(record), 0))
        at += length


def _in_nanoseconds(body: bytes) -> bool:
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<HH", body, at)
        if code == 0:
            return False
        if code == _RESOLUTION and body[at + 4 : at + 5] == bytes([_NANOSECONDS]):
            return True
        at += 4 + (length + 3 & ~3)
    return False
