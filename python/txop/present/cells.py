"""Cells of figures, which are shown as not available where there are none."""

from __future__ import annotations

from txop.present import format as fmt
from txop.present.blocks import Cell


def missing() -> Cell:
    """The cell of a figure that is not available."""
    return Cell(fmt.NOT_AVAILABLE, None, "dim")


def text(value: str | None) -> Cell:
    """A cell with text."""
    return missing() if value is None else Cell(value)


def count(value: float | None) -> Cell:
    """A cell with a whole number."""
    return missing() if value is None else Cell(fmt.count(value), float(value), "dim" if value == 0 else "")


def percent(value: float | None) -> Cell:
    """A cell with a value that is a percentage already."""
    return missing() if value is None else Cell(fmt.percent(value), value)


def share(value: float | None, digits: int = 1) -> Cell:
    """A cell with a fraction of one, shown in percent."""
    return missing() if value is None else Cell(fmt.share(value, digits), value)


def ratio(part: float | None, whole: float | None) -> Cell:
    """``part / whole`` in percent; not available without a whole."""
    return missing() if part is None or not whole else share(part / whole)


def time_us(value: float | None) -> Cell:
    """A cell with a time."""
    return missing() if value is None else Cell(fmt.duration_us(value), value)
