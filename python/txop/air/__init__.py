"""Analysis of 802.11 captures: :func:`analyze` gives one :class:`~txop.air.report.AirReport`.

>>> from txop import air
>>> report = air.analyze("capture.pcapng")          # doctest: +SKIP
>>> report.summary.fcs.bad, report.table("stations")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from txop.air.analysis import AnalysisOptions, analyze, analyze_json
from txop.formats.error import FormatError

if TYPE_CHECKING:
    from txop.air.report import AirReport

__all__ = ["AirReport", "AnalysisOptions", "FormatError", "analyze", "analyze_json"]


def __getattr__(name: str) -> object:
    if name != "AirReport":  # models take longer to load than most captures to read
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from txop.air.report import AirReport

    return AirReport
