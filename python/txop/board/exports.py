"""A board as JSON, page, Markdown and DokuWiki."""

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
from txop.report.exports import dokuwiki, markdown

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


def markdown_lines(judged: JudgedBoard) -> Iterator[str]:
    """The board as GitHub's kind of Markdown, with a table."""
    board = judged.board
    yield f"# {markdown.escaped(board.title)}"
    yield ""
    for sentence in (headline(judged), board.about, _source(judged)):
        if sentence:
            yield markdown.escaped(sentence)
            yield ""
    yield from _markdown_table(HEAD, [_cells(judged, number) for number in range(len(judged.rows))])
    notes = [(row, outcome) for row in judged.rows for outcome in row.outcomes]
    if notes:
        yield "## What it rests on"
        yield ""
        yield from (f"- {markdown.escaped(row.task.task)}: {markdown.escaped(outcome_words(o))}" for row, o in notes)
        yield ""
    for checked in judged.certificates:
        certificate = board.certificate[checked.number]
        yield f"## Certificate: {markdown.escaped(certificate_title(certificate, checked))}"
        yield ""
        rows = [(line.text, line.answer, line.sentence) for line in checked.lines]
        yield from _markdown_table(("Certified", "Capture", "Because"), rows)
        yield markdown.escaped(certificate_note(certificate, checked))
        yield ""


def dokuwiki_lines(judged: JudgedBoard) -> Iterator[str]:
    """The board in the layout that driver developers keep on a DokuWiki page."""
    board = judged.board
    yield f"===== {dokuwiki.heading(board.title)} ====="
    yield ""
    for sentence in (headline(judged), board.about, _source(judged)):
        if sentence:
            yield dokuwiki.cell(sentence)
            yield ""
    yield dokuwiki.table_row(HEAD, head=True)
    for number in range(len(judged.rows)):
        yield dokuwiki.table_row([dokuwiki.cell(text) for text in _cells(judged, number)])
    yield ""
    notes = [(row, outcome) for row in judged.rows for outcome in row.outcomes]
    if notes:
        yield "==== What it rests on ===="
        yield from (f"  * {dokuwiki.cell(row.task.task)}: {dokuwiki.cell(outcome_words(o))}" for row, o in notes)
        yield ""
    for checked in judged.certificates:
        certificate = board.certificate[checked.number]
        yield f"==== {dokuwiki.heading('Certificate: ' + certificate_title(certificate, checked))} ===="
        yield dokuwiki.table_row(("Certified", "Capture", "Because"), head=True)
        for line in checked.lines:
            yield dokuwiki.table_row([dokuwiki.cell(text) for text in (line.text, line.answer, line.sentence)])
        yield ""
        yield dokuwiki.cell(certificate_note(certificate, checked))
        yield ""


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


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for cells in rows:
        yield "| " + " | ".join(markdown.escaped(cell).replace("|", "\\|") for cell in cells) + " |"
    yield ""
