"""A campaign for a mailing list: plain text of 78 columns, which is also Markdown.

Tables are indented by four spaces (a code block in Markdown), text from outside is made harmless in both readings, and
everything txop itself writes is ASCII, so that the text survives old mail programs.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from txop.archive.reader import Archive
from txop.compare import words
from txop.compare.result import ArmValues, ComparedFigure, CompareResult, Row
from txop.core.visible import visible
from txop.core.whole_file import whole_file
from txop.present.format import MINUS, NOT_AVAILABLE
from txop.present.format import figure as written
from txop.report import facts
from txop.report.answer import published

WIDTH = 78
INDENT = "    "

_MOST_MISSING = 30
_MOST_EXPLORATORY = 200


def write_markdown(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write the report as text: verdict first, then the figures, then how they were made."""
    with whole_file(target) as out:
        out.write("\n".join(lines(archive, result)) + "\n")


def lines(archive: Archive, result: CompareResult) -> Iterator[str]:
    """The report, line by line."""
    title = escaped(result.title) or "Campaign"
    yield title
    yield "=" * min(WIDTH, max(3, len(title)))
    yield ""
    for sentence in result.headline:
        yield from paragraph(sentence)
    if result.description:
        yield from paragraph(" ".join(result.description.split()))
    yield from paragraph(f"Origin of all figures: {result.origin.value} ({facts.ORIGINS[result.origin]}).")
    for sentence in result.warnings:
        yield from paragraph(f"Note: {sentence}")
    if result.damage:
        yield from paragraph("Parts of the archive are damaged, and this covers the rest:")
        yield from block([[sentence] for sentence in result.damage])
    yield from _arms(result)
    yield from _figures(result)
    yield from _published(archive, result)
    yield from _changes(result)
    yield from _exploratory(result)
    yield from _runs(result)
    yield from heading("Method")
    yield from paragraph(" ".join(result.methods))
    yield from paragraph(_definitions(result))
    yield from _provenance(archive, result)
    yield from _reproduce(archive, result)


def _published(archive: Archive, result: CompareResult) -> Iterator[str]:
    rows = published.beside(archive, result)
    if rows:
        yield from heading("Beside published figures")
        yield from paragraph(published.NOTE)
        yield from block([list(published.HEAD), *(list(row.cells()) for row in rows)])


def _arms(result: CompareResult) -> Iterator[str]:
    yield from heading("What was compared")
    rows = [["arm", "", "runs", "void"]]
    for arm in result.arms:
        base = " (baseline)" if arm.name == result.baseline else ""
        rows.append([f"{arm.name}{base}", arm.title if arm.title != arm.name else "", str(arm.valid), str(arm.void)])
    yield from block(rows, right={2, 3})
    for arm in result.arms:
        notes = [arm.description, *([arm.link] if arm.link else [])]
        if any(notes):
            yield from paragraph(f"{arm.name}: " + ", ".join(note for note in notes if note) + ".")
        for patch in arm.patches:
            number = f"patch {patch.number}" if patch.number is not None else "patch"
            tail = [part for part in (patch.link, patch.upstream) if part]
            yield from paragraph(f"{arm.name}, {number}: {patch.description}" + "".join(f"; {part}" for part in tail))
    if result.environment:
        yield from block([[name, text] for name, text in result.environment.items()])


def _figures(result: CompareResult) -> Iterator[str]:
    primary = [figure for figure in result.figures if figure.role == "primary"]
    yield from heading("Result")
    if not primary:
        yield from paragraph("No primary figure could be compared.")
    for figure in primary:
        yield from paragraph(f"{_title(figure)}, {_blocks(figure)}:")
        rows = [["arm", "median", "change", "interval", "adj. p", "verdict"]]
        for values in figure.arms:
            row = next((row for row in figure.rows if row.arm == values.arm), None)
            n = "" if row is None or row.n == values.n else f" (n={values.n})"
            rows.append([values.arm, _median(values, figure) + n, *(_cells(row) if row else [])])
        yield from block(rows, right={1, 2, 3, 4})
        yield from _beside(figure)


def _changes(result: CompareResult) -> Iterator[str]:
    if not result.changes:
        return
    yield from heading("What each change does, given the others")
    for change in result.changes:
        yield from paragraph(f"{change.sentence}.")


def _beside(figure: ComparedFigure) -> Iterator[str]:
    """What must be known beside the table of a figure."""
    for row in (*figure.rows, *figure.direct):
        for warning in [*row.warnings, *row.excluded[:5]]:
            yield from paragraph(f"{words.compared(row)}: {warning}.")
    voided = []
    for row in figure.rows:
        if row.with_voided is not None:
            again = row.model_copy(update=dict(row.with_voided))
            voided.append(f"{row.arm} {words.change(again)} ({words.interval(again) or 'no interval'}, n={again.n})")
    if voided:
        yield from paragraph(f"With void and repeated runs: {', '.join(voided)}.")
    found = [
        f"{row.arm} {words.size(row.smallest_detectable_effect, row.effect_unit)}"
        for row in figure.rows
        if row.smallest_detectable_effect is not None
    ]
    if found:
        margin = words.size(figure.rows[0].margin, figure.rows[0].effect_unit)
        yield from paragraph(f"Smallest detectable effect: {', '.join(found)}; margin {margin}.")


def _exploratory(result: CompareResult) -> Iterator[str]:
    figures = [figure for figure in result.figures if figure.role == "exploratory" and figure.rows]
    if not figures:
        return
    yield from heading("Exploratory figures")
    names = {row.adjustment for figure in figures for row in figure.rows}
    if "label-swaps" in names:
        yield from paragraph("Not declared before the campaign; p adjusted over all of them by label swaps.")
    left = _MOST_EXPLORATORY
    for test in result.tests:
        for arm in result.arms:
            rows = [
                [
                    figure.metric.key,
                    words.change(row),
                    words.interval(row, unit=False) or "none",
                    words.verdict(row),
                ]
                for figure in figures
                for row in figure.rows
                if figure.test == test.name and row.arm == arm.name
            ][: max(0, left)]
            if rows:
                yield from paragraph(f"{test.name}, {arm.name} against {result.baseline}:")
                yield from block([["figure", "change", "interval", "verdict"], *rows], right={1, 2})
            left -= len(rows)
    if left <= 0:
        yield from paragraph("More of them are in the CSV and JSON exports.")


def _runs(result: CompareResult) -> Iterator[str]:
    if result.remarks:
        yield from heading("Remarks")
        for remark in result.remarks:
            about = remark.run or remark.arm
            yield from paragraph(f"{remark.at}{f', {about}' if about else ''}: {remark.text}")
    if result.voided:
        yield from heading("Void runs")
        rows = [["run", "cause", "repeated in"]]
        for run in result.voided:
            again = f"block {run.repeated_in}" if run.repeated_in is not None else "not repeated"
            rows.append([run.run, "; ".join(f"{g}: {c}" for g, c in zip(run.gates, run.causes, strict=True)), again])
        yield from block(rows)
    if result.run_warnings:
        yield from heading("Warnings")
        yield from block([[run.run, warning] for run in result.run_warnings for warning in run.warnings])
    if result.not_available:
        yield from heading("Not available")
        for reason, names in words.unavailable(result)[:_MOST_MISSING]:
            shown = "; ".join(names[:_MOST_MISSING])
            more = f"; and {len(names) - _MOST_MISSING} more" if len(names) > _MOST_MISSING else ""
            yield from paragraph(f"{shown}{more}: {reason}.")


def _definitions(result: CompareResult) -> str:
    found = {figure.metric.title: figure.metric.definition for figure in result.figures if figure.role == "primary"}
    return " ".join(f"{title[:1].upper()}{title[1:]}: {text}" for title, text in found.items())


def _provenance(archive: Archive, result: CompareResult) -> Iterator[str]:
    yield from heading("Provenance")
    design = result.design
    rows = [["txop", result.txop], ["campaign", design.state]]
    if design.started_at and design.ended_at:
        rows.append(["from, to", f"{design.started_at}, {design.ended_at}"])
    rows.append(["blocks", f"{design.blocks_complete} of {design.blocks_planned} complete, seed {design.seed}"])
    rows += [[f"{target}: {name}", text] for target, found in facts.targets(archive).items() for name, text in found]
    rows += [[f"{arm}: {name}", text] for arm, found in facts.loaded_arms(archive).items() for name, text in found]
    yield from block(rows)


def _reproduce(archive: Archive, result: CompareResult) -> Iterator[str]:
    yield from heading("Reproduce")
    yield from paragraph("With the plan.toml of the archive:")
    commands = facts.reproduce(archive)
    again = ["txop", "compare", "ARCHIVE"]
    if result.baseline != archive.plan.baseline:
        again += ["--baseline", result.baseline]
    yield from block([[command] for command in [*commands, " ".join(again)]], fold=False)
    if digest := facts.plan_sha256(archive):
        yield from block([[f"plan.toml sha256 {digest[:32]}"], [f"{'':17}{digest[32:]}"]], fold=False)


def _title(figure: ComparedFigure) -> str:
    unit = f" in {figure.metric.unit}" if figure.metric.unit else ""
    better = f" ({figure.metric.better} is better)" if figure.metric.better else ""
    return f"{figure.test}: {figure.metric.title}{unit}{better}"


def _blocks(figure: ComparedFigure) -> str:
    if not figure.rows:
        return "not compared"
    numbers = {row.n for row in figure.rows}
    text = " or ".join(str(number) for number in sorted(numbers))
    return f"n={text} blocks" if figure.rows[0].paired else f"n={text}, unpaired"


def _median(values: ArmValues, figure: ComparedFigure) -> str:
    if values.median_infinite:
        return "inf"
    if values.median is None:
        return "n/a"
    return f"{words.bounded(values.bound)}{written(values.median, figure.metric.digits)}"


def _cells(row: Row) -> list[str]:
    p = row.p_adjusted if row.p_adjusted is not None else row.p
    return [words.change(row), words.interval(row, unit=False) or "none", words.p_value(p), words.verdict(row)]


def heading(text: str) -> Iterator[str]:
    """A heading, underlined."""
    yield ""
    yield text
    yield "-" * len(text)
    yield ""


_TOGETHER = re.compile(r" (?=%|s |ms|pp|Mbit/s)")
"""A blank between a number and its unit, at which no line ends."""


def paragraph(text: str) -> Iterator[str]:
    """Text filled to 78 columns, and an empty line after it."""
    held = _TOGETHER.sub("\0", escaped(text))
    filled = textwrap.wrap(held, WIDTH, break_long_words=False, break_on_hyphens=False)
    yield from (_BLOCK_STARTS.sub(r"\1\\\2", line.replace("\0", " ")) for line in filled)
    yield ""


_BLOCK_STARTS = re.compile(r"^(\d{0,9})([.)](?=\s|$)|[-+](?=\s|$)|=+\s*$|-[-\s]*$|~~~)")
"""What at the start of a line would begin a list, a fence or a rule, or make a heading of the line above."""


def block(rows: Sequence[Sequence[str]], *, right: Iterable[int] = (), fold: bool = True) -> Iterator[str]:
    """A table, as wide as it has to be and no wider than 78 columns: the widest columns are folded."""
    cells = [[plain(cell) for cell in row] for row in rows]
    count = max((len(row) for row in cells), default=0)
    widths = [max((len(row[i]) for row in cells if i < len(row)), default=0) for i in range(count)]
    room = WIDTH - len(INDENT) - 2 * (count - 1)
    while fold and sum(widths) > room and max(widths) > 8:
        widest = widths.index(max(widths))
        widths[widest] -= min(sum(widths) - room, max(1, widths[widest] - 8))
    columns = set(right)
    for row in cells:
        folded = [
            (textwrap.wrap(cell, widths[i]) if fold and len(cell) > widths[i] else [cell]) or [""]
            for i, cell in enumerate(row)
        ]
        for number in range(max(map(len, folded), default=0)):
            parts = [lines[number] if number < len(lines) else "" for lines in folded]
            line = "  ".join(
                part.rjust(widths[i]) if i in columns else part.ljust(widths[i]) for i, part in enumerate(parts)
            )
            yield f"{INDENT}{line}".rstrip()
    yield ""


_ASCII = str.maketrans({MINUS: "-", NOT_AVAILABLE: "-", "…": "...", "µ": "u"})


def plain(text: str) -> str:
    """Text for a table: one line, nothing in it acts, txop's own signs in ASCII."""
    return visible(text).translate(_ASCII).replace("∞", "inf")


_ACTIVE = re.compile(r"[\\`*<>\[\]&#]|(?<![a-z0-9])_|_(?![a-z0-9])", re.IGNORECASE)


def escaped(text: str) -> str:
    r"""Text for a paragraph: as :func:`plain`, with what Markdown would act on escaped.

    >>> escaped("a <b>bold</b> claim, cpu_busy, 5 % ")
    'a \\<b\\>bold\\</b\\> claim, cpu_busy, 5 % '
    """
    return _ACTIVE.sub(lambda match: "\\" + match.group(), plain(text))
