"""A campaign in plain text, in at most 48 lines where it has a few arms: what a maintainer reads in a mail, with the
page attached.

76 columns, so that it can be quoted once. The figures are those of the first screen of the page.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.core.visible import visible
from txop.core.whole_file import whole_file
from txop.present.format import plural
from txop.report import facts
from txop.report.answer.because import because
from txop.report.answer.scorecard import origin_note, scorecard
from txop.report.answer.setup import congestion_control, meta, targets
from txop.report.answer.verdicts import Line, verdicts
from txop.report.answer.wording import listed
from txop.report.exports.mail_table import table

WIDTH = 76
LINES = 48
"""A mail of a few arms has no more; harm is never left out for it."""
LINES_OF_A_SERIES = 40
"""The same for a mail with a cover."""

_PAGE = "report.html"
_LONGEST = 200
"""Characters of one text from the plan or the archive."""

_MOST_ARMS = 8


@dataclass(frozen=True)
class _Size:
    """How much of what there is."""

    named: int
    """Gains and costs named of each comparison; all are counted."""
    arms: int
    """In the table."""
    reasons: int
    """Sentences of the why."""
    facts: int = 8
    """In each of these."""
    gaps: bool = True
    """Also what can't be determined; without, it is on the page only."""


_SIZES = (
    _Size(2, 8, 4), _Size(2, 8, 2), _Size(2, 6, 2), _Size(2, 4, 2), _Size(2, 4, 2, facts=2), _Size(2, 4, 4, facts=1,
    gaps=False), _Size(2, 4, 2, facts=1, gaps=False), _Size(2, 4, 1, gaps=False), _Size(1, 4, 2, facts=1, gaps=False),
    _Size(1, 4, 1, gaps=False),
)  # fmt: skip
"""The first with which the mail is short enough."""
_WITHOUT_REASONS = _Size(1, 4, 0)
"""For a series, with a verdict that takes room, too."""

_ASCII = str.maketrans({"−": "-", "–": "-", "…": "...", "µ": "u", "μ": "u", "×": "x", "·": "-", "±": "+/-", "∞": "inf"})


_MARKS = re.compile(r"\((?:R|TM)\)| Processor\b")
"""What names of processors have beside the name."""

_TOGETHER = re.compile(r" (?=(?:%|pp|s|ms|µs|us|Mbit/s)(?![a-z]))")
"""A blank between a number and its unit, at which no line ends."""


@dataclass(frozen=True)
class Cover:
    """What a mail says that is more than a campaign's: of a patch series."""

    paragraphs: tuple[str, ...]
    """Before the comparison, each on lines of its own."""
    again: tuple[str, ...]
    """The commands that repeat it, in place of the campaign's."""


def write_mail(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write the mail in UTF-8."""
    with whole_file(target) as out:
        out.write("\n".join(lines(archive, result)) + "\n")


def write_mail_ascii(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write the mail in ASCII: signs as words or letters, what has none as its escape."""
    with whole_file(target) as out:
        out.write("\n".join(lines(archive, result, plain=True)) + "\n")


def lines(archive: Archive, result: CompareResult, *, plain: bool = False, cover: Cover | None = None) -> list[str]:
    """The mail, line by line; ``plain``: in ASCII."""
    written: list[str] = []
    most = LINES if cover is None else LINES_OF_A_SERIES
    for size in _SIZES if cover is None else (*_SIZES, _WITHOUT_REASONS):
        written = list(_Writer(plain=plain).mail(archive, result, size, cover))
        if len(written) <= most:
            break
    return written


def cover_lines(cover: Cover) -> list[str]:
    """What a cover says, line by line, of a series that was not measured."""
    return list(_Writer(plain=False).cover(cover))


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

    def cover(self, cover: Cover) -> Iterator[str]:
        for paragraph in cover.paragraphs:
            yield from self._filled(paragraph, "  ")

    def mail(self, archive: Archive, result: CompareResult, size: _Size, cover: Cover | None) -> Iterator[str]:
        if cover is not None:
            yield from self.cover(cover)
            yield ""
        else:
            yield from self._filled(result.title or "Campaign")
        yield from self._filled(meta(result))
        yield ""
        answer = verdicts(result, size.named, details=True)
        for sentence in answer.lead:
            yield from self._filled(sentence.text)
        for line in answer.lines:
            yield from self._filled(f"* {line.arm} vs {line.against}: {line.text}")
        if answer.more:
            yield from self._filled(f"{plural(answer.more, 'more comparison')} in {_PAGE}.")
        card = scorecard(result)
        if card is not None:
            drawn, notes = table(card, result.baseline, width=WIDTH, most_arms=size.arms, page=_PAGE, safe=self._safe)
            yield ""
            yield from drawn
            said_below = origin_note(result)
            yield from self._filled(" ".join([*(note for note in card.notes if note != said_below), *notes]))
        yield from self._why(archive, result, answer.lines, size)
        yield ""
        for head, sentences in (
            ("Set-up", _setup(archive, result, with_arms=cover is None)),
            ("Caveats", _caveats(result)),
            ("Attachments", _attachments(archive, cover)),
        ):
            yield from self._filled(f"{head}: {'. '.join(sentences)}.", "  ")

    def _why(self, archive: Archive, result: CompareResult, lines: Sequence[Line], size: _Size) -> Iterator[str]:
        of_arms = [[(line, why) for why in because(archive, result, line.arm, line.against)] for line in lines]
        known = [each for of_arm in of_arms for each in of_arm]
        if not known or not size.reasons:
            return
        turns = [each for turn in zip_longest(*of_arms) for each in turn if each is not None][: size.reasons]
        chosen = [each for each in known if each in turns]  # each arm's first, before a second
        bases = {why.basis for _, why in known if why.has_figures}
        basis = bases.pop().removesuffix(f", {result.origin.value}") if len(bases) == 1 else ""
        yield ""
        if all(why.is_proven for _, why in known):
            yield from self._filled("Why (by intervention):")
        elif any(why.is_proven for _, why in known):
            yield from self._filled("Why (correlation, where it does not say by intervention):")
        else:
            yield from self._filled(f"Why ({basis}; correlation):" if basis else "Why (correlation, no proof):")
        for at, (line, why) in enumerate(chosen, 1):
            said = f"{why.test}: {'; '.join(why.facts[: size.facts])}." if why.has_figures and basis else why.text
            more = f" {len(known) - len(chosen)} more in {_PAGE}." if at == len(chosen) < len(known) else ""
            yield from self._filled(f"* {line.arm} vs {line.against}, {said}{more}")
        gaps = {why.missing for _, why in chosen if why.has_figures and basis and why.missing}
        for gap in sorted(gaps) if size.gaps else ():
            yield from self._filled(f"* {gap}")

    def _safe(self, text: str) -> str:
        short = text if len(text) <= _LONGEST * 10 else text[: _LONGEST * 10] + "…"
        shown = visible(" ".join(short.split()))
        return ascii_of(shown) if self._plain else shown

    def _filled(self, text: str, indent: str = "") -> list[str]:
        held = _TOGETHER.sub("\0", self._safe(text))
        indent = "  " if held.startswith("* ") else indent
        filled = textwrap.wrap(held, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
        return [line.replace("\0", " ") for line in filled]


def _setup(archive: Archive, result: CompareResult, *, with_arms: bool) -> Iterator[str]:
    """Arms, unless a cover has named them; tests; machines."""
    if with_arms:
        yield _arms(result)
    tests: dict[str, list[str]] = {}
    for test in result.tests:
        how = f"{test.length} after {test.warm_up_s:g} s of warm-up, {plural(len(test.blocks), 'block')}"
        control = congestion_control(archive, test.name)
        tests.setdefault(how, []).append(f"{test.name} ({test.kind}{f', {control}' if control else ''})")
    yield "; ".join(f"{', '.join(names)}: {how}" for how, names in list(tests.items())[:_MOST_ARMS])
    machines: dict[str, list[str]] = {}
    for each in targets(archive):
        known = "; ".join(part for part in (_MARKS.sub("", each.what), each.driver) if part)
        if not known and each.kind == "guest":
            continue  # the device under test and its peer are one guest
        kind = "" if each.kind == result.origin.value else f" ({each.kind})"
        machines.setdefault(known[:_LONGEST] or "not available", []).append(f"{each.name}{kind}")
    if machines:
        yield "; ".join(f"{', '.join(names)}: {known}" for known, names in list(machines.items())[:_MOST_ARMS])


def _arms(result: CompareResult) -> str:
    arms: list[str] = []
    known_patches: set[str] = set()
    for arm in result.arms:
        patches = []
        for patch in arm.patches:
            name = "patch" if patch.number is None else f"patch {patch.number}"
            text = f"{name}: {patch.description[:_LONGEST]}"
            patches.append(name if text in known_patches and patch.number is not None else text)
            known_patches.add(text)
        title = arm.title if arm.title != arm.name and not patches else ""
        about = "; ".join(part for part in ("baseline" if arm.name == result.baseline else "", title) if part)
        known = "; ".join(part for part in (about, listed(patches, 3)) if part)
        arms.append(f"{arm.name} ({known})" if known else arm.name)
    return ", ".join(arms[:_MOST_ARMS]) + (f" and {len(arms) - _MOST_ARMS} more arms" if len(arms) > _MOST_ARMS else "")


def _caveats(result: CompareResult) -> Iterator[str]:
    yield f"{result.origin.value}: {facts.ORIGINS[result.origin]}"
    yield f"p adjusted: {plural(result.design.family, 'declared comparison')} (Holm), all others (label swaps)"
    yield from (warning.rstrip(".") for warning in result.warnings)
    if result.damage:
        yield f"Parts of the archive are damaged: {listed(result.damage, 3)}"
    if result.voided:
        gates = listed(sorted({gate for run in result.voided for gate in run.gates}))
        yield f"{plural(len(result.voided), 'run')} void ({gates})"
    if result.run_warnings:
        yield f"{plural(len(result.run_warnings), 'run')} with a warning, listed in {_PAGE}"


def _attachments(archive: Archive, cover: Cover | None) -> Iterator[str]:
    made = "" if cover is not None else "txop report ARCHIVE; "  # of a series, the page is there already
    yield f"{_PAGE} ({made}every figure, interval and run)"
    digest = facts.plan_sha256(archive)
    yield f"plan.toml (sha256 {digest[:16]}...)" if digest else "plan.toml is not available"
    yield f"Again: {'; '.join(facts.reproduce(archive) if cover is None else cover.again)}"
