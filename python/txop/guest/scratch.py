"""Folders for what processes need while they run: gone afterwards, and swept by the next one when one is killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from txop.guest_image.cache import default_cache, is_running


@contextmanager
def scratch_folder(what: str, cache: Path | None = None) -> Iterator[Path]:
    """A new folder of this process in ``runs`` of the cache (default: the user's).

    Folders there of processes that have ended are removed. ``what``: for people who look. Raises :class:`OSError`.
    """
    runs = (cache or default_cache()) / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    sweep(runs)
    with tempfile.TemporaryDirectory(prefix=f"{os.getpid()}-{what}-", dir=runs, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def sweep(runs: Path) -> None:
    """Remove folders of processes that were killed."""
    for old in runs.iterdir():
        pid = old.name.partition("-")[0]
        if pid.isdecimal() and not is_running(pid):
            shutil.rmtree(old, ignore_errors=True)
