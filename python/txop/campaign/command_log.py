"""``commands.log``: every command that was sent to every target, when, how it ended and how long it took.

A campaign of weeks sends millions: a full file becomes ``commands.log.1``, the one before it ``.2``, and so on, and the
oldest of them goes.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path

from txop.archive.journal import now_utc
from txop.core.visible import visible

FILE_BYTES = 16 << 20
"""Some 600 runs on machines."""
OLDER = 4
"""Files that are kept beside the one that is written."""


class CommandLog:
    """A :class:`~txop.targets.contract.Listener` that writes one line when a command starts and one when it ends.

    A full disk ends the log, never the campaign: the journal is what counts.
    """

    def __init__(self, path: Path, file_bytes: int = FILE_BYTES) -> None:
        self._files = _Files(path, "a", file_bytes, OLDER, encoding="utf-8", errors="backslashreplace")

    def command_started(self, target: str, argv: Sequence[str], number: int) -> None:
        """See :class:`~txop.targets.contract.Listener`."""
        self._line(f"{now_utc()} {number:>6} {target} $ {visible(shlex.join(argv))}")

    def command_ended(self, target: str, number: int, status: int | None, seconds: float) -> None:
        """See :class:`~txop.targets.contract.Listener`."""
        how = "given up" if status is None else f"exit {status}"
        self._line(f"{now_utc()} {number:>6} {target} = {how} after {seconds:.3f} s")

    def _line(self, text: str) -> None:
        if not self._files.failed:
            self._files.emit(logging.makeLogRecord({"msg": text}))

    def close(self) -> None:
        """Close the file; what comes afterwards is not kept."""
        self._files.failed = True
        try:
            self._files.close()
        except OSError:
            return


class _Files(RotatingFileHandler):
    failed = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is the standard library's
        del record
        self.failed = True
