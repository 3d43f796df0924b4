"""The user's cache folder of guests: everything in it is named by the hash of what it is or was made of."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from txop.guest_image.error import GuestError

CACHE_ADVICE = "choose a folder on a disk with 1 GB left, that you may write to, with XDG_CACHE_HOME"


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

    What earlier processes that were killed left beside it is removed. When another process was quicker, its result
    stays.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    for old in place.parent.glob(".*.*.part"):
        pid = old.name.split(".")[-2]
        if pid.isdigit() and not is_running(pid):
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


def remove_folder(place: Path) -> None:
    """Remove a folder, so that a process that looks at the same time finds all of it or nothing."""
    gone = place.parent / f".{place.name}.{os.getpid()}.part"
    with suppress(OSError):
        place.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


@contextmanager
def room(folder: Path, *, advice: str = CACHE_ADVICE) -> Iterator[None]:
    """Turn a disk that is full, and a folder that may not be written to, into a :class:`GuestError` that says which."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise GuestError(f"no room is left for {folder}: {error.strerror}", what_to_do=advice) from None
        place = error.filename if isinstance(error.filename, str) else ""
        if error.errno in _FORBIDDEN and (Path(place).is_relative_to(folder) or Path(place) in _missing(folder)):
            raise GuestError(f"{place}: {error.strerror}", what_to_do=advice) from None
        raise


def _missing(folder: Path) -> list[Path]:
    """Folders above this one that would have to be made: what cannot be looked at is not there."""
    missing = []
    for above in folder.parents:
        try:
            if above.exists():
                break
        except OSError:
            pass
        missing.append(above)
    return missing


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def is_running(pid: str) -> bool:
    """Whether there is a process of this number."""
    return pid.isdigit() and Path(f"/proc/{pid}").exists()
