"""Tables as CSV that no spreadsheet runs: every CSV of txop is written here.

An empty cell is *not available*. Text is made visible, and one that a spreadsheet would take for a formula gets a ``'``
in front.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import IO

from txop.core.visible import visible

Cell = str | int | float | bool | None

_FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for a formula, also in full width, as East Asian ones do."""


def write_table(out: IO[str], columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Write a heading line, and a line for each row."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell(value) for value in row] for row in rows)


def cell(value: Cell) -> str | int | float:
    """A value as the CSV has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = visible(value)
        return f"'{text}" if text.lstrip().startswith(_FORMULA_STARTS) else text
    return value
