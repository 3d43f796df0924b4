"""What the captures of one arm and test say together: medians of figures, mean shares of the time on the air."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from txop.archive.run_file import RunFile

_MAX_CAUSES = 40
_FIGURES = ("retry_percent", "ampdu_mpdus", "phy_mbit_s", "response_delay_p50_us")
LABELS = {"payload": "payload", "mac_headers": "MAC headers", "preamble": "preambles", "ifs_backoff": "IFS, backoff",
           "ack": "ACK, Block Ack", "rts_cts": "RTS, CTS", "retries": "retries", "reverse": "other direction",
           "other_stations": "others and groups", "beacons_management": "management", "damaged": "damaged",
           "idle_queued": "idle, retry pending", "idle": "idle", "unobserved": "not observed"}  # fmt: skip
"""Short names of the waterfall's causes, in the order they are drawn."""
GAPS = {"idle": "idle or not captured", "idle_queued": "idle or not captured, retry pending"}
"""What the gaps between frames are called where a capture lacks frames, so that a gap need not be idle."""
_FRAMES_MISSING = frozenset({"frames-missing", "one-direction", "hopping", "away", "dropped", "own-transmissions"})
"""Limits of a capture by which its gaps need not be idle, in digests that do not say it by themselves."""


@dataclass
class Digest:
    """What the captures of one arm and test say together."""

    arm: str
    runs: int = 0
    """With a digest of their capture."""
    medians: dict[str, float | None] = field(default_factory=dict)
    """Over runs, of ``retry_percent``, ``ampdu_mpdus``, ``phy_mbit_s`` and ``response_delay_p50_us``."""
    shares: dict[str, float] = field(default_factory=dict)
    """By cause: mean over runs of its share of the observed time."""
    each: dict[str, list[float]] = field(default_factory=dict)
    """By cause: its share in each run that has it."""
    waterfalls: int = 0
    """Runs with a waterfall: what the means are over."""
    gaps_are_idle: bool = True
    """No capture lacks frames, as far as the captures themselves tell. Otherwise the shares of :data:`GAPS` are upper
    bounds, and whatever filled them is not in another share."""

    def label(self, cause: str) -> str:
        """A cause in a few words, by what is known of it here."""
        return label_of(cause) if self.gaps_are_idle else GAPS.get(cause) or label_of(cause)


def digest(arm: str, runs: Sequence[RunFile]) -> Digest:
    """Together, what the runs of one arm found. Fields that are not what they should be are left out."""
    found = Digest(arm)
    figures: dict[str, list[float]] = {key: [] for key in _FIGURES}
    shares: dict[str, list[float]] = {}
    falls = 0
    for run in runs:
        air = run.air
        if not air:
            continue
        found.runs += 1
        found.gaps_are_idle = found.gaps_are_idle and _gaps_are_idle(air)
        for key in _FIGURES:
            if (number := finite_number(air.get(key))) is not None:
                figures[key].append(number)
        steps = [s for s in _list(air.get("waterfall"))[:_MAX_CAUSES] if isinstance(s, Mapping)]
        falls += bool(steps)
        for step in steps:
            share, cause = finite_number(step.get("share")), step.get("cause")
            if share is not None and 0 <= share <= 1 and isinstance(cause, str):
                shares.setdefault(cause[:60], []).append(share)
    found.medians = {key: statistics.median(known) if known else None for key, known in figures.items()}
    found.each, found.waterfalls = shares, falls
    found.shares = {cause: math.fsum(known) / falls for cause, known in shares.items()}
    return found


def _gaps_are_idle(air: Mapping[str, Any]) -> bool:
    known = air.get("idle_is_known")
    return known if isinstance(known, bool) else not _FRAMES_MISSING & {str(code) for code in _list(air.get("limits"))}


def finite_number(value: object) -> float | None:
    """A member of a digest as a number; ``None`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def label_of(cause: str) -> str:
    """A cause in a few words."""
    return LABELS.get(cause, cause.replace("_", " "))
