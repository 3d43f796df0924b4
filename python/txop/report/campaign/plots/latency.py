"""Distributions of round-trip times: functions with bands, and how their quantiles shift between arms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import numpy as np

from txop.archive.window import inside
from txop.present.chapters import Drawing
from txop.present.format import plural
from txop.present.plot import INK
from txop.report.campaign.plots.drawing import HALF, Rows, Tables, arm_color, spaced, unchecked
from txop.report.campaign.plots.samples import RunSeries
from txop.stats.spread import cdf_band, quantile_shifts

SERIES = "rtt_ms"
_GRID = 110
_LINES = 60
_HEIGHT = 230
_DRAWS = 1000
_UNUSUAL = 1.5
"""An axis ends at most at this multiple of the 99.9th percentile: one probe does not flatten all lines."""


@dataclass(frozen=True)
class RttAxis:
    """The axis of distributions of round-trip times."""

    grid: np.ndarray[Any, np.dtype[np.float64]]
    """Where they are drawn, ms."""
    is_logarithmic: bool

    @classmethod
    def of(cls, finite: Sequence[float]) -> RttAxis:
        """The axis that shows these times, ms: logarithmic where they differ by more than six times."""
        low, high = min(finite), max(finite)
        usual = float(np.quantile(finite, 0.999))
        high = min(high, _UNUSUAL * usual) if usual > 0 else high
        if high <= low:
            high = low * 1.1 or 1.0
        is_logarithmic = low > 0 and high > 6 * low
        grid = np.geomspace(low * 0.97, high * 1.03, _GRID) if is_logarithmic else np.linspace(low, high, _GRID)
        return cls(grid, is_logarithmic)

    @property
    def scale(self) -> alt.Scale:
        """Its scale."""
        kind: Literal["log", "linear"] = "log" if self.is_logarithmic else "linear"
        return alt.Scale(type=kind, domain=[short(self.grid[0]), short(self.grid[-1])], nice=False)

    @property
    def title(self) -> str:
        """What it shows."""
        return "RTT, ms (log scale)" if self.is_logarithmic else "RTT, ms"


@unchecked
def distribution(test: str, runs: Sequence[RunSeries], inks: Mapping[str, str], seed: int) -> Drawing | None:
    """Distribution functions: each run faint, the mean of each arm with a band from resampling whole runs."""
    samples = {arm: [s for run in runs if run.arm == arm and (s := delays(run))] for arm in inks}
    samples = {arm: mine for arm, mine in samples.items() if mine}
    finite = [v for mine in samples.values() for run in mine for v in run if math.isfinite(v)]
    if len(finite) < 2:
        return None
    axis = RttAxis.of(finite)
    grid = axis.grid
    bands: Rows = []
    faint: Rows = []
    each = max(3, _LINES // len(samples))
    lost = 0
    for arm, mine in samples.items():
        lost += sum(math.isinf(v) for run in mine for v in run)
        band = cdf_band(mine, grid, seed=seed, draws=_DRAWS)
        for i, at in enumerate(grid):
            bands.append(
                {
                    "arm": arm, "ms": short(at), "mean": short(band.mean[i]),
                    "low": short(band.low[i]), "high": short(band.high[i]),
                }
            )  # fmt: skip
        for number in spaced(range(len(mine)), each):
            last = -1.0
            for i in range(0, _GRID, 2):
                share = short(band.per_run[number][i])
                if share != last or i + 2 >= _GRID:
                    faint.append({"arm": arm, "run": f"{arm} {number}", "ms": short(grid[i]), "share": share})
                last = share
    x = alt.X("ms:Q", scale=axis.scale, axis=alt.Axis(title=axis.title, grid=False, tickCount=7, format="~r"))
    y_scale = alt.Scale(domain=[0, 1])
    up = alt.Axis(title="share of probes", format="%", tickCount=5)
    color = arm_color(inks, samples)
    tables = Tables()
    data = alt.Chart(tables.add(bands))
    layers = [
        data.mark_area(opacity=0.18, aria=False).encode(
            x=x, y=alt.Y("low:Q", scale=y_scale, axis=up), y2=alt.Y2("high:Q"), color=color),
        alt.Chart(tables.add(faint)).mark_line(
            strokeWidth=0.6, opacity=0.35, interpolate="step-after", aria=False).encode(
            x=x, y=alt.Y("share:Q", scale=y_scale, axis=up), color=color, detail=alt.Detail("run:N")),
        data.mark_line(strokeWidth=2.2, aria=False).encode(
            x=x, y=alt.Y("mean:Q", scale=y_scale, axis=up), color=color),
    ]  # fmt: skip
    caption = (
        f"{test}: distribution of the RTT in the measured window. Faint: single runs; bold: mean of the "
        "runs of an arm, with a 95 % band from resampling runs, for the eye"
    )
    if any(len(mine) < 10 for mine in samples.values()):
        caption += " (with fewer than 10 runs it is too narrow)"
    if lost:
        count = plural(lost, "lost probe") + (" counts" if lost == 1 else " count")
        caption += f". {count} as infinitely late: a line that ends below 100 % lost the rest"
    return Drawing(
        tables.layered(layers, width=HALF, height=_HEIGHT),
        caption + ".",
        wide=True,
        name=f"latency-{test}",
    )


@unchecked
def shifts(test: str, runs: Sequence[RunSeries], inks: Mapping[str, str], confidence: float) -> Drawing | None:
    """How much each quantile of the round-trip times moved against the baseline, within blocks."""
    baseline, *others = inks
    before = {run.block: delays(run) for run in runs if run.arm == baseline}
    rows: Rows = []
    endless: set[str] = set()
    for arm in others:
        after = {run.block: delays(run) for run in runs if run.arm == arm}
        shared = sorted(block for block in before.keys() & after.keys() if before[block] and after[block])
        if not shared:
            continue
        found = quantile_shifts([before[b] for b in shared], [after[b] for b in shared], confidence=confidence)
        for shift in found:
            label = f"{100 * shift.probability:.0f} %"
            if shift.estimate is None or math.isinf(shift.estimate):
                endless.add(label)
                continue
            rows.append(
                {
                    "quantile": label, "arm": arm, "at": short(shift.estimate),
                    "low": None if shift.low is None else short(shift.low),
                    "high": None if shift.high is None else short(shift.high),
                }
            )  # fmt: skip
    if not rows:
        return None
    order = list(dict.fromkeys(row["quantile"] for row in sorted(rows, key=lambda r: float(r["quantile"][:-2]))))
    arms = [arm for arm in others if any(row["arm"] == arm for row in rows)]
    tables = Tables()
    data = alt.Chart(tables.add(rows)).encode(
        x=alt.X("quantile:N", sort=order, title="quantile", axis=alt.Axis(labelAngle=0, grid=False)),
        xOffset=alt.XOffset("arm:N", sort=arms),
        color=arm_color(inks, arms),
    )
    title = f"shift against {baseline}, ms"
    y = alt.Y("at:Q", title=title, axis=alt.Axis(tickCount=6))
    layers: list[Any] = [
        alt.Chart(tables.add([{"zero": 0}])).mark_rule(color=INK["text"], aria=False).encode(
            y=alt.Y("zero:Q", title=title)),
        data.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, aria=False).encode(
            y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q")),
        data.mark_point(filled=True, size=45, opacity=1, aria=False).encode(y=y),
    ]  # fmt: skip
    caption = (
        f"{test}: shift of each quantile of the measured window within blocks, with a {100 * confidence:g} % interval "
        "for each alone; below 0 is quicker"
    )
    if endless:
        caption += f". Not drawn: {', '.join(sorted(endless))}, infinite for lost probes"
    return Drawing(
        tables.layered(layers, width=HALF, height=_HEIGHT),
        caption + ".",
        wide=True,
        name=f"latency-shift-{test}",
    )


def delays(run: RunSeries) -> list[float]:
    """The round-trip times of the measured window, ms; a lost probe is infinite."""
    return [math.inf if v is None else v for v in inside(run.points, run.window_s)]


def short(number: float) -> float:
    """A number with the digits that a drawing can show."""
    return float(f"{number:.5g}")
