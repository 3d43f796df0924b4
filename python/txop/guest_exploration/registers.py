"""The registers that a driver uses, out of a trace of the chip (``txop-vusb --trace``)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

MOST_ROWS = 200_000
MOST_REGISTERS = 512
_LAST = 0xFFFF


def registers_used(rows: Iterable[bytes]) -> tuple[int, ...]:
    """Registers in a trace, the most used first where there are too many; sorted. Other rows are left out.

    >>> registers_used([b'{"event":"read","register":"0x0608"}', b"nonsense", b'{"event":"bulk in"}'])
    (1544,)
    """
    counts: Counter[int] = Counter()
    for number, row in enumerate(rows):
        if number >= MOST_ROWS:
            break
        try:
            address = json.loads(row).get("register")
            value = int(address, 16) if isinstance(address, str) and len(address) < 12 else -1
        except (ValueError, AttributeError, RecursionError):
            continue
        if 0 <= value <= _LAST:
            counts[value] += 1
    return tuple(sorted(register for register, _ in counts.most_common(MOST_REGISTERS)))
