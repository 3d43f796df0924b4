"""The modules that a stopped guest has loaded, with the addresses of their symbols, as its kernel keeps them.

Read are ``modules``, ``struct module`` and ``struct mod_kallsyms`` (Linux kernel/module/main.c, kallsyms.c,
include/linux/module.h); where their fields are, the kernel's own description of its types says (BTF).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from txop.guest.debugging.symbol_file import Symbol
from txop.guest_image.error import GuestError

FIELDS = (
    "module.list", "module.name", "module.kallsyms",
    "mod_kallsyms.symtab", "mod_kallsyms.num_symtab", "mod_kallsyms.strtab",
)  # fmt: skip
"""Fields with places that :func:`loaded_modules` needs."""

MAX_MODULES = 512
MAX_SYMBOLS = 65_536
MAX_NAME = 512
_PAGE = 4096
_NAME_BYTES = 56
"""MODULE_NAME_LEN of a 64-bit kernel."""
_SYMBOL = struct.Struct("<IBBHQQ")
_FUNCTION, _OBJECT = 2, 1

Read = Callable[[int, int], bytes]
"""Memory of the guest: address, bytes. Raises :class:`GuestError` where there is none."""


@dataclass(frozen=True)
class LoadedModule:
    """A module."""

    name: str
    symbols: tuple[Symbol, ...]


def loaded_modules(read: Read, places: Mapping[str, int], head: int) -> list[LoadedModule]:
    """The modules of a guest; those that cannot be read are left out.

    Args:
        read: Its memory.
        places: Offsets of :data:`FIELDS`.
        head: Where its kernel's list of modules is.
    """
    found: list[LoadedModule] = []
    at = _pointer(read, head)
    while at not in (head, 0) and len(found) < MAX_MODULES:
        module = at - places["module.list"]
        try:
            name = read(module + places["module.name"], _NAME_BYTES).split(b"\0")[0].decode("ascii", "replace")
            found.append(LoadedModule(name, tuple(_symbols(read, places, module))))
            at = _pointer(read, at)
        except GuestError:
            break
    return found


def _symbols(read: Read, places: Mapping[str, int], module: int) -> list[Symbol]:
    table = _pointer(read, module + places["module.kallsyms"])
    if not table:
        return []
    count = int.from_bytes(read(table + places["mod_kallsyms.num_symtab"], 4), "little")
    rows = _pointer(read, table + places["mod_kallsyms.symtab"])
    names = _pointer(read, table + places["mod_kallsyms.strtab"])
    data = read(rows, min(count, MAX_SYMBOLS) * _SYMBOL.size)
    kept = [row for row in _SYMBOL.iter_unpack(data) if row[1] & 15 in (_FUNCTION, _OBJECT) and row[3]]
    if not kept:
        return []
    text = _up_to(read, names, max(row[0] for row in kept) + MAX_NAME)
    return [
        Symbol(_name(text, at), value, size, info & 15 == _FUNCTION) for at, info, _, _, value, size in kept if value
    ]


def _up_to(read: Read, address: int, count: int) -> bytes:
    """As much of it as there is: memory may end after the last name."""
    while count > 0:
        try:
            return read(address, count)
        except GuestError:
            end = (address + count - 1) // _PAGE * _PAGE
            count = end - address
    return b""


def _name(text: bytes, at: int) -> str:
    return text[at : at + MAX_NAME].split(b"\0")[0].decode("ascii", "replace")


def _pointer(read: Read, address: int) -> int:
    return int.from_bytes(read(address, 8), "little")
