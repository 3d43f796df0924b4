"""How stations are called in sentences and tables."""

from __future__ import annotations

from collections.abc import Iterable

from txop.air.model import RateRow
from txop.air.report import AirReport
from txop.present import cells
from txop.present.blocks import Cell

DIRECTIONS = {
    "uplink": "station to AP",
    "downlink": "AP to station",
    "direct": "direct",
    "group": "to a group",
    "unknown": "–",
}


ROLES = {"ap": "AP", "station": "STA", "mesh": "mesh", "ibss": "IBSS"}
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


def seconds(from_us: float, to_us: float) -> str:
    """``0.0–3.2 s``; a stamp a few µs before that of the first frame does not give a minus zero."""
    first, last = (round(us / 1e6, 1) + 0.0 for us in (from_us, to_us))
    return f"{first:,.1f}–{last:,.1f} s"


def seen(first_us: float | None, last_us: float | None) -> Cell:
    """When something was first and last captured."""
    if first_us is None or last_us is None:
        return cells.missing()
    return Cell(seconds(first_us, last_us), first_us)


def top_rate(rates: Iterable[RateRow]) -> Cell:
    """The rate with most frames, and its share of them."""
    rows = list(rates)
    total = sum(row.frames for row in rows)
    if not rows or not total:
        return cells.missing()
    best = max(rows, key=lambda row: row.frames)
    return Cell(f"{best.label} ({100 * best.frames / total:.0f} %)", best.mbit_s)
