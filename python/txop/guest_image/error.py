"""What can go wrong with a guest."""

from __future__ import annotations


class GuestError(Exception):
    """A guest that could not be made, or failed. ``what_to_do`` is one sentence, if something helps."""

    def __init__(self, what: str, *, what_to_do: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.what_to_do = what_to_do


class MissingForGuest(GuestError):  # noqa: N818 - something is missing
    """A program or package of this machine that a guest cannot do without."""
