"""From a capture to a report: the call into the native analyzer."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from txop.core.moment import Moment, check_order, end_of

if TYPE_CHECKING:
    from txop.bus.report import BusReport

Progress = Callable[[int, int | None], None]
"""Called now and then with the bytes read so far and the size of the file (``None`` when it is not known)."""


def analyze(
    path: str | os.PathLike[str],
    *,
    from_: Moment | None = None,
    to: Moment | None = None,
    progress: Progress | None = None,
) -> BusReport:
    """Analyze the USB capture at ``path``: usbmon (binary or text), USBPcap or UsbSnoop text; ``"-"`` reads stdin.

    Args:
        path: The capture.
        from_: Count only records from then on; see :data:`~txop.core.moment.Moment`. Descriptors, what a device is and
            how its transfers are framed is taken from the whole capture all the same.
        to: Count only records before then.
        progress: See :data:`Progress`. An exception raised in it ends the analysis.

    Raises:
        OSError: the file cannot be opened or read.
        ValueError: it is not a USB capture of a known kind, or ``from_`` and ``to`` are not a window it can have.
    """
    from txop.bus.report import BusReport

    return BusReport.parse(analyze_json(path, from_=from_, to=to, progress=progress))


def analyze_json(
    path: str | os.PathLike[str],
    *,
    from_: Moment | None = None,
    to: Moment | None = None,
    progress: Progress | None = None,
) -> bytes:
    """The same as the JSON document itself (UTF-8), exactly as the analyzer wrote it; see ``docs/bus-json.md``."""
    from txop import _native

    start, end = end_of(from_), end_of(to)
    check_order(start, end)
    return _native.analyze_bus(os.fspath(path), start=start, end=end, progress=progress)
