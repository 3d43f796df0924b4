"""Throughput against round-trip time, a point a run: which arm gets both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from txop.compare.result import ComparedFigure
from txop.present.chapters import Drawing
from txop.present.format import plural
from txop.present.plot import INK
from txop.report.campaign.plots.drawing import HALF, Rows, Tables, arm_color, unchecked, x_at, y_at

_HEIGHT = 210
_THROUGHPUT = ("throughput_mbit_s", "throughput_down_mbit_s", "throughput_up_mbit_s")
_RTT = ("rtt_p50_ms", "tcp_rtt_ms")
_MOST_POINTS = 600


@unchecked
def tradeoff(test: str, figures: Sequence[ComparedFigure], inks: Mapping[str, str]) -> Drawing | None:
    """Points of the runs that have both; ``None`` where fewer than two have."""
    known = {figure.metric.key: figure for figure in figures if figure.test == test}
    across = next((known[key] for key in _THROUGHPUT if key in known), None)
    up = next((known[key] for key in _RTT if key in known), None)
    if across is None or up is None:
        return None
    delay = {p.run: p.value for values in up.arms for p in values.points if p.value is not None}
    rows: Rows = [
        {"arm": values.arm, "x": p.value, "y": delay[p.run], "run": p.run}
        for values in across.arms
        if values.arm in inks
        for p in values.points
        if p.value is not None and p.run in delay
    ]
    if len(rows) < 2:
        return None
    tables = Tables()
    arms = list(dict.fromkeys(str(row["arm"]) for row in rows))
    shapes = alt.Scale(domain=arms, range=["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"])
    points = (
        alt.Chart(tables.add(rows[:_MOST_POINTS]))
        .mark_point(filled=True, size=55, opacity=0.85)
        .encode(
            x=alt.X(
                "x:Q", title=f"{across.metric.title}, {across.metric.unit}", scale=alt.Scale(zero=False, padding=14)
            ),
            y=alt.Y("y:Q", title=f"{up.metric.title}, ms", scale=alt.Scale(zero=False, padding=14)),
            color=arm_color(inks, arms),
            shape=alt.Shape("arm:N", scale=shapes, legend=alt.Legend(title=None)),
            tooltip=[alt.Tooltip(name) for name in ("arm:N", "run:N", "x:Q", "y:Q")],
        )
    )
    corner = (
        alt.Chart(tables.add([{"text": "better ↘"}]))
        .mark_text(align="right", baseline="bottom", color=INK["good"], fontSize=11, aria=False)
        .encode(x=x_at(HALF - 6), y=y_at(_HEIGHT - 6), text=alt.Text("text:N"))
    )
    caption = f"{test}: throughput against {up.metric.title}, a point for each of {plural(len(rows), 'valid run')}."
    spec = tables.layered([points, corner], width=HALF, height=_HEIGHT)
    return Drawing(spec, caption, name=f"tradeoff-{test}")
