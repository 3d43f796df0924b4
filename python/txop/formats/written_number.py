"""A number as people write it into a table: with a decimal comma, with thousands, as a range, with a unit behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from txop.core.errors import TxopError
from txop.core.visible import visible
from txop.formats.reading import real

_NUMBER = r"[-+]?[0-9][0-9.,]{0,30}"
_RANGE = re.compile(rf"(?P<low>{_NUMBER})(?:\s*(?:~|-|–|\.\.\.|to)\s*(?P<high>{_NUMBER}))?\s*(?P<unit>[^0-9\s].*)?")
_GROUPS = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")


class NotANumberError(TxopError, ValueError):
    """The text is not a number, or could be two."""


@dataclass(frozen=True, slots=True)
class Written:
    """One number, or a range."""

    low: float
    high: float
    unit: str
    """As written; empty where none is."""

    @property
    def single(self) -> float | None:
        """The number; ``None`` for a range, in which no single figure is known."""
        return self.low if self.low == self.high else None


def number(text: str) -> float:
    """The number that ``text`` is.

    A comma is read as what it can only be: thousands in ``1,234.5`` and ``1,234,567``, a decimal comma in ``17,2``.
    ``1,234`` could be either and is refused, as is anything else that is not a number.

    >>> number("17,2"), number("1,234.5"), number("8.29")
    (17.2, 1234.5, 8.29)
    """
    stripped = text.strip()
    plain = stripped
    if "," in stripped:
        commas = stripped.count(",")
        if _GROUPS.fullmatch(stripped) is not None and (commas > 1 or "." in stripped):
            plain = stripped.replace(",", "")
        elif commas == 1 and "." not in stripped and len(stripped.partition(",")[2]) != 3:
            plain = stripped.replace(",", ".")
        elif _GROUPS.fullmatch(stripped) is not None:
            whole, _, rest = stripped.partition(",")
            raise NotANumberError(f'"{visible(stripped)}" may be {whole}{rest} or {whole}.{rest}')
    found = real(plain, least=-1e18)
    if found is None:
        raise NotANumberError(f'"{visible(stripped[:40])}" is not a number' if stripped else "the cell is empty")
    return found


def written(text: str) -> Written:
    """The number or range at the start of a cell, with the unit behind it. Raises :class:`NotANumberError`.

    >>> written("23~27 Mbits/s")
    Written(low=23.0, high=27.0, unit='Mbits/s')
    >>> written("17.2%").single
    17.2
    """
    stripped = text.strip()[:200]
    found = _RANGE.fullmatch(stripped)
    if found is None:
        raise NotANumberError(f'"{visible(stripped[:40])}" is not a number' if stripped else "the cell is empty")
    low = number(found["low"])
    high = low if found["high"] is None else number(found["high"])
    if high < low:
        raise NotANumberError(f'"{visible(stripped[:40])}" is a range that ends before it begins')
    return Written(low, high, visible((found["unit"] or "").strip()))
