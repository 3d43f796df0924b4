"""Names of the numbers that kernel messages carry: errno, 802.11 reason and status codes.

The tables are data (``names.toml``, which says where each comes from).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Name:
    """What a number is called, and what it says in short (None where there is nothing to add)."""

    name: str
    says: str | None = None

    def __str__(self) -> str:
        return f"{self.name} ({self.says})" if self.says else self.name


@cache
def _tables() -> dict[str, dict[str, object]]:
    return tomllib.loads(resources.files("txop.log").joinpath("names.toml").read_text(encoding="utf-8"))


def errno_name(number: int) -> Name | None:
    """The name of an errno of either sign, None for 0 and for numbers that no architecture names.

    Names are those of asm-generic (x86, Arm, RISC-V); numbers free there that MIPS uses carry that remark.

    >>> str(errno_name(-11))
    'EAGAIN'
    >>> str(errno_name(-145))
    'ETIMEDOUT (on MIPS)'
    """
    key = str(abs(number))
    tables = _tables()
    if name := tables["errno"].get(key):
        return Name(str(name))
    if name := tables["errno_mips"].get(key):
        return Name(str(name), "on MIPS")
    return None


def usb_errno_name(number: int) -> Name | None:
    """Like :func:`errno_name`, with what the errno says as the status of a USB transfer."""
    found = errno_name(number)
    if found is None:
        return None
    says = _tables()["usb_transfer"].get(found.name)
    return Name(found.name, str(says)) if says else found


def reason_name(code: int) -> Name | None:
    """The name of an 802.11 reason code (IEEE Std 802.11-2020, Table 9-49).

    >>> reason_name(7).name
    'INVALID_CLASS3_FRAME'
    """
    return _coded("reason", code)


def status_name(code: int) -> Name | None:
    """The name of an 802.11 status code (IEEE Std 802.11-2020, Table 9-50)."""
    return _coded("status", code)


def _coded(table: str, code: int) -> Name | None:
    entry = _tables()[table].get(str(code))
    return Name(str(entry[0]), str(entry[1])) if isinstance(entry, list) else None
