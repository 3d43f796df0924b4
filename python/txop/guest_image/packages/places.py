"""Where packages may come from: the archive as it is, and as it was when a lock was made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from txop.guest_image.error import GuestError
from txop.guest_image.packages.apt import Apt, Progress
from txop.guest_image.packages.archive import Index, current_archive, dated_archive


def places(
    lists: Path, distribution: str, pinned: str | None, progress: Progress, index: Index = Index.PACKAGES
) -> Iterator[Apt]:
    """One place after the other, for as long as the caller misses something.

    The archive by the package lists there are, by new ones, and as it was when the lock was made.

    Args:
        lists: Folder of package lists.
        distribution: As in ``debian-12``.
        pinned: The day of the lock, if known.
        progress: Receives the progress.
        index: Which lists.

    Raises:
        GuestError: None can be asked.
    """
    what = "package lists" if index is Index.PACKAGES else "lists of source packages"
    trouble: GuestError | None = None
    asked = False
    for dated in (False, True):
        try:
            archive = dated_archive(distribution, pinned) if dated else current_archive(distribution)
            if archive is None:
                continue
            apt = Apt(lists, archive, index)
            if apt.has_lists:
                asked = True
                yield apt
            if not apt.is_fresh:
                progress(f"refreshing {what} of {distribution}{' as it was' if dated else ''}")
                apt.refresh()
                asked = True
                yield apt
        except GuestError as error:
            trouble = trouble or error
    if trouble is not None and not asked:
        raise trouble
