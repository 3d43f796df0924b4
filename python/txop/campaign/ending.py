"""How a campaign process ends: the cause as a code with its facts, and the sentence of each cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum


class End(Enum):
    """How a campaign process ended."""

    FINISHED = "finished"
    STOPPED = "stopped"


class Cause(StrEnum):
    """Why it ended. The journal has the code in ``code``."""

    NOTHING_LEFT = "nothing-left"
    """It had finished before."""
    VOID_RUNS_LEFT = "void-runs-left"
    """Runs that are void have used up their repeats."""
    TARGET_LOST = "target-lost"
    """A target is lost for good."""
    DECIDED = "decided"
    """A look that was registered before has decided it."""
    TIME_BUDGET = "time-budget"
    VOID_IN_A_ROW = "void-in-a-row"
    INTERRUPTED = "interrupted"
    """By the user."""
    FAILED = "failed"
    """A target or the machine failed before or between runs."""
    DEFECT = "defect"
    """A defect of txop."""


Facts = Mapping[str, str | int | float]


@dataclass(frozen=True)
class Outcome:
    """How a campaign process ended, and why."""

    end: End
    cause: Cause | None = None
    """``None``: it finished and left nothing undone."""
    facts: Facts = field(default_factory=dict)
    """What the sentence names."""

    @property
    def reason(self) -> str:
        """The cause in words; empty without one."""
        return "" if self.cause is None else _SENTENCES[self.cause](self.facts)

    @property
    def fields(self) -> dict[str, object]:
        """What the journal has of it."""
        coded: dict[str, object] = {} if self.cause is None else {"code": self.cause.value, **self.facts}
        return {**coded, "reason": self.reason}


def finished(cause: Cause | None = None, **facts: str | int | float) -> Outcome:
    """A campaign that came to its planned end."""
    return Outcome(End.FINISHED, cause, facts)


def stopped(cause: Cause, **facts: str | int | float) -> Outcome:
    """A campaign that another process can continue.

    >>> stopped(Cause.TARGET_LOST, target="dut").reason
    'dut stopped responding'
    """
    return Outcome(End.STOPPED, cause, facts)


_SENTENCES: dict[Cause, Callable[[Facts], str]] = {
    Cause.NOTHING_LEFT: lambda _: "before: there is nothing left to run",
    Cause.VOID_RUNS_LEFT: lambda facts: (
        f"with void runs left in {facts['blocks']} block(s), the allowed repeats being used up"
    ),
    Cause.DECIDED: lambda facts: f"at the look after {facts['blocks']} block(s), which decides it",
    Cause.TARGET_LOST: lambda facts: f"{facts['target']} stopped responding",
    Cause.TIME_BUDGET: lambda facts: f"the time budget of {facts['budget_s']:.0f} s is used up",
    Cause.VOID_IN_A_ROW: lambda facts: f"the last {facts['runs']} runs were all void; the last one: {facts['last']}",
    Cause.INTERRUPTED: lambda _: "interrupted by the user",
    Cause.FAILED: lambda facts: str(facts["error"]),
    Cause.DEFECT: lambda facts: f"a defect of txop: {facts['error']}",
}
