"""A folder beside the place of an archive, in which it is made before it takes that place."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def folder_beside(root: Path) -> Iterator[Path]:
    """A new empty folder beside ``root``. What is left of it when the block ends is removed; what an import into its
    place left that was killed goes first.

    Raises:
        OSError: it cannot be made.
    """
    parent = root.absolute().parent
    prefix = f".{root.name[:64]}.import-"
    for left in parent.iterdir():
        if left.name.startswith(prefix):
            _remove_abandoned(left)
    beside = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    handle = os.open(beside, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # held as long as this process lives
        yield beside
    finally:
        os.close(handle)
        shutil.rmtree(beside, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    """Remove ``folder`` unless a process is at work in it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)
