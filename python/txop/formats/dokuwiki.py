"""The tables of a DokuWiki page: cells as text, with the headings above and the line of every row.

Cells are divided by ``|`` (data) or ``^`` (headings), not within ``[[links]]``; a first row in bold (``**``) is taken
for the heading, as people write it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from txop.formats.reading import lines_of, text_of

_WHAT = "a DokuWiki page"
_HEADING = re.compile(r" *(={2,6}) *(.{1,300}?) *={2,6} *")
_LONGEST_LINE = 20_000
_DIVIDER = re.compile(r"\[\[(?:(?!\[\[).)*?\]\]|\{\{(?:(?!\{\{).)*?\}\}|([|^])")


@dataclass(frozen=True, slots=True)
class WikiRow:
    """A row of cells, each stripped."""

    line: int
    cells: tuple[str, ...]


@dataclass
class WikiTable:
    """A table and what stands above it."""

    headings: tuple[str, ...]
    """Outermost first."""
    line: int
    columns: tuple[str, ...]
    """The first row, without bold."""
    rows: list[WikiRow] = field(default_factory=list)


def tables(data: str | bytes) -> Iterator[WikiTable]:
    """Every table of a page, in order. Raises FormatError where the page is too long."""
    text = text_of(data, _WHAT)
    headings: list[tuple[int, str]] = []
    table: WikiTable | None = None
    for number, line in lines_of(text):
        shortened = line[:_LONGEST_LINE]
        if (found := _HEADING.fullmatch(shortened)) is not None:
            level = 7 - len(found[1])
            headings = [*(each for each in headings if each[0] < level), (level, found[2])]
        cells = row_cells(shortened)
        if cells is None:
            if table is not None:
                yield table
            table = None
        elif table is None:
            table = WikiTable(tuple(name for _, name in headings), number, tuple(cell.strip("* ") for cell in cells))
        else:
            table.rows.append(WikiRow(number, tuple(cells)))
    if table is not None:
        yield table


def row_cells(line: str) -> list[str] | None:
    """The cells of a line; ``None`` where it is not a row of a table.

    >>> row_cells("| a | [[http://x|text]] |  |")
    ['a', '[[http://x|text]]', '']
    """
    stripped = line.rstrip()
    if not stripped.startswith(("|", "^")):
        return None
    cells, start = [], 1
    for found in _DIVIDER.finditer(stripped, 1):
        if found[1] is not None:
            cells.append(stripped[start : found.start()].strip())
            start = found.end()
    if stripped[start:].strip():
        cells.append(stripped[start:].strip())
    return cells or None
