"""Turns of campaigns that share an access point: several devices under test at once, one of them on the air.

A turn is a lock on a file of the user's state folder, so it ends with the process that has it, however that ends.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from pathlib import Path

from txop.campaign.reporter import Reporter
from txop.plan.stored import state_folder

LOOK_S = 0.2
"""Between looks at whether the turn is free."""


class Turn:
    """One campaign's part in it. Taken before the arm of a run is loaded, let go when nothing records any more."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        """``name``: shared by the campaigns that take turns. ``folder``: default: of the user's state."""
        self._name = name
        self._path = (folder or state_folder() / "turns") / name
        self._handle: int | None = None

    async def take(self, reporter: Reporter) -> None:
        """Wait for it; at once when it is held already. Raises :class:`OSError` when the file cannot be made."""
        if self._handle is not None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            said = False
            while not _locked(handle):
                if not said:
                    reporter.phase(f"waiting for the turn of {self._name}", None)
                    said = True
                await asyncio.sleep(LOOK_S)
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle

    async def leave(self) -> None:
        """Let another campaign have it, which sees it before this one asks again."""
        if self._handle is not None:
            fcntl.flock(self._handle, fcntl.LOCK_UN)  # a child between fork and exec has the handle, too
            os.close(self._handle)
            self._handle = None
            await asyncio.sleep(2 * LOOK_S)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
