"""A comparison on one screen: at most 25 lines of 100 columns, as far as the primary figures leave room."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from txop.cli.console import safe_text
from txop.cli.screen_lines import LINES, cut, filled
from txop.compare import words
from txop.compare.answer import rows_between
from txop.compare.result import DirectRow, Row, Verdict
from txop.core.metrics import may_be_infinite
from txop.core.visible import visible
from txop.present.format import NOT_AVAILABLE, plural
from txop.present.format import figure as written
from txop.report.answer import figures
from txop.report.answer.setup import how_much
from txop.report.answer.verdicts import verdicts
from txop.report.answer.wording import INFINITE, SIGNS, TONES, listed, numbers

if TYPE_CHECKING:
    from rich.console import Console

    from txop.compare.result import Answer, ComparedFigure, CompareResult
    from txop.report.answer.because import Because
    from txop.report.answer.figures import FigureRow
    from txop.report.answer.scorecard import Score

_MOST_BESIDE = 6
"""Figures in the table that are not primary."""
_ENOUGH_BESIDE = 2
"""With so many a layout is good enough: one that shows less of each figure is not tried."""
_MOST_NOTES = 3
_LEAST_LABEL = 12

_STYLES = {"good": "bold green", "bad": "bold red", "dim": "yellow", "": ""}
_NAMES: dict[Verdict, str] = {
    "better": "better",
    "worse": "worse",
    "equivalent": "equivalent",
    "inconclusive": "inconclusive",
    "not-judged": "informational",
}
_AFTER_DOT = re.compile(r"(?<=\.) ")


@dataclass(frozen=True)
class Layout:
    """What the column of an arm has."""

    value: bool = False
    change: bool = False
    interval: str = ""
    """``beside`` the change or ``below`` it; empty: not at all."""
    baseline: bool = True
    gap: int = 2

    @property
    def lines(self) -> int:
        """Lines of a figure."""
        return 2 if self.interval == "below" else 1

    @property
    def left_out(self) -> str:
        """What is not in it, in words."""
        values = "" if self.value else ("medians of the other arms" if self.baseline else "medians")
        lacking = [values, "" if self.change else "changes", "" if self.interval else "intervals"]
        return ", ".join(part for part in lacking if part)


_LAYOUTS = (
    Layout(value=True, change=True, interval="beside"),
    Layout(value=True, change=True, interval="below"),
    Layout(change=True, interval="below"),
    Layout(value=True, change=True),
    Layout(change=True),
    Layout(change=True, gap=1),
    Layout(change=True, baseline=False, gap=1),
    Layout(baseline=False, gap=1),
)
"""From what shows most to what is narrowest."""

Whys = Sequence[tuple["Answer", Sequence["Because"]]]
"""What goes with the verdict on each pair of arms."""


def show(result: CompareResult, whys: Whys, out: Console, *, everything: str, report: str | None) -> None:
    """Print a comparison on one screen.

    Args:
        result: What was compared.
        whys: What goes with the verdicts.
        out: Where to.
        everything: The command or option that shows everything.
        report: Where the report is, or how to make it; ``None``: there is none of this comparison.
    """
    width = out.width
    above = [*_title(result, width), *_limits(result, width)]
    last = [safe_text(f"Everything: {everything}")]
    if report is not None:
        last.append(safe_text(f"Report: {report}"))
    places = sum(max(1, -(-cell_len(line.plain) // width)) for line in last)
    chosen = figures.chosen(result)
    primary = [figure for figure in chosen if figure.role == "primary"]
    trouble = [*_trouble(result, width), *_open(result, width)]
    room = LINES - len(above) - places - len(trouble) - 1
    because = _because(
        result, whys, width, max(1, min(6, room - (len(primary) if len(result.arms) <= 3 else 2 * len(primary)) - 6))
    )
    room -= len(because)
    table = _table(result, chosen, width, room) if chosen else []
    for line in [*above, Text(""), *table, *because, *trouble]:
        out.print(line, no_wrap=True, overflow="ignore", crop=False)
    for line in last:
        out.print(line, soft_wrap=True)


def _title(result: CompareResult, width: int) -> list[Text]:
    title = f" ({result.origin.value})"
    made = [safe_text(cut(result.title or "Campaign", width - len(title)) + title, "bold")]
    parts = how_much(result)
    while len(parts) > 1 and cell_len(" · ".join(parts)) > width:
        parts.pop()  # the time first
    return [*made, *filled(" · ".join(parts), width, most=2)]


def _limits(result: CompareResult, width: int) -> Iterator[Text]:
    """What limits all of the answer, and what must be known to read it."""
    answer = verdicts(result)
    notes = [each.text for each in answer.lead] + [f"Note: {text}" for text in result.warnings]
    for note in notes[:_MOST_NOTES]:
        yield from filled(note, width, "yellow", most=2)
    if len(notes) > _MOST_NOTES:
        yield safe_text(f"{plural(len(notes) - _MOST_NOTES, 'more note')} on all of it: --all", "yellow")


@dataclass(frozen=True)
class _Cell:
    """A figure of an arm in the parts of its column."""

    value: str
    sign: str = ""
    change: str = ""
    interval: str = ""
    style: str = ""


def _cell(score: Score) -> _Cell:
    if score.absence is not None:
        return _Cell(NOT_AVAILABLE)
    if score.verdict is None:
        return _Cell(score.text)
    change = "" if score.change == NOT_AVAILABLE else score.change
    return _Cell(score.text, SIGNS[score.verdict], change, score.interval, _STYLES[TONES[score.verdict]])


def _cells(result: CompareResult, rows: Sequence[FigureRow], arm: str) -> list[_Cell]:
    """The figures of an arm; of one that is alone, with their range."""
    cells = [_cell(row.scores[arm]) for row in rows]
    if len(result.arms) > 1:
        return cells
    return [replace(cell, interval=_range(row.figure)) for cell, row in zip(cells, rows, strict=True)]


def _range(figure: ComparedFigure) -> str:
    (values,) = figure.arms
    if values.n < 2 or values.lowest is None or values.highest is None:
        return ""
    ends = [written(end, figure.metric.digits) for end in (values.lowest, values.highest)]
    if any(point.infinite for point in values.points):
        ends[1] = INFINITE
    return words.bounded(values.bound) + " to ".join(ends)


def _table(result: CompareResult, chosen: Sequence[ComparedFigure], width: int, room: int) -> list[Text]:
    """The table, with the lines below it. The primary figures are in it however many there are, and of the others those
    that fit, in their order."""
    primary = [figure for figure in chosen if figure.role == "primary"]
    others = [figure for figure in chosen if figure.role != "primary"]
    wanted = min(_MOST_BESIDE, len(others))
    best: tuple[int, list[Text]] | None = None
    for layout in _LAYOUTS:
        shown = list(primary)
        lines = _with_below(result, shown, layout, width) if shown else None
        if shown and (lines is None or (layout.lines > 1 and len(lines) > room)):
            continue
        for figure in others:
            if len(shown) - len(primary) == wanted:
                break
            more = _with_below(result, [*shown, figure], layout, width)
            if more is not None and len(more) <= room:
                shown, lines = [*shown, figure], more
        beside = len(shown) - len(primary)
        if lines is not None and (best is None or beside > best[0]):
            best = (beside, lines)
        if best is not None and best[0] >= min(_ENOUGH_BESIDE, wanted):
            break
    return best[1] if best is not None else _narrowest(result, chosen, width, room)


def _with_below(
    result: CompareResult, shown: Sequence[ComparedFigure], layout: Layout, width: int
) -> list[Text] | None:
    """The table of these figures with the lines below it; ``None`` where it is too wide."""
    rows, _ = figures.rows(result, shown)
    drawn = _drawn(result, rows, layout, width, hidden=0)
    return None if drawn is None else [*drawn, *_below(result, rows, layout, width)]


def _narrowest(result: CompareResult, chosen: Sequence[ComparedFigure], width: int, room: int) -> list[Text]:
    """As many arms as there is room for, those first that are worse in a primary figure."""
    others = [arm.name for arm in result.arms if arm.name != result.baseline]
    primary = [figure for figure in chosen if figure.role == "primary"] or list(chosen[:1])
    bad = {row.arm for figure in primary for row in figure.rows if row.verdict == "worse"}
    others.sort(key=lambda arm: arm not in bad)
    beside = max(0, min(_MOST_BESIDE, room - len(primary) - 5))
    rows, _ = figures.rows(result, chosen[: len(primary) + beside])
    for kept in range(len(others) - 1, 0, -1):
        drawn = _drawn(result, rows, _LAYOUTS[-1], width, hidden=len(others) - kept, arms=others[:kept])
        if drawn is not None:
            return [*drawn, *_below(result, rows, _LAYOUTS[-1], width)]
    return [line for row in rows for line in filled(row.label, width, most=2)]


def _drawn(
    result: CompareResult,
    rows: Sequence[FigureRow],
    layout: Layout,
    width: int,
    *,
    hidden: int,
    arms: Sequence[str] | None = None,
) -> list[Text] | None:
    """The lines of the table; ``None``: it is wider than the terminal."""
    others = [arm.name for arm in result.arms if arm.name != result.baseline] if arms is None else list(arms)
    names = [result.baseline, *others] if layout.baseline or not others else others
    labels = [row.label + (" *" if row.primary else "") for row in rows]
    first = max(map(cell_len, map(visible, labels)))
    if first > width // 3:
        first = max(_LEAST_LABEL, width // 3)
    columns = [_column(_cells(result, rows, name), layout, name == result.baseline) for name in names]
    room = width - first - sum(layout.gap + len(column[0][0].plain) for column in columns if column)
    if room < 0:
        return None
    widths = [len(column[0][0].plain) for column in columns]
    for at, name in enumerate(names):  # what is left goes to names that are wider than their column
        more = min(room, max(0, cell_len(visible(name)) - widths[at]))
        widths[at] += more
        room -= more
    heads = [_folded(visible(name), max(wide, 1)) for name, wide in zip(names, widths, strict=True)]
    height = max(map(len, heads))
    if height > 4:
        return None
    gap = " " * layout.gap
    made = [
        Text(
            (
                " " * first
                + gap
                + gap.join(_padded(_line(head, at), wide) for head, wide in zip(heads, widths, strict=True))
            ).rstrip(),
            style="bold",
        )
        for at in range(height)
    ]
    for number, name in enumerate(labels):
        cells = [column[number] for column in columns]
        named = _folded_words(visible(name), first)
        for at in range(max(len(named), layout.lines)):
            line = Text(_padded(_line(named, at), first))
            for cell, wide in zip(cells, widths, strict=True):
                line.append(gap)
                part = cell[at] if at < len(cell) else Text("")
                line.append_text(part)
                line.append(" " * (wide - len(part.plain)))
            line.rstrip()
            made.append(line)
    if hidden:
        made.append(safe_text(f"{plural(hidden, 'more arm')}: --all", "yellow"))
    return made


def _column(cells: Sequence[_Cell], layout: Layout, baseline: bool) -> list[list[Text]]:
    """For each figure the lines of one arm, all equally wide."""
    value = max((len(visible(cell.value)) for cell in cells), default=0)
    change = max((len(cell.change) for cell in cells), default=0)
    interval = max((len(cell.interval) for cell in cells), default=0)
    made = []
    for cell in cells:
        parts = Text(visible(cell.value).rjust(value)) if layout.value or baseline else Text("")
        if not baseline:
            space = " " if layout.gap > 1 and layout.change else ""
            parts.append(" " if parts.plain else "")
            said = cell.sign or (" " if layout.value else NOT_AVAILABLE)
            parts.append(f"{said}{space}{cell.change.rjust(change) if layout.change else ''}", style=cell.style)
        if layout.interval == "beside" and (interval or not baseline):
            parts.append(f" {cell.interval.ljust(interval)}")
        lines = [parts]
        if layout.interval == "below":
            lines.append(Text("" if baseline else cell.interval.rjust(max(len(parts.plain), interval))))
        wide = max(len(line.plain) for line in lines)
        for line in lines:
            line.pad_right(wide - len(line.plain))
        made.append(lines)
    return made


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _line(lines: Sequence[str], at: int) -> str:
    return lines[at] if at < len(lines) else ""


def _folded(name: str, width: int) -> list[str]:
    """A name in lines of at most ``width`` columns, whole."""
    lines = [""]
    for letter in name:
        if cell_len(lines[-1] + letter) > width:
            lines.append("")
        lines[-1] += letter
    return lines


def _folded_words(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for word in text.split(" "):
        if lines and cell_len(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines += _folded(word, width)
    return lines


def _below(result: CompareResult, rows: Sequence[FigureRow], layout: Layout, width: int) -> list[Text]:
    """What the signs mean, what the figures are of, and what the table leaves out."""
    compared = [row for figure in rows for row in figure.figure.rows]
    found = [verdict for verdict in _NAMES if any(row.verdict == verdict for row in compared)]
    parts = ["* primary"] if any(row.primary for row in rows) else []
    if len(result.arms) == 1 and rows:
        n = sorted({values.n for row in rows for values in row.figure.arms})
        of = f"{n[0]}" if len(n) == 1 else f"{n[0]} to {n[-1]}"
        parts.append(f"median and range, n = {of}" if layout.interval == "beside" else f"median, n = {of}")
    if compared:
        has_interval = any(row.confidence is not None for row in compared)
        level = f"{100 * result.design.confidence:g} % interval" if layout.interval and has_interval else ""
        n = sorted({row.n for row in compared})
        of = f"n = {n[0]}" if len(n) == 1 else f"n = {n[0]} to {n[-1]}"
        kind = "" if all(row.paired for row in compared) else ", unpaired: drift is not controlled"
        parts.append(f"change against {result.baseline}{f' with {level}' if level else ''}, {of}{kind}")
        if n[-1] <= 1:
            parts.append("one pair says nothing about chance")
        elif not has_interval:
            parts.append("no interval with so few blocks")
    parts += [f"{SIGNS[verdict]} {_NAMES[verdict]}" for verdict in found]
    if any(row.verdict == "inconclusive" and _is_one_sided(row) for row in compared):
        parts[-1 - (found[-1] == "not-judged")] += (
            " (not beyond its margin, or not beyond chance among all figures; rule: --all)"
        )
    beyond = [row.figure.metric.key for row in rows if _has_infinity(row.figure)]
    if any(may_be_infinite(key) for key in beyond):
        parts.append(f"{INFINITE} probes were lost, which count as infinite RTT")
    elif beyond:
        parts.append(f"{INFINITE} infinite")
    if compared and layout.left_out:
        parts.append(f"{layout.left_out}: --all")
    lines = filled("; ".join(parts), width, "dim", most=3)
    return lines + _elsewhere(result, rows, width)


def _is_one_sided(row: Row) -> bool:
    """Whether its interval, for it alone, has no 0: a reader would take that for a verdict."""
    return row.low is not None and row.high is not None and (row.low > 0 or row.high < 0)


def _has_infinity(figure: ComparedFigure) -> bool:
    medians = any(values.median_infinite for values in figure.arms)
    alone = len(figure.arms) == 1 and any(point.infinite for point in figure.arms[0].points)
    return (
        medians
        or alone
        or any(row.infinite or (row.confidence is not None and None in (row.low, row.high)) for row in figure.rows)
    )


def _elsewhere(result: CompareResult, rows: Sequence[FigureRow], width: int) -> list[Text]:
    """Gains and harm that the table does not have."""
    shown = [row.figure for row in rows]
    harms, goods = [], []
    for answer in result.answers:
        if answer.against != result.baseline:
            continue
        gains, costs = figures.not_shown(result, answer.arm, answer.against, shown)
        harms += [f"{answer.arm} worse in {listed(costs, 2)}"] if costs else []
        goods += [f"{answer.arm} better in {gains}"] if gains else []
    if not harms and not goods:
        return []
    return filled(f"Not in the table (exploratory; --all): {'; '.join([*harms, *goods])}", width, most=2)


def _because(result: CompareResult, whys: Whys, width: int, room: int) -> list[Text]:
    """What goes with the verdict, or causes it, a line an arm."""
    from txop.report.answer.because import proof

    known = [(answer, of_arm) for answer, of_arm in whys if of_arm]
    if not known:
        return []
    texts = {tuple(_AFTER_DOT.split(each.text)[0].partition(": ")[2] for each in of_arm) for _, of_arm in known}
    if len(texts) == 1 and not any(each.has_figures for _, of_arm in known for each in of_arm):
        return filled(f"Why: {known[0][1][0].text.partition(': ')[2]}", width, most=2)
    told = []
    for answer, of_arm in known:
        pair = answer.arm if answer.against == result.baseline else f"{answer.arm} vs {answer.against}"
        for is_proven in (True, False):
            if of_kind := [each for each in of_arm if each.is_proven is is_proven]:
                with_figures = [each for each in of_kind if each.has_figures] or of_kind[:1]
                briefs = ". ".join(each.brief.rstrip(".") for each in with_figures)
                told.append(f"Why {pair} ({proof(of_kind)}): {briefs}")
    room = max(room, 1)
    most = 2 if len(told) <= 2 or sum(len(filled(text, width, most=2)) for text in told) <= room else 1
    made: list[Text] = []
    for at, text in enumerate(told):
        lines = filled(text, width, most=most, in_parts=True)
        if len(made) + len(lines) > room and at:
            made.append(safe_text(f"{plural(len(told) - at, 'more explanation')}: --all"))
            break
        made += lines
    return made


def _open(result: CompareResult, width: int) -> list[Text]:
    """Primary figures without a verdict, and what they need; comparisons of arms that differ by one change."""
    needs = []
    for figure in result.figures:
        for row in [*figure.rows, *figure.direct] if figure.role == "primary" else []:
            if row.blocks_needed is not None:
                needs.append(f"{words.label(figure)}, {words.compared(row)}: about {row.blocks_needed}")
            elif row.beyond_limit:
                needs.append(f"{words.label(figure)}, {words.compared(row)}: more than a campaign may have")
    made = filled(f"Blocks needed for a verdict: {'; '.join(needs)}", width, most=1) if needs else []
    pairs = [answer for answer in result.answers if answer.against != result.baseline]
    lines = []
    for answer in pairs:
        found = [
            (figure, row)
            for figure, row in rows_between(result.figures, answer.arm, answer.against, result.baseline)
            if figure.role == "primary"
        ]
        said = "; ".join(f"{_short(figure)} {_judged(row)}" for figure, row in found)
        change = next((row.change for _, row in found if isinstance(row, DirectRow)), "")
        _, costs = figures.not_shown(result, answer.arm, answer.against, [])
        if costs:
            said += f"; exploratory: worse in {', '.join(costs)}"
        if said:
            worse = bool(costs) or any(row.verdict == "worse" for _, row in found)
            lines.append((not worse, f"{answer.arm} vs {answer.against} ({change}): {said}", found, bool(costs)))
    lines.sort(key=lambda each: each[0])
    for _, text, _, _ in lines[:2]:
        made += filled(text, width, most=1)
    if len(lines) > 2:
        rest = Counter(row.verdict for _, _, found, _ in lines[2:] for _, row in found)
        counted = ", ".join(f"{rest[verdict]} {SIGNS[verdict]}" for verdict in _NAMES if rest[verdict])
        if harmed := sum(costs for *_, costs in lines[2:]):
            counted = f"{harmed} worse in exploratory figures, {counted}"
        made += filled(
            f"{plural(len(lines) - 2, 'more pair')} of arms that differ by one change ({counted}): --all", width, most=1
        )
    return made


def _short(figure: ComparedFigure) -> str:
    return figures.label(figure.test, figure.metric).split(",")[0]


def _judged(row: Row) -> str:
    change = words.change(row)
    ends = words.interval(row, unit=False)
    return f"{SIGNS[row.verdict]} {change}" + (f" ({ends})" if ends else "")


def _trouble(result: CompareResult, width: int) -> list[Text]:
    """What does not count, what is damaged, what warns: a line each, or counted."""
    made: list[Text] = []
    if result.damage:
        more = f" and {len(result.damage) - 1} more" if len(result.damage) > 1 else ""
        tail = f"{more}: --all"
        made.append(safe_text(cut(f"Damaged: {result.damage[0]}", width - len(tail)) + tail, "bold red"))
    if result.voided:
        gates = Counter(gate for run in result.voided for gate in run.gates)
        arms = Counter(run.arm for run in result.voided)
        why = ", ".join(f"{gate} {count}" for gate, count in gates.most_common(3))
        of = ", ".join(f"{arm} {count}" for arm, count in arms.most_common(4))
        blocks = numbers([run.block for run in result.voided])
        blocks = f"{'blocks' if len({run.block for run in result.voided}) > 1 else 'block'} {blocks}"
        lost = sum(run.repeated_in is None for run in result.voided)
        again = f"; {lost} not repeated" if lost else ""
        made += filled(
            f"Void: {plural(len(result.voided), 'run')} (of {of}; {why}; {blocks}{again}): --all",
            width,
            "yellow",
            most=1,
        )
    if gone := _missing_primaries(result):
        made += filled(f"Not available: {'; '.join(gone)}: --all", width, "yellow", most=1)
    warned = len(words.run_warnings(result))
    rows = [(f, row) for f in result.figures if f.role == "primary" for row in (*f.rows, *f.direct)]
    notes = sum(len(row.warnings) for _, row in rows)
    excluded = sum(bool(row.excluded) for f in result.figures for row in (*f.rows, *f.direct))
    counted = [
        plural(warned, "warning") + f" on {plural(len(result.run_warnings), 'run')}" if warned else "",
        plural(notes, "note") + " on primary figures" if notes else "",
        plural(excluded, "comparison") + " of fewer blocks or runs" if excluded else "",
        plural(len(result.not_available), "figure") + " not available" if result.not_available else "",
    ]
    if any(counted):
        made += filled(f"{', '.join(part for part in counted if part)}: --all", width, most=1)
    return made


def _missing_primaries(result: CompareResult) -> list[str]:
    return [
        f"{entry.figure}{f' ({entry.arm})' if entry.arm else ''}: {entry.reason}"
        for entry in result.not_available
        if entry.figure in result.design.primary
        or (entry.figure.endswith(".*") and any(name.startswith(entry.figure[:-1]) for name in result.design.primary))
    ]
