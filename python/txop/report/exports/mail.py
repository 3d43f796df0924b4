"""A campaign in some forty lines of plain text: what a maintainer reads in a mail, with the page attached.

76 columns, so that it can be quoted once. The figures are those of the first screen of the page.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.core.visible import visible
from txop.core.whole_file import whole_file
from txop.report.answer.because import because
from txop.report.answer.scorecard import Scorecard, scorecard
from txop.report.answer.setup import meta, targets
from txop.report.answer.verdicts import Line, verdicts
from txop.report.answer.wording import listed, plural
from txop.report.exports import facts

WIDTH = 76
LINES = 50
"""A mail of a few arms has no more; harm is never left out for it."""

_PAGE = "report.html"
_LONGEST = 200
"""Characters of one text from the plan or the archive."""

_MOST_HARMS = 2
_MOST_ARMS = 8

_SIZES = ((12, 6), (8, 4), (8, 2), (6, 3), (6, 2), (4, 2), (4, 1))
"""Rows of the table and sentences of the why, until the mail is short enough."""

_ASCII = str.maketrans({"−": "-", "–": "-", "…": "...", "µ": "u", "μ": "u", "×": "x", "·": "-", "±": "+/-", "∞": "inf"})


_TOGETHER = re.compile(r" (?=(?:%|pp|s|ms|µs|us|Mbit/s)(?![a-z]))")
"""A blank between a number and its unit, at which no line ends."""


def write_mail(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write the mail in UTF-8."""
    with whole_file(target) as out:
        out.write("\n".join(lines(archive, result)) + "\n")


def write_mail_ascii(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write the mail in ASCII: signs as words or letters, what has none as its escape."""
    with whole_file(target) as out:
        out.write("\n".join(lines(archive, result, plain=True)) + "\n")


def lines(archive: Archive, result: CompareResult, *, plain: bool = False) -> list[str]:
    """The mail, line by line; ``plain``: in ASCII."""
    written: list[str] = []
    for rows, reasons in _SIZES:
        written = list(_Writer(plain=plain).mail(archive, result, rows, reasons))
        if len(written) <= LINES:
            break
    return written


def ascii_of(text: str) -> str:
    """Text in ASCII; letters lose their accents, and what has no likeness becomes its escape.

    >>> ascii_of("−3.1 %, 416 µs, café, ∞, 漢")
    '-3.1 %, 416 us, cafe, inf, \\\\u6f22'
    """
    near = unicodedata.normalize("NFKD", text.translate(_ASCII))
    bare = "".join(letter for letter in near if not unicodedata.combining(letter))
    return bare.encode("ascii", "backslashreplace").decode("ascii")


class _Writer:
    """Makes text safe and fills lines."""

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain

    def mail(self, archive: Archive, result: CompareResult, rows: int, reasons: int) -> Iterator[str]:
        yield from self._filled(result.title or "Campaign")
        yield from self._filled(meta(result))
        yield ""
        answer = verdicts(result, _MOST_HARMS)
        for sentence in answer.lead:
            yield from self._filled(sentence)
        for line in answer.lines:
            yield from self._filled(f"* {line.arm} against {line.against}: {line.text}")
        if answer.more:
            yield from self._filled(f"{plural(answer.more, 'more comparison')} in {_PAGE}.")
        card = scorecard(result)
        if card is not None:
            yield ""
            yield from self._table(card, result.baseline, rows)
        yield from self._why(archive, result, answer.lines, reasons)
        for head, told in (
            ("Set-up", _setup(archive, result)),
            ("Caveats", _caveats(result)),
            ("Attachments", _attachments(archive)),
        ):
            yield ""
            yield from self._filled(f"{head}: {'. '.join(told)}.", "  ")

    def _why(self, archive: Archive, result: CompareResult, lines: Sequence[Line], most: int) -> Iterator[str]:
        known = [(line, why) for line in lines for why in because(archive, result, line.arm, line.against)]
        if not known:
            return
        bases = {why.basis for _, why in known if why.told}
        basis = f"; {bases.pop()}" if len(bases) == 1 else ""
        yield ""
        yield from self._filled(f"Why (goes with the verdict, no proof of its cause{basis}):")
        for line, why in known[:most]:
            said = f"{why.test}: {'; '.join(why.facts)}." if why.told and basis else why.text
            yield from self._filled(f"* {line.arm} against {line.against}, {said}")
        gaps = {why.missing for _, why in known[:most] if why.told and basis and why.missing}
        for gap in sorted(gaps):
            yield from self._filled(f"* {gap}")
        if len(known) > most:
            yield from self._filled(f"{len(known) - most} more in {_PAGE}.")

    def _safe(self, text: str) -> str:
        short = text if len(text) <= _LONGEST * 10 else text[: _LONGEST * 10] + "…"
        shown = visible(" ".join(short.split()))
        return ascii_of(shown) if self._plain else shown

    def _filled(self, text: str, indent: str = "") -> list[str]:
        held = _TOGETHER.sub("\0", self._safe(text))
        indent = "  " if held.startswith("* ") else indent
        filled = textwrap.wrap(held, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
        return [line.replace("\0", " ") for line in filled]

    def _table(self, card: Scorecard, baseline: str, most: int) -> Iterator[str]:
        """A line for each figure and arm; whole figures are left out from the end, and said to be."""
        tests = list(dict.fromkeys(row.test for row in card.rows))
        groups: list[list[list[str]]] = []
        names: list[str] = []
        missing: list[str] = []
        for test, at in ((test, at) for test in tests for at in range(len(card.columns))):
            name = f"{test} {card.columns[at]}"
            scores = {row.arm: row.scores[at] for row in card.rows if row.test == test}
            if not any(score.verdict for score in scores.values()):
                missing.append(name)
                continue
            group: list[list[str]] = []
            for arm, score in scores.items():
                if arm == baseline:
                    continue
                first = [name, scores[baseline].text] if not group else ["", ""]
                verdict = f" {score.verdict.replace('-', ' ')}" if score.verdict else ""
                group.append([*first, arm, score.text, f"{score.change}{verdict}{f' ({score.n})' if score.n else ''}"])
            groups.append(group)
            names.append(name)
        shown: list[list[str]] = []
        left = []
        for at, group in enumerate(groups):
            if shown and len(shown) + len(group) > most:
                left = names[at:]
                break
            shown += group
        head = ["figure (median)", baseline, "arm", "", "change, verdict"]
        cells = [[self._safe(cell) for cell in row] for row in [head, *shown]]
        widths = [max(len(row[i]) for row in cells) for i in range(4)]
        if shown:
            for row in cells:
                padded = [row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2].ljust(widths[2])]
                yield "  ".join([*padded, row[3].rjust(widths[3]), row[4]]).rstrip()
        notes = list(card.notes)
        if missing:
            notes.append(f"No comparison: {listed(missing, 3)}.")
        if left:
            notes.append(f"{plural(len(left), 'more figure')} in {_PAGE}.")
        yield from self._filled(" ".join(notes))


def _setup(archive: Archive, result: CompareResult) -> Iterator[str]:
    arms = []
    for arm in result.arms:
        patches = [
            ("patch" if patch.number is None else f"patch {patch.number}") + f": {patch.description[:_LONGEST]}"
            for patch in arm.patches
        ]
        title = arm.title if arm.title != arm.name and not patches else ""
        about = "; ".join(part for part in ("baseline" if arm.name == result.baseline else "", title) if part)
        known = "; ".join(part for part in (about, listed(patches, 3)) if part)
        arms.append(f"{arm.name} ({known})" if known else arm.name)
    yield ", ".join(arms[:_MOST_ARMS]) + (f" and {len(arms) - _MOST_ARMS} more arms" if len(arms) > _MOST_ARMS else "")
    tests: dict[str, list[str]] = {}
    for test in result.tests:
        how = f"{test.length} after {test.warm_up_s:g} s of warm-up, {plural(len(test.blocks), 'block')}"
        tests.setdefault(how, []).append(f"{test.name} ({test.kind})")
    yield "; ".join(f"{', '.join(names)}: {how}" for how, names in list(tests.items())[:_MOST_ARMS])
    machines: dict[str, list[str]] = {}
    for each in targets(archive):
        known = "; ".join(part for part in (each.what, each.driver) if part) or "not available"
        machines.setdefault(known[:_LONGEST], []).append(f"{each.name} ({each.kind})")
    if machines:
        yield "; ".join(f"{', '.join(names)}: {known}" for known, names in list(machines.items())[:_MOST_ARMS])


def _caveats(result: CompareResult) -> Iterator[str]:
    yield f"{result.origin.value}: {facts.ORIGINS[result.origin]}"
    yield f"Exploratory: not adjusted, a hint; {plural(result.design.family, 'declared comparison')} adjusted (Holm)"
    yield from (warning.rstrip(".") for warning in result.warnings)
    if result.damage:
        yield f"Parts of the archive could not be read: {listed(result.damage, 3)}"
    if result.voided:
        gates = listed(sorted({gate for run in result.voided for gate in run.gates}))
        yield f"{plural(len(result.voided), 'run')} void ({gates})"
    if result.run_warnings:
        yield f"{plural(len(result.run_warnings), 'run')} with a warning, listed in {_PAGE}"


def _attachments(archive: Archive) -> Iterator[str]:
    yield f"{_PAGE} (txop report ARCHIVE; every figure, interval and run)"
    digest = facts.plan_sha256(archive)
    yield f"plan.toml (sha256 {digest[:16]}...)" if digest else "plan.toml is not available"
    yield f"Again: {'; '.join(facts.reproduce(archive))}"
