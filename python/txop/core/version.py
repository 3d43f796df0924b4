"""The version of this txop."""

from __future__ import annotations

from functools import cache


@cache
def program_version() -> str:
    """The version of the installed package, as in ``Cargo.toml``."""
    from importlib.metadata import version  # costs more than the rest of `txop --help`

    return version("txop")
