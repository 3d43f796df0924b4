"""Figures that need what two instruments read: CPU cost needs the counters and the payload."""

from __future__ import annotations

from txop.campaign.gates import payload_bytes
from txop.core.metrics import BELOW_NOISE
from txop.measure.instrument import Reading, RunFacts
from txop.measure.probes.idle_difference import BUSY, HIGH, LOW, TOTAL


def join(facts: RunFacts, reading: Reading) -> None:
    """Add the joined figures to what the instruments read."""
    if BUSY not in reading.extra:
        return
    moved = payload_bytes(facts, reading)
    busy, window_s = reading.extra[BUSY], facts.marks.window_s
    _total(reading, reading.extra.get(TOTAL), window_s, moved)
    source = "/proc/stat, above idle, over the payload"
    if busy is None:
        reading.put("cpu_s_per_gbit", None, source, "no idle phase long enough to compare with (design.idle_s)")
    elif moved is None or window_s is None or moved == 0:
        reading.put("cpu_s_per_gbit", None, source, "no payload was counted")
    elif reason := _within_noise(busy, reading.extra.get(LOW), reading.extra.get(HIGH)):
        reading.put("cpu_s_per_gbit", None, source, reason, code="below-noise")
    else:
        reading.put("cpu_s_per_gbit", busy * window_s / (moved * 8 / 1e9), source)


def _total(reading: Reading, busy: float | None, window_s: float | None, moved: float | None) -> None:
    """All of the machine's work in the window, per payload."""
    source = "/proc/stat, all of it, over the payload"
    if busy is None:
        reading.put("cpu_total_s_per_gbit", None, source, "the counters went backwards")
    elif moved is None or window_s is None or moved == 0:
        reading.put("cpu_total_s_per_gbit", None, source, "no payload was counted")
    else:
        reading.put("cpu_total_s_per_gbit", busy * window_s / (moved * 8 / 1e9), source)


def _within_noise(busy: float, low: float | None, high: float | None) -> str | None:
    """Why ``busy`` cores above idle are not a figure; ``None`` when the interval lies above 0."""
    ends = f"{low:+.3f} to {high:+.3f}, 95 %" if low is not None and high is not None else "no interval"
    if busy > 0 and (low is None or low > 0):
        return None
    return f"{BELOW_NOISE}: {busy:+.3f} cores beyond those busy while idle ({ends})"
