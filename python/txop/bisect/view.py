"""A bisection in sections of text and tables, the same for the terminal and for the HTML page."""

from __future__ import annotations

from txop.bisect.result import BisectResult, CandidateResult
from txop.bisect.search import CandidateState
from txop.present import format as fmt
from txop.present.blocks import Block, Cell, Column, Fact, Facts, Grid, Lines, Plot, Section, Tone
from txop.present.format import plural

_TONES: dict[CandidateState, Tone] = {
    CandidateState.GOOD: "good",
    CandidateState.BAD: "bad",
    CandidateState.UNCLEAR: "",
    CandidateState.SKIPPED: "dim",
    CandidateState.UNTESTED: "dim",
}


def sections(result: BisectResult) -> list[Section]:
    """The sections."""
    tested = [row for row in result.candidates if row.standing is not CandidateState.UNTESTED or row.runs]
    blocks: list[Block] = [Lines((result.headline,)), Lines(tuple(result.sure), "How sure"), Plot("curve")]
    if result.notes or result.damage:
        blocks.append(Lines((*result.notes, *(f"Damaged: {text}" for text in result.damage)), "Notes"))
    found = [Section("answer", 1, "Answer", blocks)]
    found.append(Section("tested", 2, "What was tested", (_table(result, tested),)))
    found.append(Section("about", 3, "How", (_facts(result),)))
    return found


def _table(result: BisectResult, tested: list[CandidateResult]) -> Grid:
    unit = f", {result.figure.unit}" if result.figure.unit else ""
    columns = (
        Column("No."), Column("Candidate", right=False), Column("Title", right=False, rank=2),
        Column("State", right=False), Column("Runs", rank=2),
        Column(f"{result.figure.title}, median{unit}"), Column("Against good", right=False),
        Column("Date", right=False, rank=3), Column("Author", right=False, rank=3),
    )  # fmt: skip
    rows = [_row(result, row) for row in tested]
    left = len(result.candidates) - len(tested)
    note = f"{plural(left, 'candidate')} not tested: each has a tested one on both sides." if left else ""
    return Grid("", columns, rows, note, "candidates", whole=len(rows) <= 60)


def _row(result: BisectResult, row: CandidateResult) -> tuple[Cell, ...]:
    voids = sum(run.value is None for run in row.runs)
    valid = len(row.runs) - voids
    runs = f"{valid}" + (f" + {voids} void" if voids else "")
    if row.same_module_as is not None:
        runs += f", as {row.same_module_as}"
    mark = " (first)" if row.at == result.bad else ""
    against = row.cause if row.cause else (row.effect.text if row.effect is not None else "")
    if row.to_come is not None:
        against += f"; the bad end against it: {row.to_come.text}"
    return (
        Cell(str(row.at), row.at),
        Cell(row.name),
        Cell(row.title),
        Cell(f"{row.standing.value}{mark}", tone=_TONES[row.standing]),
        Cell(runs, valid),
        Cell(fmt.number(row.median, 2), row.median),
        Cell(_without_middle(against)),
        Cell(row.date[:10]),
        Cell(row.author),
    )


def _without_middle(text: str) -> str:
    """A failed build has its command first and the compiler's error last."""
    return text if len(text) <= 240 else f"{text[:60]} ... {text[-175:]}"


def _facts(result: BisectResult) -> Facts:
    figure = result.figure
    margin = f"{figure.margin:g} {figure.margin_unit}".strip()
    minutes = result.seconds / 60
    return Facts(
        (
            Fact("Judge", f"{figure.name}, {figure.better or 'no'} is better, margin {margin}; as txop compare judges"),
            Fact("Runs of a candidate", f"{result.least}, up to {result.most} where they do not settle it"),
            Fact("Source", f"{result.repository or 'a series'}: {', '.join(f or 'all of it' for f in result.folders)}"
                 if result.repository else "a patch series"),
            Fact("Driver", f"{result.driver}, built as the arm {result.arm}"),
            Fact("Origin", f"{result.origin.value}: a real driver on a virtual chip"),
            Fact("Cost", f"{plural(result.builds, 'build')}, {plural(result.runs, 'run')}, "
                         f"{minutes:.0f} min by this machine's clock"),
        )
    )  # fmt: skip
