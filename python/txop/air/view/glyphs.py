"""A glyph for each cause of the waterfall, the same on the terminal and the page: causes differ without colour, too."""

from __future__ import annotations

SOLID = "█"
"""Payload: what all is about."""

GLYPH_OF_CAUSE = {
    "payload": SOLID,
    "mac_headers": "h",
    "preamble": "p",
    "ifs_backoff": "b",
    "ack": "a",
    "rts_cts": "c",
    "retries": "R",
    "reverse": "v",
    "other_stations": "o",
    "beacons_management": "m",
    "damaged": "x",
    "idle_queued": "q",
    "idle": "·",
    "unobserved": "?",
}


def glyph(cause: str) -> str:
    """The glyph of ``cause``; of one that a newer analyzer has, a plus.

    >>> glyph("retries"), glyph("another")
    ('R', '+')
    """
    return GLYPH_OF_CAUSE.get(cause, "+")
