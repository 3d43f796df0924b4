"""Throughput and round-trip time of all arms on one time axis, with the measured window marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from txop.present.chapters import Drawing
from txop.present.format import plural
from txop.present.plot import DASHES, INK
from txop.report.campaign.plots.drawing import Rows, Tables, arm_color, unchecked
from txop.report.campaign.plots.samples import RunSeries
from txop.report.campaign.plots.time import SERIES, Phases, median_of, named, wide

_WIDTH, _WIDTH_NARROW, _HEIGHT = 1140, 300, 105
_AFTER = 0.25
"""How much is shown of what came after the window, in lengths of the window; all of it is in chapter 3."""


@unchecked
def together(
    test: str, series: Mapping[str, Sequence[RunSeries]], inks: Mapping[str, str], phases: Phases
) -> Drawing | None:
    """A panel for each series, one time axis; ``None`` without two points of any run."""
    broad = _panels(series, inks, phases, _WIDTH, 12)
    if broad is None:
        return None
    spec, names, runs = broad
    on_phone = _panels(series, inks, phases, _WIDTH_NARROW, 5)
    caption = (
        f"{test}: {' and '.join(named(name)[0] for name in names)} over time, median over the runs of each arm "
        f"({plural(runs, 'run')} in all)" + ("; shaded: the measured window" if phases.window_s is not None else "")
    )
    return Drawing(
        spec, f"{caption}.", wide=True, name=f"answer-{test}", narrow=None if on_phone is None else on_phone[0]
    )


def _panels(
    series: Mapping[str, Sequence[RunSeries]], inks: Mapping[str, str], phases: Phases, width: int, ticks: int
) -> tuple[dict[str, Any], list[str], int] | None:
    """The chart, what it shows, and of how many runs."""
    tables = Tables()
    panels = []
    runs = 0
    names = [name for name in SERIES if any(len(run.points) > 1 for run in series.get(name, []))]
    shown = [arm for arm in inks if any(run.arm == arm and len(run.points) > 1 for n in names for run in series[n])]
    window_s = phases.window_s
    window: Rows = [{"t0": max(0.0, phases.begin_s), "t1": min(window_s, phases.end_s)}] if window_s is not None else []
    end_s = phases.end_s if window_s is None else min(phases.end_s, window_s * (1 + _AFTER))
    for name in names:
        known = [run for run in series[name] if len(run.points) > 1]
        runs = max(runs, len(known))
        rows: Rows = []
        for arm in shown:
            if mine := [run for run in known if run.arm == arm]:
                rows += [{"arm": arm, "t": round(t, 3), "v": v} for t, v in median_of(mine) if t <= end_s]
        title, unit = named(name)
        logarithmic = name == "rtt_ms" and wide(row["v"] for row in rows)
        scale = alt.Scale(type="log", nice=False) if logarithmic else alt.Scale(zero=name != "rtt_ms")
        last = name == names[-1]
        axis = alt.Axis(grid=False, labels=last, ticks=last, tickCount=ticks)
        domain = alt.Scale(domain=[phases.begin_s, end_s], nice=False)
        x = alt.X("t:Q", title="time from the start of the window, s" if last else None, scale=domain, axis=axis)
        key = (
            alt.Legend(title=None, symbolType="stroke", symbolSize=400, columns=2 if width < _WIDTH else 3)
            if name == names[0]
            else None
        )
        up = alt.Axis(tickCount=4, grid=not logarithmic)
        color = arm_color(inks, shown, legend=key)
        dashes = alt.Scale(domain=shown, range=[list(dash) for dash in DASHES[: len(shown)]])
        dash = alt.StrokeDash("arm:N", scale=dashes, legend=key)
        lines = (
            alt.Chart(tables.add(rows))
            .mark_line(strokeWidth=2)
            .encode(
                x=x, color=color, strokeDash=dash,
                y=alt.Y("v:Q", title=f"{title}, {unit}" if unit else title, scale=scale, axis=up),
            )
        )  # fmt: skip
        back = alt.Chart(tables.add(window)).mark_rect(color=INK["grid"], opacity=0.55, aria=False)
        marked = back.encode(x=alt.X("t0:Q", scale=domain), x2=alt.X2("t1:Q"))
        panel = Tables().layered([marked, lines] if window else [lines], width=width, height=_HEIGHT)
        del panel["datasets"]
        panels.append(panel)
    if not panels:
        return None
    spec = {**tables.layered([]), "vconcat": panels, "spacing": 10}
    del spec["layer"]
    return spec, names, runs
