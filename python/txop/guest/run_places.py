"""Where cached runs are: a folder of this machine, or an address of a store that fsspec knows. Files by their key."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, Protocol

from txop.core.stores import file_system, reason, shown_address
from txop.guest_image.cache import is_running
from txop.guest_image.error import GuestError

SUFFIX = ".run"
STALE_S = 3600.0
"""A file that is being written is changed more often."""
_KEY = re.compile(r"[0-9a-f]{64}")


class StoreError(GuestError):
    """A cache that cannot be read or written to."""


class Place(Protocol):
    """A place for files, each with a key. All but what says otherwise raises :class:`StoreError`."""

    @property
    def where(self) -> str:
        """The folder or address. Raises nothing."""

    def has(self, key: str) -> bool:
        """Whether there is such a file."""

    def reading(self, key: str) -> AbstractContextManager[IO[bytes]]:
        """The file. Raises :class:`FileNotFoundError`, too."""

    def writing(self, key: str) -> AbstractContextManager[IO[bytes]]:
        """A file that takes the place of the key's when the block ends well."""

    def entries(self) -> Iterator[tuple[str, int, float | None]]:
        """Key, size, and when it was used last."""

    def used(self, key: str) -> None:
        """Note that it was used. Raises nothing."""

    def remove(self, key: str) -> None:
        """Remove it; there may be none."""


class LocalPlace:
    """A folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def where(self) -> str:
        """See :class:`Place`."""
        return str(self._folder)

    def has(self, key: str) -> bool:
        """See :class:`Place`."""
        return self._path(key).is_file()

    @contextmanager
    def reading(self, key: str) -> Iterator[IO[bytes]]:
        """See :class:`Place`."""
        try:
            source = self._path(key).open("rb")
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(f"{self._path(key)}: {error.strerror}") from None
        with source:
            yield source

    @contextmanager
    def writing(self, key: str) -> Iterator[IO[bytes]]:
        """See :class:`Place`."""
        place = self._path(key)
        work = place.with_name(f".{place.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            self._sweep(place.parent)
            try:
                with work.open("xb") as out:
                    yield out
                    out.flush()
                    os.fsync(out.fileno())
                work.replace(place)
            finally:
                work.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self.where}: {error.strerror or error}") from None

    def entries(self) -> Iterator[tuple[str, int, float | None]]:
        """See :class:`Place`."""
        try:
            for shelf in self._listed(self._folder):
                if shelf.is_dir(follow_symlinks=False) and len(shelf.name) == 2:
                    for each in self._listed(Path(shelf.path)):
                        key = each.name.removesuffix(SUFFIX)
                        if each.name.endswith(SUFFIX) and _KEY.fullmatch(key):
                            with suppress(FileNotFoundError):  # it was removed meanwhile
                                found = each.stat()
                                yield key, found.st_size, found.st_mtime
        except OSError as error:
            raise StoreError(f"{self.where}: {error.strerror or error}") from None

    @staticmethod
    def _listed(folder: Path) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except FileNotFoundError:
            return []

    def used(self, key: str) -> None:
        """See :class:`Place`."""
        with suppress(OSError):  # a cache that may only be read
            os.utime(self._path(key))

    def remove(self, key: str) -> None:
        """See :class:`Place`."""
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self._path(key)}: {error.strerror}") from None

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}{SUFFIX}"

    @staticmethod
    def _sweep(shelf: Path) -> None:
        """Remove what processes that were killed left."""
        for old in shelf.glob(".*.part"):
            pid = old.name.split(".")[-3]
            with suppress(FileNotFoundError):
                # a folder that several machines share has those of processes that do not run here
                if not is_running(pid) and old.stat().st_mtime < time.time() - STALE_S:
                    old.unlink()


class RemotePlace:
    """An address of a store."""

    def __init__(self, address: str) -> None:
        """Raises :class:`~txop.core.errors.UserError`: fsspec is missing, or knows no such store."""
        self._address = address.rstrip("/")
        self._system, path = file_system(self._address)
        self._root = path.rstrip("/")

    @property
    def where(self) -> str:
        """See :class:`Place`. Records have it, so it has nothing secret."""
        return shown_address(self._address)

    def has(self, key: str) -> bool:
        """See :class:`Place`."""
        with self._failing():
            return bool(self._system.isfile(self._path(key)))

    @contextmanager
    def reading(self, key: str) -> Iterator[IO[bytes]]:
        """See :class:`Place`."""
        try:
            source = self._system.open(self._path(key), "rb")
        except FileNotFoundError:
            raise
        except Exception as error:  # a store raises what it likes
            raise StoreError(f"{self.where}: {self._reason(error)}") from None
        with source:
            yield _Guarded(source, self.where, self._reason)  # type: ignore[misc]

    @contextmanager
    def writing(self, key: str) -> Iterator[IO[bytes]]:
        """See :class:`Place`."""
        place = self._path(key)
        work = f"{place}.{secrets.token_hex(8)}.part"
        with self._failing():
            self._system.makedirs(str(PurePosixPath(place).parent), exist_ok=True)
            try:
                with self._system.open(work, "wb") as out:
                    yield out
                self._system.mv(work, place)
            except BaseException:
                with suppress(Exception):  # as good as it can be cleared up
                    self._system.rm(work)
                raise

    def entries(self) -> Iterator[tuple[str, int, float | None]]:
        """See :class:`Place`."""
        with self._failing():
            if not self._system.exists(self._root):
                return
            found = self._system.find(self._root, detail=True)
        for path, facts in found.items():
            name = PurePosixPath(path).name
            key = name.removesuffix(SUFFIX)
            if name.endswith(SUFFIX) and _KEY.fullmatch(key):
                yield key, int(facts.get("size") or 0), _time_of(facts)

    def used(self, key: str) -> None:
        """See :class:`Place`: stores keep no such time."""

    def remove(self, key: str) -> None:
        """See :class:`Place`."""
        with self._failing(), suppress(FileNotFoundError):
            self._system.rm_file(self._path(key))

    def _reason(self, error: Exception) -> str:
        """What a store says went wrong. It may say its address."""
        said = reason(error)
        for hop in self._address.split("::"):
            said = said.replace(hop, shown_address(hop))
        return said

    def _path(self, key: str) -> str:
        return f"{self._root}/{key[:2]}/{key}{SUFFIX}"

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except (StoreError, FileNotFoundError):
            raise
        except Exception as error:  # a store raises what it likes
            raise StoreError(f"{self.where}: {self._reason(error)}") from None


class _Guarded:
    """A file of a store: its errors are those of the place."""

    def __init__(self, source: IO[bytes], where: str, reason: Callable[[Exception], str]) -> None:
        self._source = source
        self._where = where
        self._reason = reason

    def read(self, size: int = -1) -> bytes:
        """See :class:`typing.IO`."""
        try:
            return bytes(self._source.read(size))
        except Exception as error:  # a store raises what it likes
            raise StoreError(f"{self._where}: {self._reason(error)}") from None

    def readline(self, limit: int = -1) -> bytes:
        """See :class:`typing.IO`."""
        try:
            return bytes(self._source.readline(limit))
        except Exception as error:  # a store raises what it likes
            raise StoreError(f"{self._where}: {self._reason(error)}") from None


def _time_of(facts: dict[str, Any]) -> float | None:
    """When a file was changed, as stores call it."""
    for name in ("mtime", "LastModified", "last_modified", "updated", "created"):
        value = facts.get(name)
        if isinstance(value, int | float):
            return float(value)
        if isinstance(value, datetime):
            return value.timestamp()
    return None
