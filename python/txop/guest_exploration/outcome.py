"""What a trial of a script showed, as far as the exploration uses it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from txop.guest_exploration.cost import Cost

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Outcome(BaseModel):
    """One trial."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    verdict: str
    """One of :class:`txop.guest_trials.judgement.Verdict`."""
    why: str
    back: str | None = None
    line: str | None = None
    """The log line that shows it."""
    struck: int | None = None
    finding: str | None = None
    """Which finding it is: the same text is the same finding; ``None``: it is none."""
    features: frozenset[str] = frozenset()
    log_sha256: str | None = None
    """The hash of the unchanged kernel log; ``None``: there is none."""
    cost: Cost | None = None
    """What its traffic cost; ``None``: that was not measured."""
    blocks: int | None = None
    """How many blocks of the driver were reached; ``None``: they were not counted."""
    seconds: Seconds | None = None
    """By this machine's clock."""
    guest_seconds: Seconds | None = None
    void: bool = False
    """It shows nothing about the driver."""
