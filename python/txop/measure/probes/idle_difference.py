"""CPU use of a load above idle: the difference of two phases, with its interval.

Each phase is read as the rates between its consecutive samples, so that both know how much they vary. The interval is
Welch's for the difference of two means (Welch 1947), and no reading is taken to be finer than a tick of the counters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from txop.archive.window import counted
from txop.formats.proc_stat import TICKS_PER_SECOND
from txop.measure.instrument import Marks

Sample = TypeVar("Sample")

CONFIDENCE = 0.95

BUSY = "busy_cores_above_idle"
"""Key of the difference in a reading's ``extra``; the ends of its interval are under :data:`LOW` and :data:`HIGH`."""
LOW = f"{BUSY}_low"
HIGH = f"{BUSY}_high"
TOTAL = "busy_cores"
"""Key of the cores busy in the window, idle cost included."""


@dataclass(frozen=True)
class AboveIdle:
    """Cores kept busy by a load."""

    cores: float
    """Busy in the window minus busy in the idle phase; may be negative."""
    low: float | None
    """Ends of the interval; ``None`` where neither phase has three samples."""
    high: float | None


@dataclass(frozen=True)
class _Phase:
    mean: float
    variance: float | None
    """Variance of the rates between samples; ``None`` for fewer than two of them."""
    rates: int
    span_s: float


def above_idle(
    marks: Marks,
    samples: Sequence[Sample],
    at_s: Callable[[Sample], float],
    busy_cores: Callable[[Sample, Sample], float | None],
    cpus: int,
) -> AboveIdle | None:
    """Cores busy in the window beyond those busy in the idle phase; ``None`` without an idle phase to compare with.

    ``at_s`` gives a sample's time from the start of the window, ``busy_cores`` the cores busy between two samples.
    """
    if marks.idle is None or marks.load is None or marks.window is None or marks.window_s is None:
        return None
    idle = _phase(samples, at_s, busy_cores, marks.idle - marks.window, marks.load - marks.window)
    load = _phase(samples, at_s, busy_cores, 0.0, marks.window_s)
    if idle is None or load is None:
        return None
    cores = load.mean - idle.mean
    known = [phase.variance for phase in (idle, load) if phase.variance is not None]
    if not known:
        return AboveIdle(cores, None, None)
    parts = []
    for phase in (idle, load):
        rounding = cpus * (1 / TICKS_PER_SECOND / phase.span_s) ** 2 / 6
        variance = phase.variance if phase.variance is not None else max(known)
        parts.append((variance / phase.rates + rounding, max(1, phase.rates - 1)))
    total = sum(part for part, _ in parts)
    freedom = total**2 / sum(part**2 / n for part, n in parts)
    from scipy.special import stdtrit

    half = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * math.sqrt(total)
    return AboveIdle(cores, cores - half, cores + half)


def of_idle_phase(
    marks: Marks, samples: Sequence[Sample], at_s: Callable[[Sample], float]
) -> tuple[Sample, Sample] | None:
    """The first and the last sample of the idle phase; ``None`` without two of them."""
    if marks.idle is None or marks.load is None or marks.window is None:
        return None
    start_s, end_s = marks.idle - marks.window, marks.load - marks.window
    found = _within(samples, at_s, start_s, end_s)
    return (found[0], found[-1]) if len(found) > 1 and at_s(found[-1]) > at_s(found[0]) else None


def _within(samples: Sequence[Sample], at_s: Callable[[Sample], float], start_s: float, end_s: float) -> list[Sample]:
    return counted(((at_s(sample) - start_s, sample) for sample in samples), end_s - start_s)


def _phase(
    samples: Sequence[Sample],
    at_s: Callable[[Sample], float],
    busy_cores: Callable[[Sample, Sample], float | None],
    start_s: float,
    end_s: float,
) -> _Phase | None:
    found = _within(samples, at_s, start_s, end_s)
    if len(found) < 2:
        return None
    mean, span_s = busy_cores(found[0], found[-1]), at_s(found[-1]) - at_s(found[0])
    if mean is None or span_s <= 0:
        return None
    rates = [rate for a, b in pairwise(found) if (rate := busy_cores(a, b)) is not None]
    if len(rates) < 2:
        return _Phase(mean, None, 1, span_s)
    middle = sum(rates) / len(rates)
    return _Phase(mean, sum((rate - middle) ** 2 for rate in rates) / (len(rates) - 1), len(rates), span_s)
