"""What a guest outputs: events, line by line, and a tar of files. All of it is from a machine that is not trusted."""

from __future__ import annotations

import io
import posixpath
import re
import tarfile
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from txop.core.visible import visible
from txop.guest_image.error import GuestError

MAX_EVENTS_BYTES = 1 << 20
MAX_FILES_BYTES = 1 << 30
"""Limit of all files that a guest outputs."""
MAX_FILES = 4096
MAX_PIECE_BYTES = 1 << 20
"""Limit of a header: extended headers state their own length."""

_EVENT = re.compile(r"(stage|end) (\d{1,9}\.\d{1,6}) (.{1,400})")


class Milestone(Enum):
    """Stages that decide something here. A guest reports each in words; these are how the words begin."""

    ASSOCIATED = ("associated (", "connected (")
    """A wireless chip, or a network function."""
    CAPTURE_FULL = ("the capture of the ",)
    """A capture that the virtual chip wrote has reached its limit."""


@dataclass(frozen=True)
class Event:
    """Something that happened in a guest."""

    kind: str
    """``stage`` or ``end``."""
    uptime_s: float
    """By the guest's clock."""
    words: str

    @property
    def milestone(self) -> Milestone | None:
        """Which stage it is, of those that decide something."""
        return next((each for each in Milestone if self.kind == "stage" and self.words.startswith(each.value)), None)

    @property
    def status(self) -> int | None:
        """Status with which the command ended; ``None`` in records other than ``end``."""
        return int(self.words) if self.kind == "end" and re.fullmatch(r"\d{1,3}", self.words) else None


def read_events(data: bytes) -> list[Event]:
    """The events in what has come so far; lines that are none, and a last one that is not complete, are left out."""
    whole = data[:MAX_EVENTS_BYTES].decode("utf-8", "replace").split("\n")[:-1]
    events = []
    for row in whole:
        match = _EVENT.fullmatch(row)
        if match:
            events.append(Event(match[1], float(match[2]), visible(match[3])))
    return events


class _InPieces(io.FileIO):
    """A file for tarfile, which reads a header of any size as a whole: here a header has its limit."""

    def read(self, size: int | None = -1, /) -> bytes:
        """As a file's. Raises :class:`tarfile.ReadError` for more than a header or a piece of content can be."""
        if size is None or not 0 <= size <= MAX_PIECE_BYTES:
            raise tarfile.ReadError(f"it has a header of {size} bytes")
        return super().read(size)


def unpack_files(packed: Path, folder: Path) -> list[str]:
    """Write the files of a guest's tar below a folder; their names, sorted.

    Ordinary files and folders only: links, devices, names that lead out of the folder and files that are there twice
    are left out. Raises :class:`GuestError` when the tar is damaged or too large.
    """
    names: list[str] = []
    total = 0
    try:
        with _InPieces(packed) as source, tarfile.open(fileobj=source, mode="r:") as files:
            for number, member in enumerate(files):
                if number >= MAX_FILES:
                    raise GuestError(f"the guest outputs more than {MAX_FILES} files")
                name = safe_name(member.name)
                if name is None or not member.isreg():
                    continue
                total += member.size
                if total > MAX_FILES_BYTES:
                    raise GuestError(f"the guest outputs more than {MAX_FILES_BYTES >> 20} MB")
                content = files.extractfile(member)
                place = folder / name
                place.parent.mkdir(parents=True, exist_ok=True)
                if content is None or place.exists() or place.is_symlink():
                    continue
                with place.open("xb") as out:
                    while piece := content.read(1 << 20):
                        out.write(piece)
                names.append(name)
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise GuestError(f"the files of the guest are damaged: {error}") from None
    except (FileExistsError, NotADirectoryError) as error:
        raise GuestError(f"the guest outputs a file and a folder of one name: {error.filename}") from None
    return sorted(names)


def safe_name(name: str) -> str | None:
    """A name below a folder; ``None`` for one that leads out of it, or is not a name.

    >>> safe_name("./a/b"), safe_name("../x"), safe_name("/etc/passwd"), safe_name(".")
    ('a/b', None, None, None)
    """
    if not name or name.startswith("/") or "\0" in name or not name.isprintable() or len(name) > 1000:
        return None
    clean = posixpath.normpath(name)
    if clean in (".", "..") or clean.startswith("../"):
        return None
    return clean if all(len(part.encode()) <= 255 for part in clean.split("/")) else None
