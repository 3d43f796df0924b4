"""What an 802.11 capture says: :func:`analyze` gives one :class:`~txop.air.model.AirReport`.

>>> from txop import air
>>> report = air.analyze("capture.pcapng")          # doctest: +SKIP
>>> report.summary.fcs.bad, report.table("stations")  # doctest: +SKIP
"""

from __future__ import annotations

from txop.air.analysis import analyze, analyze_json
from txop.air.model import AirReport, FormatError

__all__ = ["AirReport", "FormatError", "analyze", "analyze_json"]
