"""Commands in the log of a virtual SDIO card (``--command-log``); the layout is stated in docs/virtual-sdio.md."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from txop.formats.error import FormatError
from txop.formats.pcapng_records import read_pcapng_records

_HEADER = struct.Struct("<4sBBBBIIIIBxHI")
_MAGIC, _VERSION = b"SDIO", 1
_COMMAND, _LINE = 1, 2
_UNKNOWN = 0xFFFF_FFFF
EXTENDED = 53
"""CMD53, IO_RW_EXTENDED."""
_WRITE = 1 << 31


@dataclass(frozen=True)
class SdioCommand:
    """A command, or a change of the interrupt line."""

    begin_ns: int
    """Since 1970: when the card had it."""
    end_ns: int
    """When the host had its status."""
    number: int | None
    """``None``: the interrupt line changed."""
    level: bool
    """Of the line."""
    writes: bool
    """It carries data to the card, or writes a register."""
    address: int
    """Of the register or the buffer (CMD52 and CMD53)."""
    data: bytes


def read_sdio_log(data: bytes) -> Iterator[SdioCommand]:
    """The records of a log, in its order. Raises :class:`FormatError`."""
    for record in read_pcapng_records(data):
        if len(record.data) < _HEADER.size:
            raise FormatError("a record of a command log is cut")
        magic, version, kind, number, _, argument, _, took, _, _, _, _ = _HEADER.unpack_from(record.data)
        if magic != _MAGIC or version != _VERSION or kind not in (_COMMAND, _LINE):
            raise FormatError("not a command log of this version of txop")
        end = record.time_ns
        if kind == _LINE:
            yield SdioCommand(end, end, None, bool(number), False, 0, b"")
            continue
        begin = end if took == _UNKNOWN else end - took
        payload = record.data[_HEADER.size :]
        yield SdioCommand(begin, end, number, False, bool(argument & _WRITE), argument >> 9 & 0x1FFFF, payload)
