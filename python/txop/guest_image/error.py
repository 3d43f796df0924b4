"""What can go wrong with a guest."""

from __future__ import annotations

from txop.core.errors import MissingToolError, UserError


class GuestError(UserError):
    """A guest that could not be made, or failed."""


class MissingGuestToolError(MissingToolError, GuestError):
    """A program or package of this machine that a guest cannot do without."""
