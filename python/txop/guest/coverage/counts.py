"""Reads a guest's counts of the blocks that were reached (``/proc/txop_coverage``, described in txop_coverage.c)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from txop.guest.coverage.blocks import Block, ModuleBlocks, Place
from txop.guest_image.error import GuestError

COUNTS = "coverage"
"""What a trial outputs it as."""
MOST_BYTES = 1 << 20
"""Longest text that is read: that of 10,000 blocks has 130 kB."""
_FIRST = "txop-coverage 1"
_MODULE = re.compile(r"module (?P<name>[A-Za-z0-9_]{1,64}) \d+ \d+")
_COUNT = re.compile(r"(?P<kind>[ti]) (?P<offset>[0-9a-f]{1,16}) (?P<count>\d{1,10})")
_LAST = re.compile(r"elsewhere (?P<count>\d{1,10})")


def read_counts(text: bytes) -> dict[str, dict[Place, int]] | None:
    """By module: how often the blocks at its places were reached; ``None``: there is nothing, or not all of it.

    >>> read_counts(b"txop-coverage 1\\nmodule m 4096 0\\nt 1c 3\\nelsewhere 0\\n")
    {'m': {('t', 28): 3}}
    """
    rows = text[:MOST_BYTES].decode("ascii", "replace").splitlines()
    if len(rows) < 2 or rows[0] != _FIRST or _LAST.fullmatch(rows[-1]) is None:
        return None
    counts: dict[str, dict[Place, int]] = {}
    module: dict[Place, int] = {}
    for row in rows[1:-1]:
        if (match := _COUNT.fullmatch(row)) is not None:
            module[match["kind"], int(match["offset"], 16)] = int(match["count"])
        elif (match := _MODULE.fullmatch(row)) is not None:
            module = counts.setdefault(match["name"], {})
        else:
            return None
    return counts


def reached(modules: Mapping[str, ModuleBlocks], counts: Mapping[str, Mapping[Place, int]]) -> dict[Block, int]:
    """The blocks that were reached, and how often.

    Raises:
        GuestError: A place is no block of these modules: they are not what the guest had.
    """
    found: dict[Block, int] = {}
    for name, places in counts.items():
        known = modules.get(name)
        for place, count in places.items():
            block = None if known is None else known.blocks.get(place)
            if block is None:
                raise GuestError(f"the guest counted at {place[0]} {place[1]:#x} of {name}, where no block is")
            found[block] = count
    return found
