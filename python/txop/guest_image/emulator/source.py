"""The source package of the emulator: its files, fetched once and kept by hash, and what is read out of them."""

from __future__ import annotations

import posixpath
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from txop.guest_image.cache import new_folder, sha256_of
from txop.guest_image.emulator.lock import EmulatorLock, SourceFile
from txop.guest_image.emulator.unified import FileChange, apply_hunks, read_patch
from txop.guest_image.error import GuestError
from txop.guest_image.packages.apt import PackageNotOfferedError, Progress
from txop.guest_image.packages.archive import Index
from txop.guest_image.packages.deb import decompressed
from txop.guest_image.packages.places import places
from txop.guest_image.packages.store import Wanted, adopt_files

ORIGINAL = ".orig.tar.xz"
DEBIAN = ".debian.tar.xz"
NEEDED = (ORIGINAL, DEBIAN)
"""Endings of the files that are read. The third, the ``.dsc``, has their hashes, which the lock has as well."""

MAX_PATCH_BYTES = 16 << 20


class SourceError(GuestError):
    """A source package that cannot be used."""


class SourceStore:
    """The source files of a lock, beside the packages."""

    def __init__(self, lock: EmulatorLock, cache: Path, progress: Progress) -> None:
        self._lock = lock
        self._folder = cache / "packages"
        self._lists = cache / "apt"
        self._progress = progress

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """Those that are needed."""
        return tuple(self._lock.source(ending) for ending in NEEDED)

    def missing(self) -> tuple[SourceFile, ...]:
        """Those of them that are not here, by size."""
        return tuple(file for file in self.files if not self._wanted(file).is_there)

    def adopt(self, folder: Path) -> None:
        """Take the files from a folder, those with a hash that is pinned."""
        adopt_files(folder.glob("*.tar.*"), [self._wanted(file) for file in self.files], self._folder)

    def fetch(self) -> None:
        """Fetch what is missing. Raises :class:`GuestError`."""
        if not self.missing():
            return
        name, version = self._lock.source_name, self._lock.source_version
        gone: PackageNotOfferedError | None = None
        for apt in places(self._lists, self._lock.distribution, self._lock.pinned, self._progress, Index.SOURCES):
            size = sum(file.size_bytes for file in self.missing())
            try:
                with new_folder(self._folder / f"fetch-{self._lock.key}") as work:
                    self._progress(f"fetching the source of {name} {version} ({size / 1e6:.1f} MB)")
                    apt.fetch_source(name, version, work)
                    self.adopt(work)
                    shutil.rmtree(work)
            except PackageNotOfferedError as error:
                gone = gone or error
            if not self.missing():
                return
        why = gone.what if gone is not None else "what came is not what the lock pins"
        raise GuestError(f"the source of {name} {version} cannot be had: {why}")

    def path(self, file: SourceFile) -> Path:
        """A file that is here; its hash agrees. Raises :class:`GuestError`."""
        place = self._wanted(file).place
        if not place.is_file():
            raise SourceError(f"{file.name} is missing")
        if sha256_of(place) != file.sha256:
            place.unlink()
            raise SourceError(
                f"{file.name} in the cache was damaged and is removed", what_to_do="run `txop guest build` again"
            )
        return place

    def _wanted(self, file: SourceFile) -> Wanted:
        return Wanted(file.size_bytes, file.sha256, self._folder / f"{file.sha256[:24]}_{file.name}")


def unpack_source(original: Path, debian: Path, target: Path, wanted: Callable[[str], bool]) -> None:
    """Write files of a source package into a folder, with the distribution's patches applied to those.

    Args:
        original: The tar of the source; its files are in one folder.
        debian: The tar with ``debian/patches``.
        target: A folder that is there, and empty.
        wanted: Which files, by their name in the source.

    Raises:
        SourceError: One is damaged, or a name leads out of the source.
        PatchError: A patch does not fit.
    """
    for name, data in _files(original, 1, wanted):
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    patches = {
        name.removeprefix(_PATCHES): _text(data, name)
        for name, data in _files(debian, 0, lambda name: name.startswith(_PATCHES))
    }
    for name in series(patches.get("series", "")):
        if name not in patches:
            raise SourceError(f"the patch {name} of the series is not in {debian.name}")
        for change in read_patch(patches[name], name):
            _apply(change, target, wanted, name)


def series(text: str) -> Iterator[str]:
    """The names of patches in a quilt series file, in order. Raises :class:`SourceError` for what is not ``-p1``."""
    for row in text.splitlines():
        words = row.partition("#")[0].split()
        if not words:
            continue
        if words[1:] not in ([], ["-p1"]):
            raise SourceError(f"the series has {row[:200]!r}: only patches with -p1 are known")
        yield words[0]


_PATCHES = "debian/patches/"


def _apply(change: FileChange, target: Path, wanted: Callable[[str], bool], where: str) -> None:
    names = [name for name in (change.old_name, change.new_name) if name is not None and wanted(name)]
    if not names:
        return
    old = None if change.old_name is None else _patched(target, change)
    if change.new_name is None:
        if old is not None:
            old.unlink()
        return
    place = old or target / change.name
    before = place.read_bytes().decode("utf-8", "surrogateescape") if old is not None else ""
    after = apply_hunks(before, change.hunks, f"{where}: {change.name}")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(after.encode("utf-8", "surrogateescape"))


def _patched(target: Path, change: FileChange) -> Path:
    """The file that is changed: a patch may call the old one ``x.orig``."""
    for name in (change.new_name, change.old_name):
        if name is not None and (target / name).is_file():
            return target / name
    raise SourceError(f"the patches change {change.name}, which the source has not")


def _text(data: bytes, name: str) -> str:
    if len(data) > MAX_PATCH_BYTES:
        raise SourceError(f"{name} is larger than a patch can be")
    return data.decode("utf-8", "surrogateescape")


def _files(path: Path, strip: int, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Ordinary files of a tar: name and contents. ``strip``: folders that are taken off names."""
    with _open(path) as files:
        try:
            for member in files:
                name = _inside(member.name, strip)
                if name is None:
                    raise SourceError(f"{path.name}: the name {member.name[:200]!r} leads out of the source")
                if member.isreg() and name and wanted(name):
                    content = files.extractfile(member)
                    assert content is not None
                    yield name, content.read()
        except (tarfile.TarError, EOFError) as error:
            raise SourceError(f"{path.name} is damaged: {error}") from None


@contextmanager
def _open(path: Path) -> Iterator[tarfile.TarFile]:
    with path.open("rb", buffering=0) as source, decompressed(source, path.name, path.name) as stream:
        try:
            opened = tarfile.open(fileobj=stream, mode="r|")  # noqa: SIM115
        except tarfile.TarError as error:
            raise SourceError(f"{path.name} is damaged: {error}") from None
        with opened:
            yield opened


def _inside(name: str, strip: int) -> str | None:
    """A member's name without its first folders; empty: one of those; ``None``: it leads out."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name:
        return None
    return posixpath.join("", *parts[strip:])
