"""Which libraries programs need, and where in a tree of unpacked packages those are."""

from __future__ import annotations

from collections.abc import Iterable

from txop.guest_image.elf import NotElfError, read_dynamic
from txop.guest_image.error import GuestError
from txop.guest_image.packages.store import FileTree

FOLDERS = ("usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib")
"""Where the dynamic linker of Debian looks without a cache (ld.so(8)), ``/usr`` merged."""


class MissingLibraryError(GuestError):
    """A library that no package at hand has."""

    def __init__(self, library: str, needed_by: str) -> None:
        super().__init__(f"no package of the lock has {library}, which {needed_by} needs")
        self.library = library


def libraries_of(tree: FileTree, programs: Iterable[str], extra: Iterable[str] = ()) -> dict[str, str]:
    """The libraries that programs need, and those that these need, and the dynamic linker.

    Args:
        tree: Where everything is.
        programs: Names in the tree. One that is not an ELF file (a script) needs none.
        extra: Libraries that are loaded at run time, beside those.

    Returns:
        By name in an image (``usr/lib/x86_64-linux-gnu/libc.so.6``), the name in the tree.

    Raises:
        MissingLibraryError: One is nowhere in the tree.
    """
    found: dict[str, str] = {}
    waiting = [(name, name) for name in programs]
    waiting += [(_library(tree, library, "the image"), "the image") for library in extra]
    seen: set[str] = set()
    while waiting:
        name, needed_by = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        place = tree.find(name)
        if place is None:
            raise MissingLibraryError(name, needed_by)
        try:
            dynamic = read_dynamic(place.read_bytes())
        except NotElfError:
            continue
        if name not in found and name.startswith(FOLDERS):
            found[name] = name
        if dynamic.interpreter is not None:
            linker = "usr" + dynamic.interpreter
            waiting.append((linker, name))
        waiting += [(_library(tree, library, name), name) for library in dynamic.needed]
    return found


def _library(tree: FileTree, library: str, needed_by: str) -> str:
    for folder in FOLDERS:
        name = f"{folder}/{library}"
        if tree.find(name) is not None:
            return name
    raise MissingLibraryError(library, needed_by)
