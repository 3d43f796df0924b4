"""A board as JSON, page, and lines of a markup language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from txop.board.judge import CheckedCertificate, JudgedBoard
from txop.board.view import (
    WORDS,
    certificate_note,
    certificate_title,
    headline,
    optional_words,
    outcome_words,
    sections,
)
from txop.present.chapters import drawn_sections
from txop.present.page import render
from txop.report.exports.markup import Markup

FORMAT = "txop-board-report"
VERSION = 1

HEAD = ("Priority", "Task", "Wi-Fi Alliance Test Case", "State", "Optional", "Evidence")


def document(judged: JudgedBoard) -> dict[str, Any]:
    """The board with its evidence, for ``--json``."""
    board = judged.board
    return {
        "format": FORMAT,
        "version": VERSION,
        **{key: getattr(board, key) for key in ("title", "source", "about", "date", "station", "arm")},
        "headline": headline(judged),
        "tasks": [
            {
                **row.task.model_dump(exclude={"evidence"}),
                "standing": row.standing,
                "evidence": [asdict(outcome) for outcome in row.outcomes],
            }
            for row in judged.rows
        ],
        "certificates": [
            {**board.certificate[each.number].model_dump(exclude={"certified"}), **_certificate(each)}
            for each in judged.certificates
        ],
        "damage": list(judged.damage),
    }


def _certificate(checked: CheckedCertificate) -> dict[str, Any]:
    made = asdict(checked)
    del made["number"]
    return made


def page(judged: JudgedBoard, tool: str) -> str:
    """One self-contained page; ``tool`` is what wrote it."""
    chapters = drawn_sections(sections(judged), lambda _: None)
    return render("txop.board", "board.html.j2", judged=judged, headline=headline(judged), chapters=chapters, tool=tool)


def lines(judged: JudgedBoard, markup: Markup) -> Iterator[str]:
    """The board in a markup language, line by line."""
    board = judged.board
    yield from markup.title(board.title)
    for sentence in (headline(judged), board.about, _source(judged)):
        if sentence:
            yield from markup.paragraph(sentence)
    yield from markup.table(HEAD, [_cells(judged, number) for number in range(len(judged.rows))])
    notes = [f"{row.task.task}: {outcome_words(outcome)}" for row in judged.rows for outcome in row.outcomes]
    if notes:
        yield from markup.section("What it rests on")
        yield from markup.items(notes)
    for checked in judged.certificates:
        certificate = board.certificate[checked.number]
        yield from markup.section(f"Certificate: {certificate_title(certificate, checked)}")
        rows = [(line.text, line.answer, line.sentence) for line in checked.lines]
        yield from markup.table(("Certified", "Capture", "Because"), rows)
        yield from markup.paragraph(certificate_note(certificate, checked))


def _source(judged: JudgedBoard) -> str:
    source = ", ".join(part for part in (judged.board.source, judged.board.date) if part)
    return f"States as in: {source}." if source else ""


def _cells(judged: JudgedBoard, number: int) -> Sequence[str]:
    row = judged.rows[number]
    task = row.task
    return (
        *(str(task.priority), task.task, task.test_case, task.state, optional_words(row)),
        WORDS[row.standing],
    )
