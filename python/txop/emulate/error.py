"""What can go wrong with an emulated link."""

from __future__ import annotations

from txop.core.errors import MissingToolError, UserError


class EmulationError(UserError):
    """An emulated link that could not be made, or broke."""


class MissingEmulationToolError(MissingToolError, EmulationError):
    """A program, device or permission of this machine that an emulated link cannot do without."""
