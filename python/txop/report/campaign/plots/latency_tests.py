"""Distributions of round-trip times of all tests on one axis, a panel for each arm: for a plan with a test for each
rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from txop.core.visible import visible
from txop.present.chapters import Drawing
from txop.present.format import plural
from txop.present.plot import DASHES, INK
from txop.report.campaign.plots.drawing import ARM_INKS, Rows, Tables, unchecked
from txop.report.campaign.plots.latency import RttAxis, delays, short
from txop.report.campaign.plots.samples import RunSeries
from txop.stats.spread import ecdf

_MAX_PANELS = 4
_WIDTH, _WIDTH_NARROW, _HEIGHT = 1080, 300, 130


@unchecked
def all_tests(tests: Mapping[str, Sequence[RunSeries]], inks: Mapping[str, str]) -> Drawing | None:
    """Mean distribution function of the runs of each test, a panel for each arm; ``None`` with fewer than two tests.

    Args:
        tests: Round-trip times by test, ms.
        inks: The arms, as they are ordered.
    """
    known: dict[str, dict[str, list[list[float]]]] = {}
    for arm in [*inks][:_MAX_PANELS]:
        mine = {test: [d for run in runs if run.arm == arm and (d := delays(run))] for test, runs in tests.items()}
        if any(mine.values()):
            known[arm] = {test: runs for test, runs in mine.items() if runs}
    shown = [test for test in tests if any(test in mine for mine in known.values())][: len(ARM_INKS)]
    if len(shown) < 2:
        return None
    drawn = [run for mine in known.values() for test in shown for run in mine.get(test, [])]
    finite = [v for run in drawn for v in run if math.isfinite(v)]
    if len(finite) < 2:
        return None
    axis = RttAxis.of(finite)
    specs = [_panels(known, shown, axis, width) for width in (_WIDTH, _WIDTH_NARROW)]
    caption = (
        f"Distribution of the RTT in the measured window, {plural(len(drawn), 'run')}: a panel for each arm on one "
        "axis, in it the mean of the runs of each test. A line that ends below 100 % lost the rest."
    )
    if len(inks) > _MAX_PANELS:
        caption += f" The first {_MAX_PANELS} of {len(inks)} arms."
    return Drawing(specs[0], caption, wide=True, name="latency-tests", narrow=specs[1])


def _panels(
    known: Mapping[str, Mapping[str, Sequence[Sequence[float]]]],
    shown: Sequence[str],
    axis: RttAxis,
    width: int,
) -> dict[str, Any]:
    tables = Tables()
    panels = []
    last = [*known][-1]
    for arm, mine in known.items():
        rows: Rows = []
        for test in shown:
            if runs := mine.get(test):
                mean = np.mean([ecdf(run, axis.grid) for run in runs], axis=0)
                rows += [
                    {"test": test, "ms": short(at), "share": short(share)}
                    for at, share in zip(axis.grid, mean, strict=True)
                ]
        bottom = arm == last
        title = axis.title if bottom else None
        key = alt.Legend(title=None, symbolType="stroke", symbolSize=400, columns=3 if width < _WIDTH else 8)
        legend = key if arm == next(iter(known)) else None
        inks = alt.Scale(domain=list(shown), range=[INK[ink] for ink, _ in zip(ARM_INKS, shown, strict=False)])
        dashes = alt.Scale(domain=list(shown), range=[list(dash) for dash in DASHES[: len(shown)]])
        across = alt.Axis(tickCount=7, format="~r", labels=bottom, ticks=bottom)
        up = alt.Axis(format="%", tickCount=3)
        line = (
            alt.Chart(tables.add(rows))
            .mark_line(strokeWidth=2, aria=False)
            .encode(
                x=alt.X("ms:Q", title=title, scale=axis.scale, axis=across),
                y=alt.Y("share:Q", title="share of probes", scale=alt.Scale(domain=[0, 1]), axis=up),
                color=alt.Color("test:N", scale=inks, legend=legend),
                strokeDash=alt.StrokeDash("test:N", scale=dashes, legend=legend),
            )
        )
        panel = Tables().layered([line], width=width, height=_HEIGHT, title=visible(arm))
        del panel["datasets"]
        panels.append(panel)
    spec = {**tables.layered([]), "vconcat": panels, "spacing": 10}
    del spec["layer"]
    return spec
