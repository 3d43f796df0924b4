"""Section 9: throughput and retries over time."""

from __future__ import annotations

from txop.air.model import Steadiness
from txop.air.report import AirReport
from txop.air.view import names
from txop.air.view.options import Options, unavailable
from txop.present import format as fmt
from txop.present.blocks import Block, Fact, Facts, Lines, Plot, Section

_MIN_BINS = 12
_MIN_MBIT_S = 0.1
"""Bins, the first and the last included, and median below which the engine looks for no events (steadiness.rs)."""


def section(report: AirReport, options: Options) -> Section:
    """The section."""
    blocks: list[Block] = []
    for index, flow in enumerate(report.steadiness):
        if not options.wants(flow.ta, flow.ra):
            continue
        blocks.append(
            Facts(_facts(flow), f"{flow.direction.capitalize()}, {names.direction(report, flow.ta, flow.ra)}")
        )
        blocks.append(Plot("steadiness", index))
        blocks.append(
            Lines(
                tuple(f"{names.seconds(e.start_us, e.end_us)}: {e.text}" for e in flow.events) or (_nothing(flow),),
                "Events",
            )
        )
    if not blocks:
        blocks.append(Lines(("Not available: no unicast data over time.",)))
    return Section("steadiness", 9, "Steadiness", blocks, unavailable(report, "steadiness"))


def _nothing(flow: Steadiness) -> str:
    """No event was found, which says something only where there was enough to find one in."""
    if len(flow.series) < _MIN_BINS:
        return f"Not looked for: {fmt.plural(len(flow.series), 'bin')}, and at least {_MIN_BINS} are needed."
    if flow.median_mbit_s is None or flow.median_mbit_s < _MIN_MBIT_S:
        return f"Not looked for: the median is below {fmt.mbit_s(_MIN_MBIT_S)}, which leaves nothing to drop from."
    return "Nothing remarkable."


def _facts(flow: Steadiness) -> list[Fact]:
    bins = f"{fmt.plural(len(flow.series), 'bin')} of {fmt.duration_us(flow.bin_us)}"
    return [
        Fact("Throughput, median of bins", f"{fmt.mbit_s(flow.median_mbit_s)} ({bins})", "bin_throughput"),
        Fact("Variation", fmt.share(flow.variation, 0), "variation"),
    ]
