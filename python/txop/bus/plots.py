"""The plots of the page: completions over time, and sizes of transfers."""

from __future__ import annotations

from typing import Any

from txop.bus.model import Endpoint
from txop.bus.report import BusReport
from txop.present import format as fmt
from txop.present.chapters import Drawing
from txop.present.plot import DASHES, INK, SERIES, fill, plain

MAX_LINES = 4
WIDTH = 920
_BAND = 92
"""Width of the bars of one size, px: a capture with few sizes has bars no broader than that."""
_LEAST_SHARE = 0.01
"""An endpoint is drawn that has this share of the completions of the one with most."""


def draw(report: BusReport, name: str) -> Drawing | None:
    """The plot ``name``; ``None`` when there is nothing to draw."""
    most = max((e.completions for e in report.endpoints), default=0)
    busy = (e for e in report.endpoints if e.completions > 1 and e.completions >= _LEAST_SHARE * most)
    busiest = sorted(busy, key=lambda e: -(e.bytes or 0))[:MAX_LINES]
    return {"rates": _rates, "sizes": _sizes}[name](busiest)


def _name(e: Endpoint) -> str:
    return f"{e.device} {e.address} {e.transfer} {e.direction} (n={fmt.count(e.completions)})"


def _inks(endpoints: list[Endpoint], symbol: str = "square") -> dict[str, Any]:
    """The colour of each endpoint, and its dash as a line (``symbol`` ``stroke``), else its texture."""
    import altair as alt

    names = [plain([{"n": _name(e)}])[0]["n"] for e in endpoints]
    lines = symbol == "stroke"
    inks = [INK[ink] if lines else fill(ink, number) for number, ink in enumerate(SERIES[: len(names)])]
    scale = alt.Scale(domain=names, range=inks)
    legend = alt.Legend(title=None, columns=2, symbolType=symbol, symbolSize=400 if lines else 80)
    channels: dict[str, Any] = {"color": alt.Color("endpoint:N", scale=scale, legend=legend)}
    if lines:
        dashes = alt.Scale(domain=names, range=[list(dash) for dash in DASHES[: len(names)]])
        channels["strokeDash"] = alt.StrokeDash("endpoint:N", scale=dashes, legend=legend)
    return channels


def _rates(endpoints: list[Endpoint]) -> Drawing | None:
    import altair as alt

    shown = [e for e in endpoints if len(e.series) > 1]
    rows = [
        {"s": b.start_us / 1e6, "endpoint": _name(e), "rate": b.completions * 1e6 / e.bin_us}
        for e in shown
        for b in e.series
    ]
    if not rows:
        return None
    chart = alt.Chart(alt.InlineData(values=plain(rows))).mark_line(interpolate="step-after", strokeWidth=1.2).encode(
        x=alt.X("s:Q", title="time, s", scale=alt.Scale(nice=False), axis=alt.Axis(grid=False, tickCount=12)),
        y=alt.Y("rate:Q", title="completions per second"),
        **_inks(shown, "stroke"),
    )  # fmt: skip
    spec: dict[str, Any] = chart.properties(width=WIDTH, height=150).to_dict()
    return Drawing(spec, "Completions over time, the endpoints with most bytes.", wide=True)


def _sizes(endpoints: list[Endpoint]) -> Drawing | None:
    import altair as alt

    shown = [e for e in endpoints if e.size_histogram]
    rows: list[dict[str, Any]] = []
    for e in shown:
        total = sum(bar.count for bar in e.size_histogram)
        for bar in e.size_histogram:
            label = str(bar.low) if bar.high - bar.low <= 1 else f"{bar.low}–{bar.high - 1}"
            rows.append({"size": label, "low": bar.low, "endpoint": _name(e), "share": bar.count / total})
    if not rows:
        return None
    order = [row["size"] for row in sorted(rows, key=lambda row: int(row["low"]))]
    chart = alt.Chart(alt.InlineData(values=plain(rows))).mark_bar().encode(
        x=alt.X("size:O", title="bytes of a completed transfer", sort=list(dict.fromkeys(order)),
                axis=alt.Axis(labelAngle=-45)),
        xOffset="endpoint:N",
        y=alt.Y("share:Q", title="share of completions", axis=alt.Axis(format="~%")),
        **_inks(shown),
        tooltip=["endpoint:N", "size:O", "share:Q"],
    )  # fmt: skip
    width = min(WIDTH, _BAND * max(2, len(set(order))))  # two: room for the title of the axis
    spec: dict[str, Any] = chart.properties(width=width, height=130).to_dict()
    return Drawing(spec, "Sizes of completed transfers, by powers of two.", wide=True)
