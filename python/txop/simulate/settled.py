"""Whether a run had settled when it was measured: a ramp is no steady state, whatever its mean."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from txop.simulate.model import Run, Simulation
from txop.stats.steady import TREND_P, assess

MATERIAL_SHARE = 0.1
"""A flow has not settled when the last third of its window differs from the first by more than this share of the mean,
unless there are independent samples enough and they show no trend (Kendall's test, :mod:`txop.stats.steady`)."""


def unsettled(run: Run) -> Iterator[str]:
    """A sentence for each TCP flow of a run whose goodput rose or fell through the window."""
    series = run.series
    for flow, rates in zip(run.flows, series.goodput_mbit_s, strict=True):
        if rates is None or flow.kind != "tcp":
            continue
        window = rates[round(-series.start_s / series.interval_s) :]
        if len(window) < 3:
            continue
        third = len(window) // 3
        first, last = float(np.mean(window[:third])), float(np.mean(window[-third:]))
        if abs(last - first) <= MATERIAL_SHARE * float(np.mean(window)):
            continue
        # A steep ramp is one long correlation: too few independent samples for a test, and a ramp none the less.
        trend = assess(window).trend
        if trend is not None and trend.p >= TREND_P:
            continue
        evidence = "too few independent samples for a test" if trend is None else f"trend: p = {trend.p:.2g}"
        yield (
            f"{flow.name} had not settled: {first:.1f} Mbit/s in the first third of the window and {last:.1f} in the "
            f"last ({evidence}, seed {run.seed}). Lengthen run.warm_up_s."
        )


def warnings(simulation: Simulation) -> list[str]:
    """What there is to say of all points: for each the first run that had not settled, and how many."""
    said = []
    for point in simulation.points:
        bad = [(run, list(unsettled(run))) for run in point.runs]
        bad = [(run, words) for run, words in bad if words]
        if not bad:
            continue
        where = ", ".join(f"{axis.key} = {value}" for axis, value in zip(simulation.axes, point.values, strict=True))
        prefix = f"{where}: " if where else ""
        share = f" ({len(bad)} of {len(point.runs)} runs)" if len(point.runs) > 1 else ""
        said += [f"{prefix}{words}{share}" for words in bad[0][1]]
    return said
