"""What goes wrong with an archive, for the user: the same way in every command that takes one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from txop.cli.errors import UserError


@contextmanager
def archive_errors() -> Iterator[None]:
    """Turn :class:`~txop.archive.layout.ArchiveError` into :class:`UserError`."""
    from txop.archive.layout import ArchiveError

    try:
        yield
    except ArchiveError as error:
        raise UserError(error.what, where=str(error.where), what_to_do=error.what_to_do) from None
