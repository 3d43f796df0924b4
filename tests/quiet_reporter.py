"""The reporter that says nothing."""

from __future__ import annotations

from txop.archive.run_file import RunFile
from txop.campaign.schedule import Block


class Quiet:
    def campaign(self, title: str, runs_to_come: int, seconds_expected: float) -> None:
        pass

    def block(self, block: Block, of: int) -> None:
        pass

    def run_started(self, run: str, arm: str, test: str, runs_to_come: int, seconds_expected: float) -> None:
        pass

    def phase(self, words: str, seconds: float | None) -> None:
        pass

    def run_ended(self, run: RunFile, runs_to_come: int, seconds_expected: float) -> None:
        pass

    def notice(self, words: str) -> None:
        pass
