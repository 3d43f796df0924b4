"""Draws the blocks of a report (:mod:`txop.present.blocks`) on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from txop.cli.console import safe_text
from txop.core.visible import visible
from txop.present.blocks import Block, Cell, Column, Facts, Grid, Lines, Section, Tone

STYLE: dict[Tone, str] = {"": "", "good": "green", "bad": "red", "dim": "dim"}

_GAP = 2
"""Spaces between columns."""

_FLEXIBLE = 30
"""Columns that need this width or more are text, which may fold; narrower ones (addresses, numbers) stay whole."""


def print_sections(out: Console, sections: Iterable[Section], top: int) -> None:
    """Print ``sections``; of each table the first ``top`` rows (0: all)."""
    for section in sections:
        out.print()
        out.print(safe_text(f"{section.number}. {section.title}", "bold underline"))
        for why in section.unavailable:
            out.print(safe_text(f"   {why}", "yellow"))
        for block in section.blocks:
            drawn = draw(block, out.width, top)
            if drawn is not None:
                out.print(drawn)


def draw(block: Block, width: int, top: int) -> RenderableType | None:
    """``block`` for a terminal of ``width`` columns; ``None`` for what a terminal does not show."""
    if isinstance(block, Facts):
        return _facts(block)
    if isinstance(block, Lines):
        return _lines(block)
    if isinstance(block, Grid):
        return _grid(block, width, top)
    return None


def fitting(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> list[int]:
    """Indices of the columns that fit into ``width``: as many as possible, lower ranks first, in their own order.

    One that explains the figure before it, as n does, stands only beside it.
    """
    widths = _widths(columns, rows)
    kept = [index for index, column in enumerate(columns) if column.rank == 1]
    room = width - sum(widths[index] + _GAP for index in kept)
    for rank in (2, 3):
        for index, column in enumerate(columns):
            before = columns[index - 1] if index else None
            is_beside = before is not None and column.definition is not None and before.definition == column.definition
            if is_beside and index - 1 not in kept:
                continue
            if column.rank == rank and widths[index] + _GAP <= room:
                kept.append(index)
                room -= widths[index] + _GAP
    return sorted(kept)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[int]:
    """What each column needs when its heading may break between words."""
    return [
        min(_FLEXIBLE, max([_heading_width(column.heading), *(cell_len(visible(row[index].text)) for row in rows)]))
        for index, column in enumerate(columns)
    ]


def _heading(heading: str, width: int) -> str:
    """``heading`` broken into lines of at most ``width``."""
    lines = textwrap.wrap(_glued(heading), width, break_long_words=False)
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def _heading_width(heading: str) -> int:
    return max((cell_len(word) for word in _glued(heading).split(" ")), default=0)


def _glued(heading: str) -> str:
    """``heading`` with a per cent sign that stays with its word."""
    return heading.replace(" %", "\N{NO-BREAK SPACE}%")


def first_table(sections: Iterable[Section]) -> Grid | None:
    """The first table that has rows, without its explanations."""
    grids = (block for section in sections for block in section.blocks if isinstance(block, Grid) and block.rows)
    found = next(grids, None)
    return None if found is None else replace(found, note="")


def draw_short(grid: Grid, width: int, top: int) -> RenderableType:
    """The first ``top`` rows of a table, and how many more there are."""
    shown = grid.rows[:top]
    more = len(grid.rows) - len(shown)
    remarks = [safe_text(f"and {more:,} more: --top 0 shows them.", "dim")] if more else []
    return Group(*([safe_text(grid.title, "bold")] if grid.title else []), _table(grid, shown, width), *remarks)


def _grid(grid: Grid, width: int, top: int) -> RenderableType:
    parts: list[RenderableType] = []
    if grid.title:
        parts.append(safe_text(grid.title, "bold"))
    if not grid.rows:
        parts.append(Text("none", style="dim"))
        return Padding(Group(*parts), (1, 0, 0, 0), expand=False)
    shown = grid.rows[:top] if top and not grid.whole else grid.rows
    table = _table(grid, shown, width)
    parts.append(table)
    remarks = []
    if len(shown) < len(grid.rows):
        remarks.append(f"and {len(grid.rows) - len(shown):,} more, --top 0 shows all.")
    if hidden := len(grid.columns) - len(table.columns):
        remarks.append(f"{hidden} column{'s' if hidden > 1 else ''} more on a wider terminal, in --csv and --html.")
    if grid.note:
        remarks.append(grid.note)
    parts += [safe_text(remark, "dim") for remark in remarks]
    return Padding(Group(*parts), (1, 0, 0, 0), expand=False)


def _table(grid: Grid, shown: Sequence[Sequence[Cell]], width: int) -> Table:
    """The columns of ``grid`` that fit, with the rows ``shown``."""
    kept = fitting(grid.columns, shown, width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    widths = _widths(grid.columns, shown)
    fits = sum(widths[index] + _GAP for index in kept) <= width + _GAP
    for index in kept:
        column = grid.columns[index]
        exact = fits and widths[index] < _FLEXIBLE
        table.add_column(
            Text(_heading(column.heading, widths[index])),
            justify="right" if column.right else "left",
            overflow="fold",
            width=widths[index] if exact else None,
        )
    for row in shown:
        table.add_row(*(safe_text(row[index].text, STYLE[row[index].tone]) for index in kept))
    return table


def _facts(facts: Facts) -> RenderableType:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, _GAP, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for fact in facts.items:
        table.add_row(safe_text(fact.label), safe_text(fact.value, STYLE[fact.tone]))
    if not facts.title:
        return table
    return Padding(Group(safe_text(facts.title, "bold"), table), (1, 0, 0, 0), expand=False)


def _lines(lines: Lines) -> RenderableType:
    body = bullets(lines.items)
    return Padding(Group(safe_text(lines.title, "bold"), body), (1, 0, 0, 0), expand=False) if lines.title else body


def bullets(items: Iterable[str], style: str = "") -> Table:
    """A list of sentences with hanging indents."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for item in items:
        table.add_row("-", safe_text(item, style))
    return table
