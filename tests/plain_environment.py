"""The environment of this process without what changes the look of output or the handling of errors."""

from __future__ import annotations

import os

_CHANGES_OUTPUT = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TXOP_DEBUG", "PYTHONIOENCODING", "TERM", "GITHUB_ACTIONS")


def environment() -> dict[str, str]:
    """A copy, for programs that a test starts."""
    return {name: value for name, value in os.environ.items() if name not in _CHANGES_OUTPUT}
