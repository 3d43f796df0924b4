"""The nine sections of the report, one module each."""

from __future__ import annotations

from collections.abc import Callable

from txop.air.model import AirReport
from txop.air.view.options import Options
from txop.air.view.sections import (
    aggregation,
    airtime,
    capabilities,
    exchanges,
    ghosts,
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
}

SECTION_NAMES = tuple(_SECTIONS)
"""Names for ``--section``, in the order of the report."""


def sections(
    report: AirReport, *, list_ghosts: bool = False, station: str | None = None, only: tuple[str, ...] = ()
) -> list[Section]:
    """The sections of ``report``.

    Args:
        report: The report.
        list_ghosts: List ghost addresses as stations too, not only as ghosts with their likely origin.
        station: Show only rows of this address.
        only: Names out of :data:`SECTION_NAMES`; empty: all.
    """
    options = Options(list_ghosts=list_ghosts, station=station)
    return [build(report, options) for name, build in _SECTIONS.items() if not only or name in only]
