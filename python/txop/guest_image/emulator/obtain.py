"""What has to be fetched before QEMU and its devices can be put together, and fetching it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from txop.guest_image.emulator.headers import headers_place
from txop.guest_image.emulator.lock import COMPILER, EmulatorLock
from txop.guest_image.emulator.source import SourceStore
from txop.guest_image.emulator.trees import compiler_place, qemu_place, store_of
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.archive import DATED
from txop.guest_image.packages.lock import EMULATOR, LockedPackage


class Part(Enum):
    """What is made of a lock's files."""

    QEMU = EMULATOR
    COMPILER = COMPILER
    HEADERS = "source"


EVERYTHING = tuple(Part)


@dataclass(frozen=True)
class Need:
    """A file that is to be fetched."""

    name: str
    """As the archive calls it."""
    size_bytes: int


def needs(lock: EmulatorLock, cache: Path, parts: Sequence[Part] = EVERYTHING) -> list[Need]:
    """The files that are neither here nor, what is made of them, in the cache."""
    store = store_of(lock, cache, _quietly)
    found: list[Need] = []
    for part in parts:
        if _place(lock, cache, part).is_dir():
            continue
        if part is Part.HEADERS:
            found += [Need(file.name, file.size_bytes) for file in SourceStore(lock, cache, _quietly).missing()]
        else:
            missing = [package for package in lock.of_role(part.value) if not store.has(package)]
            found += [Need(_file_name(package), package.size_bytes) for package in missing]
    return found


def obtain(lock: EmulatorLock, cache: Path, progress: Progress, parts: Sequence[Part] = EVERYTHING) -> None:
    """Fetch those files.

    Raises:
        GuestError: Some cannot be had; it lists all that are missing.
        MissingGuestToolError: This machine has no APT.
    """
    if not needs(lock, cache, parts):
        return
    store = store_of(lock, cache, progress)
    try:
        for part in parts:
            if _place(lock, cache, part).is_dir():
                continue
            if part is Part.HEADERS:
                SourceStore(lock, cache, progress).fetch()
                continue
            packages = lock.of_role(part.value)
            store.fetch(packages)
            for package in packages:
                store.package(package)
    except MissingGuestToolError:
        raise
    except GuestError as error:
        names = ", ".join(need.name for need in needs(lock, cache, parts))
        raise GuestError(
            f"{error.what}. These files are missing: {names}",
            what_to_do="give a folder that has them with `txop guest build --packages DIR`, pin what the archive has "
            f"now with `txop guest build --update-emulator`, or name an archive of old days with {DATED}",
        ) from None


def _place(lock: EmulatorLock, cache: Path, part: Part) -> Path:
    return {Part.QEMU: qemu_place, Part.COMPILER: compiler_place, Part.HEADERS: headers_place}[part](lock, cache)


def _file_name(package: LockedPackage) -> str:
    version = package.version.rpartition(":")[2]  # names of files are without the epoch
    return f"{package.name}_{version}_{package.architecture}.deb"


def _quietly(words: str) -> None:
    del words
