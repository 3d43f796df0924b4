"""Figures that need what two instruments read: CPU cost needs the counters and the payload."""

from __future__ import annotations

from txop.campaign.gates import payload_bytes
from txop.campaign.instrument import Reading, RunFacts

BUSY = "busy_cores_above_idle"
"""Set by :mod:`txop.probes.host`."""


def join(facts: RunFacts, reading: Reading) -> None:
    """Add the joined figures to what the instruments read."""
    if BUSY not in reading.extra:
        return
    moved = payload_bytes(facts, reading)
    busy, window_s = reading.extra[BUSY], facts.marks.window_s
    source = "/proc/stat, above idle, over the payload"
    if busy is None:
        reading.put("cpu_s_per_gbit", None, source, "no idle phase long enough to compare with (design.idle_s)")
    elif moved is None or window_s is None or moved == 0:
        reading.put("cpu_s_per_gbit", None, source, "no payload was counted")
    else:
        reading.put("cpu_s_per_gbit", max(0.0, busy) * window_s / (moved * 8 / 1e9), source)
