"""A comparison as a table, the same for the terminal and for the HTML page."""

from __future__ import annotations

from dataclasses import replace

from txop.bus.compare import Comparison, Difference
from txop.bus.view import time_by_clock
from txop.present import format as fmt
from txop.present.blocks import Cell, Column, Grid
from txop.present.cells import missing, share, time_us


def grid(comparison: Comparison) -> Grid:
    """Key figures with one column per capture and their difference; what matters most first."""
    columns = (
        Column("Figure", right=False), Column("A"), Column("B"), Column("B − A"), Column("Weight", rank=2),
    )  # fmt: skip
    rows = [
        (
            Cell(row.label),
            *map(_bounded, [row] * len(row.values), row.values, row.at_least, row.known_to),
            _change(row),
            missing() if row.weight is None else Cell(fmt.number(row.weight, 2), row.weight, "dim"),
        )
        for row in comparison.differences
        if any(value is not None for value in row.values)
    ]
    note = (
        "Weight: the relative change (for shares the change itself) times how much the figure matters for throughput "
        "and delay. One capture of each shows nothing about chance."
    )
    return Grid("What differs, what matters most first", columns, rows, note, "figures")


def _bounded(row: Difference, value: float | None, is_bound: bool, step: float | None) -> Cell:
    if row.unit == "us" and step is not None:
        return time_by_clock(value, round(step))
    cell = _value(row, value)
    return replace(cell, text=f"at least {cell.text}") if is_bound and value is not None else cell


def _value(row: Difference, value: float | None) -> Cell:
    if value is None:
        return missing()
    if row.unit == "fraction":
        return share(value)
    if row.unit == "us":
        return time_us(value)
    if row.unit == "bytes":
        return Cell(fmt.size_bytes(value), value)
    if row.unit == "Mbit/s":
        return Cell(fmt.mbit_s(value), value)
    digits = 1 if row.unit in ("datagrams", "commands") or (row.unit == "requests/s" and value < 10) else 0
    return Cell(fmt.number(value, digits), value)


def _change(row: Difference) -> Cell:
    if row.difference is None:
        return missing()
    if row.unit == "us" and row.difference and abs(row.difference) >= 1000:
        sign = "+" if row.difference > 0 else fmt.MINUS
        return Cell(f"{_bound(row)}{sign}{fmt.duration_us(abs(row.difference))}", row.difference)
    scaled = 100 * row.difference if row.unit == "fraction" else row.difference
    name = {
        "fraction": "points",
        "us": "µs",
        "datagrams": "",
        "commands": "",
        "events": "",
        "requests": "",
        "requests/s": "/s",
    }
    whole = row.unit in ("bytes", "events", "requests")
    unit = name.get(row.unit, row.unit)
    digits = 0 if whole else 1
    # A difference shows as one.
    while scaled and not whole and digits < 6 and round(scaled, digits) == 0:
        digits += 1
    shown = f"{_bound(row)}{fmt.signed(scaled, digits)} {unit}".strip()
    return Cell(shown, row.difference, "dim" if not scaled else "")


def _bound(row: Difference) -> str:
    if not any(row.at_least) or row.difference is None:
        return ""
    return "at least " if row.difference > 0 else "at most "
