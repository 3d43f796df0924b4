"""A board as sections for the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from txop.board.judge import CheckedCertificate, JudgedBoard, Row, Standing
from txop.board.model import Board, Certificate
from txop.board.outcome import Outcome
from txop.present.blocks import Block, Cell, Column, Grid, Lines, Section, Tone
from txop.present.format import plural

TONES: dict[Standing, Tone] = {
    "shown": "good",
    "works": "good",
    "contradicted": "bad",
    "evidence not there": "bad",
    "evidence disagrees": "bad",
    "does not work": "bad",
    "can't be determined": "dim",
    "claimed, without evidence": "dim",
}

WORDS: dict[Standing, str] = {
    "shown": "shown: the evidence agrees",
    "works": "the evidence shows that it works",
    "contradicted": "contradicted by the evidence",
    "evidence not there": "the evidence named is not there",
    "evidence disagrees": "the evidence disagrees with itself",
    "does not work": "the evidence shows that it does not work",
    "can't be determined": "can't be determined from what was given",
    "claimed, without evidence": "claimed, without evidence",
}
"""How each standing is shown."""


_COUNTED: dict[Standing, str] = {
    "shown": "shown by evidence",
    "works": "shown to work",
    "does not work": "shown not to work",
    "contradicted": "contradicted",
    "evidence disagrees": "with evidence that disagrees",
    "evidence not there": "without their evidence",
    "can't be determined": "that can't be determined",
    "claimed, without evidence": "claimed, without evidence",
}


def headline(judged: JudgedBoard) -> str:
    """The board in a sentence."""
    rows = len(judged.rows)
    counts = ((judged.count(standing), words) for standing, words in _COUNTED.items())
    parts = [f"{count} {words}" for count, words in counts if count]
    return f"{plural(rows, 'task')}: {', '.join(parts)}."


def sections(judged: JudgedBoard) -> list[Section]:
    """The tasks, what each rests on, and the certificates."""
    columns = (
        Column("Line", rank=3),
        Column("Priority", right=False),
        Column("Task", right=False),
        Column("Wi-Fi Alliance Test Case", rank=2, right=False),
        Column("State", right=False),
        Column("Optional", rank=2, right=False),
        Column("Evidence", right=False),
    )
    grid = Grid("", columns, [_row(row) for row in judged.rows], unit_of_rows="tasks", whole=True)
    notes = list(evidence_lines(judged))
    blocks: list[Block] = [grid]
    if notes:
        blocks.append(Lines(notes, "What it rests on"))
    made = [Section("tasks", 1, "Tasks", blocks)]
    for checked in judged.certificates:
        made.append(_certificate(judged.board, checked, len(made) + 1))
    return made


def evidence_lines(judged: JudgedBoard) -> Iterator[str]:
    """A sentence for each piece of evidence."""
    for row in judged.rows:
        for outcome in row.outcomes:
            yield f"{row.task.task}: {outcome_words(outcome)}"


def outcome_words(outcome: Outcome) -> str:
    """What a piece of evidence shows, with where it is and what its figures come from."""
    where = ", ".join(part for part in (outcome.source, outcome.origin) if part)
    answer = "" if outcome.answer == "can't be determined" else f"{outcome.answer}: "
    return f"{answer}{outcome.sentence}" + (f" ({where})" if where else "")


def optional_words(row: Row) -> str:
    """The column of the seed's board: ``y``, ``n`` or with its remark."""
    return ("y" if row.task.optional else "n") + (f" ({row.task.optional_note})" if row.task.optional_note else "")


def certificate_title(certificate: Certificate, checked: CheckedCertificate) -> str:
    """A certificate's device, vendor and date, and of which arm the runs are that it is checked against."""
    more = ", ".join(part for part in (certificate.vendor, certificate.date) if part)
    return certificate.product + (f" ({more})" if more else "") + (f": runs of {checked.arm}" if checked.arm else "")


def certificate_note(certificate: Certificate, checked: CheckedCertificate) -> str:
    """What the certificate is of, and what it is checked against."""
    of = ", ".join(part for part in (certificate.hardware, certificate.driver) if part not in ("", "?"))
    subject = f"The certificate is of {of}. " if of else ""
    if not checked.source:
        return subject + "No capture was given to check it against: --capture FILE, or an archive in place of a board."
    if checked.runs is None:
        return f"{subject}Checked against {checked.station or 'no station'} in {checked.source} ({checked.origin})."
    of_arm = f" of {checked.arm}" if checked.arm else ""
    if not checked.runs:
        return f"{subject}No valid run{of_arm} in {checked.source} has a capture that can be read."
    what = f"the captures of {plural(checked.runs, 'run')}{of_arm} in {checked.source} ({checked.origin})"
    return f"{subject}Checked against {checked.station or 'the station with most data of each run'} in {what}."


def _row(row: Row) -> Sequence[Cell]:
    task = row.task
    return (
        Cell("" if task.line is None else str(task.line), task.line),
        Cell(str(task.priority)),
        Cell(task.task),
        Cell(task.test_case),
        Cell(task.state),
        Cell(optional_words(row)),
        Cell(WORDS[row.standing], tone=TONES[row.standing]),
    )


def _certificate(board: Board, checked: CheckedCertificate, number: int) -> Section:
    certificate = board.certificate[checked.number]
    note = certificate_note(certificate, checked)
    title = f"Certificate: {certificate_title(certificate, checked)}"
    name = f"certificate-{number}"
    if not checked.source:
        return Section(name, number, title, [Lines(certificate.certified, "Certified")], (note,))
    columns = (Column("Certified", right=False), Column("Capture", right=False), Column("Because", right=False))
    rows = [
        (Cell(line.text), Cell(line.answer, tone=_certified_tone(line.answer)), Cell(line.sentence))
        for line in checked.lines
    ]
    return Section(name, number, title, [Grid("", columns, rows, note, "lines", whole=True)])


def _certified_tone(answer: str) -> Tone:
    if answer == "shown":
        return "good"
    return "bad" if answer in ("not claimed", "used, not claimed", "runs disagree") else "dim"
