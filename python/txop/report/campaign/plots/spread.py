"""Every run as a point: by arm with boxes, and in the order the runs were made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from txop.archive.counting import figure_value
from txop.archive.run_file import RunFile
from txop.compare import words
from txop.compare.result import ComparedFigure
from txop.present.chapters import Drawing
from txop.present.plot import INK
from txop.report.answer.wording import unit, value
from txop.report.campaign.plots.drawing import HALF, Rows, Tables, arm_color, ink_color, spaced, unchecked, y_at
from txop.report.campaign.runs import in_order

BOX_FROM = 5
"""Runs from which a box says more than the points alone."""

_HEIGHT = 190
_ARM_WIDTH, _ARM_MOST = 92, 170
_MOST_POINTS = 200
_MOST_IN_ORDER = 1200


@unchecked
def boxes(figure: ComparedFigure, inks: Mapping[str, str]) -> Drawing | None:
    """Points of every run by arm, joined by block, with a box from 5 runs on; ``None`` without any value."""
    arms = [v for v in figure.arms if v.arm in inks]
    finite = [p.value for v in arms for p in v.points if p.value is not None]
    if not finite:
        return None
    paired = any(row.paired for row in figure.rows)
    metric = figure.metric
    blocks = sorted({p.block for v in arms for p in v.points})
    rank = {block: (i + 0.5) / len(blocks) - 0.5 for i, block in enumerate(blocks)}
    points: Rows = []
    box: Rows = []
    labels: Rows = []
    thinned = False
    for place, arm in enumerate(arms):
        mine = sorted(p.value for p in arm.points if p.value is not None)
        labels.append({"x": place, "arm": arm.arm, "n": f"n={arm.n}"})
        if len(arm.points) >= BOX_FROM and len(mine) == len(arm.points):
            box.append(
                {
                    "x": place, "x0": place - 0.3, "x1": place + 0.3, "ink": inks[arm.arm],
                    "q1": _quantile(mine, 0.25), "q2": _quantile(mine, 0.5), "q3": _quantile(mine, 0.75),
                    "low": mine[0], "high": mine[-1],
                }
            )  # fmt: skip
        shown = spaced(arm.points, _MOST_POINTS)
        thinned = thinned or len(shown) < len(arm.points)
        for p in shown:
            points.append(
                {
                    "x": place + 0.44 * rank[p.block],
                    "y": p.value,
                    "block": p.block,
                    "arm": arm.arm,
                    "ink": inks[arm.arm],
                    "infinite": p.infinite,
                    "flagged": p.flagged,
                    "about": f"{p.run}: {value(p.value, metric, infinite=p.infinite)} {metric.unit}".rstrip(),
                }
            )
    each = min(_ARM_MOST, max(_ARM_WIDTH, *(6 * len(arm.arm) + 4 for arm in arms)))
    width = each * max(2, len(arms))
    x_scale = alt.Scale(domain=[-0.5, max(2, len(arms)) - 0.5], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=None)
    y_scale = alt.Scale(zero=False, nice=True, domain=_padded(finite))
    y = alt.Y("y:Q", scale=y_scale, axis=alt.Axis(title=f"{metric.title}{unit(metric)}", tickCount=5))
    color = ink_color(points)
    tables = Tables()
    dots = alt.Chart(tables.add(points))
    layers: list[Any] = []
    if paired and len(arms) > 1:
        layers.append(
            dots.transform_filter("isValid(datum.y)")
            .mark_line(color=INK["faint"], strokeWidth=0.7, opacity=0.8, aria=False)
            .encode(x=x, y=y, detail=alt.Detail("block:N"), order=alt.Order("x:Q"))
        )
    if box:
        boxed = alt.Chart(tables.add(box)).encode(color=color)
        layers += [
            boxed.mark_rule(strokeWidth=1, aria=False).encode(
                x=x, y=alt.Y("low:Q", scale=y_scale), y2=alt.Y2("high:Q")
            ),
            boxed.mark_rect(fillOpacity=0.18, strokeWidth=1, stroke=INK["faint"], aria=False).encode(
                x=alt.X("x0:Q", scale=x_scale, axis=None),
                x2=alt.X2("x1:Q"),
                y=alt.Y("q1:Q", scale=y_scale),
                y2=alt.Y2("q3:Q"),
            ),
            boxed.mark_rule(strokeWidth=2.2, aria=False).encode(
                x=alt.X("x0:Q", scale=x_scale, axis=None), x2=alt.X2("x1:Q"), y=alt.Y("q2:Q", scale=y_scale)
            ),
        ]
    layers.append(
        dots.transform_filter("isValid(datum.y)")
        .mark_point(filled=True, size=26, opacity=0.9)
        .encode(x=x, y=y, color=color, description=alt.Description("about:N"))
    )
    if any(p["flagged"] for p in points):
        layers.append(
            dots.transform_filter("datum.flagged && isValid(datum.y)")
            .mark_point(filled=False, size=110, color=INK["text"], strokeWidth=1.1, aria=False)
            .encode(x=x, y=y)
        )
    if any(p["infinite"] for p in points):
        layers.append(
            dots.transform_filter("datum.infinite")
            .mark_text(text="∞", fontSize=13, baseline="top")
            .encode(x=x, y=y_at(0), color=color, description=alt.Description("about:N"))
        )
    names = alt.Chart(tables.add(labels)).encode(x=x)
    layers += [
        names.mark_text(baseline="top", limit=each - 6, aria=False).encode(y=y_at(_HEIGHT + 7), text=alt.Text("arm:N")),
        names.mark_text(baseline="top", color=INK["text"], opacity=0.7, fontSize=10, aria=False).encode(
            y=y_at(_HEIGHT + 21), text=alt.Text("n:N")
        ),
    ]
    caption = words.label(figure) + unit(metric)
    caption += {"higher": "; higher is better", "lower": "; lower is better", None: ""}[metric.better]
    if thinned:
        caption += f"; {_MOST_POINTS} runs of each arm drawn"
    return Drawing(
        tables.layered(layers, width=width, height=_HEIGHT),
        caption + ".",
        name=f"runs-{figure.name}",
    )


@unchecked
def in_time(figure: ComparedFigure, runs: Sequence[RunFile], inks: Mapping[str, str]) -> Drawing | None:
    """The figure of every run of the test, void ones too, in the order they were made; ``None`` below three."""
    metric = figure.metric
    mine = [run for run in in_order(list(runs)) if run.test == figure.test and run.arm in inks]
    counted = {point.run for arm in figure.arms for point in arm.points}
    rows: Rows = []
    blocks: dict[int, list[int]] = {}
    for place, run in enumerate(mine[:_MOST_IN_ORDER], start=1):
        blocks.setdefault(run.block, []).append(place)
        number = figure_value(run, metric.key)
        if number is None or math.isinf(number):
            continue
        state = "counts" if run.run in counted else "void" if run.state == "void" else "left out"
        rows.append(
            {
                "order": place,
                "y": number,
                "arm": run.arm,
                "state": state,
                "about": f"{run.run}: {value(number, metric)} {metric.unit}, {state}",
            }
        )
    if len(rows) < 3:
        return None
    # Runs of one block are beside each other; every second block is shaded.
    bands: Rows = [
        {"from": min(places) - 0.5, "to": max(places) + 0.5}
        for number, places in enumerate(blocks.values())
        if number % 2 == 0
    ]
    x_scale = alt.Scale(domain=[0.5, max(row["order"] for row in rows) + 0.5], nice=False)
    x = alt.X("order:Q", scale=x_scale, axis=alt.Axis(title="order of the runs", format="d", grid=False))
    y_scale = alt.Scale(zero=False, domain=_padded([row["y"] for row in rows]))
    y = alt.Y("y:Q", scale=y_scale, axis=alt.Axis(title=f"{metric.title}{unit(metric)}", tickCount=5))
    color = arm_color(inks, (row["arm"] for row in rows))
    tables = Tables()
    data = alt.Chart(tables.add(rows))
    layers: list[Any] = [
        alt.Chart(tables.add(bands)).mark_rect(color=INK["grid"], opacity=0.6, aria=False).encode(
            x=alt.X("from:Q", scale=x_scale), x2=alt.X2("to:Q")),
        data.transform_filter("datum.state == 'counts'").mark_line(strokeWidth=0.8, opacity=0.6, aria=False).encode(
            x=x, y=y, color=color),
        data.transform_filter("datum.state == 'counts'").mark_point(filled=True, size=30, opacity=1).encode(
            x=x, y=y, color=color, description=alt.Description("about:N")),
    ]  # fmt: skip
    if any(row["state"] != "counts" for row in rows):
        layers.append(
            data.transform_filter("datum.state != 'counts'")
            .mark_text(text="×", fontSize=17)
            .encode(x=x, y=y, color=color, description=alt.Description("about:N"))
        )
    caption = f"{words.label(figure)}{unit(metric)}, in the order of the runs; blocks shaded"
    if any(row["state"] != "counts" for row in rows):
        caption += "; ×: does not count"
    return Drawing(
        tables.layered(layers, width=HALF, height=170),
        caption + ".",
        wide=True,
        name=f"order-{figure.name}",
    )


def _quantile(ascending: Sequence[float], probability: float) -> float:
    """Linear between the order statistics (type 7 of Hyndman and Fan), as most box plots have it."""
    at = probability * (len(ascending) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ascending) - 1)
    return ascending[low] + (at - low) * (ascending[high] - ascending[low])


def _padded(numbers: Sequence[float]) -> list[float]:
    low, high = min(numbers), max(numbers)
    space = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return [low - space if low - space > 0 or low < 0 else 0.0, high + space]
