"""The colour of each waterfall cause, the same in the bar, the plot and the comparison."""

from __future__ import annotations

INK_OF_CAUSE = {
    "payload": "good",
    "mac_headers": "eight",
    "preamble": "nine",
    "ifs_backoff": "five",
    "ack": "four",
    "rts_cts": "eleven",
    "retries": "bad",
    "reverse": "seven",
    "other_stations": "one",
    "beacons_management": "ten",
    "damaged": "twelve",
    "idle_queued": "shade",
    "idle": "grid",
    "unobserved": "six",
}


def ink(cause: str) -> str:
    """Name of the ink (:data:`txop.present.plot.INK`) for ``cause``."""
    return INK_OF_CAUSE.get(cause, "three")
