"""What an ELF program or library needs, from its dynamic section.

Layout: System V ABI, chapters 4 and 5 (ELF header, program headers, dynamic section). 64 and 32 bit, both byte orders.
Not pyelftools, which is well kept: these sixty lines have a bound on every count, and nothing has to be installed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from txop.core.errors import TxopError

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NULL, _DT_NEEDED, _DT_STRTAB, _DT_SONAME = 0, 1, 5, 14
_MAX_HEADERS = 4096
_MAX_ENTRIES = 65_536
_MAX_NAME = 4096


class NotElfError(TxopError, ValueError):
    """The bytes are not an ELF file, or it is damaged."""


@dataclass(frozen=True)
class Dynamic:
    """What the dynamic linker would read."""

    needed: tuple[str, ...]
    """Names of libraries (DT_NEEDED)."""
    soname: str | None
    interpreter: str | None
    """Path of the dynamic linker; ``None``: a library, or linked statically."""


def read_dynamic(data: bytes) -> Dynamic:
    """Read an ELF file. Raises :class:`NotElfError`."""
    if data[:4] != b"\x7fELF" or len(data) < 52 or data[4] not in (1, 2) or data[5] not in (1, 2):
        raise NotElfError("it is not an ELF file")
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    try:
        loads, dynamic, interpreter = _headers(data, order, wide=wide)
        if dynamic is None:
            return Dynamic((), None, interpreter)
        entry = struct.Struct(f"{order}qQ" if wide else f"{order}iI")
        entries = []
        for number in range(min(dynamic[1] // entry.size, _MAX_ENTRIES)):
            tag, value = entry.unpack_from(data, dynamic[0] + number * entry.size)
            if tag == _DT_NULL:
                break
            entries.append((tag, value))
    except (struct.error, OverflowError):  # an offset beyond the file, or beyond every file
        raise NotElfError("it is cut short") from None
    table = next((value for tag, value in entries if tag == _DT_STRTAB), None)
    if table is None:
        return Dynamic((), None, interpreter)
    strings = _file_offset(loads, table)
    needed = tuple(_string(data, strings + value) for tag, value in entries if tag == _DT_NEEDED)
    sonames = [_string(data, strings + value) for tag, value in entries if tag == _DT_SONAME]
    return Dynamic(needed, sonames[0] if sonames else None, interpreter)


_Load = tuple[int, int, int]
"""Address, offset in the file, bytes in the file."""


def _headers(data: bytes, order: str, *, wide: bool) -> tuple[list[_Load], tuple[int, int] | None, str | None]:
    table = struct.unpack_from(f"{order}Q" if wide else f"{order}I", data, 32 if wide else 28)[0]
    size, count = struct.unpack_from(f"{order}HH", data, 54 if wide else 42)
    header = struct.Struct(f"{order}IIQQQQQQ" if wide else f"{order}IIIIIIII")
    if count and size < header.size:
        raise NotElfError("its program headers are damaged")
    loads: list[_Load] = []
    dynamic: tuple[int, int] | None = None
    interpreter = None
    for number in range(min(count, _MAX_HEADERS)):
        fields = header.unpack_from(data, table + number * size)
        kind = fields[0]
        offset, address, in_file = (fields[2], fields[3], fields[5]) if wide else (fields[1], fields[2], fields[4])
        if kind == _PT_LOAD:
            loads.append((address, offset, in_file))
        elif kind == _PT_DYNAMIC:
            dynamic = (offset, in_file)
        elif kind == _PT_INTERP:
            interpreter = _string(data, offset)
    return loads, dynamic, interpreter


def _file_offset(loads: list[_Load], address: int) -> int:
    for start, offset, size in loads:
        if start <= address < start + size:
            return address - start + offset
    raise NotElfError("its string table is nowhere in the file")


def _string(data: bytes, offset: int) -> str:
    end = data.find(b"\0", offset, offset + _MAX_NAME) if 0 <= offset < len(data) else -1
    if end < 0:
        raise NotElfError("a name in it does not end")
    return data[offset:end].decode("utf-8", "replace")
