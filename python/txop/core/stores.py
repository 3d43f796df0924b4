"""Addresses of object stores and of files within archives (``s3://``, ``zip://``, ``memory://``), by way of fsspec."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


_ADDRESS_AS_PATH = re.compile(r"[a-z][a-z0-9+.-]*:/")
_WILDCARDS = re.compile(r"[*?\[]")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def is_address(name: str) -> bool:
    """Whether ``name`` is an address of a store, and no path."""
    return "://" in name


def shown_address(address: str) -> str:
    """An address without what may be secret in it: the user, the password and the query of each of its stores.

    >>> shown_address("simplecache::sftp://ci:secret@host/runs?token=x")
    'simplecache::sftp://host/runs'
    >>> shown_address("zip://runs::https://ci@host/a.zip"), shown_address("s3://bucket/a@b")
    ('zip://runs::https://host/a.zip', 's3://bucket/a@b')
    """
    return "::".join(map(_shown, address.split("::")))


def _shown(hop: str) -> str:
    protocol, stroke, rest = hop.partition("://")
    if not stroke:
        return hop
    host, slash, path = rest.partition("/")
    return f"{protocol}://{host.rpartition('@')[2]}{slash}{path}".partition("?")[0]


def was_address(path: Path) -> bool:
    """Whether ``path`` was made of an address: of two strokes a :class:`~pathlib.Path` keeps one."""
    return _ADDRESS_AS_PATH.match(str(path)) is not None and not path.exists()


def file_system(address: str) -> tuple[AbstractFileSystem, str]:
    """The store of an address, and the path in it.

    Raises:
        UserError: fsspec or what it needs for this store is missing, or the store does not open.
    """
    try:
        import fsspec
    except ImportError:
        raise UserError(
            f"addresses such as {address.partition('://')[0]}:// need fsspec",
            what_to_do='install it beside txop: pip install "txop[cluster]"',
            exit_code=ExitCode.MISSING,
        ) from None
    try:
        system, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise UserError(str(error), where=shown_address(address), exit_code=ExitCode.MISSING) from None
    except ValueError as error:
        raise UserError(str(error), where=shown_address(address)) from None
    except Exception as error:  # a store raises what it likes
        raise UserError(f"the store cannot be opened: {reason(error)}", where=shown_address(address)) from None
    return system, path


def matching(address: str) -> list[str]:
    """The addresses that one with wildcards stands for, in order; one without is itself.

    Raises:
        UserError: the store cannot be listed, or has none.
    """
    if "::" in address or not _WILDCARDS.search(address):
        return [address]
    system, path = file_system(address)
    try:
        found = sorted(system.unstrip_protocol(key) for key in system.glob(path.rstrip("/")))
    except Exception as error:  # a store raises what it likes
        raise UserError(f"the store cannot be listed: {reason(error)}", where=address) from None
    if not found:
        raise UserError("the store has nothing of that name", where=address)
    return found


@contextmanager
def local_file(name: str) -> Iterator[str]:
    """A path of the file on this machine: itself, or of an address a copy, which is removed afterwards.

    Raises:
        UserError: the store does not open.
        OSError: it has no such file, or cannot read it.
    """
    if not is_address(name):
        yield name
        return
    system, path = file_system(name)
    with tempfile.TemporaryDirectory(prefix="txop-file-") as folder:
        copy = Path(folder) / (_UNSAFE.sub("_", PurePosixPath(path).name)[-100:].lstrip(".") or "file")
        try:
            system.get_file(path, str(copy))
        except Exception as error:  # a store raises what it likes
            raise _os_error(error, name) from None
        yield str(copy)


def read_file(address: str, most_bytes: int) -> bytes:
    """What a file at an address holds.

    Raises:
        UserError: the store does not open.
        OSError: it has no such file, cannot read it, or it is longer than ``most_bytes``.
    """
    system, path = file_system(address)
    try:
        content = bytes(system.cat_file(path, start=0, end=most_bytes + 1))
    except Exception as error:  # a store raises what it likes
        raise _os_error(error, address) from None
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"larger than {most_bytes:,} bytes", address)
    return content


def _os_error(error: Exception, address: str) -> OSError:
    """An error that names the address, where a store may name nothing, or its own path."""
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), address)
    number = error.errno if isinstance(error, OSError) and error.errno else errno.EIO
    return OSError(number, reason(error), address)


def reason(error: Exception) -> str:
    """What a store says went wrong, in a sentence of bounded length."""
    return f"{type(error).__name__}: {error}"[:300]
