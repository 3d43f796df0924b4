"""A trend as sections for the terminal and the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from txop.present.blocks import Block, Cell, Column, Grid, Lines, Plot, Section, Tone
from txop.present.cells import missing
from txop.present.chapters import Drawing
from txop.present.plot import INK, plain
from txop.report.trend.result import FigureTrend, Point, Step, Trend
from txop.report.trend.sentences import effect

_TONES: dict[str, Tone] = {"better": "good", "worse": "bad"}


def sections(trend: Trend) -> list[Section]:
    """The archives, each figure, and what changed between them."""
    made = [Section("archives", 1, "Archives", [_releases(trend)])]
    for number, figure in enumerate(trend.figures):
        blocks: list[Block] = [Plot(figure.name, number), _points(trend, figure)]
        if figure.whole is not None:
            blocks.append(Lines([figure.whole.sentence], "The last against the first"))
        if figure.missing:
            blocks.append(Lines(figure.missing, "Without a point"))
        made.append(Section(f"figure-{number + 1}", len(made) + 1, figure.title, blocks))
    made.append(Section("changes", len(made) + 1, "What else changed", _changes(trend)))
    return made


def _releases(trend: Trend) -> Grid:
    columns = (
        Column("Archive", right=False), Column("Began", right=False), Column("Runs"), Column("Origin", right=False),
        Column("Title", rank=2, right=False),
    )  # fmt: skip
    rows = [
        (Cell(each.label), Cell(each.began) if each.began else missing(), Cell(f"{each.runs:,}", each.runs),
         Cell(each.origin), Cell(each.title))
        for each in trend.releases
    ]  # fmt: skip
    return Grid("", columns, rows, f"Valid runs of {trend.arm}.", "archives", whole=True)


def _points(trend: Trend, figure: FigureTrend) -> Grid:
    unit = f" [{figure.unit}]" if figure.unit else ""
    columns = (
        Column("Archive", right=False), Column("n"), Column(f"Median{unit}"), Column("Least to most", rank=2),
        Column("vs previous", right=False), Column("Adjusted p", rank=2), Column("Verdict", right=False),
    )  # fmt: skip
    steps = {step.after: step for step in figure.steps}
    rows = [_point(trend, point, steps.get(point.release)) for point in figure.points]
    note = f"{figure.better} is better. " if figure.better else ""
    return Grid("", columns, rows, f"{note}Exact intervals, unpaired; p adjusted over all steps (Holm).", whole=True)


def _point(trend: Trend, point: Point, step: Step | None) -> Sequence[Cell]:
    median = missing() if point.median is None else Cell(f"{point.median:.4g}", point.median)
    spread = missing() if point.low is None else Cell(f"{point.low:.4g} to {point.high:.4g}")
    label = Cell(trend.releases[point.release].label)
    front = (label, Cell(str(point.n), point.n), median, spread)
    if step is None:
        return (*front, missing(), missing(), missing())
    p = missing() if step.p_adjusted is None else Cell(f"{step.p_adjusted:.2g}", step.p_adjusted)
    single = ", n = 1" if min(step.n_before, step.n_after) == 1 else ""
    return (
        *front,
        Cell(effect(step), step.estimate),
        p,
        Cell(step.verdict + single, tone=_TONES.get(step.verdict, "")),
    )


def _changes(trend: Trend) -> list[Block]:
    blocks: list[Block] = [Lines([each.sentence for each in trend.between])]
    for each in trend.between:
        if each.changed:
            before, after = trend.releases[each.before].label, trend.releases[each.after].label
            columns = (Column("Fact", right=False), Column(before, right=False), Column(after, right=False))
            rows = [(Cell(c.name), Cell(c.before), Cell(c.after)) for c in each.changed]
            blocks.append(Grid(f"{before} to {after}", columns, rows, unit_of_rows="facts"))
    return blocks


_PLAIN = ("one", "circle")
_LOOKS = {"better": ("good", "triangle-up"), "worse": ("bad", "triangle-down")}
"""Ink and shape of the median of an archive by the verdict on its step; others are plain."""


def draw(trend: Trend, name: str) -> Drawing | None:
    """The plot of a figure: its median in each archive, and its runs' range; change points in colour."""
    figure = next((each for each in trend.figures if each.name == name), None)
    if figure is None:
        return None
    verdicts = {step.after: step.verdict for step in figure.steps}
    rows = [
        {
            "archive": trend.releases[point.release].label, "median": point.median, "low": point.low,
            "high": point.high, "ink": _LOOKS.get(verdicts.get(point.release, ""), _PLAIN)[0],
            "shape": _LOOKS.get(verdicts.get(point.release, ""), _PLAIN)[1], "n": point.n,
        }
        for point in figure.points
        if point.median is not None
    ]  # fmt: skip
    order = [trend.releases[point.release].label for point in figure.points]
    x: dict[str, Any] = {"field": "archive", "type": "ordinal", "sort": order, "title": None,
                         "axis": {"labelAngle": -30 if len(order) > 4 else 0}}  # fmt: skip
    unit = f" [{figure.unit}]" if figure.unit else ""
    scale = {"zero": False}
    looks = [_PLAIN, *_LOOKS.values()]
    colour = {
        "field": "ink", "type": "nominal", "legend": None,
        "scale": {"domain": [ink for ink, _ in looks], "range": [INK[ink] for ink, _ in looks]},
    }  # fmt: skip
    shapes = [shape for _, shape in looks]
    shape = {"field": "shape", "type": "nominal", "legend": None, "scale": {"domain": shapes, "range": shapes}}
    median = {"field": "median", "type": "quantitative", "title": f"{figure.title}{unit}", "scale": scale}
    low = {"field": "low", "type": "quantitative", "scale": scale}
    spec = {
        "data": {"values": plain(rows)}, "width": 620, "height": 220,
        "layer": [
            {"mark": {"type": "rule", "color": INK["faint"]},
             "encoding": {"x": x, "y": low, "y2": {"field": "high"}}},
            {"mark": {"type": "line", "color": INK["faint"], "strokeDash": [3, 3]}, "encoding": {"x": x, "y": median}},
            {"mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
             "encoding": {"x": x, "y": median, "color": colour, "shape": shape}},
        ],
    }  # fmt: skip
    return Drawing(
        spec,
        f"{figure.title}: median of each archive, with the range of its runs; ▲ better, ▼ worse",
        wide=True,
        name=name,
    )
