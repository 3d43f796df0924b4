"""``commands.log``: every command that was sent to every target, when, how it ended and how long it took."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from txop.archive.journal import now_utc
from txop.core.visible import visible


class CommandLog:
    """A :class:`~txop.targets.contract.Listener` that writes one line when a command starts and one when it ends.

    A full disk ends the log, never the campaign: the journal is what counts.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", errors="backslashreplace", buffering=1)
        self._failed = False

    def command_started(self, target: str, argv: Sequence[str], number: int) -> None:
        """See :class:`~txop.targets.contract.Listener`."""
        self._line(f"{now_utc()} {number:>6} {target} $ {visible(shlex.join(argv))}")

    def command_ended(self, target: str, number: int, status: int | None, seconds: float) -> None:
        """See :class:`~txop.targets.contract.Listener`."""
        how = "given up" if status is None else f"exit {status}"
        self._line(f"{now_utc()} {number:>6} {target} = {how} after {seconds:.3f} s")

    def _line(self, text: str) -> None:
        if self._failed:
            return
        try:
            self._file.write(text + "\n")
        except OSError:
            self._failed = True

    def close(self) -> None:
        """Close the file; what comes afterwards is not kept."""
        self._failed = True
        try:
            self._file.close()
        except OSError:
            return
