"""From a capture to a report: the call into the native analyzer."""

from __future__ import annotations

import os
from collections.abc import Callable

from txop.bus.model import BusReport

Progress = Callable[[int, int | None], None]
"""Called now and then with the bytes read so far and the size of the file (``None`` when it is not known)."""


def analyze(path: str | os.PathLike[str], *, progress: Progress | None = None) -> BusReport:
    """Analyze the USB capture at ``path``: usbmon (binary or text), USBPcap or UsbSnoop text; ``"-"`` reads stdin.

    Raises:
        OSError: the file cannot be opened or read.
        ValueError: it is not a USB capture of a known kind.
    """
    return BusReport.parse(analyze_json(path, progress=progress))


def analyze_json(path: str | os.PathLike[str], *, progress: Progress | None = None) -> bytes:
    """The same as the JSON document itself (UTF-8), exactly as the analyzer wrote it; see ``docs/bus-json.md``."""
    from txop import _native

    return _native.analyze_bus(os.fspath(path), progress=progress)
