"""How long a capture is, and the part of it that a report is of, in words."""

from __future__ import annotations

import datetime

from txop.present import format as fmt
from txop.present.report_parts import Window


def records(window: Window) -> int:
    """Records of the whole capture."""
    return window.records_before + window.records_inside + window.records_after + window.records_without_time


def span(length_us: float | None, first_time_unix_s: float | None) -> str:
    """How long a capture is, and when it began, to the second.

    >>> span(30_000_000, 1_700_000_000)
    '30.0 s from 2023-11-14 22:13:20 UTC'
    """
    length = fmt.duration_us(length_us)
    began = _utc(first_time_unix_s, "%Y-%m-%d %H:%M:%S")
    return f"{length} from {began}" if began else length


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
    return f"{_span(window)}: {fmt.count(window.records_inside)} of {fmt.count(records(window))} records{outside}"


def _span(window: Window) -> str:
    if window.from_us is None and window.to_us is None:
        return "from the first record to the last"
    start = _end("the first record", window.from_us, window.from_unix_s)
    end = _end("the last record", window.to_us, window.to_unix_s)
    return f"from {start} to {end}"


def _end(open_end: str, offset_us: float | None, unix_s: float | None) -> str:
    """One end of a window: ``open_end`` where it has none."""
    if offset_us is None:
        return open_end
    moment = clock(unix_s)
    return f"{offset_us / 1e6:+.6f} s" + (f" ({moment})" if moment else "")


def clock(unix_s: float | None) -> str:
    """A moment as UTC, to the microsecond; empty when it cannot be determined."""
    return _utc(unix_s, "%Y-%m-%d %H:%M:%S.%f")


def _utc(unix_s: float | None, form: str) -> str:
    if unix_s is None:
        return ""
    try:
        return f"{datetime.datetime.fromtimestamp(unix_s, tz=datetime.UTC):{form}} UTC"
    except (OverflowError, ValueError, OSError):
        return ""
