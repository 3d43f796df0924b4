"""The figures compared: tables of effects, and figures that explain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from txop.archive.run_file import Bound
from txop.compare import words
from txop.compare.changes import rows_of
from txop.compare.result import ComparedFigure, CompareResult, Row
from txop.present.blocks import Cell, Column, Grid, Lines
from txop.present.cells import missing
from txop.present.format import plural
from txop.report.answer.wording import TONES, listed, median, unit, value, verdict
from txop.report.campaign.pieces import Piece
from txop.stats.limits import MAX_BLOCKS

HOST = (
    "cpu_busy_percent",
    "cpu_total_s_per_gbit",
    "cpu_s_per_gbit",
    "idle_cpu_percent",
    "idle_context_switches_per_s",
    "context_switches_per_s",
    "interrupts_per_s",
    "device_interrupts_per_s",
    "softirqs_net_per_s",
)
"""Metrics of what a driver costs its host."""

_MOST_NAMED = 40


def primary(result: CompareResult) -> list[ComparedFigure]:
    """The figures declared before the campaign."""
    return [figure for figure in result.figures if figure.role == "primary" and figure.rows]


def exploratory(result: CompareResult) -> list[ComparedFigure]:
    """All other figures that could be compared."""
    return [figure for figure in result.figures if figure.role == "exploratory" and figure.rows]


def table(figures: Sequence[ComparedFigure], title: str, *, adjusted: bool) -> Grid:
    """One row for each arm and figure."""
    columns = [
        Column("figure", right=False),
        Column("arm", right=False),
        Column("n"),
        Column("median, baseline"),
        Column("median, arm"),
        Column("effect"),
        Column("interval"),
        Column("p (Holm)" if adjusted else "p (label swaps)"),
        *([Column("detectable")] if adjusted else []),
        Column("verdict", right=False),
    ]
    rows = [_row(figure, row, adjusted=adjusted) for figure in figures for row in (*figure.rows, *figure.direct)]
    note = "Effect: Hodges-Lehmann estimate over the n blocks, which need not be the ratio of the two medians."
    return Grid(title, columns, rows, unit_of_rows="rows", note=note)


def _detectable(row: Row) -> Cell:
    return Cell(words.size(row.smallest_detectable_effect, row.effect_unit), row.smallest_detectable_effect)


def _row(figure: ComparedFigure, row: Row, *, adjusted: bool) -> list[Cell]:
    n = str(row.n) if row.paired else f"{row.n_baseline}, {row.n_arm}"
    p = row.p if row.p_adjusted is None else row.p_adjusted
    needed = f", about {plural(row.blocks_needed, 'block')} needed" if row.blocks_needed is not None else ""
    needed = f", more than {plural(MAX_BLOCKS, 'block')} needed" if row.beyond_limit else needed
    return [
        Cell(f"{words.label(figure)}{unit(figure.metric)}"),
        Cell(words.compared(row)),
        Cell(n, row.n),
        _median(row.baseline_median, figure, row.bounds[0]),
        _median(row.arm_median, figure, row.bounds[1]),
        Cell(words.change(row), row.estimate, TONES[row.verdict] if row.verdict in ("better", "worse") else ""),
        Cell(words.interval(row) or "none"),
        Cell(words.p_value(p), p),
        *([_detectable(row)] if adjusted else []),
        Cell(verdict(row) + needed, None, TONES[row.verdict]),
    ]


def _median(number: float | None, figure: ComparedFigure, bound: Bound | None) -> Cell:
    """The median of the runs compared; a row has values on both sides, so one that is not a number is infinite."""
    return Cell(words.bounded(bound) + value(number, figure.metric, infinite=number is None), number)


def named(figures: Iterable[ComparedFigure]) -> list[ComparedFigure]:
    """Those in which an arm is better or worse: what is informational is in the tables, and not drawn."""
    return [figure for figure in figures if any(row.verdict in ("better", "worse") for row in figure.rows)]


def changes(result: CompareResult) -> Grid | None:
    """What each change of the plan does, given the others; ``None`` when the plan declares none."""
    if not result.changes:
        return None
    columns = [Column(text, right=False) for text in ("change", "given", "compared", "figure")]
    columns += [Column("n"), Column("effect"), Column("interval"), Column("p"), Column("verdict", right=False)]
    rows: list[list[Cell]] = []
    for change in result.changes:
        head = [Cell(change.change), Cell(listed(change.given) or "the baseline alone")]
        compared = [(figure, row) for figure in primary(result) for row in rows_of(figure, change, result.baseline)]
        if change.arm is None:
            said = Cell("can't be determined: no two arms differ by it alone", None, "dim")
            rows.append([Cell(change.change), *[Cell("–")] * 7, said])
        elif not compared:
            said = Cell("can't be determined: no primary figure of the two could be compared", None, "dim")
            rows.append([*head, Cell(f"{change.arm} vs {change.against}"), *[Cell("–")] * 5, said])
        for figure, row in compared:
            p = row.p if row.p_adjusted is None else row.p_adjusted
            rows.append(
                [
                    *head,
                    Cell(f"{change.arm} vs {change.against}"),
                    Cell(words.label(figure)),
                    Cell(str(row.n), row.n),
                    Cell(words.change(row), row.estimate, TONES[row.verdict] if row.verdict != "not-judged" else ""),
                    Cell(words.interval(row) or "none"),
                    Cell(words.p_value(p), p),
                    Cell(verdict(row), None, TONES[row.verdict]),
                ]
            )
    note = "Two arms that differ by one change, compared directly. All primary comparisons are one family (Holm)."
    return Grid("What each change does, given the others", columns, rows, unit_of_rows="comparisons", note=note)


def figure_notes(figures: Iterable[ComparedFigure]) -> Lines | None:
    """Warnings, drift and blocks left out, figure by figure."""
    names_of: dict[str, list[str]] = {}
    for figure in figures:
        for row in (*figure.rows, *figure.direct):
            for text in [*row.warnings, *([f"left out: {listed(row.excluded)}"] if row.excluded else [])]:
                names_of.setdefault(text, []).append(f"{words.label(figure)} of {words.compared(row)}")
    lines = [f"{listed(names)}: {text}" for text, names in names_of.items()]
    return Lines(lines[:_MOST_NAMED], title="Notes") if lines else None


def unavailable(result: CompareResult) -> Lines | None:
    """What could not be compared, and why."""
    reasons = words.unavailable(result)
    lines = [f"{listed(names, 12, '; ')}: {reason}." for reason, names in reasons[:_MOST_NAMED]]
    if len(reasons) > _MOST_NAMED:
        lines.append(f"And {len(reasons) - _MOST_NAMED} more reasons; the JSON export has them all.")
    return Lines(lines, title="Not available") if lines else None


def side_by_side(result: CompareResult, keys: Sequence[str], title: str) -> list[Piece]:
    """For each test, the medians of some metrics in every arm, with the change against the baseline."""
    pieces: list[Piece] = []
    for test in result.tests:
        figures = [f for key in keys for f in result.figures if f.test == test.name and f.metric.key == key]
        figures = [figure for figure in figures if any(values.n for values in figure.arms)]
        if not figures:
            continue
        columns = [Column("median", right=False), *(Column(arm.name) for arm in result.arms)]
        rows = []
        for figure in figures:
            cells = [Cell(f"{figure.metric.title}{unit(figure.metric)}")]
            for arm in result.arms:
                cells.append(_with_change(figure, arm.name))
            rows.append(cells)
        pieces.append(Grid(f"{title}, {test.name}", columns, rows, unit_of_rows="figures"))
    return pieces


def _with_change(figure: ComparedFigure, arm: str) -> Cell:
    values = next((values for values in figure.arms if values.arm == arm), None)
    if values is None or values.n == 0:
        return missing()
    found = median(values, figure.metric)
    row = next((row for row in figure.rows if row.arm == arm), None)
    if row is None:
        return found
    tone = TONES[row.verdict] if row.verdict in ("better", "worse") else ""
    n = "" if row.n == values.n else f"; change n={row.n}, median n={values.n}"
    return Cell(f"{found.text} ({words.change(row)}{n})", found.sort, tone)
