"""The lock file of the emulator: its packages, those of the compiler, and the files of its source package.

TOML like the lock of a guest, written and read here, one file a line.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from txop.guest_image.locks import own_lock
from txop.guest_image.packages.lock import (
    EMULATOR,
    LockedPackage,
    LockError,
    day_of,
    document_of,
    label_of,
    list_of,
    package_rows,
    packages_of,
    text_of,
)

FORMAT = "txop-emulator-lock"
FORMAT_VERSION = 1

COMPILER = "compiler"
ROLES = (EMULATOR, COMPILER)
"""``emulator``: what QEMU runs of; ``compiler``: what the object with txop's devices is compiled with, beside those."""

SHIPPED = "qemu-debian-13.lock"

_FILE = re.compile(r"[a-z0-9][A-Za-z0-9+.~_-]{1,199}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+~:-]{0,127}")
_UPSTREAM = re.compile(r"(?:\d+:)?(\d+(?:\.\d+)+)")


@dataclass(frozen=True, order=True)
class SourceFile:
    """A file of a source package, pinned."""

    name: str
    size_bytes: int
    sha256: str

    def __post_init__(self) -> None:
        """Raise :class:`ValueError` for what is not a valid file."""
        if not _FILE.fullmatch(self.name):
            raise ValueError(f"invalid name of a source file {self.name!r}")
        if type(self.size_bytes) is not int or self.size_bytes <= 0:
            raise ValueError(f"{self.size_bytes!r} is not a size in bytes")
        if not _SHA256.fullmatch(self.sha256):
            raise ValueError(f"invalid SHA-256 {self.sha256!r}")


@dataclass(frozen=True)
class EmulatorLock:
    """One QEMU, and what txop's devices are compiled for it with."""

    distribution: str
    """As in ``debian-13``."""
    program_sha256: str
    """Hash of QEMU's own file."""
    packages: tuple[LockedPackage, ...]
    """In order of role and name."""
    source_name: str
    source_version: str
    """Debian's version of the source package, as in ``1:10.0.13+ds-0+deb13u1``."""
    sources: tuple[SourceFile, ...]
    """In order of name."""
    pinned: str | None = None
    """The day on which the archive offered these, UTC, as in ``2026-11-22``."""

    @property
    def version(self) -> str:
        """QEMU's version, as in ``10.0.13``."""
        match = _UPSTREAM.match(self.source_version)
        return match[1] if match else self.source_version

    def distribution_of(self, package: LockedPackage) -> str:
        """The release with an archive that has a package of the lock."""
        del package
        return self.distribution

    def of_role(self, role: str) -> tuple[LockedPackage, ...]:
        """The packages of one of :data:`ROLES`."""
        return tuple(package for package in self.packages if package.role == role)

    def source(self, ending: str) -> SourceFile:
        """The source file with a name that ends so. Raises :class:`LockError`."""
        found = [file for file in self.sources if file.name.endswith(ending)]
        if len(found) != 1:
            raise LockError(f"the lock of the emulator has {len(found)} source files that end with {ending}, not one")
        return found[0]

    @property
    def description(self) -> str:
        """What QEMU says of itself (``--version``), in its first line."""
        return f"QEMU emulator version {self.version} (Debian {self.source_version})"

    @property
    def size_bytes(self) -> int:
        """Of everything that is pinned."""
        return sum(item.size_bytes for item in self.packages) + sum(file.size_bytes for file in self.sources)

    @property
    def key(self) -> str:
        """Names what is made of it: a hash of all that is pinned."""
        parts = [*(package.sha256 for package in self.packages), *(file.sha256 for file in self.sources)]
        return hashlib.sha256(" ".join([self.program_sha256, *parts]).encode()).hexdigest()[:24]


def lock_text(lock: EmulatorLock) -> str:
    """The lock as the contents of a file."""
    rows = [
        "# QEMU that guests run on. Made by `txop guest build --update-emulator`; commit it, do not edit it.",
        f'format = "{FORMAT}"',
        f"version = {FORMAT_VERSION}",
        f'distribution = "{lock.distribution}"',
        *([f'pinned = "{lock.pinned}"'] if lock.pinned is not None else []),
        f'program_sha256 = "{lock.program_sha256}"',
    ]
    for role in ROLES:
        rows += package_rows(role, lock.of_role(role))
    rows += ["", "[source]", f'name = "{lock.source_name}"', f'version = "{lock.source_version}"', "files = ["]
    rows += [
        f'  {{ name = "{file.name}", size = {file.size_bytes}, sha256 = "{file.sha256}" }},'
        for file in sorted(lock.sources)
    ]
    return "\n".join([*rows, "]"]) + "\n"


def read_emulator_lock(text: str, where: str) -> EmulatorLock:
    """The lock in the contents of a file; ``where`` is its name. Raises :class:`LockError`."""
    document = document_of(text, where, FORMAT, FORMAT_VERSION, "an emulator")
    program = document.get("program_sha256")
    if not isinstance(program, str) or not _SHA256.fullmatch(program):
        raise LockError(f"{where}: program_sha256 = {program!r} is not a SHA-256")
    source = document.get("source")
    if not isinstance(source, dict) or source.keys() != {"name", "version", "files"}:
        raise LockError(f"{where}, source must have exactly files, name, version")
    version = source["version"]
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise LockError(f"{where}, source: invalid version {version!r}")
    files = [
        _file(entry, f"{where}, source file number {number}")
        for number, entry in enumerate(list_of(source["files"], f"{where}, source files"), 1)
    ]
    names = [file.name for file in files]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise LockError(f"{where} has the source file {', '.join(twice)} more than once")
    return EmulatorLock(
        label_of(document, "distribution", where),
        program,
        packages_of(document, ROLES, where),
        label_of(source, "name", f"{where}, source"),
        version,
        tuple(sorted(files)),
        day_of(document, where),
    )


def own_emulator_lock() -> Path:
    """Where this user's lock of the emulator is, if there is one."""
    return own_lock(SHIPPED.removesuffix(".lock"))


def find_emulator_lock(path: Path | None = None) -> EmulatorLock:
    """The lock in a file, else this user's, else the shipped one. Raises :class:`LockError` or :class:`OSError`."""
    own = own_emulator_lock()
    if path is None and own.is_file():
        path = own
    if path is not None:
        return read_emulator_lock(text_of(path), str(path))
    shipped = resources.files("txop.guest_image.locks").joinpath(SHIPPED)
    return read_emulator_lock(shipped.read_text(encoding="utf-8"), SHIPPED)


def _file(entry: Any, where: str) -> SourceFile:
    keys = {"name", "size", "sha256"}
    if not isinstance(entry, Mapping) or entry.keys() != keys:
        raise LockError(f"{where} must have exactly {', '.join(sorted(keys))}")
    try:
        return SourceFile(str(entry["name"]), entry["size"], str(entry["sha256"]))
    except ValueError as error:
        raise LockError(f"{where}: {error}") from None
