"""How numbers are written for people: with their unit, in few digits, the same in terminal tables and HTML pages.

Every function takes ``None`` for *not available* and then gives :data:`NOT_AVAILABLE`.
"""

from __future__ import annotations

import math
import re

NOT_AVAILABLE = "–"
"""Shown for a figure that is not available; a legend under the table says so."""


def count(value: float | None) -> str:
    """A whole number, thousands separated: ``12,345``."""
    return NOT_AVAILABLE if value is None else f"{value:,.0f}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """A count of things; ``many`` where the plural is irregular.

    >>> plural(1, "run"), plural(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def number(value: float | None, digits: int = 1) -> str:
    """A number with a fixed number of decimals: ``11.2``."""
    return NOT_AVAILABLE if value is None else f"{value:,.{digits}f}"


def figure(value: float | None, digits: int) -> str:
    """A measured figure: at most ``digits`` decimals and five significant digits, as no instrument of txop gives more.

    >>> figure(17.204, 2), figure(1248.0, 2), figure(0.00123, 2), figure(123456.0, 0)
    ('17.20', '1,248.0', '0.0012', '123,456')
    """
    if value is None or not math.isfinite(value):
        return NOT_AVAILABLE if value is None else ("∞" if value > 0 else f"{MINUS}∞")
    if value and abs(value) < 10**-digits:
        return f"{value:.2g}".replace("-", MINUS)
    whole = len(str(int(abs(value))))
    return f"{value:,.{max(0, min(digits, 5 - whole))}f}".replace("-", MINUS)


def percent(value: float | None, digits: int = 1) -> str:
    """``value`` in percent: ``24.1 %``. More than nothing does not read 0.0 %, and less than all does not read 100.0 %.

    >>> percent(99.98), percent(0.0), percent(0.000_001)
    ('99.98 %', '0.0 %', 'below 0.001 %')
    """
    if value is None:
        return NOT_AVAILABLE
    for more in range(digits, max(digits, 3) + 1):
        text = f"{value:.{more}f}"
        if value in (0.0, 100.0) or float(text) not in (0.0, 100.0):
            return f"{text} %"
    if 0 < value < 1:
        return "below 0.001 %"
    return "above 99.999 %" if 99 < value < 100 else f"{value:.3f} %"


def share(value: float | None, digits: int = 1) -> str:
    """``value`` as a fraction of one, shown in percent."""
    return percent(None if value is None else 100 * value, digits)


def mbit_s(value: float | None) -> str:
    """A rate in Mbit/s: ``24.5 Mbit/s``; what is not zero is not shown as zero."""
    return NOT_AVAILABLE if value is None else f"{mbit(value)} Mbit/s"


def mbit(value: float) -> str:
    """The number of :func:`mbit_s`, where the unit is printed already.

    >>> mbit(93.21), mbit(0.0198), mbit(0.0004)
    ('93.2', '0.020', 'below 0.001')
    """
    return "below 0.001" if 0 < value < 0.0005 else _significant(value)


def dbm(value: float | None) -> str:
    """A signal level."""
    return NOT_AVAILABLE if value is None else f"{value:.0f} dBm".replace("-", "\N{MINUS SIGN}")


def duration_us(value: float | None) -> str:
    """A time given in µs, in the unit that reads best: ``180 µs``, ``1.20 ms``, ``30.0 s``."""
    if value is None:
        return NOT_AVAILABLE
    size = abs(value)
    if size < 1_000:
        return f"{value:.0f} µs" if size >= 100 or value == int(value) else f"{value:.1f} µs"
    if size < 1_000_000:
        return f"{_significant(value / 1e3)} ms"
    if size < 600_000_000:
        return f"{_significant(value / 1e6)} s"
    if size < 86_400e6:
        return f"{value / 60e6:,.1f} min"
    return f"{value / 86_400e6:,.1f} days"


def size_bytes(value: float | None) -> str:
    """A size given in bytes: ``148 MB`` (powers of ten)."""
    if value is None:
        return NOT_AVAILABLE
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(value) >= scale:
            return f"{_significant(value / scale)} {unit}"
    return f"{value:.0f} B"


def signed(value: float | None, digits: int = 1) -> str:
    """A difference with its sign: ``+1.2``, ``−0.3``."""
    if value is None:
        return NOT_AVAILABLE
    if round(abs(value), digits) == 0:
        return f"{0:.{digits}f}"
    return f"{'+' if value > 0 else MINUS}{abs(value):,.{digits}f}"


MINUS = "\N{MINUS SIGN}"


def _significant(value: float) -> str:
    """Three significant digits, but never an exponent and never fewer than the whole part."""
    if value == 0:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value)))) if abs(value) >= 0.001 else 3
    return f"{value:,.{min(decimals, 3)}f}"


_ADDRESS = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
"""A MAC address, which stays as it is."""


def capital(text: str) -> str:
    """``text`` with its first letter as at the beginning of a sentence."""
    return text if _ADDRESS.match(text) else text[:1].upper() + text[1:]
