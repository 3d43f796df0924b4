"""Files of an archive, opened so that nothing else that has their name (a pipe, a device) can hold the reader up."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_CHUNK_BYTES = 1 << 16


FileState = tuple[int, int, int, int]
"""What changes when a file is written or replaced: device, inode, size, and time of the last change in ns."""


def file_state(path: Path | str) -> FileState:
    """The state of a file, which is not opened. Raises :class:`OSError`."""
    found = os.stat(path)  # noqa: PTH116 - a path for each of thousands is slow
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def open_regular(path: Path) -> BinaryIO:
    """An ordinary file, for reading. Raises :class:`OSError`, also for what is not an ordinary file."""
    handle = _open(path)
    try:
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: Path | str, limit_bytes: int) -> bytes:
    """The contents of an ordinary file. Raises :class:`OSError`, also when it is larger than ``limit_bytes``."""
    handle = _open(path)  # a buffered reader would double what a small file costs
    parts, left = [], limit_bytes + 1
    try:
        while left > 0 and (part := os.read(handle, min(left, _CHUNK_BYTES))):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(handle)
    if left <= 0:
        raise OSError(errno.EFBIG, "larger than any txop writes", str(path))
    return b"".join(parts)


def _open(path: Path | str) -> int:
    """A handle of an ordinary file."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
    except BaseException:
        os.close(handle)
        raise
    return handle
