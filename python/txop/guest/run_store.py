"""Exact guests that were run, kept by the hash of their inputs (:mod:`txop.guest.inputs`): one file for each.

A file is a line of JSON with what it is, after a line with the hash of that, and then the contents of what the guest
left, one after the other. It is written beside its place and moved there, so a process that is killed leaves no half of
one. Everything is checked when it is read: a file that is cut short, damaged, of another key or with names that lead
elsewhere is as good as none.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from txop.core.errors import TxopError
from txop.core.stores import is_address
from txop.core.version import program_version
from txop.guest.exactness import LEFT, left_files
from txop.guest.inputs import Inputs, key_of
from txop.guest.results import MAX_EVENTS_BYTES, Event, read_events, safe_name
from txop.guest.run_places import LocalPlace, Place, RemotePlace, StoreError
from txop.guest.running import FILES, Ended

MAGIC = "txop-cached-run 1"
MAX_HEADER_BYTES = 1 << 20
MAX_FILES = 4096
MAX_BYTES = 8 << 30
"""Of one run."""
CHUNK = 1 << 20
KEEP_BYTES = 20 << 30
"""What a folder of this machine keeps by itself: beyond that the runs that were not used for longest go."""
VARIABLE = "TXOP_RUN_CACHE"
"""Environment variable: the folder or address in place of the one in the user's cache folder."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class KeptFile(_Record):
    """A file that a guest left."""

    name: str
    size: int = Field(ge=0, le=MAX_BYTES)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Header(_Record):
    """What is kept of a run beside the files that it left."""

    key: str
    inputs: dict[str, Any]
    made_at: str
    """ISO 8601, UTC."""
    txop: str
    status: int = Field(ge=0, le=255)
    """Exit status of what it ran; of runs that are kept 0."""
    seconds: float = Field(ge=0, allow_inf_nan=False)
    """What it took, by the clock of the machine that ran it."""
    said: list[str]
    """What QEMU and the devices in it printed."""
    checked: bool
    """It was run twice, and left the same bytes."""
    files: list[KeptFile] = Field(max_length=MAX_FILES)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(each.size for each in self.files)


@dataclass(frozen=True)
class Kept:
    """A run that was taken from the cache."""

    header: Header
    events: tuple[Event, ...]

    @property
    def guest_seconds(self) -> float:
        """By the guest's clock."""
        return self.events[-1].uptime_s if self.events else 0.0


@dataclass(frozen=True)
class Entry:
    """A run in the cache, as a list shows it."""

    key: str
    size: int
    used: float | None
    """When it was made or used last, seconds since 1970; ``None``: the store does not know."""


class RunStore:
    """A folder of this machine, or an address that fsspec knows, with runs."""

    def __init__(self, place: Place, keep_bytes: int | None = None) -> None:
        """``keep_bytes``: beyond that, what was not used for longest is removed."""
        self._place = place
        self._keep_bytes = keep_bytes

    @classmethod
    def at(cls, where: str | None = None) -> RunStore:
        """At a folder or an address; default: what :data:`VARIABLE` names, else the user's. Raises
        :class:`~txop.core.errors.UserError`."""
        named = where or os.environ.get(VARIABLE) or None
        if named is not None and is_address(named):
            return cls(RemotePlace(named))
        return cls(LocalPlace(Path(named).expanduser() if named else default_folder()), KEEP_BYTES)

    @property
    def where(self) -> str:
        """The folder or address."""
        return self._place.where

    def has(self, key: str) -> bool:
        """Whether there is a file of that key; what it holds is not looked at."""
        return self._place.has(key)

    def take(self, key: str, results: Path) -> Kept | None:
        """Put what a run left into a folder, as :func:`txop.guest.running.run_guest` does; ``None``: there is none, or
        it is damaged, and removed then if it can be.

        Raises :class:`StoreError` when the place cannot be read, :class:`OSError` when the folder cannot be written to.
        """
        try:
            with self._place.reading(key) as source:
                header = unpacked(source, key, results)
        except FileNotFoundError:
            return None
        except DamagedError:
            with suppress(StoreError):  # a cache that may only be read
                self.remove(key)
            return None
        self._place.used(key)
        return Kept(header, events_of(results))

    def put(self, inputs: Inputs, results: Path, ended: Ended, *, checked: bool) -> None:
        """Keep a run that ended well. Raises :class:`StoreError`, and then nothing was kept."""
        if ended.status != 0:
            raise ValueError("only what ended well is kept")
        with self._place.writing(inputs.key) as out:
            packed(inputs, results, ended, out, checked=checked)
        if self._keep_bytes is not None:
            self.prune(keep_bytes=self._keep_bytes)

    def entries(self) -> list[Entry]:
        """All runs, those that were not used for longest first. Raises :class:`StoreError`."""
        found = [Entry(*each) for each in self._place.entries()]
        return sorted(found, key=lambda each: (each.used or 0.0, each.key))

    def header(self, key: str) -> Header | None:
        """What is kept of a run; ``None``: it is not there, or damaged. Raises :class:`StoreError`."""
        try:
            with self._place.reading(key) as source:
                return read_header(source, key)
        except (FileNotFoundError, DamagedError):
            return None

    def remove(self, key: str) -> None:
        """Forget a run. Raises :class:`StoreError`."""
        self._place.remove(key)

    def prune(self, *, keep_bytes: int | None = None, unused_s: float | None = None) -> Sequence[Entry]:
        """Remove runs that were not used for so long, and then, from the one not used for longest on, until the rest
        has so many bytes. What was removed. Raises :class:`StoreError`."""
        entries, gone = self.entries(), []
        left = sum(each.size for each in entries)
        oldest = None if unused_s is None else time.time() - unused_s
        for each in entries:
            is_old = oldest is not None and each.used is not None and each.used < oldest
            if is_old or (keep_bytes is not None and left > keep_bytes):
                self.remove(each.key)
                left -= each.size
                gone.append(each)
        return gone


class DamagedError(TxopError):
    """A file of the cache that is not what it should be."""


def packed(inputs: Inputs, results: Path, ended: Ended, out: IO[bytes], *, checked: bool) -> None:
    """Write what a guest left as one file. Raises :class:`StoreError` for more than is taken."""
    names = left_files(results)
    files = [_kept_file(results, name) for name in names]
    header = Header(
        key=inputs.key,
        inputs=dict(inputs.parts),
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        txop=program_version(),
        status=ended.status,
        seconds=round(ended.seconds, 3),
        said=list(ended.said),
        checked=checked,
        files=files,
    )
    if len(files) > MAX_FILES or header.size > MAX_BYTES:
        raise StoreError("it left more than the cache takes")
    out.write(_head(header))
    for name in names:
        with (results / name).open("rb") as source:
            while piece := source.read(CHUNK):
                out.write(piece)


def unpacked(source: IO[bytes], key: str, results: Path) -> Header:
    """Put what such a file has into a folder: all of it or nothing. Raises :class:`DamagedError`."""
    header = read_header(source, key)
    try:
        _unpack(source, header, results)
    except BaseException:
        forget(results)
        raise
    return header


def events_of(results: Path) -> tuple[Event, ...]:
    """The events that a guest reported."""
    return tuple(read_events(_first_of(results / "events", MAX_EVENTS_BYTES)))


def forget(results: Path) -> None:
    """Remove what is there of a run that could not be taken whole."""
    shutil.rmtree(results / FILES, ignore_errors=True)
    for name in LEFT:
        (results / name).unlink(missing_ok=True)


def default_folder() -> Path:
    """``txop/runs`` in the user's cache folder (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path("~/.cache").expanduser()) / "txop" / "runs"


def _head(header: Header) -> bytes:
    line = header.model_dump_json().encode() + b"\n"
    if len(line) > MAX_HEADER_BYTES:
        raise StoreError("it left more files than the cache takes")
    return f"{MAGIC} {hashlib.sha256(line).hexdigest()}\n".encode() + line


def read_header(source: IO[bytes], key: str) -> Header:
    """The header of a file, checked. Raises :class:`DamagedError`."""
    first = source.readline(len(MAGIC) + 80)
    line = source.readline(MAX_HEADER_BYTES + 1)
    if first != f"{MAGIC} {hashlib.sha256(line).hexdigest()}\n".encode() or not line.endswith(b"\n"):
        raise DamagedError("its header is damaged")
    try:
        header = Header.model_validate_json(line)
    except ValidationError:
        raise DamagedError("its header is damaged") from None
    if header.key != key or key_of(header.inputs) != key:
        raise DamagedError("it is of another key")
    if header.size > MAX_BYTES:
        raise DamagedError("it is too large")
    names = [each.name for each in header.files]
    if len(set(names)) != len(names) or not all(is_kept_name(name) for name in names):
        raise DamagedError("it has a name that no guest leaves")
    return header


def is_kept_name(name: str) -> bool:
    """Whether it is the name of something that a guest leaves.

    >>> [is_kept_name(name) for name in ("console", "files/a/b", "files/../x", "files", "/etc/passwd", "run.json")]
    [True, True, False, False, False, False]
    """
    inside = name.removeprefix(f"{FILES}/")
    return name in LEFT or (inside != name and safe_name(inside) == inside)


def _unpack(source: IO[bytes], header: Header, results: Path) -> None:
    results.mkdir(parents=True, exist_ok=True)
    for each in header.files:
        place = results / each.name
        digest, left = hashlib.sha256(), each.size
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as out:
                while left:
                    piece = source.read(min(CHUNK, left))
                    if not piece:
                        raise DamagedError("it is cut short")
                    digest.update(piece)
                    out.write(piece)
                    left -= len(piece)
        except (IsADirectoryError, NotADirectoryError, FileExistsError):
            raise DamagedError("it has a file and a folder of one name") from None
        except OSError as error:
            if error.errno in (errno.ENAMETOOLONG, errno.EINVAL):
                raise DamagedError("it has a name that no file here can have") from None
            raise
        if digest.hexdigest() != each.sha256:
            raise DamagedError(f"{each.name} is damaged")
    if source.read(1):
        raise DamagedError("more is there than its header says")


def _kept_file(results: Path, name: str) -> KeptFile:
    path = results / name
    with path.open("rb") as source:
        return KeptFile(name=name, size=path.stat().st_size, sha256=hashlib.file_digest(source, "sha256").hexdigest())


def _first_of(path: Path, limit: int) -> bytes:
    with suppress(OSError), path.open("rb") as source:
        return source.read(limit)
    return b""
