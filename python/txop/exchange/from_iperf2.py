"""Runs from what iperf 2 printed: its text, its CSV, and its bounce-back test, which measures round trips."""

from __future__ import annotations

import re

from txop.exchange.from_iperf3 import reading_of
from txop.exchange.imported import Direction, FileReading, ImportedRun, TestKey
from txop.exchange.round_trips import NO_SINGLE, put_summary
from txop.formats import iperf2, iperf2_bounceback, iperf2_csv
from txop.formats.error import FormatError

_OF_IPERF3 = re.compile(
    rb"^(?:Connecting to host [^\n]{1,300}, port |Accepted connection from |iperf Done\.)", re.MULTILINE
)


def read(data: bytes, given: Direction) -> FileReading:
    """A run for each test in ``data``. Raises FormatError where there is none."""
    parse = iperf2_csv.parse_all if iperf2_csv.looks_like(data) else iperf2.parse_all
    if _OF_IPERF3.search(data) is not None:
        raise FormatError("text of iperf 2 and of iperf3 in one, with similar rows; make a file of each")
    results, problems = parse(data)
    reading = reading_of(results, given)
    reading.problems += problems
    return reading


def read_bounceback(data: bytes) -> FileReading:
    """A run for each bounce-back test in ``data``. Raises FormatError where there is none."""
    reading = FileReading("iperf 2 bounce-back")
    for test in iperf2_bounceback.parse_all(data):
        size = f"{test.request_bytes} bytes" if test.request_bytes is not None else ""
        run = ImportedRun(
            TestKey("latency", test.seconds, setup=size, name="bounceback"), line=test.line, window_s=test.seconds
        )
        put_summary(
            run,
            f"iperf 2 bounce-back, its total of {test.count} requests",
            least=test.min_ms,
            mean=test.mean_ms,
            most=test.max_ms,
            deviation=test.stdev_ms,
            no_quantiles=NO_SINGLE,
        )
        reading.runs.append(run)
    return reading
