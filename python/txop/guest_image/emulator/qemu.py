"""QEMU as it is started: by its own dynamic linker, with its own libraries and firmware, and with txop's objects."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.guest_image.cache import default_cache, new_folder, room, sha256_of
from txop.guest_image.emulator import recipe
from txop.guest_image.emulator.lock import EmulatorLock, find_emulator_lock
from txop.guest_image.emulator.obtain import Part, obtain
from txop.guest_image.emulator.source import SourceStore
from txop.guest_image.emulator.trees import qemu_tree, store_of
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.packages.apt import Progress

ARCHITECTURE = "x86_64"
"""The processor that the pinned packages are for (``uname -m``)."""

_UNSAFE = frozenset(" :;\t\n")
"""What separates names in a list of objects or folders, for the dynamic linker (ld.so(8)); there is no escape."""

_checked: dict[Path, tuple[tuple[int, int, int], str]] = {}
"""By file: what it looked like when its hash was taken, and the hash."""


@dataclass(frozen=True)
class Emulator:
    """The pinned QEMU, unpacked."""

    folder: Path
    """Its tree, with ``usr``."""
    version: str
    """As in ``10.0.13``."""
    package_version: str
    """Debian's, as in ``1:10.0.13+ds-0+deb13u1``."""
    sha256: str
    """Hash of QEMU's own file, as pinned."""

    @property
    def program(self) -> Path:
        """QEMU's own file."""
        return self.folder / recipe.PROGRAM

    def check(self) -> None:
        """Raise :class:`GuestError` when QEMU's file is not the pinned one. It is only read again when it changed."""
        try:
            status = self.program.stat()
            looks = (status.st_size, status.st_mtime_ns, status.st_ino)
            known = _checked.get(self.program)
            if known is None or known[0] != looks:
                known = (looks, sha256_of(self.program))
                _checked[self.program] = known
        except OSError as error:
            raise GuestError(
                f"QEMU is not where it was unpacked: {error}", what_to_do=_REMOVE.format(self.folder)
            ) from None
        if known[1] != self.sha256:
            raise GuestError(f"{self.program} is not the pinned QEMU", what_to_do=_REMOVE.format(self.folder))

    def argv(self, preload: Sequence[Path] = ()) -> tuple[str, ...]:
        """What starts QEMU; its arguments follow. No environment variable has to be set.

        Args:
            preload: Shared objects that are loaded into QEMU, and into no other program. What one calls of another is
                found whatever their order.

        Raises:
            GuestError: QEMU's file is not the pinned one, or a name cannot be passed to the dynamic linker.
        """
        self.check()
        return self.command(preload)

    def command(self, preload: Sequence[Path] = ()) -> tuple[str, ...]:
        """As :meth:`argv`, of a QEMU that is not looked at first."""
        folders = [self.folder / recipe.LIBRARY_FOLDER]
        names = [str(path.resolve()) for path in preload]
        if any(_UNSAFE & set(name) for name in names):
            links = self._links(names)
            folders.append(links)
            names = [f"{number}.so" for number in range(len(names))]
        for folder in folders:
            if set(":;") & set(str(folder)):
                raise GuestError(
                    f"the dynamic linker cannot be told the folder {folder}: it has a colon or a semicolon in its name",
                    what_to_do="choose a cache folder without, with XDG_CACHE_HOME",
                )
        return (
            *(str(self.folder / recipe.LINKER), "--inhibit-cache", "--library-path", ":".join(map(str, folders))),
            *(("--preload", ":".join(names)) if names else ()),
            str(self.program),
        )

    def _links(self, names: Sequence[str]) -> Path:
        """A folder with links ``0.so``, ``1.so``, ... to files with names that the dynamic linker cannot be told."""
        digest = hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()
        place = self.folder.parent / f"preload-{digest[:24]}"
        if not place.is_dir():
            with room(place.parent), new_folder(place) as work:
                for number, name in enumerate(names):
                    (work / f"{number}.so").symlink_to(name)
        return place


_REMOVE = "remove {} and run `txop guest build`"


def emulator(
    *,
    lock: EmulatorLock | None = None,
    cache: Path | None = None,
    progress: Progress = lambda _: None,
    packages_dir: Path | None = None,
) -> Emulator:
    """The pinned QEMU, from the cache or unpacked now.

    Args:
        lock: Default the user's, else the shipped one.
        cache: Folder for it; default the user's.
        progress: Receives what is being done.
        packages_dir: Folder of packages and source files to take first what is pinned from.

    Raises:
        GuestError: A package cannot be had, something in it is missing, or the disk is full.
        MissingGuestToolError: This machine's processor cannot run it, or it has no APT.
    """
    if (machine := platform.machine()) != ARCHITECTURE:
        raise MissingGuestToolError(
            f"the QEMU of guests is a program for {ARCHITECTURE}, and this machine is {machine}",
            what_to_do=f"use a machine with {ARCHITECTURE}",
        )
    folder = cache or default_cache()
    pinned = lock or find_emulator_lock()
    with room(folder):
        if packages_dir is not None:
            adopt(pinned, packages_dir, folder, progress)
        obtain(pinned, folder, progress, [Part.QEMU])
        tree = qemu_tree(pinned, folder, progress)
    return Emulator(tree, pinned.version, pinned.source_version, pinned.program_sha256)


def adopt(lock: EmulatorLock, packages: Path, cache: Path, progress: Progress) -> None:
    """Take packages and source files from a folder, those with a hash that is pinned."""
    store_of(lock, cache, progress).adopt(packages, lock.packages)
    SourceStore(lock, cache, progress).adopt(packages)
