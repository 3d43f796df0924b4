"""Files of an archive, opened so that nothing else that has their name (a pipe, a device) can hold the reader up."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path) -> BinaryIO:
    """An ordinary file, for reading. Raises :class:`OSError`, also for what is not an ordinary file."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: Path, limit_bytes: int) -> bytes:
    """The contents of an ordinary file. Raises :class:`OSError`, also when it is larger than ``limit_bytes``."""
    with open_regular(path) as file:
        data = file.read(limit_bytes + 1)
    if len(data) > limit_bytes:
        raise OSError(errno.EFBIG, "larger than any txop writes", str(path))
    return data
