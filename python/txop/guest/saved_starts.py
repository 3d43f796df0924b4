"""Guests that were saved after the association: made once for each image, build, device and settings, and restored for
every run. They are kept in the user's cache folder."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from txop.core.errors import TxopError
from txop.guest.checkpoint import CheckpointError, EndedEarlyError, identity, is_whole, save
from txop.guest.inputs import key_of
from txop.guest.qemu import Computer
from txop.guest.running import Ended
from txop.guest_image.cache import default_cache, remove_folder, room
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay

KEPT = 12
"""Saved guests that are kept, some 200 MB each: those that were used last."""
MINE_S = 3600.0
"""One that was used so recently may be in use."""
POLL_S = 0.05


class NoStartError(TxopError):
    """A guest that ended before it was associated: what it left is in ``results``."""

    def __init__(self, ended: Ended, results: Path) -> None:
        super().__init__(str(ended.status))
        self.ended = ended
        self.results = results


@dataclass(frozen=True)
class SavedStart:
    """A saved guest."""

    folder: Path
    seconds: float | None
    """What it took to make; ``None``: it was there."""


class SavedStarts:
    """The saved guests of one campaign, or of a process that runs guests for several. Threads may share it, each with
    a loop of its own."""

    def __init__(self, cache: Path | None = None) -> None:
        """``cache``: default the user's."""
        self._folder = (cache or default_cache()) / "starts"
        self._making: dict[str, threading.Lock] = {}
        self._made: dict[str, Path] = {}
        self._failed: dict[str, tuple[Ended, tempfile.TemporaryDirectory[str]]] = {}

    async def of(
        self,
        image: Image,
        overlay: Overlay,
        computer: Computer,
        wall_limit_s: float,
        making: Callable[[], None] = lambda: None,
    ) -> SavedStart:
        """The saved guest of these; made now where there is none. ``making``: called before that.

        Raises:
            NoStartError: It ended before it was associated. The next time that is known.
            CheckpointError: It cannot be saved.
            GuestFailedError: It ended otherwise than it should.
        """
        key = key_of(identity(image, overlay, computer))
        async with _held(self._making.setdefault(key, threading.Lock())):
            if key in self._failed:
                ended, results = self._failed[key]
                raise NoStartError(ended, Path(results.name))
            start = SavedStart(self._made[key], None) if key in self._made else None
            if start is None or not start.folder.is_dir():  # another campaign may have removed it
                start = await self._find(key, image, overlay, computer, wall_limit_s, making)
                self._made[key] = start.folder
        with suppress(OSError):  # a cache that may only be read
            os.utime(start.folder)
        return start

    def close(self) -> None:
        """Forget what guests left that ended early."""
        for _, results in self._failed.values():
            results.cleanup()
        self._failed.clear()

    async def _find(
        self,
        key: str,
        image: Image,
        overlay: Overlay,
        computer: Computer,
        wall_limit_s: float,
        making: Callable[[], None],
    ) -> SavedStart:
        place = self._folder / key
        if place.is_dir():
            if await asyncio.to_thread(is_whole, place):
                return SavedStart(place, None)
            remove_folder(place)
        with room(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        results = tempfile.TemporaryDirectory(prefix="txop-start-")
        own = self._folder / f"{key}.{os.getpid()}.{secrets.token_hex(4)}"
        making()
        begun = time.monotonic()
        try:
            await save(image, overlay, computer, own, results=Path(results.name), wall_limit_s=wall_limit_s)
        except EndedEarlyError as error:
            if error.ended is None:
                raise
            self._failed[key] = error.ended, results
            raise NoStartError(error.ended, Path(results.name)) from None
        except BaseException:
            results.cleanup()
            raise
        results.cleanup()
        try:
            own.rename(place)
        except OSError as error:  # another process was quicker
            remove_folder(own)
            if not await asyncio.to_thread(is_whole, place):
                raise CheckpointError(f"the saved guest cannot be put at {place}: {error.strerror}") from None
        self._prune()
        return SavedStart(place, round(time.monotonic() - begun, 3))

    def _prune(self) -> None:
        """Remove what was not used for longest."""
        with suppress(OSError):
            found = sorted(
                (each.stat().st_mtime, each) for each in self._folder.iterdir() if not each.name.startswith(".")
            )
            for used, each in found[:-KEPT]:
                if used < time.time() - MINE_S:
                    remove_folder(each)


@asynccontextmanager
async def _held(lock: threading.Lock) -> AsyncIterator[None]:
    """Holds a lock of several threads, without keeping the loop of this one from the task that has it."""
    while not lock.acquire(blocking=False):
        await asyncio.sleep(POLL_S)
    try:
        yield
    finally:
        lock.release()


def copy_results(source: Path, results: Path) -> None:
    """What a guest left, into another folder."""
    shutil.copytree(source, results, dirs_exist_ok=True)
