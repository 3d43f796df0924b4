"""What is wrong with a plan, and where: every problem at once, each with its line and key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from txop.core.errors import TxopError, capitalised, sentence


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, or (as a warning) that should be known before the start."""

    line: int | None
    """From 1; ``None`` when it is about the plan as a whole."""
    column: int | None
    key: str | None
    """As in ``test[2].duration_s``; indices count from 0."""
    message: str
    """What is wrong, without a final full stop."""
    what_to_do: str | None = None

    def text(self, name: str) -> str:
        """One line; ``name`` is the plan's.

        >>> Problem(14, 1, "test[2].duration_s", "must be greater than 0").text("plan.toml")
        'plan.toml, line 14, test[2].duration_s: must be greater than 0.'
        """
        where = [name]
        if self.line is not None:
            where.append(f"line {self.line}")
        if self.key:
            where.append(self.key)
        action = self.what_to_do
        return f"{', '.join(where)}: {sentence(self.message)}" + (f" {sentence(capitalised(action))}" if action else "")


class PlanError(TxopError):
    """A plan that cannot be used. ``str()`` has a line per problem.

    >>> str(PlanError("p.toml", [Problem(None, None, None, "it is empty")]))
    'p.toml: it is empty.'
    """

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        self.name = name
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.text(name) for problem in self.problems))
