"""The rows of a board, as the campaign of a series shows them: with the base, and with the series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from txop.archive.layout import Layout
from txop.board.boards import LocatedBoard
from txop.board.evidence import Analyze
from txop.board.model import HERE, Board, Evidence, FaultEvidence, NoEvidence, RunEvidence, Task
from txop.board.outcome import Outcome
from txop.board.weigh import weigh
from txop.ci.verdict import BASE, SERIES

Answer = Literal["works", "does not work", "in part", "can't be determined"]
"""``in part``: some runs or pieces of evidence show that it works, others that it does not."""


@dataclass(frozen=True)
class BoardRow:
    """One task of the board."""

    task: str
    base: Answer
    series: Answer
    base_because: str
    """The sentence of the evidence, with its n."""
    series_because: str

    @property
    def is_lost(self) -> bool:
        """It works in every run of the base that shows it, and in none of the series."""
        return (self.base, self.series) == ("works", "does not work")

    @property
    def is_undetermined(self) -> bool:
        """The campaign does not show it for one of the two."""
        return "can't be determined" in (self.base, self.series)


@dataclass(frozen=True)
class BoardRows:
    """The board beside the campaign."""

    title: str
    rows: Sequence[BoardRow]
    damage: Sequence[str]
    """What could not be read."""

    @property
    def lost(self) -> list[BoardRow]:
        """Rows that the series loses."""
        return [row for row in self.rows if row.is_lost]

    @property
    def shows_nothing(self) -> bool:
        """Not one row could be compared."""
        return all(row.is_undetermined for row in self.rows)


def board_rows(placed: LocatedBoard, archive: Layout, analyze: Analyze) -> BoardRows:
    """Put the runs of both builds to the board.

    Args:
        placed: The board. Its checks are put to the captures of the campaign, and its evidence of runs and faults to
            the campaign's figures; files and other archives that it names are of something else, and do not count.
        archive: The campaign, with the arms of :mod:`txop.ci.verdict`.
        analyze: Makes the report of a capture.

    Raises:
        UserError: The archive cannot be read.
    """
    judged = [
        weigh(LocatedBoard(_of_build(placed.board, arm), placed.name, None, archive), (), analyze, arm=arm)
        for arm in (BASE, SERIES)
    ]
    rows = [
        BoardRow(base.task.task, *answers(base.outcomes, series.outcomes))
        for base, series in zip(judged[0].rows, judged[1].rows, strict=True)
    ]
    damage = dict.fromkeys(words for one in judged for words in one.damage)
    return BoardRows(placed.board.title, rows, list(damage))


def _of_build(board: Board, arm: str) -> Board:
    """The board with what a campaign can answer, of the runs of one build."""
    tasks = []
    for task in board.task:
        own = _of_campaign(task)
        evidence: list[Evidence] = [each.model_copy(update={"arm": arm}) for each in own]
        if len({each.arm for each in own}) > 1:
            evidence = [NoEvidence(kind="none", because="its evidence is of several arms, and a build is one")]
        tasks.append(task.model_copy(update={"evidence": evidence, "arm": ""}))
    # the device of the board is another than the virtual chip: in captures, the station with most data is meant
    return board.model_copy(update={"task": tasks, "arm": "", "station": None, "certificate": []})


def _of_campaign(task: Task) -> list[RunEvidence | FaultEvidence]:
    """The evidence that the runs of a campaign can give."""
    return [each for each in task.evidence if isinstance(each, RunEvidence | FaultEvidence) and each.archive == HERE]


def can_show(board: Board, *, air: bool) -> bool:
    """Whether a campaign can show any row. ``air``: its runs have captures of the air."""
    return any(_of_campaign(task) or (air and task.check is not None) for task in board.task)


def answers(base: Sequence[Outcome], series: Sequence[Outcome]) -> tuple[Answer, Answer, str, str]:
    """What both show, and the sentences that say so."""
    return _answer(base), _answer(series), _because(base), _because(series)


def _answer(outcomes: Sequence[Outcome]) -> Answer:
    answers = {outcome.answer for outcome in outcomes} & {"pass", "fail"}
    if len(answers) > 1 or any(outcome.disagreeing for outcome in outcomes):
        return "in part"
    if not answers:
        return "can't be determined"
    return "works" if answers == {"pass"} else "does not work"


def _because(outcomes: Sequence[Outcome]) -> str:
    """The sentences that decide, else all."""
    deciding = [each for each in outcomes if each.answer in ("pass", "fail")] or list(outcomes)
    return "; ".join(each.sentence for each in deciding) or "nothing in the campaign shows it"
