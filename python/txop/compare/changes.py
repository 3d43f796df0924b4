"""The effects of single changes, such as one patch given the others."""

from __future__ import annotations

from collections.abc import Sequence

from txop.compare import words
from txop.compare.result import Answer, ChangeFacts, ComparedFigure, Row
from txop.plan_check.changes import Changes, OneChange


def change_facts(
    changes: Changes,
    figures: Sequence[ComparedFigure],
    baseline: str,
    answers: Sequence[Answer],
    without: Sequence[str] = (),
) -> list[ChangeFacts]:
    """Each pair of arms that isolates a change, and each change that none does; not of the arms in ``without``."""
    decided = [
        ChangeFacts(
            change=pair.change,
            patch=pair.patch,
            arm=pair.arm,
            against=pair.against,
            given=list(pair.given),
            sentence=_sentence(pair, figures, baseline, answers),
        )
        for pair in changes.isolated
        if pair.arm not in without and pair.against not in without
    ]
    return decided + [
        ChangeFacts(
            change=undecided.change,
            patch=undecided.patch,
            arm=None,
            against=None,
            given=[],
            sentence=f"{undecided.change}: cannot be determined, because no two arms differ by it alone",
        )
        for undecided in changes.undecided
    ]


def _sentence(pair: OneChange, figures: Sequence[ComparedFigure], baseline: str, answers: Sequence[Answer]) -> str:
    given = f" given {', '.join(pair.given)}" if pair.given else ""
    who = f"{pair.change}{given} ({pair.arm} against {pair.against})"
    answer = next((a for a in answers if (a.arm, a.against) == (pair.arm, pair.against)), None)
    if answer is None or not answer.primary:
        return f"{who}: cannot be determined, because no primary figure of the two could be compared"
    return f"{who}: {words.said(figures, answer, baseline).rstrip('.')}"


def rows_of(figure: ComparedFigure, pair: OneChange | ChangeFacts, baseline: str) -> Sequence[Row]:
    """The comparison of the two arms of a change, from among those with the baseline or the direct ones."""
    if pair.against == baseline:
        return [row for row in figure.rows if row.arm == pair.arm]
    return [row for row in figure.direct if (row.arm, row.against) == (pair.arm, pair.against)]
