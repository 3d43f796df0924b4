"""Whether two modules have the same code: everything in them but what only says in which line something stands.

A comment moves lines, and the kernel keeps line numbers in tables: of places that warn (``__bug_table``) and of debug
messages (``__dyndbg``). So a patch that does nothing makes another file, with another build-id, of the same code.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable

from txop.arms.module_file import NotAModuleError, Section, sections_of

_BUG_ENTRY, _LINE_AT, _LINE_BYTES = 12, 8, 2
"""``struct bug_entry`` of Linux include/asm-generic/bug.h, with relative pointers, as x86-64 has it: bytes of an entry,
where the line is, and how long."""
_DEBUG_ENTRY, _WORD_AT, _LINE_BITS = 56, 32, 18
"""``struct _ddebug`` of Linux include/linux/dynamic_debug.h on 64 bit: bytes of an entry, where the word with the line
is, and the line's bits in it."""


def code_digest(data: bytes) -> str:
    """The hash of an unpacked module without its build-id, line numbers and ``srcversion``.

    What is not a module of a 64 bit little-endian machine has the hash of all its bytes.
    """
    try:
        sections = sections_of(data)
    except NotAModuleError:
        return hashlib.sha256(data).hexdigest()
    if data[4:6] != b"\x02\x01":
        return hashlib.sha256(data).hexdigest()
    digest = hashlib.sha256()
    for section in sections:
        if section.name != ".note.gnu.build-id":
            content = _WITHOUT.get(section.name, _as_it_is)(section)
            size = len(content) or section.size
            digest.update(f"{section.name}\0{section.kind}\0{section.flags}\0{size}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def _as_it_is(section: Section) -> bytes:
    return section.data


def _without_bug_lines(section: Section) -> bytes:
    if len(section.data) % _BUG_ENTRY:  # of another layout
        return section.data
    content = bytearray(section.data)
    for at in range(_LINE_AT, len(content), _BUG_ENTRY):
        content[at : at + _LINE_BYTES] = bytes(_LINE_BYTES)
    return bytes(content)


def _without_debug_lines(section: Section) -> bytes:
    if len(section.data) % _DEBUG_ENTRY:
        return section.data
    content = bytearray(section.data)
    for at in range(_WORD_AT, len(content), _DEBUG_ENTRY):
        (word,) = struct.unpack_from("<I", content, at)
        struct.pack_into("<I", content, at, word >> _LINE_BITS << _LINE_BITS)
    return bytes(content)


def _without_srcversion(section: Section) -> bytes:
    return b"\0".join(row for row in section.data.split(b"\0") if not row.startswith(b"srcversion="))


_WITHOUT: dict[str, Callable[[Section], bytes]] = {
    "__bug_table": _without_bug_lines,
    "__dyndbg": _without_debug_lines,
    ".modinfo": _without_srcversion,
}
