"""What names in a plan look like."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_]*(-[a-z0-9_]+)*$", max_length=40)]
"""Names of arms, tests and targets: they become folder names. Lower-case letters, digits, ``-`` and ``_``."""
