"""Runs of exact guests that were done before, for a campaign. A cache that fails costs it nothing but time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from txop.archive.run_file import Reused
from txop.guest.inputs import Inputs, inputs_of
from txop.guest.outside import GivenRun
from txop.guest.qemu import Computer, Mode
from txop.guest.run_places import StoreError
from txop.guest.run_store import Kept, RunStore
from txop.guest.running import Ended
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay


class KeptRuns:
    """The cache as runs use it."""

    def __init__(self, store: RunStore, notice: Callable[[str], None]) -> None:
        """``notice``: told once why the cache is not used."""
        self._store = store
        self._notice = notice
        self._reads = True
        self._writes = True

    async def take(self, inputs: Inputs, results: Path) -> Kept | None:
        """Put what a run left into a folder; ``None``: it has to be run."""
        if not self._reads:
            return None
        try:
            return await asyncio.to_thread(self._store.take, inputs.key, results)
        except StoreError as error:
            self._reads = False
            self._stop_writing(error, "the cache of runs is not used")
            return None

    def has(self, inputs: Inputs) -> bool:
        """Whether a run is kept, as far as can be seen without reading it."""
        with suppress(StoreError):
            return self._store.has(inputs.key)
        return False

    async def put(self, inputs: Inputs, results: Path, ended: Ended, *, checked: bool) -> None:
        """Keep a run that ended well."""
        if self._writes:
            try:
                await asyncio.to_thread(self._store.put, inputs, results, ended, checked=checked)
            except StoreError as error:
                self._stop_writing(error)

    def forget(self, inputs: Inputs) -> None:
        """Remove a run that is another when it is run again."""
        try:
            self._store.remove(inputs.key)
        except StoreError as error:
            self._stop_writing(error)

    def record(self, kept: Kept) -> Reused:
        """What the record of a run says of it."""
        return Reused(key=kept.header.key, made_at=kept.header.made_at, place=self._store.where)

    def _stop_writing(self, error: StoreError, words: str = "no more runs are kept in the cache") -> None:
        if self._writes:
            self._writes = False
            self._notice(f"{words}: {error.what}")


def inputs_of_run(
    image: Image, overlay: Overlay, computer: Computer, booted: str | None = None, run: GivenRun | None = None
) -> Inputs | None:
    """What a run is a function of; ``None``: it is not exact, so it is never kept."""
    if computer.mode is not Mode.EXACT:
        return None
    try:
        return inputs_of(image, overlay, computer, booted, run)
    except (GuestError, OSError):
        return None  # what is missing for it is missing for the guest, too, and that says so
