"""The top of the page: the outcome, the origin of the figures, what was measured on which machines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from txop.archive.reader import Archive
from txop.compare.result import CompareResult, PatchFacts
from txop.present.blocks import Cell, Column, Fact, Facts, Grid, Lines
from txop.present.chapters import Picture
from txop.present.format import NOT_AVAILABLE, plural
from txop.report.answer.because import Because, because, common_note
from txop.report.answer.scorecard import Score, Scorecard, scorecard
from txop.report.answer.setup import meta, targets
from txop.report.answer.verdicts import Line, verdicts
from txop.report.answer.verdicts import Sentence as Said
from txop.report.answer.wording import SIGNS, TONES, numbers
from txop.report.campaign.pieces import Piece, Tone
from txop.report.facts import ORIGINS

_WEB = re.compile(r"https?://[^\s<>\"'`\\]{1,2000}", re.IGNORECASE)

_MOST_REMARKS = 40


@dataclass(frozen=True)
class Sentence:
    """One sentence of the answer."""

    text: str
    tone: Tone


@dataclass(frozen=True)
class VerdictView:
    """The verdict on one arm, with what goes with it."""

    arm: str
    against: str
    sign: str
    tone: Tone
    text: str
    because: Sequence[Because]


@dataclass(frozen=True)
class ScoreView:
    """A cell of the scorecard."""

    text: str
    change: str
    verdict: str
    """Sign and word."""
    tone: Tone
    n: str
    not_of_test: bool = False
    """The test does not measure it."""


@dataclass(frozen=True)
class PatchView:
    """A patch, with a link only when it is one a browser may follow."""

    label: str
    description: str
    href: str | None
    link_text: str
    upstream: str


@dataclass(frozen=True)
class ArmView:
    """An arm as the page introduces it."""

    name: str
    title: str
    description: str
    href: str | None
    link_text: str
    baseline: bool
    ink: str
    patches: Sequence[PatchView]
    runs: str
    faults: str


@dataclass(frozen=True)
class Opening:
    """Everything above the first chapter."""

    lead: Sequence[Sentence]
    verdicts: Sequence[VerdictView]
    because_note: str
    """Basis and gaps of the sentences after *because*, where all share them; else each has its own."""
    more_verdicts: int
    full: Sequence[Sentence]
    """Every sentence of the answer, with intervals and all harm."""
    card: Scorecard | None
    scores: Sequence[Sequence[ScoreView]]
    """Row by row of the scorecard."""
    chart: Picture | None
    origin: str
    origin_means: str
    meta: str
    notes: Sequence[Sentence]
    arms: Sequence[ArmView]
    pieces: Sequence[Piece]


def opening(archive: Archive, result: CompareResult, inks: dict[str, str], chart: Picture | None) -> Opening:
    """The top of the page; ``inks`` gives the ink of each arm that plots show."""
    answer = verdicts(result)
    card = scorecard(result)
    whys = [because(archive, result, line.arm, line.against) for line in answer.lines]
    return Opening(
        lead=[_toned(each) for each in answer.lead],
        verdicts=[_verdict(line, why) for line, why in zip(answer.lines, whys, strict=True)],
        because_note=common_note([each for why in whys for each in why]),
        more_verdicts=answer.more,
        full=[_toned(each) for each in answer.full] if answer.lines else [],
        card=card,
        scores=[[_score(score) for score in row.scores] for row in card.rows] if card is not None else [],
        chart=chart,
        origin=result.origin.value,
        origin_means=ORIGINS[result.origin],
        meta=meta(result),
        notes=_notes(result),
        arms=[
            ArmView(
                name=arm.name,
                title=arm.title if arm.title != arm.name else "",
                description=arm.description,
                href=web_link(arm.link),
                link_text=arm.link or "",
                baseline=arm.name == result.baseline,
                ink=inks.get(arm.name, ""),
                patches=[_patch(patch) for patch in arm.patches],
                runs=plural(arm.valid, "valid run")
                + (f", {arm.void} void" if arm.void else "")
                + (f" ({arm.load_failures} failed to load)" if arm.load_failures else ""),
                faults=plural(arm.faults, "kernel-log fault") if arm.faults else "",
            )
            for arm in result.arms
        ],
        pieces=[
            piece
            for piece in (_environment(result), _targets(archive), _tests(result), _remarks(result))
            if piece is not None
        ],
    )


def _verdict(line: Line, why: Sequence[Because]) -> VerdictView:
    sign = "◆" if line.verdict is None else SIGNS[line.verdict]
    tone: Tone = "" if line.verdict is None else TONES[line.verdict]
    return VerdictView(line.arm, line.against, sign, tone, line.text, why)


def _score(score: Score) -> ScoreView:
    if score.verdict is None:
        return ScoreView(score.text, score.change, "", "", score.n, score.absence == "not-of-test")
    said = f"{SIGNS[score.verdict]} {score.said}"
    return ScoreView(score.text, score.change, said, TONES[score.verdict], score.n)


def web_link(text: str | None) -> str | None:
    """``text`` when it is a whole web address and nothing else."""
    return text if text is not None and _WEB.fullmatch(text) else None


def _toned(sentence: Said) -> Sentence:
    return Sentence(sentence.text, "warn" if sentence.preliminary else "")


def _notes(result: CompareResult) -> list[Sentence]:
    notes = [Sentence(text, "warn") for text in result.warnings]
    if result.damage:
        damage = "; ".join(result.damage[:5]) + ("; and more" if len(result.damage) > 5 else "")
        notes.append(Sentence(f"Parts of the archive are damaged, and this page covers the rest: {damage}.", "bad"))
    return notes


def _patch(patch: PatchFacts) -> PatchView:
    label = "patch" if patch.number is None else f"patch {patch.number}"
    return PatchView(label, patch.description, web_link(patch.link), patch.link or "", patch.upstream or "")


def _environment(result: CompareResult) -> Facts | None:
    items = [Fact(name.replace("_", " "), text) for name, text in list(result.environment.items())[:40]]
    return Facts(items, title="Environment") if items else None


def _remarks(result: CompareResult) -> Lines | None:
    lines = []
    for remark in result.remarks[:_MOST_REMARKS]:
        about = remark.run or remark.arm
        lines.append(f"{remark.at[:16].replace('T', ' ')}{f', {about}' if about else ''}: {remark.text}")
    if len(result.remarks) > _MOST_REMARKS:
        lines.append(f"and {len(result.remarks) - _MOST_REMARKS} more; the JSON export has them all")
    return Lines(lines, title="Remarks") if lines else None


def _targets(archive: Archive) -> Grid | None:
    rows = [
        [Cell(each.name), Cell(each.kind), Cell(each.what or NOT_AVAILABLE), Cell(each.driver or NOT_AVAILABLE)]
        for each in targets(archive)
    ]
    columns = [Column(text, right=False) for text in ("target", "kind", "what it is", "driver, firmware")]
    return Grid("Targets", columns, rows, unit_of_rows="targets", note="Chapter Provenance has every fact of them.")


def _tests(result: CompareResult) -> Grid:
    columns = [
        Column("test", right=False),
        Column("kind", right=False),
        Column("window"),
        Column("warm-up"),
        Column("blocks that count"),
    ]
    rows = [
        [
            Cell(test.name),
            Cell(test.kind),
            Cell(test.length, test.duration_s),
            Cell(f"{test.warm_up_s:g} s", test.warm_up_s),
            Cell(f"{len(test.blocks)}: {numbers(test.blocks)}" if test.blocks else "0", len(test.blocks)),
        ]
        for test in result.tests
    ]
    return Grid("Tests", columns, rows, unit_of_rows="tests")
