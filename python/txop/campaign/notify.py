"""Notifications of a campaign that runs for days: a command of the user's, run on this machine when something happens.

The command is a list of arguments, no shell sees it. What happened is in its environment and on its standard input:
``TXOP_EVENT`` (``void``, ``notice``, ``finished``, ``stopped``, ``failed``), ``TXOP_TEXT``, ``TXOP_ARCHIVE``,
``TXOP_TITLE``. It never holds the campaign up, and what it does costs no run.
"""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from txop.archive.run_file import RunFile
from txop.campaign.reporter import Reporter
from txop.campaign.schedule import Block
from txop.core.errors import UserError

COMMAND_S = 60.0
"""How long one command may take."""
AT_MOST = 100
"""Notifications that wait; more are dropped, as a command this slow is of no use."""
TEXT = 1000
"""Characters of what happened."""


class Notifier:
    """Runs the command, one notification after the other. To be closed."""

    def __init__(self, argv: Sequence[str], archive: Path, title: str, complain: Callable[[str], None]) -> None:
        """``complain``: called once, with what is wrong, when the command fails."""
        self._argv = list(argv)
        self._facts = {"TXOP_ARCHIVE": str(archive.absolute()), "TXOP_TITLE": _line(title)}
        self._complain: Callable[[str], None] | None = complain
        self._waiting: queue.Queue[tuple[str, str] | None] = queue.Queue(AT_MOST)
        self._thread = threading.Thread(target=self._work, name="notifications", daemon=True)
        self._thread.start()

    def send(self, event: str, text: str) -> None:
        """Say that something happened. Returns at once, and never raises."""
        try:
            self._waiting.put_nowait((event, _line(text)))
        except queue.Full:
            return

    def close(self) -> None:
        """Wait for the messages to be passed on, for at most the time of two commands."""
        try:
            self._waiting.put(None, timeout=COMMAND_S)
        except queue.Full:
            return
        self._thread.join(2 * COMMAND_S)

    def _work(self) -> None:
        while (each := self._waiting.get()) is not None:
            event, text = each
            self._run(event, text)

    def _run(self, event: str, text: str) -> None:
        try:
            ran = subprocess.run(
                self._argv,
                input=f"{text}\n",
                env={**os.environ, **self._facts, "TXOP_EVENT": event, "TXOP_TEXT": text},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=COMMAND_S,
                check=False,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
            trouble = None if ran.returncode == 0 else f"ended with {ran.returncode}: {ran.stderr.strip()[-200:]}"
        except subprocess.TimeoutExpired:
            trouble = f"did not end within {COMMAND_S:g} s"
        except (OSError, ValueError) as error:
            trouble = str(error)
        if trouble is not None and self._complain is not None:
            self._complain(f"the command of --notify {trouble}")
            self._complain = None


class Notifying:
    """A :class:`~txop.campaign.reporter.Reporter` that passes everything on, and sends what is worth a notification:
    void runs, and what is worth a line on the terminal."""

    def __init__(self, reporter: Reporter, notifier: Notifier) -> None:
        self._reporter = reporter
        self._notifier = notifier

    def campaign(self, title: str, runs_to_come: int, seconds_expected: float) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        self._reporter.campaign(title, runs_to_come, seconds_expected)

    def block(self, block: Block, of: int) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        self._reporter.block(block, of)

    def run_started(self, run: str, arm: str, test: str, runs_to_come: int, seconds_expected: float) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        self._reporter.run_started(run, arm, test, runs_to_come, seconds_expected)

    def phase(self, words: str, seconds: float | None) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        self._reporter.phase(words, seconds)

    def run_ended(self, run: RunFile, runs_to_come: int, seconds_expected: float) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        self._reporter.run_ended(run, runs_to_come, seconds_expected)
        if run.state == "void":
            causes = "; ".join(cause.cause for cause in run.void)
            self._notifier.send("void", f"{run.run} is void: {causes}")

    def notice(self, words: str) -> None:
        """See :class:`~txop.campaign.reporter.Reporter`."""
        self._reporter.notice(words)
        self._notifier.send("notice", words)


@contextmanager
def notifications(
    argv: Sequence[str] | None, archive: Path, title: str, complain: Callable[[str], None]
) -> Iterator[Notifier | None]:
    """A notifier for as long as a campaign runs; ``None`` without a command. An error that ends the campaign is sent,
    too."""
    if argv is None:
        yield None
        return
    notifier = Notifier(argv, archive, title, complain)
    try:
        yield notifier
    except UserError as error:
        notifier.send("failed", error.what)
        raise
    finally:
        notifier.close()


def _line(text: str) -> str:
    """Text for an environment variable, a subject, a message: one line without control characters."""
    shown = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return shown if len(shown) <= TEXT else f"{shown[: TEXT - 3]}..."
