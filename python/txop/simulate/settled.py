"""Whether a run was in a steady state when it was measured."""

from __future__ import annotations

from collections.abc import Iterator

from txop.simulate.model import Run
from txop.simulate.simulation import Simulation
from txop.stats.ramp import ramp


def unsettled(run: Run) -> Iterator[str]:
    """A sentence for each TCP flow of a run with a goodput that rose or fell through the window."""
    series = run.series
    for flow, rates in zip(run.flows, series.goodput_mbit_s, strict=True):
        if rates is None or flow.kind != "tcp":
            continue
        window = rates[round(-series.start_s / series.interval_s) :]
        if window and (found := ramp(window)) is not None:
            yield (
                f"{flow.name} had not settled: {found.first:.1f} Mbit/s in the first third of the window and "
                f"{found.last:.1f} in the last "
                f"({found.standard_errors:.2g} standard errors, p = {found.p:.2g}, {len(window)} intervals, "
                f"seed {run.seed}). "
                "Lengthen run.warm_up_s."
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
