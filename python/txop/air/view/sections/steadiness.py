"""Section 9: throughput and retries over time."""

from __future__ import annotations

from txop.air.model import Steadiness
from txop.air.report import AirReport
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
                tuple(_event(e.start_us, e.end_us, e.text) for e in flow.events) or ("Nothing remarkable.",), "Events"
            )
        )
    if not blocks:
        blocks.append(Lines(("Not available: no unicast data over time.",)))
    return Section("steadiness", 9, "Steadiness", blocks, unavailable(report, "steadiness"))


def _event(start_us: float, end_us: float, text: str) -> str:
    return f"{start_us / 1e6:,.1f}–{end_us / 1e6:,.1f} s: {text}"


def _facts(flow: Steadiness) -> list[Fact]:
    bins = f"{fmt.plural(len(flow.series), 'bin')} of {fmt.duration_us(flow.bin_us)}"
    return [
        Fact("Throughput, median of bins", f"{fmt.mbit_s(flow.median_mbit_s)} ({bins})", "bin_throughput"),
        Fact("Variation", fmt.number(flow.variation, 2), "variation"),
    ]
