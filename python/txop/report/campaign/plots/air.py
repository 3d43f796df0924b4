"""Where the time on the air went, by arm, from the captures of the runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt

from txop.air.page.causes import INK_OF_CAUSE, ink
from txop.archive.run_file import RunFile
from txop.present.chapters import Drawing
from txop.present.plot import INK, plain
from txop.report.campaign.plots.drawing import Rows, Tables, unchecked

_MAX_CAUSES = 40
_FIGURES = ("retry_percent", "ampdu_mpdus", "phy_mbit_s", "response_delay_p50_us")
_LABELS = {"payload": "payload", "mac_headers": "MAC headers", "preamble": "preambles", "ifs_backoff": "IFS, backoff",
           "ack": "ACK, Block Ack", "rts_cts": "RTS, CTS", "retries": "retries", "reverse": "other direction",
           "other_stations": "other stations", "beacons_management": "management", "damaged": "damaged",
           "idle_queued": "idle, frame to repeat", "idle": "idle", "unobserved": "not observed"}  # fmt: skip
"""Short names of the waterfall's causes, in the order they are drawn."""


_LIGHT_INKS = ("shade", "grid", "nine", "six", "three")
"""Inks on which white cannot be read."""


@dataclass
class Digest:
    """What the captures of one arm and test say together."""

    arm: str
    runs: int = 0
    """With a digest of their capture."""
    medians: dict[str, float | None] = field(default_factory=dict)
    """Over runs, of ``retry_percent``, ``ampdu_mpdus``, ``phy_mbit_s`` and ``response_delay_p50_us``."""
    shares: dict[str, float] = field(default_factory=dict)
    """By cause: mean over runs of its share of the observed time."""


def digest(arm: str, runs: Sequence[RunFile]) -> Digest:
    """Together, what the runs of one arm found. Fields that are not what they should be are left out."""
    found = Digest(arm)
    figures: dict[str, list[float]] = {key: [] for key in _FIGURES}
    shares: dict[str, list[float]] = {}
    falls = 0
    for run in runs:
        air = run.air
        if not air:
            continue
        found.runs += 1
        for key in _FIGURES:
            if (number := _number(air.get(key))) is not None:
                figures[key].append(number)
        steps = [s for s in _list(air.get("waterfall"))[:_MAX_CAUSES] if isinstance(s, Mapping)]
        falls += bool(steps)
        for step in steps:
            share, cause = _number(step.get("share")), step.get("cause")
            if share is not None and 0 <= share <= 1 and isinstance(cause, str):
                shares.setdefault(cause[:60], []).append(share)
    found.medians = {key: statistics.median(known) if known else None for key, known in figures.items()}
    found.shares = {cause: math.fsum(known) / falls for cause, known in shares.items()}
    return found


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def label_of(cause: str) -> str:
    """A cause in a few words."""
    return _LABELS.get(cause, cause.replace("_", " "))


@unchecked
def waterfalls(test: str, digests: Sequence[Digest]) -> Drawing | None:
    """A stacked bar for each arm: shares of the observed time by cause."""
    arms = [each for each in digests if each.shares]
    if not arms:
        return None
    known = [cause for cause in _LABELS if any(each.shares.get(cause, 0) >= 0.002 for each in arms)]
    other = sorted({c for each in arms for c, share in each.shares.items() if c not in _LABELS and share >= 0.002})
    causes = (known + other)[:_MAX_CAUSES]
    rows: Rows = []
    for each in arms:
        start = 0.0
        for cause in causes:
            share = each.shares.get(cause, 0.0)
            rows.append(
                {
                    "arm": each.arm,
                    "cause": label_of(cause),
                    "from": round(start, 5),
                    "to": round(start + share, 5),
                    "share": f"{100 * share:.1f} %",
                    "text": f"{100 * share:.0f} %" if share >= 0.045 else "",
                    "on_dark": ink(cause) not in _LIGHT_INKS,
                    "middle": round(start + share / 2, 5),
                }
            )
            start += share
    labels = [row["n"] for row in plain([{"n": label_of(cause)} for cause in causes])]
    inks = [INK[ink(cause) if cause in INK_OF_CAUSE else "three"] for cause in causes]
    x = alt.X(
        "from:Q",
        title="share of the observed time",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", grid=False),
    )
    tables = Tables()
    base = alt.Chart(tables.add(rows)).encode(
        y=alt.Y("arm:N", sort=[each.arm for each in arms], title=None, axis=alt.Axis(domain=False, ticks=False))
    )
    bars = base.mark_bar(height=22).encode(
        x=x,
        x2=alt.X2("to:Q"),
        color=alt.Color("cause:N", scale=alt.Scale(domain=labels, range=inks),
                        legend=alt.Legend(title=None, columns=6, symbolType="square")),
        tooltip=[alt.Tooltip(name) for name in ("arm:N", "cause:N", "share:N")],
    )  # fmt: skip
    text = [
        base.transform_filter(f"datum.on_dark == {'true' if dark else 'false'}")
        .mark_text(fontSize=10, color="#ffffff" if dark else INK["text"], aria=False)
        .encode(x=alt.X("middle:Q"), text=alt.Text("text:N"))
        for dark in (True, False)
    ]
    caption = (
        f"{test}: where the time on the air went in the measured window, mean of the runs with a capture; definitions"
        " as in txop air --from --to, whose command for each run is in its run.json."
    )
    return Drawing(
        tables.layered([bars, *text], width=760, height=32 * len(arms)),
        caption,
        wide=True,
        name=f"air-{test}",
    )
