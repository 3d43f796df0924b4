"""Receivers of the progress of a campaign. The terminal, a test, a log: each is a :class:`Reporter`."""

from __future__ import annotations

from typing import Protocol

from txop.archive.run_file import RunFile
from txop.campaign.schedule import Block


class Reporter(Protocol):
    """Receives events as they happen. Must not raise and must return at once."""

    def campaign(self, title: str, runs_to_come: int, seconds_expected: float) -> None:
        """A campaign starts, or goes on."""

    def block(self, block: Block, of: int) -> None:
        """A block starts; ``of`` is the design's number of blocks."""

    def run_started(self, run: str, arm: str, test: str, runs_to_come: int, seconds_expected: float) -> None:
        """A run starts. ``seconds_expected``: until the campaign's end."""

    def phase(self, words: str, seconds: float | None) -> None:
        """The run does something that takes ``seconds``, if that is known."""

    def run_ended(self, run: RunFile, runs_to_come: int, seconds_expected: float) -> None:
        """A run ended, valid or void. ``seconds_expected``: until the campaign's end."""

    def notice(self, words: str) -> None:
        """Something worth a line: a target lost and found again, a block given up, a hook run."""
