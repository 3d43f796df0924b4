"""Variables that a user gives the Makefile of a driver of their own."""

from __future__ import annotations

import re

MAKE_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
MAKE_VALUE = r"^[\x20-\x23\x25-\x7e]*$"
"""Printable, without ``$``, which make would expand."""
TAKEN = ("KCFLAGS", "M", "MAKEFLAGS", "O")
"""txop's own."""


def is_variable(name: str, value: str) -> bool:
    """Whether a user may set it.

    >>> is_variable("CONFIG_X", "m"), is_variable("M", "/tmp"), is_variable("X", "$(shell id)"), is_variable("A B", "")
    (True, False, False, False)
    """
    return bool(re.fullmatch(MAKE_NAME[1:-1], name) and re.fullmatch(MAKE_VALUE[1:-1], value)) and name not in TAKEN
