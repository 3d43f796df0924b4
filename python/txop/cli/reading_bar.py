"""A bar that shows how far a long capture has been read."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from txop.cli import console
from txop.core.visible import visible

if TYPE_CHECKING:
    from rich.progress import Progress

    from txop.air.report import AirReport

_PROGRESS_AFTER_S = 1.0


class ReadingBar:
    """A bar on stderr, once reading takes noticeably long and a terminal is there to show it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._started = time.monotonic()
        self._progress: Progress | None = None
        self._wanted = sys.stderr.isatty()

    def __enter__(self) -> ReadingBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def advance(self, done: int, total: int | None) -> None:
        """Called by the analyzer now and then."""
        if not self._wanted or time.monotonic() - self._started < _PROGRESS_AFTER_S:
            return
        if self._progress is None:
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

            name = TextColumn("{task.description}", markup=False)
            self._progress = Progress(
                name, BarColumn(), DownloadColumn(), TimeRemainingColumn(), console=console.stderr(), transient=True
            )
            self._task = self._progress.add_task(visible(self._name), total=total)
            self._progress.start()
        self._progress.update(self._task, completed=done, total=total)


def analyzed(name: str) -> AirReport:
    """The report of a capture, with a bar while it is read."""
    from txop.air import analyze

    with ReadingBar(name) as bar:
        return analyze(name, progress=bar.advance)
