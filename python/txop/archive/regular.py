"""Files of an archive, opened so that nothing else that has their name (a pipe, a device) can hold the reader up."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path) -> BinaryIO:
    """An ordinary file, for reading. Raises :class:`OSError`, also for what is not an ordinary file."""
    handle, _ = _open(path)
    try:
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: Path | str, limit_bytes: int) -> bytes:
    """The contents of an ordinary file. Raises :class:`OSError`, also when it is larger than ``limit_bytes``."""
    handle, size = _open(path)
    try:
        # A reader of the standard library, with its buffers, takes as long as the rest of this for a small file.
        parts = [os.read(handle, min(size, limit_bytes) + 1)]
        left = limit_bytes + 1 - len(parts[0])
        while parts[-1] and left > 0 and (len(parts) > 1 or len(parts[0]) != size):  # it grew, or was cut, meanwhile
            parts.append(os.read(handle, min(left, 1 << 20)))
            left -= len(parts[-1])
    finally:
        os.close(handle)
    if left <= 0:
        raise OSError(errno.EFBIG, "larger than any txop writes", str(path))
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _open(path: Path | str) -> tuple[int, int]:
    """Handle and size of an ordinary file."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
    except BaseException:
        os.close(handle)
        raise
    return handle, found.st_size
