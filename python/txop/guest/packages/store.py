"""Packages on this machine: fetched once, by hash; unpacked once; read as one tree of files."""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from txop.guest.cache import is_running, new_folder, sha256_of
from txop.guest.error import GuestError
from txop.guest.packages.apt import Apt, NotOffered, Progress
from txop.guest.packages.deb import unpack
from txop.guest.packages.lock import LockedPackage

MANY = 3
"""From so many packages on, they are fetched at once."""

MAX_LINKS = 40
"""Symbolic links followed on the way to a file (as path_resolution(7))."""


class PackageStore:
    """A folder of packages."""

    def __init__(self, cache: Path, progress: Progress) -> None:
        self._packages = cache / "packages"
        self._unpacked = cache / "unpacked"
        self._lists = cache / "apt"
        self._progress = progress

    def package(self, pinned: LockedPackage) -> Path:
        """The package file, fetched when it is not there. Raises :class:`GuestError`."""
        place = self._place(pinned)
        if self._is_there(pinned):
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
        for apt in (Apt(), Apt(self._lists)):
            missing = [package for package in pinned if not self._is_there(package)]
            if len(missing) < MANY:
                return
            if apt.lists is not None:
                self._progress("refreshing package lists")
                apt.refresh()
            size = sum(package.size_bytes for package in missing)
            self._progress(f"fetching {len(missing)} packages ({size / 1e6:.1f} MB)")
            with new_folder(self._packages / "fetch-many") as work:
                apt.fetch_offered(missing, work)
                self.adopt(work, missing)
                shutil.rmtree(work)

    def _place(self, pinned: LockedPackage) -> Path:
        return self._packages / f"{pinned.name}_{pinned.sha256[:24]}.deb"

    def _is_there(self, pinned: LockedPackage) -> bool:
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
                if not self._is_there(package) and sha256_of(path) == package.sha256:
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
        try:
            return Apt().fetch(pinned, work)
        except NotOffered as error:
            # The machine's lists may be older, or newer, than what the archive has.
            apt = Apt(self._lists)
            self._progress("refreshing package lists")
            apt.refresh()
            try:
                return apt.fetch(pinned, work)
            except NotOffered:
                raise GuestError(
                    f"the archive has moved on: {error.what}",
                    what_to_do="pin what it has now with `txop guest build --update` (results made with another lock "
                    "are not comparable byte for byte), or give a folder that has the old packages with --packages",
                ) from None


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
