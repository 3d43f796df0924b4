"""Whether a run's throughput was steady: warm-up long enough, no drop-outs, no drift. Words for the reader of a run;
they never change a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from txop.measure.instrument import Points
from txop.present.format import mbit, mbit_s

DROPPED_MBIT_S = 0.001
"""Less than this is nothing."""
DROPOUT_S = 2.0
"""Nothing for longer than this is a drop-out."""
MATERIAL_SHARE = 0.05
"""The warm-up is called too short when what MSER-5 would cut besides differs from the rest by more than this.
MSER-5 alone would cut something more in three of ten steady runs."""
DRIFT_P = 0.01
MAX_TIMES = 5


def unsteady(points: Points, *, soak: bool) -> list[str]:
    """What there is to say of a throughput series (Mbit/s; the window starts at 0).

    Args:
        points: Evenly spaced, the warm-up at negative times.
        soak: Look for slow change over the whole window too.
    """
    import numpy as np

    from txop.stats.ramp import ramp
    from txop.stats.steady import MAX_SD_SHARE, assess
    from txop.stats.step import step

    known = sorted((t, rate) for t, rate in points if rate is not None)
    rates = np.asarray([rate for _, rate in known])
    warm_up = sum(t < 0 for t, _ in known)
    if not 0 <= warm_up < len(known):
        return []
    said = []
    found = assess(rates, warm_up=warm_up)
    drifts = soak and found.trend is not None and found.trend.p < DRIFT_P
    if found.cut is not None and found.cut.samples > warm_up and not drifts:
        rest = float(rates[found.cut.samples :].mean())
        early = float(rates[warm_up : found.cut.samples].mean())
        if abs(early - rest) > MATERIAL_SHARE * rest:
            at_s = known[found.cut.samples][0]
            said.append(
                f"the warm-up was too short: MSER-5 would begin {at_s:.0f} s into the window "
                f"({mbit_s(early)} until then, {mbit(rest)} after)"
            )
    if found.moving_sd_share is not None and found.moving_sd_share > MAX_SD_SHARE:
        said.append(
            f"not steady at the end: the last four moving averages vary by {100 * found.moving_sd_share:.0f} % "
            f"({100 * MAX_SD_SHARE:.0f} % allowed)"
        )
    if not said and not drifts and (risen := ramp(rates[warm_up:])) is not None:
        said.append(
            f"not settled: {mbit_s(risen.first)} in the first third of the window, {mbit(risen.last)} in the "
            f"last ({risen.standard_errors:.2g} standard errors, p = {risen.p:.1g}, {rates.size - warm_up} intervals); "
            "lengthen the warm-up"
        )
    if not said and not drifts and (jump := step(rates[warm_up:])) is not None:
        said.append(
            f"not settled: it jumped from {mbit_s(jump.before)} to {mbit(jump.after)} after {jump.samples} of "
            f"{rates.size - warm_up} intervals of the window ({jump.standard_errors:.2g} standard errors); "
            "lengthen the warm-up"
        )
    if drifts and found.trend is not None:
        kept = rates[warm_up:]
        tenth = max(1, kept.size // 10)
        first, last = float(np.median(kept[:tenth])), float(np.median(kept[-tenth:]))
        way = "rose" if found.trend.tau > 0 else "fell"
        said.append(
            f"it {way} with time: {mbit_s(first)} in the first tenth of the window, {mbit(last)} in the last "
            f"(tau = {found.trend.tau:+.2f}, p = {found.trend.p:.1g})"
        )
    return said


def dropouts(points: Points) -> list[tuple[float, float]]:
    """Start and length in seconds of every time within the window without payload for more than two seconds.

    >>> dropouts([(0.5, 9.0), (1.5, 0.0), (2.5, 0.0), (3.5, 0.0), (4.5, 9.0)])
    [(1.0, 3.0)]
    """
    known = sorted((t, rate) for t, rate in points if rate is not None)
    if len(known) < 2:
        return []
    step_s = median(b[0] - a[0] for a, b in pairwise(known))
    found: list[tuple[float, float]] = []
    start: float | None = None
    for t, rate in [*known, (known[-1][0] + step_s, float("inf"))]:
        nothing = rate < DROPPED_MBIT_S and t >= 0
        if nothing and start is None:
            start = t - step_s / 2
        elif not nothing and start is not None:
            length_s = t - step_s / 2 - start
            if length_s > DROPOUT_S:
                found.append((round(start, 3), round(length_s, 3)))
            start = None
    return found


def dropout_words(found: Sequence[tuple[float, float]]) -> str:
    """Drop-outs in words.

    >>> dropout_words([(12.0, 3.0)])
    'nothing arrived for 3 s at 12 s'
    """
    shown = ", ".join(f"{length_s:.0f} s at {start_s:.0f} s" for start_s, length_s in found[:MAX_TIMES])
    more = f" and {len(found) - MAX_TIMES} more times" if len(found) > MAX_TIMES else ""
    return f"nothing arrived for {shown}{more}"
