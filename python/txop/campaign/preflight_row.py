"""One row of the preflight checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "limited", "fails", "not checked"]
THIS_MACHINE = "this machine"


@dataclass(frozen=True)
class Row:
    """One thing that was looked at."""

    target: str
    what: str
    state: State
    """``ok``; ``limited``: a campaign runs, and something will not be available or is worth a thought; ``fails``: its
    runs would be void; ``not checked``, and why."""
    found: str
    what_to_do: str | None = None


def not_checked(target: str, what: str, why: str) -> Row:
    """A row of something that was not measured.

    >>> not_checked("dut", "clock", "it has no date").found
    'not checked, because it has no date'
    """
    return Row(target, what, "not checked", f"not checked, because {why}")
