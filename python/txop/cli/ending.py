"""A command that gets a signal to end (Ctrl-C, SIGTERM, a closed terminal) ends in order: what it holds is cleared
up."""

from __future__ import annotations

import signal
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

IMPATIENCE = 3
"""This many signals also end the clearing up that the first one begins."""


class Ending:
    """A context in which the first SIGINT, SIGTERM or SIGHUP raises :class:`KeyboardInterrupt`.

    Further ones do not disturb the clearing up, until the user insists: timeout(1) sends two, and so does a shell with
    a terminal that is closed. A SIGHUP that is ignored (nohup) stays so.
    """

    def __init__(self, impatient: Callable[[], None] = lambda: None) -> None:
        """``impatient``: called when a signal came during the clearing up, and did nothing."""
        self._impatient = impatient
        self._before: dict[signal.Signals, Any] = {}
        self.number: int | None = None
        """The first signal that came; ``None``: none did."""
        self._heard = 0
        self._task: asyncio.Task[Any] | None = None
        self._at_once = False

    def __enter__(self) -> Self:
        """Listen."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        """Listen no more."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def run(self, work: Coroutine[Any, Any, T], *, at_once: bool = False) -> T:
        """``work`` to its end, or cancelled by a signal.

        ``at_once``: raise :class:`KeyboardInterrupt` in the middle of what ``work`` does without waiting (unpacking an
        archive), too; else that is ended first.

        Raises:
            KeyboardInterrupt: it was cancelled.
        """
        import asyncio

        try:
            return asyncio.run(self._followed(work, at_once))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        finally:
            self._task = None

    async def _followed(self, work: Coroutine[Any, Any, T], at_once: bool) -> T:
        import asyncio

        self._task, self._at_once = asyncio.current_task(), at_once
        return await work

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        self.number = self.number or number
        self._heard += 1
        insists = self._heard in (1, IMPATIENCE)
        if self._task is None:
            if insists:
                raise KeyboardInterrupt
            return
        import asyncio

        loop = self._task.get_loop()
        if insists and self._at_once and asyncio.current_task(loop) is not None:
            raise KeyboardInterrupt
        if insists:
            loop.call_soon_threadsafe(self._task.cancel)
        elif self._heard < IMPATIENCE:
            loop.call_soon_threadsafe(self._impatient)
