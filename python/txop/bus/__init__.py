"""What a USB capture says: :func:`analyze` gives one :class:`~txop.bus.model.BusReport`.

>>> from txop import bus
>>> report = bus.analyze("usbmon.pcap")              # doctest: +SKIP
>>> report.verdicts[0].text, report.table("traffic")  # doctest: +SKIP
"""

from __future__ import annotations

from txop.bus.analysis import analyze, analyze_json
from txop.bus.model import BusReport
from txop.formats.error import FormatError

__all__ = ["BusReport", "FormatError", "analyze", "analyze_json"]
