"""The plots of the page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from txop.present import format as fmt
from txop.present.chapters import Drawing
from txop.present.plot import DASHES, INK, SERIES, plain
from txop.simulate.model import FlowResult, Run, SeriesResult
from txop.simulate.simulation import Simulation, summary_of

if TYPE_CHECKING:
    import altair as alt

MAX_LINES = len(SERIES)
"""Flows or stations drawn into one plot; the tables have them all."""

MAX_POINTS = 600
"""Points of one line over time; more are averaged."""

WIDTH = 920

_DENSITIES = (1.0, 0.6, 0.35, 0.2)
"""Opacities of bars that share an ink."""


def draw(simulation: Simulation, name: str) -> Drawing | None:
    """The plot ``name``; ``None`` when there is nothing to draw."""
    return _PLOTS[name](simulation)


def _series(simulation: Simulation) -> Drawing | None:
    run = simulation.points[0].runs[0]
    flows = [(n, flow.name) for n, flow in enumerate(run.flows) if flow.goodput_mbit_s is not None][:MAX_LINES]
    rows = [
        {"s": s, "flow": name, "rate": value}
        for number, name in flows
        for s, value in _thinned(run.series.goodput_mbit_s[number] or [], run.series)
    ]
    if not rows:
        return None
    import altair as alt

    chart = alt.Chart(alt.InlineData(values=plain(rows))).mark_line(interpolate="step-after", strokeWidth=1.2).encode(
        x=alt.X("s:Q", title="s from the end of the warm-up", scale=alt.Scale(nice=False), axis=alt.Axis(grid=False)),
        y=alt.Y("rate:Q", title="goodput, Mbit/s"),
        **_lines("flow", {name: name for _, name in flows}, run),
    )  # fmt: skip
    return _drawing(chart, f"Goodput over time, warm-up included (seed {run.seed}).", 150)


def _latency(simulation: Simulation) -> Drawing | None:
    run = simulation.points[0].runs[0]
    shown = [flow for flow in run.flows if flow.latency is not None]
    shown = sorted(shown, key=lambda flow: flow.kind != "ping")[:MAX_LINES]
    rows = [
        {"ms": ms, "share": share, "flow": f"{flow.name} ({flow.kind})"}
        for flow in shown
        for ms, share in (flow.latency.cdf if flow.latency is not None else ())
    ]
    if not rows:
        return None
    import altair as alt

    chart = alt.Chart(alt.InlineData(values=plain(rows))).mark_line(interpolate="step-after", strokeWidth=1.4).encode(
        x=alt.X("ms:Q", title="latency, ms", scale=alt.Scale(zero=True, nice=False)),
        y=alt.Y("share:Q", title="share of packets", axis=alt.Axis(format="~%")),
        **_lines("flow", {f"{flow.name} ({flow.kind})": flow.name for flow in shown}, run),
    )  # fmt: skip
    return _drawing(chart, f"Latency: share of packets that took no longer (seed {run.seed}).", 170)


def _waterfall(simulation: Simulation) -> Drawing | None:
    falls = simulation.points[0].runs[0].waterfalls
    if not falls:
        return None
    from txop.air.page.plots import waterfall

    fall = max(falls, key=lambda fall: fall.payload_mbit_s)
    drawn = waterfall(fall)
    return Drawing(drawn.spec, f"{fall.ta} to {fall.ra}. {drawn.caption}", wide=True)


def _airtime(simulation: Simulation) -> Drawing | None:
    run = simulation.points[0].runs[0]
    if run.air is None or len(run.air.stations) < 2:
        return None
    import altair as alt

    inks = _station_inks(run)
    rows = [
        {
            "station": station.name,
            "share": station.airtime_share,
            "label": fmt.share(station.airtime_share),
            "ink": INK[inks.get(station.name, "three")],
        }
        for station in run.air.stations[:40]
    ]
    base = alt.Chart(alt.InlineData(values=plain(rows))).encode(
        y=alt.Y("station:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False)),
        x=alt.X("share:Q", title="share of the time", axis=alt.Axis(format="~%")),
    )
    bars = base.mark_bar(height=11).encode(color=alt.Color("ink:N", scale=None))
    chart = bars + base.mark_text(align="left", dx=4).encode(text="label:N")
    return _drawing(chart, f"Airtime by station, both ways (seed {run.seed}).", 18 * len(rows))


def _aggregates(simulation: Simulation) -> Drawing | None:
    run = simulation.points[0].runs[0]
    rows = [
        {"mpdus": size, "ppdus": ppdus, "station": station.name, "direction": f"{station.name} {way}", "way": way}
        for station in (run.air.stations if run.air is not None else ())[:4]
        for way, direction in (("down", station.down), ("up", station.up))
        for size, ppdus in direction.aggregates
    ]
    if len({row["mpdus"] for row in rows}) < 2:
        return None
    import altair as alt

    inks = _station_inks(run)
    names = list(dict.fromkeys(str(row["direction"]) for row in rows))[:MAX_LINES]
    kept = [row for row in rows if row["direction"] in names]
    stations = list(dict.fromkeys(str(row["station"]) for row in kept))
    ways = [way for way in ("down", "up") if any(row["way"] == way for row in kept)]
    legend = alt.Legend(title=None, columns=4, symbolType="square")
    color = alt.Scale(
        domain=[str(plain([{"n": name}])[0]["n"]) for name in stations],
        range=[INK[inks.get(name, "three")] for name in stations],
    )
    chart = alt.Chart(alt.InlineData(values=plain(kept))).mark_bar().encode(
        x=alt.X(
            "mpdus:O",
            title="MPDUs in a data PPDU",
            axis=alt.Axis(labelAngle=0, labelOverlap="greedy", labelSeparation=6),
        ),
        xOffset="direction:N",
        y=alt.Y("ppdus:Q", title="PPDUs"),
        color=alt.Color("station:N", scale=color, legend=legend),
        opacity=alt.Opacity(
            "way:N",
            scale=alt.Scale(domain=ways, range=[1.0, 0.5][: len(ways)]),
            legend=alt.Legend(title=None, columns=4, symbolType="square", symbolFillColor=INK["text"]),
        ),
    )  # fmt: skip
    return _drawing(chart, f"Aggregate sizes (seed {run.seed}).", 130)


def _sweep(simulation: Simulation) -> Drawing | None:
    run = simulation.points[0].runs[0]
    names = [flow.name for flow in run.flows if flow.goodput_mbit_s is not None][:MAX_LINES]
    return _over_sweep(simulation, "goodput_mbit_s", names, "goodput, Mbit/s", "Goodput by flow")


def _sweep_latency(simulation: Simulation) -> Drawing | None:
    run = simulation.points[0].runs[0]
    pings = [flow.name for flow in run.flows if flow.kind == "ping"]
    names = (pings or [flow.name for flow in run.flows])[:MAX_LINES]
    return _over_sweep(simulation, "latency_p50_ms", names, "median latency, ms", "Median latency by flow")


def _over_sweep(simulation: Simulation, figure: str, of: list[str], title: str, what: str) -> Drawing | None:
    """A figure against the values of the axis that has most: lines over numbers, bars over names.

    The values of the other axes are in the names of the lines.
    """
    if not simulation.axes or len(simulation.points) < 2:
        return None
    along = max(range(len(simulation.axes)), key=lambda number: len(simulation.axes[number].values))
    rows: list[dict[str, Any]] = []
    flow_of: dict[str, str] = {}
    for point in simulation.points:
        others = ", ".join(
            f"{axis.key.rpartition('.')[2]} {point.values[number]}"
            for number, axis in enumerate(simulation.axes)
            if number != along
        )
        for name in of:
            entry = summary_of(point, figure, name)
            if entry is not None:
                line = f"{name}, {others}" if others else name
                flow_of[line] = name
                half = entry.sd or 0.0
                rows.append(
                    {"x": point.values[along], "y": entry.mean, "low": entry.mean - half, "high": entry.mean + half,
                     "line": line}
                )  # fmt: skip
    flow_of = dict(list(flow_of.items())[:MAX_LINES])
    rows = [row for row in rows if row["line"] in flow_of]
    if not rows:
        return None
    axis = simulation.axes[along]
    seeds = len(simulation.points[0].runs)
    run = simulation.points[0].runs[0]
    draw_over = _over_numbers if all(_is_number(value) for value in axis.values) else _over_names
    chart = draw_over(rows, axis.key, title, flow_of, run, spread=seeds > 1)
    spread = "rules" if draw_over is _over_names else "bars"
    caption = f"{what}, against {axis.key}" + (
        f"; {spread}: ± one standard deviation of {seeds} seeds." if seeds > 1 else "."
    )
    return _drawing(chart, caption, 190)


def _over_numbers(
    rows: list[dict[str, Any]], key: str, title: str, flow_of: Mapping[str, str], run: Run, *, spread: bool
) -> Any:
    import altair as alt

    for row in rows:
        row["x"] = float(row["x"])
    # There is nothing between MCS 1 and MCS 2.
    whole = all(row["x"].is_integer() for row in rows)
    ticks = alt.Axis(tickMinStep=1, format="~r") if whole else alt.Axis()
    base = alt.Chart(alt.InlineData(values=plain(rows))).encode(
        x=alt.X("x:Q", title=key, scale=alt.Scale(zero=False), axis=ticks), **_lines("line", flow_of, run)
    )
    chart = base.mark_line(point=True, strokeWidth=1.3).encode(y=alt.Y("y:Q", title=title))
    if not spread:
        return chart
    return base.mark_rule(strokeWidth=1).encode(y=alt.Y("low:Q", title=title), y2="high:Q") + chart


def _over_names(
    rows: list[dict[str, Any]], key: str, title: str, flow_of: Mapping[str, str], run: Run, *, spread: bool
) -> Any:
    """Grouped bars: nothing lies between two names, so no line connects them."""
    import altair as alt

    base = alt.Chart(alt.InlineData(values=plain(rows))).encode(
        x=alt.X("x:N", title=key, sort=None, axis=alt.Axis(labelAngle=0, labelOverlap="greedy", labelSeparation=6)),
        xOffset=alt.XOffset("line:N", sort=None),
    )
    chart = base.mark_bar().encode(y=alt.Y("y:Q", title=title), **_bars("line", flow_of, run))
    if not spread:
        return chart
    rules = base.mark_rule(strokeWidth=1, color=INK["text"]).encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    return chart + rules


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _thinned(values: list[float], series: SeriesResult) -> Iterable[tuple[float, float]]:
    """Times and means of as many neighbours as it takes to keep to :data:`MAX_POINTS`."""
    by = -(-len(values) // MAX_POINTS)
    for start in range(0, len(values), by):
        part = values[start : start + by]
        yield round(series.start_s + start * series.interval_s, 6), sum(part) / len(part)


def _station_inks(run: Run) -> dict[str, str]:
    """Ink by name of station, the same in every plot of the page; without an air, by flow.

    Stations of flows come first, in the order of the flows. From the eighth on inks are used again.
    """
    stations = {station.name for station in run.air.stations} if run.air is not None else set()
    names = list(dict.fromkeys(name for flow in run.flows for name in _ends(flow, stations)))
    return {name: SERIES[number % len(SERIES)] for number, name in enumerate(names)}


def _ends(flow: FlowResult, stations: Collection[str]) -> list[str]:
    """The stations that ``flow`` runs between, else itself."""
    return [end for end in (flow.to, flow.from_) if end in stations] or [flow.name]


def _lines(field: str, flow_of: Mapping[str, str], run: Run) -> dict[str, Any]:
    """The ink of its station for each line of a plot; lines of one ink differ in their strokes.

    Args:
        field: The name of the line in the values.
        flow_of: The flow of each line, by name of the line.
        run: The run with these flows.
    """
    import altair as alt

    legend = alt.Legend(title=None, columns=3, symbolType="stroke", symbolStrokeWidth=2)
    shown, chosen, color = _inks(flow_of, run)
    channels: dict[str, Any] = {"color": alt.Color(f"{field}:N", scale=color, legend=legend)}
    if len(set(chosen)) < len(chosen):
        dash = alt.Scale(domain=shown, range=[list(DASHES[n % len(DASHES)]) for n in _uses(chosen)])
        channels["strokeDash"] = alt.StrokeDash(f"{field}:N", scale=dash, legend=legend)
    return channels


def _bars(field: str, flow_of: Mapping[str, str], run: Run) -> dict[str, Any]:
    """The same for bars: those of one ink differ in how dense it is."""
    import altair as alt

    legend = alt.Legend(title=None, columns=3, symbolType="square")
    shown, chosen, color = _inks(flow_of, run)
    channels: dict[str, Any] = {"color": alt.Color(f"{field}:N", scale=color, legend=legend)}
    if len(set(chosen)) < len(chosen):
        density = alt.Scale(domain=shown, range=[_DENSITIES[n % len(_DENSITIES)] for n in _uses(chosen)])
        channels["opacity"] = alt.Opacity(f"{field}:N", scale=density, legend=legend)
    return channels


def _inks(flow_of: Mapping[str, str], run: Run) -> tuple[list[str], list[str], alt.Scale]:
    """Names of the lines as they are shown, the ink of each, and the scale of both."""
    import altair as alt

    stations = {station.name for station in run.air.stations} if run.air is not None else set()
    by_name = {flow.name: flow for flow in run.flows}
    inks = _station_inks(run)
    chosen = [inks[_ends(by_name[name], stations)[0]] for name in flow_of.values()]
    shown = [str(plain([{"n": line}])[0]["n"]) for line in flow_of]
    return shown, chosen, alt.Scale(domain=shown, range=[INK[name] for name in chosen])


def _uses(chosen: list[str]) -> list[int]:
    """How often the ink of each line was used before it."""
    return [chosen[:number].count(ink) for number, ink in enumerate(chosen)]


def _drawing(chart: Any, caption: str, height: int) -> Drawing:
    spec: dict[str, Any] = chart.properties(width=WIDTH, height=height).to_dict()
    return Drawing(spec, caption, wide=True)


_PLOTS: dict[str, Callable[[Simulation], Drawing | None]] = {
    "series": _series,
    "latency": _latency,
    "waterfall": _waterfall,
    "airtime": _airtime,
    "aggregates": _aggregates,
    "sweep": _sweep,
    "sweep_latency": _sweep_latency,
}
