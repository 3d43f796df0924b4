"""Moments in a capture, as a user writes them: absolute, or from the first record on."""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal, InvalidOperation

Moment = str | int | float | datetime.datetime | datetime.timedelta
"""``"+2.5"``, ``"+2.5s"``, ``"+500ms"``, ``2.5`` or a ``timedelta``: from the first record on.
``"2024-05-01T12:00:00Z"``, ``"@1714564800.25"``,
``1714564800`` or a ``datetime``: absolute; UTC unless there is an offset."""

EPOCH_FROM = 100_000_000
"""A bare number from here on is seconds since 1970 (it is March 1973), a smaller one counts from the first record."""

MAX_NS = (1 << 63) - 1

_NUMBER = re.compile(r"(?P<sign>[+@]?)(?P<number>\d+(\.\d*)?|\.\d+)\s*(?P<unit>s|ms|us|µs|ns|min|h)?", re.ASCII)
_UNIT_NS = {"h": 3_600 * 10**9, "min": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "µs": 10**3, "ns": 1}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
FORMS = "write +2.5s (after the first record), 2024-05-01T12:00:00Z, or @1714564800.25 (seconds since 1970)"


def end_of(moment: Moment | None) -> tuple[bool, int] | None:
    """One end of a window as the analyzers take it: whether it counts from the first record, and nanoseconds.

    Raises :class:`ValueError` with what is wrong when it is not a moment.
    """
    if moment is None:
        return None
    if isinstance(moment, datetime.timedelta):
        return _checked(True, moment // datetime.timedelta(microseconds=1) * 1_000, moment)
    if isinstance(moment, datetime.datetime):
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)
        return _checked(False, (aware - _EPOCH) // datetime.timedelta(microseconds=1) * 1_000, moment)
    if isinstance(moment, bool) or not isinstance(moment, str | int | float):
        raise ValueError(f"{moment!r} is not a moment")
    if isinstance(moment, float) and not math.isfinite(moment):
        raise ValueError(f"{moment!r} is not a moment")
    return _text(str(Decimal(str(moment)).normalize().__format__("f")) if not isinstance(moment, str) else moment)


def _text(text: str) -> tuple[bool, int]:
    stripped = text.strip()
    found = _NUMBER.fullmatch(stripped)
    if found is None:
        try:
            return end_of(datetime.datetime.fromisoformat(stripped)) or (False, 0)
        except (ValueError, OverflowError):
            raise ValueError(f'"{text}" is not a moment') from None
    try:
        number = Decimal(found["number"])
    except InvalidOperation:  # pragma: no cover - the expression matches decimal numbers only
        raise ValueError(f'"{text}" is not a moment') from None
    sign, unit = found["sign"], found["unit"]
    since_first = sign == "+" or (sign == "" and (unit is not None or number < EPOCH_FROM))
    return _checked(since_first, int(number * _UNIT_NS[unit or "s"]), text)


def _checked(since_first: bool, ns: int, moment: object) -> tuple[bool, int]:
    if not -MAX_NS <= ns <= MAX_NS:
        raise ValueError(f"{moment} is beyond the years that a capture can name")
    return since_first, ns


def check_order(start: tuple[bool, int] | None, end: tuple[bool, int] | None) -> None:
    """Raises :class:`ValueError` when two ends of the same kind leave no time between them."""
    if start is not None and end is not None and start[0] == end[0] and start[1] >= end[1]:
        raise ValueError("the window ends before it begins")
