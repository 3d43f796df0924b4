"""Lock files: which packages a guest is made of, each with version and hash.

Two machines with the same lock make the same image, byte for byte. The file is TOML; this module writes it itself, one
package a line, so that a change of one package is a change of one line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from txop.guest_image.error import GuestError

FORMAT = "txop-guest-lock"
FORMAT_VERSION = 1

MAX_BYTES = 1 << 20
"""Limit on a lock file."""

ROLES = ("image", "build", "compiler", "modem", "inspect", "inject")
"""``image``: what is in the image; ``build``: the kernel's headers, programs and source, which a module is built from;
``compiler``: what it is built with, on every machine the same; ``modem``: programs that talk to modems, beside the
image; ``inspect``: programs that look into the kernel, likewise; ``inject``: programs that send
frames of their own, likewise. Locks of earlier versions lack the last four."""

EMULATOR = "emulator"
"""Role of what QEMU runs of, in a lock of its own (:mod:`txop.guest_image.emulator.lock`)."""

_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]{1,127}")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+~:-]{0,127}")
_ARCHITECTURE = re.compile(r"[a-z0-9-]{2,32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DAY = re.compile(r"20\d\d-[01]\d-[0-3]\d", re.ASCII)
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~-]{0,63}")


class LockError(GuestError):
    """A lock file that cannot be used."""


@dataclass(frozen=True, order=True)
class LockedPackage:
    """One package, pinned."""

    name: str
    version: str
    architecture: str
    sha256: str
    size_bytes: int
    role: str

    def __post_init__(self) -> None:
        """Raise :class:`ValueError` for what is not a valid package."""
        for value, pattern, what in (
            (self.name, _NAME, "package name"),
            (self.version, _VERSION, "version"),
            (self.architecture, _ARCHITECTURE, "architecture"),
            (self.sha256, _SHA256, "SHA-256"),
        ):
            if not pattern.fullmatch(str(value)):
                raise ValueError(f"invalid {what} {value!r}")
        if type(self.size_bytes) is not int or self.size_bytes <= 0:
            raise ValueError(f"{self.size_bytes!r} is not a size in bytes")
        if self.role not in (*ROLES, EMULATOR):
            raise ValueError(f"unknown role {self.role!r}: {' or '.join((*ROLES, EMULATOR))}")


def is_of_kernel(package: LockedPackage) -> bool:
    """Whether a package belongs to a kernel: it, or what its modules are built from and with."""
    return package.role in ("build", "compiler") or package.name.startswith("linux-image-")


class Pinned(Protocol):
    """Packages of a release, pinned: what every kind of lock has."""

    @property
    def distribution(self) -> str:
        """As in ``debian-12``."""

    def distribution_of(self, package: LockedPackage) -> str:
        """The release with an archive that has a package of the lock."""

    @property
    def packages(self) -> tuple[LockedPackage, ...]:
        """All of them."""

    @property
    def pinned(self) -> str | None:
        """The day on which the archive offered these, UTC, as in ``2026-11-22``."""


@dataclass(frozen=True)
class Lock:
    """The packages of one guest."""

    kernel: str
    """Series, as in ``6.12``."""
    release: str
    """``uname -r``, as in ``6.12.117+deb12-amd64``."""
    distribution: str
    """As in ``debian-12``."""
    packages: tuple[LockedPackage, ...]
    """In order of role and name."""
    pinned: str | None = None
    """The day on which the archive offered these, UTC, as in ``2026-11-22``."""
    kernel_distribution: str | None = None
    """Where the kernel, and what its modules are built with, come from (``debian-11``); ``None``: the same."""

    def distribution_of(self, package: LockedPackage) -> str:
        """The release with an archive that has a package of the lock."""
        return self.kernel_distribution or self.distribution if is_of_kernel(package) else self.distribution

    def of_role(self, role: str) -> tuple[LockedPackage, ...]:
        """The packages of one of :data:`ROLES`."""
        return tuple(package for package in self.packages if package.role == role)

    def find(self, prefix: str) -> LockedPackage | None:
        """The first package with a name that starts so."""
        return next((package for package in self.packages if package.name.startswith(prefix)), None)


def lock_text(lock: Lock) -> str:
    """The lock as the contents of a file."""
    rows = [
        "# Packages that a guest is made of. Made by `txop guest build --update`; commit it, do not edit it.",
        f'format = "{FORMAT}"',
        f"version = {FORMAT_VERSION}",
        f'kernel = "{lock.kernel}"',
        f'release = "{lock.release}"',
        f'distribution = "{lock.distribution}"',
        *([f'kernel_distribution = "{lock.kernel_distribution}"'] if lock.kernel_distribution is not None else []),
        *([f'pinned = "{lock.pinned}"'] if lock.pinned is not None else []),
    ]
    for role in ROLES:
        rows += package_rows(role, lock.of_role(role))
    return "\n".join(rows) + "\n"


def package_rows(role: str, packages: Iterable[LockedPackage]) -> list[str]:
    """The lines of a lock file with the packages of a role."""
    rows = [
        f'  {{ name = "{p.name}", version = "{p.version}", architecture = "{p.architecture}", '
        f'size = {p.size_bytes}, sha256 = "{p.sha256}" }},'
        for p in sorted(packages)
    ]
    return ["", f"{role} = [", *rows, "]"]


def read_lock(text: str, where: str) -> Lock:
    """The lock in the contents of a file; ``where`` is its name. Raises :class:`LockError`."""
    document = document_of(text, where, FORMAT, FORMAT_VERSION, "a guest")
    kernel, release, distribution = (label_of(document, key, where) for key in ("kernel", "release", "distribution"))
    other = label_of(document, "kernel_distribution", where) if "kernel_distribution" in document else None
    return Lock(kernel, release, distribution, packages_of(document, ROLES, where), day_of(document, where), other)


def document_of(text: str, where: str, form: str, version: int, what: str) -> dict[str, Any]:
    """The document of a lock file of some format; ``what`` it is a lock of. Raises :class:`LockError`."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise LockError(f"{where}: {error}", what_to_do="recreate it with `txop guest build --update`") from None
    if document.get("format") != form:
        raise LockError(f"{where} is not a lock file of {what}")
    if document.get("version") != version:
        raise LockError(
            f"{where} has version {document.get('version')!r} of its format; this txop knows {version}",
            what_to_do="recreate it with `txop guest build --update`",
        )
    return document


def label_of(document: Mapping[str, Any], key: str, where: str) -> str:
    """A word of a lock file. Raises :class:`LockError`."""
    value = document.get(key)
    if not isinstance(value, str) or not _LABEL.fullmatch(value):
        raise LockError(f"{where}: invalid {key} {value!r}")
    return value


def day_of(document: Mapping[str, Any], where: str) -> str | None:
    """The day on which a lock was made, if it says. Raises :class:`LockError`."""
    pinned = document.get("pinned")
    if pinned is not None and not (isinstance(pinned, str) and _DAY.fullmatch(pinned)):
        raise LockError(f"{where}: pinned = {pinned!r} is not a day, as in 2026-11-22")
    return pinned


def packages_of(document: Mapping[str, Any], roles: Sequence[str], where: str) -> tuple[LockedPackage, ...]:
    """The packages of a lock file, in order of role and name. Raises :class:`LockError`."""
    packages = [
        _package(entry, role, f"{where}, {role} number {number}")
        for role in roles
        for number, entry in enumerate(list_of(document.get(role, []), f"{where}, {role}"), 1)
    ]
    names = [package.name for package in packages]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise LockError(f"{where} has {', '.join(twice)} more than once")
    return in_order(packages, roles)


def load_lock(path: Path) -> Lock:
    """Read a lock file. Raises :class:`LockError` or :class:`OSError`."""
    return read_lock(text_of(path), str(path))


def text_of(path: Path) -> str:
    """The text of a lock file. Raises :class:`LockError` or :class:`OSError`."""
    with path.open("rb") as source:
        data = source.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise LockError(f"{path} is larger than a lock file can be")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise LockError(f"{path} is not text") from None


def in_order(packages: Iterable[LockedPackage], roles: Sequence[str] = ROLES) -> tuple[LockedPackage, ...]:
    """By role, then by name."""
    return tuple(sorted(packages, key=lambda package: (roles.index(package.role), package.name)))


def list_of(value: Any, where: str) -> list[Any]:
    """A list of a lock file. Raises :class:`LockError`."""
    if not isinstance(value, list):
        raise LockError(f"{where} is not a list")
    return value


def _package(entry: Any, role: str, where: str) -> LockedPackage:
    keys = {"name", "version", "architecture", "size", "sha256"}
    if not isinstance(entry, dict) or entry.keys() != keys:
        raise LockError(f"{where} must have exactly {', '.join(sorted(keys))}")
    try:
        name, version, architecture, sha256 = (str(entry[key]) for key in ("name", "version", "architecture", "sha256"))
        return LockedPackage(name, version, architecture, sha256, entry["size"], role)
    except ValueError as error:
        raise LockError(f"{where}: {error}") from None
