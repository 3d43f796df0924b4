"""Plots over the time of a run: each run faint, the median of each arm."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from txop.core.metrics import describe
from txop.present.chapters import Drawing
from txop.present.format import plural
from txop.present.plot import INK
from txop.report.campaign.plots.drawing import FULL, Rows, Tables, arm_color, spaced, unchecked, y_at
from txop.report.campaign.plots.samples import Points, RunSeries, thinned

SERIES = ("throughput_mbit_s", "throughput_up_mbit_s", "throughput_down_mbit_s", "rtt_ms")
"""Series that are drawn, where runs have them."""

COST = "cpu_busy_percent"
"""The series of what it costs, drawn apart."""

TITLES = {"rtt_ms": ("RTT", "ms")}

_MAX_LINES = 64
"""Faint lines in one plot."""

_BUCKETS = 40
_MEDIAN_POINTS = 80
_HEIGHT = 120


@unchecked
def over_time(
    test: str, name: str, runs: Sequence[RunSeries], inks: Mapping[str, str], phases: Phases | None = None
) -> Drawing | None:
    """A panel for each arm; ``None`` without two points of any run. ``phases``: of the whole test, so that all of its
    series share one time axis."""
    by_arm = {arm: [run for run in runs if run.arm == arm and len(run.points) > 1] for arm in inks}
    by_arm = {arm: mine for arm, mine in by_arm.items() if mine}
    if not by_arm:
        return None
    each = max(4, _MAX_LINES // len(by_arm))
    medians = {arm: median_of(mine) for arm, mine in by_arm.items()}
    baseline = next(iter(inks))
    rows: Rows = []
    fewer = False
    for arm, mine in by_arm.items():
        shown = spaced(mine, each)
        fewer = fewer or len(shown) < len(mine)
        for run in shown:
            rows += _line(arm, "run", run.run, thinned(run.points, _BUCKETS))
        if baseline in medians and arm != baseline:
            rows += _line(arm, "baseline", "baseline", medians[baseline])
        rows += _line(arm, "median", "median", medians[arm])
    title, measure = named(name)
    phases = phases or phases_of([run for mine in by_arm.values() for run in mine])
    domain = [phases.begin_s, phases.end_s]
    scale_x = alt.Scale(domain=domain, nice=False)
    x = alt.X("t:Q", title="time, s", scale=scale_x, axis=alt.Axis(grid=False, tickCount=12))
    logarithmic = name == "rtt_ms" and wide(row["v"] for row in rows)
    scale = alt.Scale(type="log", nice=False) if logarithmic else alt.Scale(zero=name != "rtt_ms")
    y = alt.Y("v:Q", title=f"{title}, {measure}" if measure else title, scale=scale, axis=alt.Axis(tickCount=4))
    color = arm_color(inks, by_arm, legend=False)
    base = alt.Chart()
    layers: list[Any] = [
        base.transform_filter("datum.kind == 'run'")
        .mark_line(strokeWidth=0.7, opacity=0.4)
        .encode(x=x, y=y, color=color, detail=alt.Detail("run:N"), description=alt.Description("run:N")),
        base.transform_filter("datum.kind == 'baseline'")
        .mark_line(strokeWidth=1.2, strokeDash=[4, 3], color=INK["text"], aria=False)
        .encode(x=x, y=y),
        base.transform_filter("datum.kind == 'median'")
        .mark_line(strokeWidth=2.2, aria=False)
        .encode(x=x, y=y, color=color),
    ]
    marks = phases.marks()
    rows += [{"panel": arm, "arm": arm, "kind": "mark", "t": t} for arm in by_arm for t in marks]
    layers.append(
        base.transform_filter("datum.kind == 'mark'")
        .mark_rule(color=INK["text"], strokeDash=[1, 2], aria=False)
        .encode(x=x)
    )
    rows += [
        {"panel": arm, "arm": arm, "kind": "phase", "t": t, "phase": words}
        for arm in by_arm
        for t, words in phases.labels()
    ]
    layers.append(
        base.transform_filter("datum.kind == 'phase'")
        .mark_text(align="center", baseline="bottom", fontSize=9, color=INK["text"], aria=False)
        .encode(x=x, y=y_at(-2), text=alt.Text("phase:N"))
    )
    columns = len(by_arm) if len(by_arm) < 4 else 2
    width = (FULL - 14 * (columns - 1)) // columns
    tables = Tables()
    data = tables.add(rows).to_dict()
    panel = tables.layered(layers, width=width, height=_HEIGHT)
    for layer in panel["layer"]:
        del layer["data"]  # each panel has its part of the data
    spec = {
        "data": data,
        "facet": {
            "field": "panel", "type": "nominal", "sort": list(by_arm), "title": None,
            "header": {"labelAnchor": "start"},
        },
        "columns": columns,
        "spacing": 14,
        "datasets": panel.pop("datasets"),
        "spec": panel,
    }  # fmt: skip
    number = sum(len(mine) for mine in by_arm.values())
    caption = f"{test}: {title} over time, {plural(number, 'run')} faint, median of each arm bold"
    caption += ", that of the baseline dashed" if baseline in medians and len(by_arm) > 1 else ""
    caption += f"; {phases.words()}"
    caption += f"; {each} runs of each arm drawn" if fewer else ""
    return Drawing(spec, caption + ".", wide=True, name=f"time-{test}-{name}")


@dataclass(frozen=True)
class Phases:
    """What the time axis of a test shows: the warm-up until 0, the measured window, and what came when it was over."""

    begin_s: float
    end_s: float
    window_s: float | None
    """Median length of the window; ``None``: not known."""
    load_s: float | None = None
    """When the load ended, in the median run: the end of the last interval of its throughput."""

    def marks(self) -> list[float]:
        """Where one phase ends."""
        ends = [0.0, self.window_s, self.load_s if self._apart else None]
        return [t for t in ends if t is not None and self.begin_s < t < self.end_s]

    def labels(self) -> list[tuple[float, str]]:
        """Names of phases that have room, and their middle."""
        window_s = self.window_s if self.window_s is not None else self.end_s
        spans = ((self.begin_s, 0.0, "warm-up"), (0.0, min(window_s, self.end_s), "window"))
        after = (min(window_s, self.end_s), self.end_s, "after")
        least = 0.08 * (self.end_s - self.begin_s)
        return [(round((a + b) / 2, 3), words) for a, b, words in (*spans, after) if b - a >= least]

    def words(self) -> str:
        """What the marks mean."""
        parts = ["warm-up before 0"] if self.begin_s < 0 else []
        if self.window_s is not None:
            parts.append(f"window from 0 to {self.window_s:.3g} s")
        if self.load_s is not None and self._apart:
            parts.append(f"end of the load at {self.load_s:.3g} s")
        elif self.load_s is not None:
            parts.append("the load ended with it")
        return ", ".join(parts) or "from the start of the window"

    @property
    def _apart(self) -> bool:
        return self.load_s is not None and (self.window_s is None or abs(self.load_s - self.window_s) > 0.5)


def phases_of(runs: Sequence[RunSeries], load: Sequence[RunSeries] = ()) -> Phases:
    """The common time axis of ``runs``, of whatever series; ``load``: the series of what the load carried."""
    known = [run for run in runs if run.points]
    lengths = [run.window_s for run in known if run.window_s is not None]
    ends = [run.points[-1][0] + (run.points[-1][0] - run.points[-2][0]) / 2 for run in load if len(run.points) > 1]
    return Phases(
        min((run.points[0][0] for run in known), default=0.0),
        max((max(run.points[-1][0], run.window_s or 0.0) for run in known), default=0.0),
        statistics.median(lengths) if lengths else None,
        statistics.median(ends) if ends else None,
    )


def named(series: str) -> tuple[str, str]:
    """Title and unit of a series."""
    return TITLES.get(series, (describe(series).title, describe(series).unit))


def _line(arm: str, kind: str, run: str, points: Points) -> Rows:
    return [
        {"panel": arm, "arm": arm, "kind": kind, "run": run, "t": round(t, 3), "v": v}
        for t, v in points
    ]  # fmt: skip


def median_of(runs: Sequence[RunSeries]) -> Points:
    """For each span of time with any value, the median, over the runs, of their means in it."""
    start = min(run.points[0][0] for run in runs)
    end = max(run.points[-1][0] for run in runs)
    fewest = min(len(run.points) for run in runs)
    count = max(2, min(_MEDIAN_POINTS, fewest))
    width = (end - start) / (count - 1) or 1.0
    means: list[list[float]] = [[] for _ in range(count)]
    for run in runs:
        sums: dict[int, list[float]] = {}
        for t, v in run.points:
            if v is not None:
                sums.setdefault(min(count - 1, round((t - start) / width)), []).append(v)
        for index, found in sums.items():
            means[index].append(statistics.fmean(found))
    return [(start + i * width, statistics.median(m)) for i, m in enumerate(means) if m]


def wide(numbers: Any) -> bool:
    """Whether a logarithmic axis shows more: everything above 0, and far apart."""
    known = [n for n in numbers if n is not None]
    return bool(known) and min(known) > 0 and max(known) > 20 * min(known)
