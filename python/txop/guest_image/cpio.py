"""Writing initramfs archives: cpio in the "newc" form (Linux Documentation/driver-api/early-userspace/buffer-format).

The same members give the same bytes: numbers count up, times are 0, everything belongs to root.
"""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import IO

MAX_MEMBER_BYTES = 0xFFFF_FFFF


@dataclass
class Cpio:
    """The members of an archive. A name that is given again takes the place of the first."""

    _members: dict[str, tuple[int, bytes, tuple[int, int]]] = field(default_factory=dict)

    def add_file(self, name: str, data: bytes, *, program: bool = False) -> None:
        """An ordinary file, and the folders above it."""
        self._add(name, stat.S_IFREG | (0o755 if program else 0o644), data)

    def add_link(self, name: str, target: str) -> None:
        """A symbolic link."""
        self._add(name, stat.S_IFLNK | 0o777, target.encode())

    def add_folder(self, name: str) -> None:
        """A folder, and those above it."""
        self._add(name, stat.S_IFDIR | 0o755, b"")

    def add_device(self, name: str, major: int, minor: int) -> None:
        """A character device."""
        self._add(name, stat.S_IFCHR | 0o600, b"", (major, minor))

    def __contains__(self, name: object) -> bool:
        """Whether there is a member of that name."""
        return name in self._members

    def names(self) -> Iterable[str]:
        """Names of the members, folders included."""
        return sorted(self._members)

    def _add(self, name: str, mode: int, data: bytes, device: tuple[int, int] = (0, 0)) -> None:
        clean = posixpath.normpath(name)
        if clean.startswith(("/", "..")) or clean == "." or "\0" in clean or not clean.isprintable():
            raise ValueError(f"{name!r} is not a valid name in an archive")
        if len(data) > MAX_MEMBER_BYTES:
            raise ValueError(f"{name} is too large for an archive")
        above = posixpath.dirname(clean)
        if above and above not in self._members:
            self.add_folder(above)
        self._members[clean] = (mode, data, device)

    def write(self, out: IO[bytes]) -> None:
        """Write the archive, padded so that another can follow."""
        # a folder is shorter than what is in it, so it comes first
        for number, (name, (mode, data, device)) in enumerate(sorted(self._members.items()), 1):
            out.write(_member(number, name, mode, data, device))
        out.write(_member(0, "TRAILER!!!", 0, b"", (0, 0)))


def _member(number: int, name: str, mode: int, data: bytes, device: tuple[int, int]) -> bytes:
    encoded = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (number, mode, 0, 0, links, 0, len(data), 0, 0, *device, len(encoded), 0)
    header = b"070701" + b"".join(b"%08X" % value for value in fields) + encoded
    return header + bytes(-len(header) % 4) + data + bytes(-len(data) % 4)
