"""The user's cache folder of guests: everything in it is named by the hash of what it is or was made of."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def default_cache() -> Path:
    """``txop/guest`` in the user's cache folder (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path("~/.cache").expanduser()) / "txop" / "guest"


def sha256_of(path: Path) -> str:
    """Hash of a file's contents, in hexadecimal. Raises :class:`OSError`."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


@contextmanager
def new_folder(place: Path) -> Iterator[Path]:
    """A folder to fill; it becomes ``place`` when the block ends well, and is gone when it does not.

    What an earlier process that was killed left behind is removed. When somebody else was quicker, theirs stays.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    for old in place.parent.glob(f".{place.name}.*.part"):
        if not _runs(old.name.split(".")[-2]):
            shutil.rmtree(old, ignore_errors=True)
    work = place.parent / f".{place.name}.{os.getpid()}.part"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        yield work
        with suppress(OSError):
            work.rename(place)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _runs(pid: str) -> bool:
    return pid.isdigit() and Path(f"/proc/{pid}").exists()
