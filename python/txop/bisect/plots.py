"""The curve of a bisection: the figure of every candidate that was tested, in their order."""

from __future__ import annotations

from typing import Any

from txop.bisect.result import BisectResult
from txop.bisect.search import CandidateState
from txop.present.chapters import Drawing
from txop.present.plot import INK, plain

WIDTH = 920
HEIGHT = 260

_INKS = {
    CandidateState.GOOD.value: "good", CandidateState.BAD.value: "bad", CandidateState.UNCLEAR.value: "warn",
    CandidateState.UNTESTED.value: "faint", CandidateState.SKIPPED.value: "faint",
}  # fmt: skip
_SHAPES = {
    CandidateState.GOOD.value: "circle", CandidateState.BAD.value: "square", CandidateState.UNCLEAR.value: "diamond",
    CandidateState.UNTESTED.value: "circle", CandidateState.SKIPPED.value: "cross",
}  # fmt: skip


def draw(result: BisectResult, name: str) -> Drawing | None:
    """The plot ``name``; ``None`` when there is nothing to draw."""
    del name
    runs: list[dict[str, Any]] = [
        {"at": row.at, "value": run.value, "state": row.standing.value, "name": f"{row.at}: {row.name}"}
        for row in result.candidates
        for run in row.runs
        if run.value is not None
    ]
    if not runs:
        return None
    middles: list[dict[str, Any]] = [
        {"at": row.at, "value": row.median, "state": row.standing.value, "name": f"{row.name}: {row.title}"[:120]}
        for row in result.candidates
        if row.median is not None
    ]
    skipped: list[dict[str, Any]] = [
        {"at": row.at, "state": row.standing.value, "name": f"{row.name}: {row.cause}"[:200]}
        for row in result.candidates
        if row.standing is CandidateState.SKIPPED
    ]
    import altair as alt

    present = list(dict.fromkeys(str(row["state"]) for row in (*middles, *skipped)))
    ink = alt.Color("state:N", scale=alt.Scale(domain=present, range=[INK[_INKS[each]] for each in present]))
    shape = alt.Shape("state:N", scale=alt.Scale(domain=present, range=[_SHAPES[each] for each in present]))
    unit = f", {result.figure.unit}" if result.figure.unit else ""
    last = len(result.candidates) - 1
    x = alt.X(
        "at:Q",
        title="place in the range: 0 is the good end",
        scale=alt.Scale(domain=[-0.3, last + 0.3], nice=False),
        axis=alt.Axis(tickMinStep=1, format="d", grid=False),
    )
    y = alt.Y("value:Q", title=f"{result.figure.title}{unit}", scale=alt.Scale(zero=True))
    line = alt.Chart(alt.InlineData(values=plain(middles))).mark_line(strokeWidth=1, color=INK["faint"])
    layers = [
        line.encode(x=x, y=y),
        alt.Chart(alt.InlineData(values=plain(runs))).mark_tick(thickness=1, size=12, orient="horizontal")
        .encode(x=x, y=y, color=ink),
        alt.Chart(alt.InlineData(values=plain(middles))).mark_point(filled=True, size=70, opacity=1)
        .encode(x=x, y=y, color=ink, shape=shape, tooltip="name:N"),
    ]  # fmt: skip
    if skipped:
        marks = alt.Chart(alt.InlineData(values=plain(skipped))).mark_point(filled=True, size=60, opacity=1)
        layers.append(marks.encode(x=x, y=alt.value(HEIGHT - 6), color=ink, shape=shape, tooltip="name:N"))
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    caption = (
        f"{result.figure.name} of every candidate that was tested: runs as strokes, medians as points; crosses at the "
        "bottom were skipped."
    )
    return Drawing(chart.to_dict(), caption, wide=True, name="curve")
