"""Free commands of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from txop.arms.steps import COMMAND_TIMEOUT_S, Session, Step, line, need


@dataclass
class RunCommand(Step):
    """Run a command that has to succeed."""

    target: str
    argv: Sequence[str]
    timeout_s: float = COMMAND_TIMEOUT_S

    @property
    def what(self) -> str:
        """See :class:`Step`."""
        return f"run {self.argv[0]}"

    def shown(self) -> list[str]:
        """See :class:`Step`."""
        return [line(self.argv)]

    async def do(self, session: Session) -> None:
        """See :class:`Step`."""
        await need(session.target(self.target), self.argv, f"run {self.argv[0]}", timeout_s=self.timeout_s)


@dataclass
class RunAfterwards(Step):
    """A command that is run when the arm is unloaded, before everything else is undone."""

    target: str
    argv: Sequence[str]
    timeout_s: float = COMMAND_TIMEOUT_S

    @property
    def what(self) -> str:
        """See :class:`Step`."""
        return f"run {self.argv[0]} afterwards"

    def shown(self) -> list[str]:
        """See :class:`Step`."""
        return []

    def undo_shown(self) -> list[str]:
        """See :class:`Step`."""
        return [line(self.argv)]

    async def do(self, session: Session) -> None:
        """See :class:`Step`."""

    async def undo(self, session: Session) -> None:
        """See :class:`Step`."""
        await need(session.target(self.target), self.argv, f"run {self.argv[0]}", timeout_s=self.timeout_s)
