"""Files with records of earlier runs in the user's state folder: bounded JSON with a format and a version.

They are a convenience: what cannot be read counts as empty and is set aside by the next writer, never written over.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from txop.core.whole_file import whole_file

Content = TypeVar("Content", bound=Sized)


def state_folder() -> Path:
    """``txop`` in ``$XDG_STATE_HOME``, else in ``~/.local/state``. Raises :class:`RuntimeError` without a home."""
    base = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(base) if base.startswith("/") else Path("~/.local/state").expanduser()
    return folder / "txop"


@dataclass(frozen=True)
class Stored:
    """A kind of file: what it says it is, the name of its only table, and how large one may be."""

    format: str
    version: int
    table: str
    max_bytes: int

    def read(self, path: Path) -> dict[str, Any]:
        """The table, with values that are as they were read: they are not checked. Empty: not available."""
        try:
            with path.open("rb") as source:
                data = source.read(self.max_bytes + 1)
            document = json.loads(data) if len(data) <= self.max_bytes else None
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(document, dict) or document.get("format") != self.format:
            return {}
        table = document.get(self.table) if document.get("version") == self.version else None
        return table if isinstance(table, dict) else {}

    def write(self, path: Path, table: dict[str, Any]) -> None:
        """Replace the file atomically. Raises :class:`OSError`."""
        document = {"format": self.format, "version": self.version, self.table: table}
        with whole_file(path) as out:
            out.write(json.dumps(document, indent=1, allow_nan=False) + "\n")


@contextmanager
def rewriting(path: Path, read: Callable[[Path], Content]) -> Iterator[Content]:
    """What ``read`` finds in the file, which no other process rewrites meanwhile. Its folder is made.

    A file in which it finds nothing is set aside, with ``.damaged`` for its ending. Raises :class:`OSError`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        content = read(path)
        if not content and path.exists():
            with suppress(OSError):
                path.replace(path.with_suffix(".damaged"))
        yield content
    finally:
        os.close(handle)
