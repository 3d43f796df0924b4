"""``journal.jsonl``: one event per line, appended and synced; the truth of what happened.

A line that was cut by a kill or a full disk is the end of the truth: reading stops there, and the next writer begins a
new line after it. Times are wall-clock for people (``at``) and seconds since boot for arithmetic (``monotonic_s``, with
``boot`` telling which boot), so that a clock that jumps changes no duration.
"""

from __future__ import annotations

import errno
import json
import os
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from txop.archive.damage import Code, Finding
from txop.archive.damage_words import line_words
from txop.archive.regular import FileState, file_state, open_regular
from txop.archive.text import storable

_LONGEST_LINE = 4 * 1024 * 1024
_TAIL_BYTES = 64 * 1024
"""How much of a line that is too long is kept, to see whether the file is still the same."""
_MOST_FINDINGS = 1000
"""Damaged lines that are kept; a file of nothing else has more than anybody reads."""


class Event(BaseModel):
    """One line. What else an event carries is in its extra fields (``block``, ``run``, ``gate``, ...)."""

    model_config = ConfigDict(extra="allow", frozen=True)

    event: str
    """``campaign-started``, ``resumed``, ``connected``, ``block-started``, ``run-started``, ``run-finished``,
    ``run-voided``, ``run-lost`` (its file is gone or damaged), ``plan-changed``, ``block-finished``,
    ``block-abandoned``, ``note``, ``campaign-stopped``, ``campaign-finished``. ``mended``: written down later, as the
    runs' files show it."""
    at: str
    monotonic_s: Annotated[float, Field(allow_inf_nan=False)]
    boot: str = ""

    def get(self, key: str, default: Any = None) -> Any:
        """A field beside the common ones."""
        return (self.model_extra or {}).get(key, default)


@dataclass(frozen=True)
class JournalReading:
    """The events of a journal, and what could not be read of it."""

    events: list[Event]
    findings: list[Finding] = field(default_factory=list)
    """Lines that are no events: a last one that was cut, garbage."""

    @property
    def damage(self) -> list[str]:
        """The findings in words, with line numbers."""
        return [line_words(finding.facts) for finding in self.findings]


def read_journal(path: Path) -> JournalReading:
    """Read a journal, also while it is written, also after a crash. :class:`OSError` when it cannot be opened."""
    return JournalReader(path).read()


class JournalReader:
    """Reads a journal as it grows: a line that was read is not read again, unless the file became another one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state: FileState | None = None
        self._reading = JournalReading(events=[])
        self._begin()

    def read(self) -> JournalReading:
        """Everything so far. :class:`OSError` when the file cannot be opened."""
        state = file_state(self._path)  # before it is read: what is appended meanwhile is seen the next time
        if state != self._state:
            self._reading = self._grown()
            self._state = state
        return self._reading

    def _begin(self) -> None:
        self._events: list[Event] = []
        self._findings: list[Finding] = []
        self._lines = 0
        self._offset = 0
        """Where the first line begins that has no end yet."""
        self._last = b""
        """The line before it, or the end of that line."""

    def _grown(self) -> JournalReading:
        with open_regular(self._path) as file:
            file.seek(self._offset - len(self._last))
            if file.read(len(self._last)) != self._last:
                self._begin()
                file.seek(0)
            while line := file.readline(_LONGEST_LINE):
                size = len(line)
                if size == _LONGEST_LINE and not line.endswith(b"\n"):
                    line, size = _rest(file, line)
                event, found = _event(line, self._lines + 1, size)
                if not line.endswith(b"\n"):
                    return JournalReading([*self._events, *event], [*self._findings, *found])
                self._lines += 1
                self._offset += size
                self._last = line
                self._events += event
                if len(self._findings) < _MOST_FINDINGS:
                    self._findings += found
        return JournalReading(self._events, self._findings)


def _rest(file: BinaryIO, line: bytes) -> tuple[bytes, int]:
    """The end of a line that is longer than any event, and the length of all of it."""
    size, tail = len(line), line
    while part := file.readline(_LONGEST_LINE):
        size += len(part)
        tail = part if len(part) >= _TAIL_BYTES else tail[-_TAIL_BYTES:] + part
        if part.endswith(b"\n"):
            break
    return tail[-_TAIL_BYTES:], size


def _event(line: bytes, number: int, size: int) -> tuple[list[Event], list[Finding]]:
    """The event of a line, or what is wrong with it; neither of an empty line."""
    if size > len(line):
        return [], [Finding(Code.JOURNAL_LINE, facts={"line": number, "problem": "long", "bytes": size})]
    if not line.strip():
        return [], []
    try:
        return [Event.model_validate_json(line, strict=True)], []
    except ValidationError:
        problem = "garbage" if line.endswith(b"\n") else "cut"
        return [], [Finding(Code.JOURNAL_LINE, facts={"line": number, "problem": problem, "bytes": size})]


class JournalWriter:
    """Appends events. Each is on the disk when :meth:`write` returns; :class:`OSError` when it could not be."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)
        self._boot = _boot_id()
        self.last = b""
        """The line written last."""
        self._cut = False
        """A line was begun that did not fit."""
        if self._file.tell() > 0:
            with path.open("rb") as existing:
                existing.seek(-1, os.SEEK_END)
                if existing.read(1) != b"\n":
                    self._file.write(b"\n")

    def write(self, event: str, **fields: Any) -> None:
        """Append one event."""
        record = {
            "event": event,
            "at": now_utc(),
            "monotonic_s": round(time.clock_gettime(time.CLOCK_BOOTTIME), 6),
            "boot": self._boot,
            **storable(fields),
        }
        line = json.dumps(record, allow_nan=False, ensure_ascii=True).encode() + b"\n"
        whole = b"\n" + line if self._cut else line
        written = self._file.write(whole)
        if written != len(whole):
            self._cut = self._cut or written > 0
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._file.name)
        self._cut = False
        os.fsync(self._file.fileno())
        self.last = line

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def now_utc() -> str:
    """The wall-clock time as the archive writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
