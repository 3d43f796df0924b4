"""Packages on this machine: fetched once, by hash; unpacked once; read as one tree of files."""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.guest_image.cache import is_running, new_folder, sha256_of
from txop.guest_image.error import GuestError
from txop.guest_image.packages.apt import Apt, PackageNotOfferedError, Progress
from txop.guest_image.packages.archive import DATED
from txop.guest_image.packages.deb import unpack
from txop.guest_image.packages.lock import LockedPackage, Pinned
from txop.guest_image.packages.places import places

MANY = 3
"""From this number of packages on, they are fetched at once."""

MAX_LINKS = 40
"""Symbolic links followed on the way to a file (as path_resolution(7))."""


class PackageStore:
    """A folder of packages, of the releases of the distribution that a lock is made of."""

    def __init__(
        self, cache: Path, progress: Progress, release: str | Callable[[LockedPackage], str], pinned: str | None = None
    ) -> None:
        """``release``: that of all packages, or of each (its archive is asked); ``pinned``: the day when it
        had them, if known."""
        self._packages = cache / "packages"
        self._unpacked = cache / "unpacked"
        self._lists = cache / "apt"
        self._progress = progress
        self._release = release
        self._pinned = pinned

    @classmethod
    def of(cls, lock: Pinned, cache: Path, progress: Progress) -> PackageStore:
        """For the packages of a lock."""
        return cls(cache, progress, lock.distribution_of, lock.pinned)

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
        for distribution in dict.fromkeys(self._of(package) for package in pinned):
            self._fetch_many([package for package in pinned if self._of(package) == distribution], distribution)

    def _fetch_many(self, pinned: Sequence[LockedPackage], distribution: str) -> None:
        if sum(not self.has(package) for package in pinned) < MANY:
            return
        for apt in self._sources(distribution):
            missing = [package for package in pinned if not self.has(package)]
            if len(missing) < MANY:
                return
            size = sum(package.size_bytes for package in missing)
            self._progress(f"fetching {len(missing)} packages ({size / 1e6:.1f} MB)")
            with new_folder(self._packages / "fetch-many") as work:
                apt.fetch_offered(missing, work)
                self.adopt(work, missing)
                shutil.rmtree(work)

    def _of(self, package: LockedPackage) -> str:
        return self._release if isinstance(self._release, str) else self._release(package)

    def _sources(self, distribution: str) -> Iterator[Apt]:
        return places(self._lists, distribution, self._pinned, self._progress)

    def _place(self, pinned: LockedPackage) -> Path:
        return self._packages / f"{pinned.name}_{pinned.sha256[:24]}.deb"

    def has(self, pinned: LockedPackage) -> bool:
        """Whether the package is here, by its size."""
        place = self._place(pinned)
        return place.is_file() and place.stat().st_size == pinned.size_bytes

    def adopt(self, folder: Path, pinned: Sequence[LockedPackage]) -> None:
        """Take packages from a folder of ``.deb`` files, those with a hash that is pinned."""
        wanted = [Wanted(package.size_bytes, package.sha256, self._place(package)) for package in pinned]
        adopt_files(folder.glob("*.deb"), wanted, self._packages)

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
        for apt in self._sources(self._of(pinned)):
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


@dataclass(frozen=True)
class Wanted:
    """A file that is pinned."""

    size_bytes: int
    sha256: str
    place: Path
    """Where it belongs."""

    @property
    def is_there(self) -> bool:
        """Whether it is, by its size."""
        return self.place.is_file() and self.place.stat().st_size == self.size_bytes


def adopt_files(offered: Iterable[Path], wanted: Sequence[Wanted], folder: Path) -> None:
    """Copy what is pinned, and not there yet, into a folder of packages, whatever it is called where it is."""
    by_size: dict[int, list[Wanted]] = {}
    for file in wanted:
        by_size.setdefault(file.size_bytes, []).append(file)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(".*.*.part"):  # of processes that were killed
        if old.is_file() and not is_running(old.name.split(".")[-2]):
            old.unlink(missing_ok=True)
    for path in sorted(offered):
        for file in by_size.get(path.stat().st_size, []):
            if not file.is_there and sha256_of(path) == file.sha256:
                part = file.place.with_name(f".{file.place.name}.{os.getpid()}.part")
                shutil.copyfile(path, part)
                part.replace(file.place)


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
