"""The plots of the page, each a function from the report to a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt

from txop.air.model import BusyBin, Waterfall
from txop.air.page.causes import ink
from txop.air.report import AirReport
from txop.air.view.names import called, direction
from txop.air.view.sections.airtime import KINDS
from txop.air.view.sections.stations import rated_link
from txop.present import format as fmt
from txop.present.chapters import Drawing
from txop.present.plot import DASHES, INK, SERIES, TEXTURES, fill, plain

HALF, FULL = 420, 1060
"""Widths of the drawing area, px."""

MAX_LINES = 4
"""Flows drawn into one plot; the tables have them all."""

_COUNT = "datum.value ? format(datum.value, '~s') : '0'"
"""Label of a count: an axis with the format ``~s`` gives all of its labels one prefix, and 0 as "0k"."""


def draw(report: AirReport, name: str, index: int = 0) -> Drawing | None:
    """The plot ``name``; ``None`` when the report has nothing to draw."""
    return _PLOTS[name](report, index)


def waterfall(fall: Waterfall, of: str = "") -> Drawing:
    """Floating bars from the effective PHY rate down to the payload rate; ``of``: the direction, for the caption."""
    rows, level = [], fall.phy_rate_mbit_s or 0.0
    steps = [s for s in fall.steps if s.cause != "payload" and s.share >= 0.0005]
    for step in sorted(steps, key=lambda s: -s.share):
        label = f"{fmt.share(step.share)}  {fmt.mbit_s(step.mbit_s)}"
        rows.append(
            {
                "cause": fmt.capital(step.label),
                "low": max(0.0, level - step.mbit_s),
                "high": level,
                "label": label,
                "ink": ink(step.cause),
            }
        )
        level -= step.mbit_s
    payload = next((s for s in fall.steps if s.cause == "payload"), None)
    left = payload.mbit_s if payload else 0.0
    rows.insert(
        0,
        {
            "cause": "Effective PHY rate",
            "low": 0.0,
            "high": fall.phy_rate_mbit_s or 0.0,
            "label": fmt.mbit_s(fall.phy_rate_mbit_s),
            "ink": "three",
        },
    )
    part = fmt.share(payload.share if payload else None)
    rows.append(
        {
            "cause": "Payload",
            "low": 0.0,
            "high": left,
            "label": f"{part}  {fmt.mbit_s(left)}",
            "ink": "good",
        }
    )
    order = [str(row["cause"]) for row in rows]
    base = alt.Chart(_values(rows)).encode(
        y=alt.Y("cause:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False))
    )
    top = fall.phy_rate_mbit_s or 1.0
    scale = alt.Scale(domain=[0, top * 1.16], nice=False)
    bars = base.mark_bar(height=13).encode(
        x=alt.X("low:Q", title="Mbit/s", scale=scale), x2="high:Q", color=_color(rows), tooltip=["cause:N", "label:N"]
    )
    text = base.mark_text(align="left", dx=5).encode(x=alt.X("high:Q", scale=scale), text="label:N")
    words = "from the effective PHY rate down to what is left for payload: what each cause costs, most first."
    caption = f"{of}: {words}" if of else fmt.capital(words)
    return Drawing(_spec(bars + text, 400, 19 * len(rows)), caption, wide=True)


def _rates(report: AirReport, _: int) -> Drawing | None:
    link = rated_link(report)
    if link is None:
        return None
    ordered = sorted(link.rates, key=lambda r: r.frames, reverse=True)[:16]
    ordered.sort(key=lambda r: (r.mbit_s or 0, r.label))
    rows: list[dict[str, Any]] = []
    for rate in ordered:
        rows.append(
            {"rate": rate.label, "kind": "first transmission", "frames": rate.frames - rate.retries, "order": 0}
        )
        rows.append({"rate": rate.label, "kind": "retry", "frames": rate.retries, "order": 1})
    chart = alt.Chart(_values(rows)).mark_bar().encode(
        y=alt.Y("rate:N", sort=[r.label for r in reversed(ordered)], title=None),
        x=alt.X("frames:Q", title="frames", axis=alt.Axis(labelExpr=_COUNT, tickCount=6)),
        color=_legend({"first transmission": "one", "retry": "bad"}, "kind"),
        order="order:Q",
        tooltip=["rate:N", "kind:N", "frames:Q"],
    )  # fmt: skip
    caption = f"Frames and retries by rate, {direction(report, link.ta, link.ra)}."
    return Drawing(_spec(chart, HALF, max(60, 17 * len(ordered))), caption)


def _response_delay(report: AirReport, _: int) -> Drawing | None:
    chosen = sorted((e for e in report.exchanges if e.gap_histogram), key=lambda e: -e.ppdus)[:MAX_LINES]
    if not chosen:
        return None
    rows: list[dict[str, Any]] = []
    rules: list[dict[str, Any]] = []
    end = max(30.0, *((e.gap_us.p95 * 1.5 if e.gap_us else 30.0) for e in chosen))
    end = min(end, 120.0)
    colors: dict[str, str] = {}
    for number, e in enumerate(chosen):
        total, seen = sum(bar.count for bar in e.gap_histogram), 0
        name = f"{called(report, e.ra)} answers {called(report, e.ta)} (n={fmt.count(total)})"
        colors[name] = SERIES[number]
        rows.append({"flow": name, "delay": 0.0, "share": 0.0})
        for bar in e.gap_histogram:
            seen += bar.count
            if bar.low <= end:
                rows.append({"flow": name, "delay": bar.low, "share": seen / total})
        rows.append({"flow": name, "delay": end, "share": max(row["share"] for row in rows if row["flow"] == name)})
        if e.expected_gap_us is not None and not any(r["delay"] == e.expected_gap_us for r in rules):
            rules.append({"delay": e.expected_gap_us, "label": fmt.duration_us(e.expected_gap_us)})
    line = alt.Chart(_values(rows)).mark_line(interpolate="step-after", strokeWidth=1.6).encode(
        x=alt.X("delay:Q", title="end of PPDU to start of response, µs", scale=alt.Scale(domain=[0, end], nice=False)),
        y=alt.Y("share:Q", title="share of responses", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
        **_strokes(colors, "flow"),
    )  # fmt: skip
    chart: Any = line
    if rules:
        mark = alt.Chart(_values(rules)).mark_rule(color=INK["text"], strokeDash=[3, 3]).encode(x="delay:Q")
        text = alt.Chart(_values(rules)).mark_text(align="left", dx=4, y=190).encode(x="delay:Q", text="label:N")
        chart = line + mark + text
    return Drawing(
        _spec(chart, HALF, 200), "Response delay, cumulative. Dashed: SIFS (with signal extension where it applies)."
    )


def _left_out(report: AirReport, _: int) -> Drawing | None:
    flows = [f for f in report.block_acks if f.by_position_from_end]
    if not flows:
        return None
    flow = max(flows, key=lambda f: f.transmissions)
    rows = [{"position": p.from_end, "share": p.left_out / p.mpdus, "n": p.mpdus, "out": p.left_out}
            for p in flow.by_position_from_end if p.mpdus and p.from_end < 64]  # fmt: skip
    if not rows:
        return None
    chart = alt.Chart(_values(rows)).mark_bar(color=INK["bad"]).encode(
        x=alt.X("position:O", title="position in the A-MPDU, counted from its end (0: last MPDU)",
                axis=alt.Axis(labelAngle=0, labelOverlap=True)),
        y=alt.Y("share:Q", title="Block Ack holes", axis=alt.Axis(format="~%")),
        tooltip=["position:O", "share:Q", "out:Q", "n:Q"],
    )  # fmt: skip
    words = "MPDUs that the Block Ack leaves out, by position. Loss on the air is flat; late processing piles up at 0."
    return Drawing(_spec(chart, HALF, 170), f"{words} {direction(report, flow.originator, flow.recipient)}.")


def _aggregation(report: AirReport, _: int) -> Drawing | None:
    flows = sorted((a for a in report.aggregation if a.histogram), key=lambda a: -a.mpdus)[:MAX_LINES]
    if not flows:
        return None
    rows: list[dict[str, Any]] = []
    colors: dict[str, str] = {}
    for number, a in enumerate(flows):
        tid = "" if a.tid is None else f", TID {a.tid}"
        name = f"{direction(report, a.ta, a.ra)}{tid} (n={fmt.count(a.ppdus)})"
        colors[name] = SERIES[number]
        total = sum(bar.count for bar in a.histogram)
        for bar in a.histogram:
            rows.append(
                {
                    "flow": name,
                    "low": bar.low - 0.5,
                    "high": bar.high - 0.5,
                    "size": bar.low,
                    "share": bar.count / total,
                }
            )
    chart = alt.Chart(_values(rows)).mark_bar(opacity=0.75).encode(
        x=alt.X("low:Q", title="MPDUs per PPDU", scale=alt.Scale(zero=False, nice=False),
                axis=alt.Axis(format="d", grid=False)),
        x2="high:Q",
        y=alt.Y("share:Q", title="share of PPDUs", stack=None, axis=alt.Axis(format="~%")),
        y2=alt.datum(0),
        color=_legend(colors, "flow", columns=1),
        tooltip=["flow:N", "size:Q", "share:Q"],
    )  # fmt: skip
    return Drawing(_spec(chart, HALF, 170), "A-MPDU sizes.")


def _airtime(report: AirReport, _: int) -> Drawing | None:
    observed = report.shared_us
    stations = [s for s in report.stations if s.airtime is not None and s.airtime_us and s.kind != "ghost"]
    stations = sorted(stations, key=lambda s: -(s.airtime_us or 0))[:12]
    if not stations or not observed:
        return None
    rows: list[dict[str, Any]] = []
    for s in stations:
        for number, (name, heading) in enumerate(KINDS):
            rows.append({"station": called(report, s.address), "kind": heading, "order": number,
                         "share": getattr(s.airtime, name) / observed})  # fmt: skip
    inks = dict(zip((heading for _, heading in KINDS), ("one", "bad", "four", "five", "three", "six"), strict=True))
    chart = alt.Chart(_values(rows)).mark_bar(height=13).encode(
        y=alt.Y("station:N", sort=[called(report, s.address) for s in stations], title=None),
        x=alt.X("share:Q", title="share of the observed time", axis=alt.Axis(format="~%", tickCount=6)),
        color=_legend(inks, "kind", columns=6),
        order="order:Q",
        tooltip=["station:N", "kind:N", "share:Q"],
    )  # fmt: skip
    return Drawing(_spec(chart, 640, 20 * len(stations)), "Airtime by transmitter and kind.", wide=True)


def _busy_parts(point: BusyBin) -> tuple[tuple[str, float], ...]:
    if point.bss_share is not None:
        return ("chosen network", point.bss_share), ("others", max(0.0, point.busy_share - point.bss_share))
    rest = max(0.0, point.busy_share - point.data_share - point.retry_share)
    return ("data", point.data_share), ("retries", point.retry_share), ("everything else", rest)


def _busy(report: AirReport, _: int) -> Drawing | None:
    series = report.airtime.series
    if len(series) < 2:
        return None
    inks = ("one", "bad", "six") if series[0].bss_share is None else ("one", "six")
    rows: list[dict[str, Any]] = []
    for point in series:
        at = point.start_us / 1e6
        for number, (kind, value) in enumerate(_busy_parts(point)):
            rows.append({"s": at, "kind": kind, "share": value, "order": number})
    chart = alt.Chart(_values(rows)).mark_area(interpolate="step-after").encode(
        x=alt.X("s:Q", title="time, s", scale=alt.Scale(nice=False), axis=alt.Axis(grid=False, tickCount=12)),
        y=alt.Y("share:Q", title="busy", axis=alt.Axis(format="~%"), stack="zero"),
        color=_legend(dict(zip((kind for kind, _ in _busy_parts(series[0])), inks, strict=True)), "kind"),
        order="order:Q",
    )  # fmt: skip
    return Drawing(_spec(chart, FULL, 120), "Busy share of the channel over time.", wide=True)


def _steadiness(report: AirReport, index: int) -> Drawing | None:
    if index >= len(report.steadiness) or len(report.steadiness[index].series) < 2:
        return None
    flow = report.steadiness[index]
    rows = [
        {"s": b.start_us / 1e6, "mbit_s": b.mbit_s, "retry": b.retry.percent, "n": b.retry.frames} for b in flow.series
    ]
    events = [
        {
            "from": e.start_us / 1e6,
            "to": max(e.end_us, e.start_us + flow.bin_us) / 1e6,
            "text": e.text,
            "number": str(k),
        }
        for k, e in enumerate(flow.events, 1)
    ]
    first, last = flow.series[0].start_us / 1e6, (flow.series[-1].start_us + flow.bin_us) / 1e6
    scale = alt.Scale(domain=[first, last], nice=False)
    shade = alt.Chart(_values(events)).mark_rect(color=INK["shade"], opacity=0.55).encode(
        x=alt.X("from:Q", scale=scale), x2="to:Q", tooltip=["text:N"])  # fmt: skip
    number = (
        alt.Chart(_values(events))
        .mark_text(align="left", dx=3, y=8)
        .encode(x=alt.X("from:Q", scale=scale), text="number:N")
    )
    base = alt.Chart(_values(rows)).properties(width=FULL)
    outline = {"color": INK["one"], "strokeWidth": 1.2}
    top = base.mark_area(color=INK["one"], line=outline, fillOpacity=0.25, interpolate="step-after").encode(
        x=alt.X("s:Q", title=None, scale=scale, axis=alt.Axis(labels=False, ticks=False, grid=False)),
        y=alt.Y("mbit_s:Q", title="payload, Mbit/s", axis=alt.Axis(tickCount=4)),
    )  # fmt: skip
    low = base.mark_line(color=INK["bad"], strokeWidth=1.2, interpolate="step-after").encode(
        x=alt.X("s:Q", title="time, s", scale=scale, axis=alt.Axis(grid=False, tickCount=12)),
        y=alt.Y("retry:Q", title="retry %", axis=alt.Axis(tickCount=4)),
    )  # fmt: skip
    panels: list[Any] = [top, low]
    if events:
        panels = [alt.layer(shade, top, number), alt.layer(shade, low)]
    chart = alt.vconcat(
        panels[0].properties(width=FULL, height=110), panels[1].properties(width=FULL, height=80), spacing=6
    )
    caption = "Payload throughput and MPDU retry % over time" + ("; shaded: the events below." if events else ".")
    return Drawing(chart.to_dict(), caption, wide=True)


_PLOTS: dict[str, Callable[[AirReport, int], Drawing | None]] = {
    "rates": _rates,
    "response_delay": _response_delay,
    "left_out": _left_out,
    "aggregation": _aggregation,
    "airtime": _airtime,
    "busy": _busy,
    "steadiness": _steadiness,
}


def _values(rows: list[dict[str, Any]]) -> alt.InlineData:
    return alt.InlineData(values=plain(rows))


def _spec(chart: Any, width: int, height: int) -> dict[str, Any]:
    spec: dict[str, Any] = chart.properties(width=width, height=height).to_dict()
    return spec


def _color(rows: list[dict[str, Any]]) -> alt.Color:
    inks = sorted({str(row["ink"]) for row in rows})
    return alt.Color("ink:N", scale=alt.Scale(domain=inks, range=[INK[name] for name in inks]), legend=None)


def _legend(inks: dict[str, str], field: str, columns: int = 3) -> alt.Color:
    names = [plain([{"n": name}])[0]["n"] for name in inks]
    areas = [fill(name, number % len(TEXTURES)) for number, name in enumerate(inks.values())]
    scale = alt.Scale(domain=names, range=areas)
    return alt.Color(f"{field}:N", scale=scale, legend=alt.Legend(title=None, columns=columns, symbolType="square"))


def _strokes(inks: dict[str, str], field: str) -> dict[str, Any]:
    """The colour of each line and its dash, so that lines differ without colour, too."""
    names = [plain([{"n": name}])[0]["n"] for name in inks]
    legend = alt.Legend(title=None, columns=1, symbolType="stroke", symbolSize=400)
    color = alt.Scale(domain=names, range=[INK[ink_name] for ink_name in inks.values()])
    dash = alt.Scale(domain=names, range=[list(dash) for dash in DASHES[: len(names)]])
    return {
        "color": alt.Color(f"{field}:N", scale=color, legend=legend),
        "strokeDash": alt.StrokeDash(f"{field}:N", scale=dash, legend=legend),
    }
