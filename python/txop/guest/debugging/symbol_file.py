"""Symbols by address as an ELF file that debuggers read: names of functions and data, without lines and types.

The layout is that of the System V ABI, chapters 4 and 5 (``Elf64_Ehdr``, ``Elf64_Shdr``, ``Elf64_Sym``).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass

_KALLSYMS = re.compile(r"([0-9a-f]{16}) ([a-zA-Z]) (\S{1,512})")
_CODE = frozenset("tTwW")
_FUNCTION, _OBJECT = 2, 1
_GLOBAL = 1 << 4
_EXECUTABLE, _X86_64 = 2, 62
_HEADER = 64
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


@dataclass(frozen=True)
class Symbol:
    """A name in a kernel's memory."""

    name: str
    address: int
    size: int
    is_code: bool


def read_kallsyms(text: str, slide: int = 0) -> list[Symbol]:
    """The kernel's own symbols of ``/proc/kallsyms``, without those of modules, in the order of addresses.

    ``slide``: bytes by which the kernel is elsewhere. A symbol extends to the next one.

    >>> text = "ffffffff81000000 T a\\nffffffff81000010 t b\\nffffffffc0000000 t c\\t[m]\\n"
    >>> [(symbol.name, symbol.size) for symbol in read_kallsyms(text)]
    [('a', 16), ('b', 0)]
    """
    found = []
    for line in text.splitlines():
        match = _KALLSYMS.fullmatch(line)  # those of modules have a tab and the module's name behind
        if match and int(match[1], 16):
            found.append((int(match[1], 16), match[3], match[2] in _CODE))
    found.sort(key=lambda each: each[0])
    ends = [at for at, _, _ in (*found[1:], *found[-1:])]
    return [Symbol(name, at + slide, end - at, is_code) for (at, name, is_code), end in zip(found, ends, strict=True)]


def symbol_file(symbols: Iterable[Symbol], first: int = 0xFFFF_8000_0000_0000) -> bytes:
    """An ELF file with these symbols. ``first``: the lowest address of the one section that they are in, without
    contents."""
    names, rows = bytearray(b"\0"), [_SYMBOL.pack(0, 0, 0, 0, 0, 0)]
    for symbol in symbols:
        if not first <= symbol.address < 1 << 64:
            continue
        kind = _GLOBAL | (_FUNCTION if symbol.is_code else _OBJECT)
        rows.append(_SYMBOL.pack(len(names), kind, 0, 1, symbol.address, symbol.size))
        names += symbol.name.encode("utf-8", "replace") + b"\0"
    table = b"".join(rows)
    sections = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    at = _HEADER + len(table)
    size = (1 << 64) - 4096 - first
    headers = [
        _SECTION.pack(*[0] * 10),
        _SECTION.pack(1, 8, 6, first, _HEADER, size, 0, 0, 16, 0),  # NOBITS, allocated and executable
        _SECTION.pack(7, 2, 0, 0, _HEADER, len(table), 3, 1, 8, _SYMBOL.size),
        _SECTION.pack(15, 3, 0, 0, at, len(names), 0, 0, 1, 0),
        _SECTION.pack(23, 3, 0, 0, at + len(names), len(sections), 0, 0, 1, 0),
    ]
    place = at + len(names) + len(sections)
    header = b"\x7fELF\2\1\1" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", _EXECUTABLE, _X86_64, 1, 0, 0, place, 0, _HEADER, 0, 0, 64, len(headers), 4)
    return b"".join([header, table, bytes(names), sections, *headers])
