"""How stations are called in sentences and tables."""

from __future__ import annotations

from collections.abc import Iterable

from txop.air.model import AirReport, RateRow
from txop.report import format as fmt
from txop.report.blocks import Cell

DIRECTIONS = {
    "uplink": "station to AP",
    "downlink": "AP to station",
    "direct": "direct",
    "group": "to a group",
}


ROLES = {"ap": "AP", "station": "STA"}
"""What kinds of stations are called."""


def role(report: AirReport, address: str) -> str:
    """``AP``, ``STA`` or nothing, for ``address``."""
    for station in report.stations:
        if station.address == address:
            return ROLES.get(station.kind, "")
    return ""


def called(report: AirReport, address: str) -> str:
    """``AP 18:0f:...``: the role, where it is known, and the address."""
    return f"{role(report, address)} {address}".strip()


def direction(report: AirReport, ta: str, ra: str) -> str:
    """``AP 18:0f:... → STA 08:be:...``."""
    return f"{called(report, ta)} → {called(report, ra)}"


def top_rate(rates: Iterable[RateRow]) -> Cell:
    """The rate with most frames, and its share of them."""
    rows = list(rates)
    total = sum(row.frames for row in rows)
    if not rows or not total:
        return missing()
    best = max(rows, key=lambda row: row.frames)
    return Cell(f"{best.label} ({100 * best.frames / total:.0f} %)", best.mbit_s)


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


def capital(text: str) -> str:
    """``text`` with its first letter as at the beginning of a sentence."""
    return text[:1].upper() + text[1:]
