"""ELF notes: the build identifier of a kernel module, from ``/sys/module/X/notes/.note.gnu.build-id`` or
``/sys/kernel/notes``.

A note is three 32-bit words (size of the name, size of the description, type) in the machine's byte order, then the
name and the description, each padded to 4 bytes (System V ABI, "Note Section"; ``elf(5)``). The build identifier is
the note of type 3 (``NT_GNU_BUILD_ID``) of owner ``GNU``.
"""

from __future__ import annotations

import struct

from txop.formats.error import FormatError

NT_GNU_BUILD_ID = 3
_LIMIT_BYTES = 2**20
_MAX_BUILD_ID_BYTES = 64


def build_id(notes: bytes) -> str:
    """The build identifier in ``notes``, in hexadecimal. Either byte order; raises FormatError when there is none.

    >>> build_id(bytes.fromhex("04000000 02000000 03000000 474e5500 abcd0000"))
    'abcd'
    """
    if len(notes) > _LIMIT_BYTES:
        raise FormatError("ELF notes: more than 1 MiB, refused")
    for order in ("<", ">"):
        found = _build_id(notes, order)
        if found is not None:
            return found.hex()
    raise FormatError("ELF notes: no GNU build identifier among them")


def _build_id(notes: bytes, order: str) -> bytes | None:
    offset = 0
    while offset + 12 <= len(notes):
        name_size, description_size, kind = struct.unpack_from(f"{order}III", notes, offset)
        name_at = offset + 12
        description_at = name_at + (name_size + 3) // 4 * 4
        end = description_at + description_size
        if end > len(notes):
            return None
        if kind == NT_GNU_BUILD_ID and notes[name_at : name_at + name_size] == b"GNU\0":
            return notes[description_at:end] if 0 < description_size <= _MAX_BUILD_ID_BYTES else None
        offset = description_at + (description_size + 3) // 4 * 4
    return None
