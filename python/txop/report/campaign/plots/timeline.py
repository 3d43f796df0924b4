"""The campaign on a time line: every run where it was, void ones marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import altair as alt

from txop.archive.run_file import RunFile
from txop.present.chapters import Drawing
from txop.present.format import plural
from txop.present.plot import INK
from txop.report.campaign.plots.drawing import HALF, Rows, Tables, arm_color, spaced, unchecked

_MOST_RUNS = 1500
_ROW = 26
_SHORT_MIN = 180.0
"""Campaigns up to this long (minutes) have an axis in minutes."""


@unchecked
def timeline(runs: Sequence[RunFile], inks: Mapping[str, str], counted: frozenset[str]) -> Drawing | None:
    """A bar for each run of the arms that plots show; ``None`` without two runs at known times."""
    known = [(begin, run) for run in runs if run.arm in inks and (begin := _time(run.started_at)) is not None]
    if len(known) < 2:
        return None
    first = min(begin for begin, _ in known)
    whole = max((begin - first).total_seconds() + run.seconds for begin, run in known) / 60
    unit, per = ("min", 1.0) if whole <= _SHORT_MIN else ("h", 60.0)
    rows: Rows = []
    void: Rows = []
    for begin, run in spaced(known, _MOST_RUNS):
        start = (begin - first).total_seconds() / 60 / per
        row = {"arm": run.arm, "from": round(start, 4), "to": round(start + run.seconds / 60 / per, 4), "run": run.run}
        if run.state == "void":
            reason = ", ".join(each.gate for each in run.void) or "void"
            void.append({**row, "why": reason, "middle": round(start + run.seconds / 120 / per, 4)})
        elif run.run not in counted:
            void.append(
                {**row, "why": "of a block that was repeated", "middle": round(start + run.seconds / 120 / per, 4)}
            )
        else:
            rows.append(row)
    tables = Tables()
    arms = [arm for arm in inks if any(run.arm == arm for _, run in known)]
    y = alt.Y("arm:N", sort=arms, title=None, axis=alt.Axis(domain=False, ticks=False))
    x = alt.X(
        "from:Q",
        title=f"{unit} from {first:%Y-%m-%d %H:%M} UTC",
        scale=alt.Scale(nice=False),
        axis=alt.Axis(grid=False),
    )
    bars = (
        alt.Chart(tables.add(rows))
        .mark_bar(height=12)
        .encode(
            x=x, x2=alt.X2("to:Q"), y=y, color=arm_color(inks, arms, legend=None),
            tooltip=[alt.Tooltip(name) for name in ("arm:N", "run:N")],
        )
    )  # fmt: skip
    crosses = (
        alt.Chart(tables.add(void))
        .mark_text(text="×", color=INK["bad"], fontSize=17, fontWeight="bold")
        .encode(x=alt.X("middle:Q"), y=y, tooltip=[alt.Tooltip(name) for name in ("arm:N", "run:N", "why:N")])
    )
    layers = [bars, crosses] if void else [bars]
    marked = f"; × {plural(len(void), 'run')} left out (void, or of a repeated block)" if void else ""
    caption = f"The campaign on a time line: {plural(len(known), 'run')}{marked}."
    spec = tables.layered(layers, width=HALF, height=_ROW * len(arms))
    return Drawing(spec, caption, name="timeline")


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
