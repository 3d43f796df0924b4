"""Wall-clock times of logs as seconds, for rates and for what came shortly before."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

_DAY_S = 86_400
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_NAMES, 1)}
_UNIX = re.compile(r"(\d{9,11}\.\d{1,9})$")
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?")
_ISO = re.compile(r"(\d{4})[-/.](\d\d)[-/.](\d\d)")
_NAMED = re.compile(r"([A-Za-z]{3})[a-z]{0,6}\.? {1,2}(\d{1,2})\b")
_YEAR = re.compile(r"\b(\d{4})$")
_SHORT = re.compile(r"(\d\d)-(\d\d) ")


@lru_cache(maxsize=256)
def seconds(clock: str) -> float | None:
    """Seconds since some day that is the same for all times of a log; None for a time that is not understood.

    >>> seconds("Nov 21 10:00:30") - seconds("Nov 21 10:00:00.5")
    29.5
    >>> seconds("Sat Nov 21 10:00:00 2026") == seconds("2026-11-21T10:00:00+01:00")
    True
    """
    if unix := _UNIX.match(clock):
        return float(unix[1])
    if (time := _TIME.search(clock)) is None:
        return None
    hour, minute, second, fraction = time.groups()
    of_day = int(hour) * 3600 + int(minute) * 60 + int(second) + (float(f"0.{fraction}") if fraction else 0.0)
    return _day(clock) * _DAY_S + of_day


def _day(clock: str) -> int:
    year = 2000
    if iso := _ISO.search(clock):
        year, month, day = int(iso[1]), int(iso[2]), int(iso[3])
    elif (named := _NAMED.search(_without_weekday(clock))) and named[1].lower() in _MONTHS:
        month, day = _MONTHS[named[1].lower()], int(named[2])
        if given := _YEAR.search(clock):
            year = int(given[1])
    elif short := _SHORT.match(clock):
        month, day = int(short[1]), int(short[2])
    else:
        return 0
    try:
        return date(year, month, day).toordinal()
    except ValueError:
        return 0


def _without_weekday(clock: str) -> str:
    first, _, rest = clock.partition(" ")
    return rest if rest[:1].isalpha() and first.isalpha() else clock
