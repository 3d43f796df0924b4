"""What can go wrong with a guest."""

from __future__ import annotations

from txop.core.errors import MissingTool, UserError


class GuestError(UserError):
    """A guest that could not be made, or failed."""


class MissingForGuest(MissingTool, GuestError):  # noqa: N818 - something is missing
    """A program or package of this machine that a guest cannot do without."""
