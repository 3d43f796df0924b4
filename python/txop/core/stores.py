"""Addresses of object stores and of files within archives (``s3://``, ``zip://``, ``memory://``), by way of fsspec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


def is_address(name: str) -> bool:
    """Whether ``name`` is an address of a store, and no path."""
    return "://" in name


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
        raise UserError(str(error), where=address, exit_code=ExitCode.MISSING) from None
    except ValueError as error:
        raise UserError(str(error), where=address) from None
    except Exception as error:  # a store raises what it likes
        raise UserError(f"the store cannot be opened: {reason(error)}", where=address) from None
    return system, path


def reason(error: Exception) -> str:
    """What a store says went wrong, in a sentence of bounded length."""
    return f"{type(error).__name__}: {error}"[:300]
