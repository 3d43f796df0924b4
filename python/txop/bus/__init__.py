"""Analysis of USB captures: :func:`analyze` gives one :class:`~txop.bus.report.BusReport`.

>>> from txop import bus
>>> report = bus.analyze("usbmon.pcap")              # doctest: +SKIP
>>> report.verdicts[0].text, report.table("traffic")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from txop.bus.analysis import analyze, analyze_json
from txop.formats.error import FormatError

if TYPE_CHECKING:
    from txop.bus.report import BusReport

__all__ = ["BusReport", "FormatError", "analyze", "analyze_json"]


def __getattr__(name: str) -> object:
    if name != "BusReport":  # models take longer to load than most captures to read
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from txop.bus.report import BusReport

    return BusReport
