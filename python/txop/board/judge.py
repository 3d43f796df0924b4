"""A board weighed: each state beside what its evidence shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from txop.board.model import Board, Task
from txop.board.outcome import Outcome

Standing = Literal[
    "shown",
    "contradicted",
    "works",
    "does not work",
    "evidence disagrees",
    "can't be determined",
    "evidence not there",
    "claimed, without evidence",
]
"""How a state stands beside its evidence.

``shown``: the evidence agrees with the state; ``contradicted``: the state says that it works, and the evidence shows
that it does not; ``works``: the evidence shows that it works, and the state does not say so; ``does not work``: the
evidence shows so, and the state says neither.
"""

BAD: frozenset[Standing] = frozenset({"contradicted", "evidence not there"})
"""Standings that need action before the board can be published."""


@dataclass(frozen=True)
class Row:
    """One task with its evidence."""

    number: int
    """Place on the board, from 1."""
    task: Task
    outcomes: Sequence[Outcome]
    standing: Standing


@dataclass(frozen=True)
class CertifiedLine:
    """One line of a certificate beside what a capture shows of the device."""

    text: str
    answer: str
    """``shown``, ``claimed, not seen used``, ``claimed, use can't be determined``, ``used, not claimed``,
    ``not claimed``, ``runs disagree``, ``can't be determined``."""
    sentence: str
    n: int | None = None
    """Frames; of an archive, runs with a capture that shows it."""
    run: str | None = None
    """The run of the archive that the sentence quotes."""
    because: str = ""
    """Why it can't be determined, as the sentence has it."""


@dataclass(frozen=True)
class CheckedCertificate:
    """A certificate, checked or only quoted."""

    number: int
    """Place on the board, from 0."""
    source: str
    """The capture or archive; empty: none was given, and nothing is checked."""
    station: str | None
    """``None``: none, or another one in some run."""
    origin: str | None
    lines: Sequence[CertifiedLine]
    arm: str = ""
    """The arm of the archive with runs that are looked at."""
    runs: int | None = None
    """How many runs of the archive have a capture that was read."""


@dataclass(frozen=True)
class JudgedBoard:
    """The whole board."""

    board: Board
    rows: Sequence[Row]
    certificates: Sequence[CheckedCertificate] = ()
    damage: Sequence[str] = field(default_factory=tuple)
    """What could not be read of the captures and archives that were given."""

    def count(self, *standings: Standing) -> int:
        """Rows with one of these standings."""
        return sum(row.standing in standings for row in self.rows)


def judge(board: Board, look_up: Callable[[Task], Sequence[Outcome]]) -> list[Row]:
    """Every task with what ``look_up`` finds of it."""
    rows = []
    for number, task in enumerate(board.task, start=1):
        outcomes = list(look_up(task))
        rows.append(Row(number, task, outcomes, standing(task.claims, outcomes)))
    return rows


def standing(claims: str | None, outcomes: Sequence[Outcome]) -> Standing:
    """How a state that claims so much stands beside its evidence.

    >>> standing("works", [Outcome("fail", ""), Outcome("can't be determined", "")])
    'contradicted'
    >>> standing("does not work", [Outcome("fail", "")])
    'shown'
    >>> standing("works", [])
    'claimed, without evidence'
    """
    answers = {outcome.answer for outcome in outcomes}
    if not answers:
        return "claimed, without evidence"
    if any(outcome.answer == "not there" for outcome in outcomes):
        return "evidence not there"
    if {"pass", "fail"} <= answers:
        return "evidence disagrees"
    if "pass" in answers:
        return "shown" if claims == "works" else "works"
    if "fail" in answers:
        return _FAILED.get(claims or "", "does not work")
    return "can't be determined"


_FAILED: Mapping[str, Standing] = {"works": "contradicted", "does not work": "shown"}
