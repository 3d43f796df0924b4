"""The part of a capture that a report is of: mirrors ``Window`` of ``report`` in the crates ``air`` and ``bus``."""

from __future__ import annotations

import datetime

from txop.present import format as fmt
from txop.present.document import Model


class Window(Model):
    """The part of a capture that the figures are of: records from one moment on and before another. An end that was not
    given is Null, and open.
    """

    from_unix_s: float | None
    """First moment inside; Null also without an absolute clock."""
    to_unix_s: float | None
    """First moment after it."""
    from_us: float | None
    """First moment inside, from the first record of the capture on; negative when it lies before."""
    to_us: float | None
    """First moment after it, from the first record of the capture on."""
    records_before: int
    """Records before the window."""
    records_inside: int
    """Records in it."""
    records_after: int
    """Records at its end or later."""
    records_without_time: int
    """Records that have no time and are left out."""
    capture_first_unix_s: float | None
    """Time of the first record of the capture."""
    capture_last_unix_s: float | None
    """Latest time of a record of the capture."""

    @property
    def records(self) -> int:
        """Records of the whole capture."""
        return self.records_before + self.records_inside + self.records_after + self.records_without_time


def described(window: Window) -> str:
    """The window in a line, with what lay outside it."""
    left_out = [
        f"{fmt.count(n)} {where}"
        for n, where in (
            (window.records_before, "before"),
            (window.records_after, "after"),
            (window.records_without_time, "without a time"),
        )
        if n
    ]
    outside = f"; {', '.join(left_out)}" if left_out else ""
    return f"{_span(window)}: {fmt.count(window.records_inside)} of {fmt.count(window.records)} records{outside}"


def _span(window: Window) -> str:
    if window.from_us is None and window.to_us is None:
        return "from the first record to the last"
    start = "the first record" if window.from_us is None else f"{window.from_us / 1e6:+.6f} s"
    end = "the last record" if window.to_us is None else f"{window.to_us / 1e6:+.6f} s"
    times = [clock(moment) for moment in (window.from_unix_s, window.to_unix_s) if moment is not None]
    return f"from {start} to {end}" + (f" ({' to '.join(times)})" if any(times) else "")


def clock(unix_s: float | None) -> str:
    """A moment as UTC, to the microsecond; empty when it cannot be told."""
    if unix_s is None:
        return ""
    try:
        return f"{datetime.datetime.fromtimestamp(unix_s, tz=datetime.UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
    except (OverflowError, ValueError, OSError):
        return ""
