"""Forest plots for the width of a phone: a heading for each figure, below it each arm with its verdict in words above
its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from txop.present.plot import INK
from txop.report.campaign.plots.drawing import Rows, Tables, ink_color, x_at

_WIDTH = 325
_HEADING, _WORDS, _BAR, _GAP = 22, 18, 18, 6
"""Heights in px: of a heading, of an arm's words, of its interval, and between arms."""
_MOST_LETTERS = 46


def narrow(
    data: Rows, figures: Sequence[str], arms: Sequence[str], axis: Mapping[str, Any], x: alt.Scale
) -> dict[str, Any]:
    """The chart.

    Args:
        data: Effects as the broad chart has them, in its order: ``at``, ``left``, ``right``, ``m0``, ``m1``, ``ink``,
            ``fill``, ``text``, ``open_left``, ``open_right``.
        figures: The name of the figure of each row.
        arms: The name of the arm of each row.
        axis: Of the effects: ``title`` and ``labelExpr`` or values.
        x: Scale of the effects.
    """
    headings: Rows = []
    rows: Rows = []
    top = 0
    for row, figure, arm in zip(data, figures, arms, strict=True):
        if not headings or headings[-1]["figure"] != figure:
            headings.append({"figure": figure, "y": top + _HEADING / 2, "text": _short(figure)})
            top += _HEADING
        middle = top + _WORDS + _BAR / 2
        rows.append(
            {
                **row,
                "arm": _short(arm),
                "words": top + _WORDS / 2,
                "y": middle,
                "y0": top + _WORDS,
                "y1": top + _WORDS + _BAR,
            }
        )
        top += _WORDS + _BAR + _GAP
    tables = Tables()
    base = alt.Chart(tables.add(rows))
    down = alt.Scale(domain=[0, top], range=[0, top], nice=False, zero=False)
    y = alt.Y("y:Q", scale=down, axis=None)
    at = alt.X("at:Q", scale=x, axis=alt.Axis(**axis))
    color = ink_color(rows)
    words = base.encode(y=alt.Y("words:Q", scale=down, axis=None))
    layers = [
        base.mark_rect(color=INK["faint"], opacity=0.35, aria=False).encode(
            x=alt.X("m0:Q", scale=x), x2=alt.X2("m1:Q"), y=alt.Y("y0:Q", scale=down, axis=None), y2=alt.Y2("y1:Q")
        ),
        base.transform_calculate(zero="datum.zero")
        .mark_rule(color=INK["text"], strokeWidth=1.2, aria=False)
        .encode(x=alt.X("zero:Q", scale=x), y=alt.Y("y0:Q", scale=down, axis=None), y2=alt.Y2("y1:Q")),
        base.transform_filter("isValid(datum.left)")
        .mark_rule(strokeWidth=2.4, aria=False)
        .encode(x=alt.X("left:Q", scale=x), x2=alt.X2("right:Q"), y=y, color=color),
        base.transform_filter("datum.open_left")
        .mark_point(shape="triangle-left", filled=True, opacity=1, size=60, aria=False)
        .encode(x=alt.X("left:Q", scale=x), y=y, color=color),
        base.transform_filter("datum.open_right")
        .mark_point(shape="triangle-right", filled=True, opacity=1, size=60, aria=False)
        .encode(x=alt.X("right:Q", scale=x), y=y, color=color),
        base.transform_filter("datum.fill == 'full'")
        .mark_point(filled=True, size=75, opacity=1)
        .encode(x=at, y=y, color=color, description=alt.Description("about:N")),
        base.transform_filter("datum.fill == 'hollow'")
        .mark_point(filled=False, size=55, opacity=1, strokeWidth=1.8)
        .encode(x=at, y=y, color=color, description=alt.Description("about:N")),
        words.mark_text(align="left", fontSize=12, color=INK["text"], aria=False).encode(x=x_at(0), text="arm:N"),
        words.mark_text(align="right", fontSize=12, aria=False).encode(x=x_at(_WIDTH), text="text:N", color=color),
        alt.Chart(tables.add(headings))
        .mark_text(align="left", fontSize=12, fontWeight="bold", color=INK["text"], aria=False)
        .encode(x=x_at(0), y=y, text="text:N"),
    ]
    return tables.layered(layers, width=_WIDTH, height=top)


def _short(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
