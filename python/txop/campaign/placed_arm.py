"""The result of putting an arm in place: the arm, or the error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from txop.core.errors import TxopError


class ArmError(TxopError):
    """An arm could not be put in place, or is not the one that was asked for."""

    def __init__(self, gate: str, cause: str, target: str = "dut") -> None:
        super().__init__(cause)
        self.gate = gate
        self.cause = cause
        self.target = target


@dataclass
class PlacedArm:
    """An arm that is in place."""

    seconds: float | None
    """From the start of the load until it was up and verified; ``None``: see ``no_seconds``."""
    verified: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    clock: str = "clock of this machine"
    """By which ``seconds`` are counted."""
    no_seconds: str = "it never came up"
    """Why there are none: a trial of faults may find that, or an earlier run put the arm in place."""
