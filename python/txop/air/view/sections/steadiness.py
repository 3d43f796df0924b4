"""Section 9: throughput and retries over time."""

from __future__ import annotations

from txop.air.model import Steadiness
from txop.air.report import PREVENT_WATERFALLS, AirReport
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
        blocks.append(Lines((_why_not(report, options),)))
    return Section("steadiness", 9, "Steadiness", blocks, unavailable(report, "steadiness"))


def _why_not(report: AirReport, options: Options) -> str:
    if report.steadiness:
        return f"Not available for {options.station}: the pair that is explained is another; --pair chooses one."
    if not any(link.mpdu_retry.frames for link in report.links):
        return "Not available: no undamaged unicast frame with data is in what was counted."
    timeless = [limit.text for limit in report.summary.limits if limit.code in PREVENT_WATERFALLS]
    if timeless:
        return f"Not available: {'; '.join(timeless)}."
    return "Not available: no explained pair has data MPDUs captured on this interface."


def _nothing(flow: Steadiness) -> str:
    """No event was found, which says something only where there was enough to find one in."""
    reason = not_sought(flow)
    if reason is not None:
        return f"Not looked for: {reason}."
    if not flow.series:
        return "Nothing remarkable."
    first, last = flow.series[0].start_us, flow.series[-1].start_us + flow.bin_us
    return f"Nothing remarkable between the first and the last frame of this direction ({names.seconds(first, last)})."


def _facts(flow: Steadiness) -> list[Fact]:
    bins = f"{fmt.plural(len(flow.series), 'bin')} of {fmt.duration_us(flow.bin_us)}"
    if flow.median_bins is not None:
        bins = f"median of {flow.median_bins} inner ones of {bins}"
    return [
        Fact("Throughput of bins", f"{fmt.mbit_s(flow.median_mbit_s)} ({bins})", "bin_throughput"),
        Fact("Variation", fmt.share(flow.variation, 0), "variation"),
    ]
