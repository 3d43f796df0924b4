"""The sections of the report, one module each: nine, and those that come on demand."""

from __future__ import annotations

from collections.abc import Callable

from txop.air.report import AirReport
from txop.air.view.options import Options
from txop.air.view.sections import (
    aggregation,
    airtime,
    block_acks,
    capabilities,
    events,
    exchanges,
    ghosts,
    packets,
    rates,
    stations,
    steadiness,
    summary,
    waterfall,
)
from txop.present.blocks import Section

_SECTIONS: dict[str, Callable[[AirReport, Options], Section]] = {
    "summary": summary.section,
    "stations": stations.section,
    "ghosts": ghosts.section,
    "exchanges": exchanges.section,
    "aggregation": aggregation.section,
    "airtime": airtime.section,
    "waterfall": waterfall.section,
    "capabilities": capabilities.section,
    "steadiness": steadiness.section,
    "events": events.section,
    "packets": packets.section,
    "rates": rates.section,
    "block_acks": block_acks.section,
}

_ON_DEMAND = frozenset({"events", "packets", "rates", "block_acks"})
"""Sections that are shown only where they are asked for; packets also where they were looked at."""

_EMPTY: dict[str, Callable[[AirReport], bool]] = {
    "ghosts": lambda report: not report.ghosts and report.summary.fcs.good + report.summary.fcs.bad > 0,
    "exchanges": lambda report: not report.exchanges and not report.block_acks,
    "aggregation": lambda report: not report.aggregation and not report.multi_user and not report.multi_user_ppdus,
    "airtime": lambda report: report.airtime.busy_us is None,
    "waterfall": lambda report: not report.waterfalls,
    "capabilities": lambda report: not report.capabilities,
    "steadiness": lambda report: not report.steadiness,
}
"""Sections that may have nothing of a capture; the headline has the reason of those that explain."""

SECTION_NAMES = tuple(_SECTIONS)
"""Names for ``--section``, in the order of the report."""


def sections(
    report: AirReport,
    *,
    list_ghosts: bool = False,
    station: str | None = None,
    only: tuple[str, ...] = (),
    beside: tuple[str, ...] = (),
    list_events: bool = False,
) -> list[Section]:
    """The sections of ``report``.

    Args:
        report: The report.
        list_ghosts: List ghost addresses as stations too, not only as ghosts with their likely origin.
        station: Show only rows of this address.
        only: Names out of :data:`SECTION_NAMES`; empty: those of the nine that have content.
        beside: Names that are shown beside these.
        list_events: Show the table of events whole.
    """
    options = Options(list_ghosts=list_ghosts, station=station, list_events=list_events)
    on_demand = _ON_DEMAND if report.traffic is None else _ON_DEMAND - {"packets"}
    asked = set(only or SECTION_NAMES) - (on_demand - {*only}) | {*beside}
    left_out = set() if only else {*without_content(report)}
    return [build(report, options) for name, build in _SECTIONS.items() if name in asked - left_out]


def without_content(report: AirReport) -> tuple[str, ...]:
    """Names of the sections that have nothing of this capture."""
    return tuple(name for name, is_empty in _EMPTY.items() if is_empty(report))
