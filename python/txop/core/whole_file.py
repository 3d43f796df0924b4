"""Files that are written atomically: a full disk or a kill never leaves half a page that looks like one."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacement(target: Path) -> Iterator[Path]:
    """A path in the folder of ``target`` to write to; it takes the place of ``target`` when the block ends well.

    When the block fails, what was written is removed and an earlier ``target`` stays as it was. A ``target`` that is
    no ordinary file (``/dev/stdout``, a FIFO) is itself the path to write to. A symbolic link stays one.

    Raises:
        OSError: as the block raised it, or the folder cannot be written to; its ``filename`` is ``target``.
    """
    place = Path(os.path.realpath(target))
    try:
        if _is_special(target):
            yield target
            return
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:64]}.", suffix=f".part{place.suffix}")
        os.close(handle)
        written = Path(name)
        try:
            yield written
            written.chmod(_mode(place))
            written.replace(place)
        except BaseException:
            with suppress(OSError):
                written.unlink()
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), os.fspath(target)) from error


@contextmanager
def whole_file(target: Path, *, newline: str | None = None) -> Iterator[IO[str]]:
    """``target`` opened for writing UTF-8 text, with the guarantees of :func:`replacement`."""
    with replacement(target) as written, written.open("w", encoding="utf-8", newline=newline) as out:
        yield out


def _is_special(target: Path) -> bool:
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(target))
    return not stat.S_ISREG(mode)


def _mode(place: Path) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
