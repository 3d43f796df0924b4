"""Forest plots: every effect with its interval, the margin shaded, one panel per unit."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from txop.compare import words
from txop.compare.result import ComparedFigure, Row
from txop.core.visible import visible
from txop.present.chapters import Drawing
from txop.present.format import plural
from txop.present.plot import INK
from txop.report.answer.wording import SIGNS
from txop.report.campaign.plots.drawing import Rows, Tables, ink_color, unchecked, x_at
from txop.report.campaign.plots.forest_narrow import narrow

_WIDTH = 560
_STEP = 26
_MOST_ROWS = 48
_LEAST_RATIO, _MOST_RATIO = 0.02, 50.0
_MOST_LINEAR = 5.0
"""Ratios up to this one are on a linear axis."""

_INKS = {"better": "good", "worse": "bad"}

_TICKS_PERCENT = (
    -98, -95, -90, -80, -70, -50, -40, -30, -20, -10, -5, -2, -1, 0,
    1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 900, 1900, 4900,
)  # fmt: skip


def forest(figures: Sequence[ComparedFigure], name: str) -> list[Drawing]:
    """One drawing for each unit of effects; ratios are on a linear axis unless they are far apart."""
    panels: dict[tuple[bool, str], list[tuple[ComparedFigure, Row]]] = {}
    for figure in figures:
        for row in figure.rows:
            if row.estimate is None and row.infinite is None:
                continue
            ratio = row.effect_unit == "%"  # a ratio that cannot be taken is compared as a difference
            key = row.effect_unit if ratio or row.effect_unit else figure.metric.title
            panels.setdefault((ratio, key), []).append((figure, row))
    drawn = []
    for (ratio, key), rows in panels.items():
        if not ratio and not any(row.estimate or row.infinite for _, row in rows):
            continue  # nothing but zeros: the table says it
        kind = "ratio" if ratio else "difference-" + "".join(c if c.isalnum() else "-" for c in key.lower())
        drawn.append(_panel(rows[:_MOST_ROWS], len(rows), f"effects-{name}-{kind}", key, ratio=ratio))
    return drawn


@unchecked
def _panel(rows: Sequence[tuple[ComparedFigure, Row]], count: int, name: str, key: str, *, ratio: bool) -> Drawing:
    low, high = _domain([row for _, row in rows], ratio=ratio)
    data: Rows = []
    for figure, row in rows:
        at = _position(row.estimate, row.infinite, low, high, ratio=ratio)
        left = None if row.confidence is None else _end(row.low, low, low, high, ratio=ratio)
        right = None if row.confidence is None else _end(row.high, high, low, high, ratio=ratio)
        # An estimate beyond the axis has its arrow in place of the point.
        data.append(
            {
                "row": f"{words.label(figure)}, {row.arm}",
                "at": at,
                "zero": _scaled(0.0, ratio=ratio),
                "left": left,
                "right": right,
                "m0": max(low, _scaled(-row.margin, ratio=ratio)),
                "m1": min(high, _scaled(row.margin, ratio=ratio)),
                "open_left": left is not None and left <= low,
                "open_right": right is not None and right >= high,
                "ink": _INKS.get(row.verdict, "text"),
                "fill": "full" if figure.role == "primary" else "hollow",
                "text": f"{SIGNS[row.verdict]} {words.change(row)} {words.verdict(row)}",
                "about": row.sentence,
            }
        )
    order = list(dict.fromkeys(str(row["row"]) for row in data))
    linear = not ratio or high <= _MOST_LINEAR
    kind: dict[str, Any] = {} if linear else {"type": "log"}
    scale = alt.Scale(domain=[low, high], nice=not ratio, **kind)
    axis, axis_narrow = _axis(low, high, 7, ratio=ratio, linear=linear), _axis(low, high, 4, ratio=ratio, linear=linear)
    title = ("effect in % of the baseline" + ("" if linear else " (log scale)")) if ratio else f"difference, {key}"
    x = alt.X("at:Q", scale=scale, axis=alt.Axis(title=title, **axis))
    tables = Tables()
    base = alt.Chart(tables.add(data)).encode(
        y=alt.Y(
            "row:N",
            sort=order,
            title=None,
            axis=alt.Axis(domain=False, ticks=False, grid=False, labelPadding=8, labelExpr=_once(rows, order)),
        )
    )
    color = ink_color(data)
    zero = alt.Chart(tables.add([{"at": _scaled(0.0, ratio=ratio)}])).mark_rule(
        color=INK["text"], strokeWidth=1.2, aria=False
    )
    layers = [
        base.mark_rect(color=INK["faint"], opacity=0.35, aria=False).encode(
            x=alt.X("m0:Q", scale=scale), x2=alt.X2("m1:Q")
        ),
        zero.encode(x=x),
        base.transform_filter("isValid(datum.left)")
        .mark_rule(strokeWidth=2, aria=False)
        .encode(x=alt.X("left:Q", scale=scale), x2=alt.X2("right:Q"), color=color),
        base.transform_filter("datum.open_left")
        .mark_point(shape="triangle-left", filled=True, opacity=1, size=60, aria=False)
        .encode(x=alt.X("left:Q", scale=scale), color=color),
        base.transform_filter("datum.open_right")
        .mark_point(shape="triangle-right", filled=True, opacity=1, size=60, aria=False)
        .encode(x=alt.X("right:Q", scale=scale), color=color),
        base.transform_filter("datum.fill == 'full'")
        .mark_point(filled=True, size=75, opacity=1)
        .encode(x=x, color=color, description=alt.Description("about:N")),
        base.transform_filter("datum.fill == 'hollow'")
        .mark_point(filled=False, size=55, opacity=1, strokeWidth=1.8)
        .encode(x=x, color=color, description=alt.Description("about:N")),
        base.mark_text(align="left", fontSize=11, color=INK["text"], aria=False).encode(
            x=x_at(_WIDTH + 10), text=alt.Text("text:N")
        ),
    ]
    spec = tables.layered(layers, width=_WIDTH, height=_STEP * len(data))
    figures, arms = [words.label(figure) for figure, _ in rows], [row.arm for _, row in rows]
    on_phone = narrow(data, figures, arms, {"title": title, **axis_narrow}, scale)
    primary = rows[0][0].role == "primary"
    caption = (
        ("Primary figures" if primary else "Exploratory figures")
        + ": estimate and interval against the baseline (line at 0). Shaded: smaller than what matters (margin)."
        + (" Without a bar: too few blocks for an interval." if any(row["left"] is None for row in data) else "")
        + (f" The first {len(data)} of {plural(count, 'comparison')}." if count > len(data) else "")
    )
    return Drawing(spec, caption, wide=True, name=name, narrow=on_phone)


def _once(rows: Sequence[tuple[ComparedFigure, Row]], order: Sequence[str]) -> str:
    """The expression of the labels: the figure at the first of its arms, then only the arm."""
    shown: dict[str, str] = {}
    before = ""
    for (figure, row), name in zip(rows, order, strict=False):
        label = words.label(figure)
        shown[visible(name)] = visible(row.arm if label == before else name)
        before = label
    return f"{json.dumps(shown)}[datum.value]"


def _scaled(effect: float, *, ratio: bool) -> float:
    """Where an effect is on the axis."""
    return max(_LEAST_RATIO, 1 + effect / 100) if ratio else effect


def _end(effect: float | None, beyond: float, low: float, high: float, *, ratio: bool) -> float:
    return beyond if effect is None else min(high, max(low, _scaled(effect, ratio=ratio)))


def _position(effect: float | None, infinite: str | None, low: float, high: float, *, ratio: bool) -> float:
    if effect is None:
        return high if infinite == "above" else low
    return min(high, max(low, _scaled(effect, ratio=ratio)))


def _domain(rows: Sequence[Row], *, ratio: bool) -> tuple[float, float]:
    """Both ends of the axis: all effects and intervals, at least the margins, within bounds."""
    effects = [e for row in rows for e in (row.estimate, row.low, row.high) if e is not None]
    margin = min((row.margin for row in rows), default=1.0) * 1.6
    points = [_scaled(e, ratio=ratio) for e in [*effects, -margin, margin]]
    low, high = min(points), max(points)
    if ratio:
        low, high = max(low, _LEAST_RATIO), min(high, _MOST_RATIO)
        space = max(1.02, (high / low) ** 0.04)
        return low / space, high * space
    space = max((high - low) * 0.04, 1e-12)
    return low - space, high + space


def _axis(low: float, high: float, most: int, *, ratio: bool, linear: bool) -> dict[str, Any]:
    """Grid, and for ratios ticks at round percentages: some ``most`` of them."""
    if not ratio:
        return {"grid": True, "tickCount": most}
    return {
        "grid": True,
        "values": _linear_ticks(low, high, most) if linear else _ticks(low, high, most),
        "labelExpr": "abs(datum.value - 1) < 1e-9 ? '0' : format((datum.value - 1) * 100, '+,.3~g') + ' %'",
    }


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Round percentages within the axis, not closer than their labels are wide."""
    span = math.log(high / low)
    chosen = [1.0]
    candidates = sorted((1 + p / 100 for p in _TICKS_PERCENT), key=lambda r: (-_roundness(r), abs(math.log(r))))
    for ratio in candidates:
        if low <= ratio <= high and all(abs(math.log(ratio / other)) > 0.8 / most * span for other in chosen):
            chosen.append(ratio)
    return sorted(chosen)


def _linear_ticks(low: float, high: float, most: int) -> list[float]:
    """Round percentages, ``most`` of them or fewer, 0 among them."""
    span = 100 * (high - low)
    step = next((s for s in (0.5, 1, 2, 5, 10, 20, 50, 100, 200) if span / s <= most), 200)
    first, last = math.ceil(100 * (low - 1) / step), math.floor(100 * (high - 1) / step)
    return [1 + step * i / 100 for i in range(first, last + 1)]


def _roundness(ratio: float) -> int:
    percent = round(100 * (ratio - 1))
    return 2 if percent in (-90, -50, -20, -10, 10, 20, 50, 100, 200, 500, 900) else 1
