"""A comparison as a table, the same for the terminal and for the HTML page."""

from __future__ import annotations

from txop.bus.compare import Comparison, Difference
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
            *(_value(row, value) for value in row.values),
            _change(row),
            missing() if row.weight is None else Cell(fmt.number(row.weight, 2), row.weight, "dim"),
        )
        for row in comparison.differences
    ]
    note = (
        "Weight: the relative change (for shares the change itself) times how much the figure matters for throughput "
        "and delay. One capture of each says nothing about chance."
    )
    return Grid("What differs, what matters most first", columns, rows, note, "figures")


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
    return Cell(f"{fmt.signed(scaled, 0 if whole else 1)} {unit}".strip(), row.difference, "dim" if not scaled else "")
