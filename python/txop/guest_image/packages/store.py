"""Packages on this machine: fetched once, by hash; unpacked once; read as one tree of files."""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from txop.guest_image.cache import is_running, new_folder, sha256_of
from txop.guest_image.error import GuestError
from txop.guest_image.packages.apt import Apt, PackageNotOfferedError, Progress
from txop.guest_image.packages.archive import DATED, current_archive, dated_archive
from txop.guest_image.packages.deb import unpack
from txop.guest_image.packages.lock import Lock, LockedPackage

MANY = 3
"""From this number of packages on, they are fetched at once."""

MAX_LINKS = 40
"""Symbolic links followed on the way to a file (as path_resolution(7))."""


class PackageStore:
    """A folder of packages, of one release of the distribution."""

    def __init__(self, cache: Path, progress: Progress, distribution: str, pinned: str | None = None) -> None:
        """``distribution``: whose archive packages are fetched from; ``pinned``: the day when it had them, if known."""
        self._packages = cache / "packages"
        self._unpacked = cache / "unpacked"
        self._lists = cache / "apt"
        self._progress = progress
        self._distribution = distribution
        self._pinned = pinned

    @classmethod
    def of(cls, lock: Lock, cache: Path, progress: Progress) -> PackageStore:
        """For the packages of a lock."""
        return cls(cache, progress, lock.distribution, lock.pinned)

    def package(self, pinned: LockedPackage) -> Path:
        """The package file, fetched when it is not there. Raises :class:`GuestError`."""
        place = self._place(pinned)
        if self.has(pinned):
            return place
        self._packages.mkdir(parents=True, exist_ok=True)
        self._progress(f"fetching {pinned.name} {pinned.version} ({pinned.size_bytes / 1e6:.1f} MB)")
        with new_folder(self._packages / f"fetch-{pinned.sha256[:24]}") as work:
            self._fetch(pinned, work).replace(place)
            shutil.rmtree(work)
        return place

    def fetch(self, pinned: Sequence[LockedPackage]) -> None:
        """Fetch many packages at once, which is much quicker than one by one. Those that do not come this way are left
        to :meth:`package`, which says what is the matter. Raises :class:`GuestError`."""
        if sum(not self.has(package) for package in pinned) < MANY:
            return
        for apt in self._sources():
            missing = [package for package in pinned if not self.has(package)]
            if len(missing) < MANY:
                return
            size = sum(package.size_bytes for package in missing)
            self._progress(f"fetching {len(missing)} packages ({size / 1e6:.1f} MB)")
            with new_folder(self._packages / "fetch-many") as work:
                apt.fetch_offered(missing, work)
                self.adopt(work, missing)
                shutil.rmtree(work)

    def _sources(self) -> Iterator[Apt]:
        """Where packages may come from, one after the other, while some are missing.

        The archive by the package lists there are, by new ones, and as it was when the lock was made. Raises
        :class:`GuestError` when none can be asked.
        """
        trouble: GuestError | None = None
        asked = False
        for dated in (False, True):
            try:
                archive = (
                    dated_archive(self._distribution, self._pinned) if dated else current_archive(self._distribution)
                )
                if archive is None:
                    continue
                apt = Apt(self._lists, archive)
                if apt.has_lists:
                    asked = True
                    yield apt
                if not apt.is_fresh:
                    self._progress(f"refreshing package lists of {self._distribution}{' as it was' if dated else ''}")
                    apt.refresh()
                    asked = True
                    yield apt
            except GuestError as error:
                trouble = trouble or error
        if trouble is not None and not asked:
            raise trouble

    def _place(self, pinned: LockedPackage) -> Path:
        return self._packages / f"{pinned.name}_{pinned.sha256[:24]}.deb"

    def has(self, pinned: LockedPackage) -> bool:
        """Whether the package is here, by its size."""
        place = self._place(pinned)
        return place.is_file() and place.stat().st_size == pinned.size_bytes

    def adopt(self, folder: Path, pinned: Sequence[LockedPackage]) -> None:
        """Take packages from a folder of ``.deb`` files, those whose hash is pinned."""
        by_size: dict[int, list[LockedPackage]] = {}
        for package in pinned:
            by_size.setdefault(package.size_bytes, []).append(package)
        self._packages.mkdir(parents=True, exist_ok=True)
        for old in self._packages.glob(".*.deb.*.part"):  # of processes that were killed
            if not is_running(old.name.split(".")[-2]):
                old.unlink(missing_ok=True)
        for path in sorted(folder.glob("*.deb")):
            for package in by_size.get(path.stat().st_size, []):
                if not self.has(package) and sha256_of(path) == package.sha256:
                    place = self._place(package)
                    part = place.with_name(f".{place.name}.{os.getpid()}.part")
                    shutil.copyfile(path, part)
                    part.replace(place)

    def unpacked(self, pinned: LockedPackage, wanted: Callable[[str], bool], selection: str) -> Path:
        """A folder with the files of a package that are wanted. ``selection`` names the choice."""
        place = self._unpacked / f"{pinned.name}_{pinned.sha256[:24]}_{selection}"
        if not place.is_dir():
            package = self.package(pinned)
            if sha256_of(package) != pinned.sha256:
                package.unlink()
                return self.unpacked(pinned, wanted, selection)
            if pinned.size_bytes > 20_000_000:
                self._progress(f"unpacking {pinned.name}")
            with new_folder(place) as work:
                unpack(package, work, wanted)
        return place

    def _fetch(self, pinned: LockedPackage, work: Path) -> Path:
        gone: PackageNotOfferedError | None = None
        for apt in self._sources():
            try:
                return apt.fetch(pinned, work)
            except PackageNotOfferedError as error:
                gone = gone or error
        what = gone.what if gone is not None else f"{pinned.name} is nowhere"
        raise GuestError(
            f"the archive has moved on: {what}",
            what_to_do="`txop guest build --check` lists what is gone. Pin what the archive has now with `txop guest "
            "build --update` (results made with another lock are not comparable byte for byte), give a folder that has "
            f"the old packages with --packages, or name an archive of old days with {DATED}",
        )


class FileTree:
    """The files of several unpacked packages, as one tree with ``/usr`` merged; the first that has a name wins."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)

    def find(self, name: str) -> Path | None:
        """The ordinary file of a name (``usr/sbin/iw``), links followed within the tree; ``None``: there is none."""
        for _ in range(MAX_LINKS):
            place = self._first(name)
            if place is None:
                return None
            if not place.is_symlink():
                return place if place.is_file() else None
            to = str(place.readlink())
            joined = to.lstrip("/") if to.startswith("/") else posixpath.join(posixpath.dirname(name), to)
            name = posixpath.normpath(joined)
            first = name.split("/", 1)[0]
            if first in ("bin", "sbin", "lib", "lib64"):
                name = f"usr/{name}"
            if first == "..":
                return None
        return None

    def names(self, below: str) -> Iterator[str]:
        """Names of the files and links below a folder, sorted."""
        found = set()
        for folder in self._folders:
            start = folder / below
            if start.is_dir():
                found |= {str(path.relative_to(folder)) for path in start.rglob("*") if not path.is_dir()}
        yield from sorted(found)

    def _first(self, name: str) -> Path | None:
        for folder in self._folders:
            place = folder / name
            if place.is_symlink() or place.exists():
                return place
        return None
