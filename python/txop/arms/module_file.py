"""What a kernel module file says of itself: the ``.modinfo`` section and the build-id note of an ELF relocatable.

Layout: System V ABI, chapter 4 (ELF header, section headers); ``include/linux/moduleinfo`` macros of the kernel write
``key=value`` strings that end with NUL; notes as in ``include/linux/elfnote.h``.
"""

from __future__ import annotations

import gzip
import io
import lzma
import struct
from dataclasses import dataclass
from pathlib import Path

from txop.core.errors import TxopError

MAX_BYTES = 256 << 20
"""Limit on a module file, unpacked."""

OF_EVERY_MODULE = ("async_probe", "dyndbg")
"""Parameters that the kernel itself takes for any module (``kernel/module/main.c``, ``unknown_module_param_cb``)."""

_NOBITS = 8
"""SHT_NOBITS."""
_MAX_SECTIONS = 65_536
_MAX_ENTRIES = 100_000


class NotAModuleError(TxopError, ValueError):
    """The bytes are not a kernel module, or not one that can be read here."""


@dataclass(frozen=True)
class ModuleInfo:
    """What a module says of itself; ``None`` where it says nothing."""

    name: str | None
    srcversion: str | None
    """Only with CONFIG_MODULE_SRCVERSION_ALL, or when the module has a version."""
    version: str | None
    vermagic: str | None
    """The kernel it was built for, and options that must agree."""
    build_id: str | None
    """In hexadecimal."""
    depends: tuple[str, ...]
    """Modules it needs, without those they need in turn."""
    parameters: frozenset[str]
    """Names of its parameters."""

    @property
    def kernel_release(self) -> str | None:
        """The release it was built for."""
        words = (self.vermagic or "").split()
        return words[0] if words else None

    def takes(self, parameter: str) -> bool:
        """Whether the kernel does something with a parameter of that name when it loads the module; it takes ``-`` for
        ``_``, and what it does not know it ignores."""
        known = {name.replace("-", "_") for name in (*self.parameters, *OF_EVERY_MODULE)}
        return parameter.replace("-", "_") in known


def unpack(data: bytes, name: str) -> bytes:
    """The module itself, of a file that may be compressed (``.gz``, ``.xz``).

    Raises:
        NotAModuleError: compressed in another way, damaged, or larger than :data:`MAX_BYTES` when unpacked.
    """
    try:
        if data[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                out = packed.read(MAX_BYTES + 1)
        elif data[:6] == b"\xfd7zXZ\x00":
            with lzma.LZMAFile(io.BytesIO(data)) as packed_xz:
                out = packed_xz.read(MAX_BYTES + 1)
        elif data[:4] == b"\x28\xb5\x2f\xfd":
            raise NotAModuleError(f"{name} is compressed with zstd: unpack it first (unzstd)")
        else:
            out = data
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise NotAModuleError(f"{name} is damaged: {error}") from None
    if len(out) > MAX_BYTES:
        raise NotAModuleError(f"{name} is larger than {MAX_BYTES:,} bytes")
    return out


def module_info(data: bytes) -> ModuleInfo:
    """Read an unpacked module.

    Raises:
        NotAModuleError: it is not an ELF relocatable with a ``.modinfo`` section.
    """
    sections = _sections(data)
    entries = _entries(sections)

    def first(key: str) -> str | None:
        return entries.get(key, [None])[0]

    named = {value.partition(":")[0] for key in ("parm", "parmtype") for value in entries.get(key, ())}
    return ModuleInfo(
        name=first("name"),
        srcversion=first("srcversion"),
        version=first("version"),
        vermagic=first("vermagic"),
        build_id=build_id(sections.get(".note.gnu.build-id", b"")),
        depends=tuple(name for name in (first("depends") or "").split(",") if name),
        parameters=frozenset(named),
    )


def read_module_info(path: Path) -> ModuleInfo:
    """What the module in a file says of itself; the file may be compressed.

    Raises:
        NotAModuleError: see :func:`unpack` and :func:`module_info`.
        OSError: the file cannot be read.
    """
    with path.open("rb") as source:
        return module_info(unpack(source.read(MAX_BYTES + 1), path.name))


def modinfo_entries(data: bytes) -> dict[str, list[str]]:
    """Everything that an unpacked module says of itself, by key, in its order (``alias``, ``depends``, ``softdep``...).

    Raises:
        NotAModuleError: it is not an ELF relocatable with a ``.modinfo`` section.
    """
    return _entries(_sections(data))


def _entries(sections: dict[str, bytes]) -> dict[str, list[str]]:
    if ".modinfo" not in sections:
        raise NotAModuleError("it has no .modinfo section, so it is not a kernel module")
    entries: dict[str, list[str]] = {}
    for entry in sections[".modinfo"].split(b"\x00")[:_MAX_ENTRIES]:
        key, equals, value = entry.decode("utf-8", "replace").partition("=")
        if equals:
            entries.setdefault(key, []).append(value)
    return entries


def build_id(note: bytes) -> str | None:
    """The build-id in the bytes of an ELF note (``/sys/module/X/notes/.note.gnu.build-id`` has the same bytes).

    >>> build_id(bytes.fromhex("0400000002000000030000 00474e5500abcd0000"))
    'abcd'
    """
    for order in ("<", ">"):
        if len(note) < 12:
            return None
        name_size, size, kind = struct.unpack_from(f"{order}III", note)
        if name_size == 4 and kind == 3 and note[12:16] == b"GNU\x00" and 0 < size <= len(note) - 16:
            return note[16 : 16 + size].hex()
    return None


def kernel_build_id(notes: bytes) -> str | None:
    """The build-id among the notes of a running kernel (``/sys/kernel/notes``), which has others before it.

    >>> other = bytes.fromhex("0600000004000000 00010000 4c696e7578000000 07000000")
    >>> kernel_build_id(other + bytes.fromhex("0400000002000000030000 00474e5500abcd0000"))
    'abcd'
    """
    for order in ("<", ">"):
        offset = 0
        while offset + 12 <= len(notes):
            name_size, size, _ = struct.unpack_from(f"{order}III", notes, offset)
            end = offset + 12 + _padded(name_size) + _padded(size)
            if end > len(notes) + 3:
                break
            found = build_id(notes[offset:end])
            if found is not None:
                return found
            offset = end
    return None


def _padded(size: int) -> int:
    """Size of a part of a note, which is filled up to a multiple of 4 bytes (gABI, Note Section)."""
    return -(-size // 4) * 4


@dataclass(frozen=True)
class Section:
    """A section of an ELF file."""

    name: str
    kind: int
    flags: int
    size: int
    data: bytes
    """Empty where the file has none of it (SHT_NOBITS)."""


def sections_of(data: bytes) -> list[Section]:
    """The sections of a module, in their order. Raises :class:`NotAModuleError`."""
    return [
        Section(name, entry[1], entry[2], entry[5], b"" if entry[1] == _NOBITS else _bytes(data, entry))
        for name, entry in _headers(data)
    ]


def _sections(data: bytes) -> dict[str, bytes]:
    """Those that say what a module is."""
    wanted = (".modinfo", ".note.gnu.build-id")
    return {name: _bytes(data, entry) for name, entry in _headers(data) if name in wanted and entry[1] != _NOBITS}


def _headers(data: bytes) -> list[tuple[str, tuple[int, ...]]]:
    """Name and header of each section."""
    if data[:4] != b"\x7fELF" or len(data) < 52:
        raise NotAModuleError("it is not an ELF file, so it is not a kernel module")
    wide, order = data[4] == 2, ">" if data[5] == 2 else "<"
    try:
        if struct.unpack_from(f"{order}H", data, 16)[0] != 1:
            raise NotAModuleError("it is not a relocatable object, so it is not a kernel module")
        table = struct.unpack_from(f"{order}Q" if wide else f"{order}I", data, 40 if wide else 32)[0]
        size, count, names_index = struct.unpack_from(f"{order}HHH", data, 58 if wide else 46)
        header = f"{order}IIQQQQ" if wide else f"{order}IIIIII"
        if size < struct.calcsize(header):
            raise NotAModuleError("its section headers are damaged")
        headers = [struct.unpack_from(header, data, table + size * index) for index in range(min(count, _MAX_SECTIONS))]
        names = _bytes(data, headers[names_index])
    except (struct.error, IndexError, OverflowError):
        raise NotAModuleError("its section headers are damaged") from None
    found = []
    for entry in headers:
        end = names.find(b"\x00", entry[0])
        name = names[entry[0] : end].decode("latin-1") if end >= 0 else ""
        found.append((name, entry))
    return found


def _bytes(data: bytes, header: tuple[int, ...]) -> bytes:
    offset, size = header[4], header[5]
    if offset + size > len(data):
        raise NotAModuleError("it is cut short")
    return data[offset : offset + size]
