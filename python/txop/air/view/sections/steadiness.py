"""Section 9: throughput and retries over time."""

from __future__ import annotations

from txop.air.model import Steadiness
from txop.air.report import AirReport
from txop.air.steady import not_sought
from txop.air.view import names
from txop.air.view.options import Options, unavailable
from txop.present import format as fmt
from txop.present.blocks import Block, Fact, Facts, Lines, Plot, Section


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
    reason = not_sought(flow)
    return "Nothing remarkable." if reason is None else f"Not looked for: {reason}."


def _facts(flow: Steadiness) -> list[Fact]:
    bins = f"{fmt.plural(len(flow.series), 'bin')} of {fmt.duration_us(flow.bin_us)}"
    if flow.median_bins is not None:
        bins = f"median of {flow.median_bins} inner ones of {bins}"
    return [
        Fact("Throughput of bins", f"{fmt.mbit_s(flow.median_mbit_s)} ({bins})", "bin_throughput"),
        Fact("Variation", fmt.share(flow.variation, 0), "variation"),
    ]
