"""A comparison as a table, the same for the terminal and for the HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from txop.air.compare import BETWEEN, Comparison, Difference, letter
from txop.present import cells
from txop.present import format as fmt
from txop.present.blocks import Cell, Column, Grid

_NAMED = 4
"""Figures that are named of those that a capture lacks."""
_OF_ALL_FRAMES = frozenset({"summary", "ghosts", "stations", "airtime"})
"""Sections that need no explained direction."""


def grid(comparison: Comparison) -> Grid:
    """Key figures with one column per capture and, for two captures, their difference; what matters most first. Figures
    that no capture has are not listed, but counted in the note."""
    letters = [letter(n) for n in range(len(comparison.captures))]
    columns = [
        Column("Figure", right=False),
        Column("Section", rank=3, right=False),
        *(Column(letter) for letter in letters),
    ]
    columns += [Column(f"{letter} − A") for letter in letters[1:]] if len(letters) == 2 else []
    columns.append(Column("Weight", rank=2))
    rows = []
    known = [row for row in comparison.differences if any(value is not None for value in row.values)]
    for row in known:
        line = [Cell(row.label), Cell(row.section), *(_value(row, at) for at in range(len(row.values)))]
        if len(letters) == 2:
            change = _change(row, row.differences[1])
            is_bound = any(row.at_least) and row.differences[1] is not None
            line.append(replace(change, text=f"{change.text} or more") if is_bound else change)
        line.append(cells.missing() if row.weight is None else Cell(fmt.number(row.weight, 3), row.weight, "dim"))
        rows.append(line)
    note = (
        "Weight: the difference itself for shares of time and frames and for retry %, its part of 60 dB for levels, "
        "its part of the larger value for other figures (throughput, rates, delays, variation). "
        "One capture of each says nothing about chance." + "".join(f" {each}" for each in not_available(comparison))
    )
    if lacking := len(comparison.differences) - len(known):
        note += f" {fmt.plural(lacking, 'figure')} that no capture has {'is' if lacking == 1 else 'are'} not listed."
    return Grid("What differs, most first", columns, rows, note, "figures", whole=True)


def not_available(comparison: Comparison) -> list[str]:
    """A sentence for each capture that lacks figures which another has."""
    notes = []
    for index, capture in enumerate(comparison.captures):
        lacking = [
            row
            for row in comparison.differences
            if row.values[index] is None and any(value is not None for value in row.values)
        ]
        without = "no direction of traffic is explained in it"
        by_reason: dict[str | None, list[Difference]] = {}
        for row in lacking:
            reason = row.reasons[index] if index < len(row.reasons) else None
            if reason is None and capture.ta is None and row.section not in _OF_ALL_FRAMES:
                reason = without
            by_reason.setdefault(reason, []).append(row)
        notes += [
            f"Not available in {letter(index)}: {_named(rows)}{'' if reason is None else f', because {reason}'}."
            for reason, rows in by_reason.items()
        ]
    return notes


def _named(rows: Sequence[Difference]) -> str:
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return "; ".join(row.label.removesuffix(f"; {BETWEEN}") for row in rows[:_NAMED]) + more


def _value(row: Difference, at: int) -> Cell:
    cell = _exact(row, row.values[at])
    is_least = at < len(row.at_least) and row.at_least[at]
    return replace(cell, text=f"at least {cell.text}") if is_least else cell


def _exact(row: Difference, value: float | None) -> Cell:
    if value is None:
        return cells.missing()
    if row.unit == "fraction":
        return cells.share(value)
    if row.unit == "percent":
        return cells.percent(value)
    if row.unit == "Mbit/s":
        return Cell(fmt.mbit_s(value), value)
    if row.unit == "µs":
        return cells.time_us(value)
    if row.unit == "dBm":
        return Cell(fmt.dbm(value), value)
    return Cell(fmt.number(value, 0 if row.unit == "events" else 1), value)


def _change(row: Difference, value: float | None) -> Cell:
    if value is None:
        return cells.missing()
    if row.unit == "Mbit/s":
        sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
        return Cell(f"{sign}{fmt.mbit_s(abs(value))}", value, "" if value else "dim")
    scaled, unit = (
        (100 * value, "points")
        if row.unit == "fraction"
        else (value, "points")
        if row.unit == "percent"
        else (value, "dB" if row.unit == "dBm" else row.unit)
    )
    return Cell(f"{fmt.signed(scaled)} {unit}", value, "dim" if round(abs(scaled), 1) == 0 else "")
