"""Runs from testers of an internet connection: one each for download, upload and latency."""

from __future__ import annotations

from collections.abc import Sequence

from txop.exchange.imported import FileReading, ImportedRun, TestKey, moment
from txop.exchange.round_trips import NO_SINGLE, put_summary
from txop.formats import betterspeedtest, speedtest
from txop.formats.betterspeedtest import Part
from txop.formats.speedtest import SpeedTest

_USUAL_S = 10.0
"""Length in the plan where none is given: these programs load each way for about as long."""

_KEYS = {"download": "throughput_down_mbit_s", "upload": "throughput_up_mbit_s"}


def read_json(data: bytes) -> FileReading:
    """The runs in a result. Raises FormatError where there is none."""
    return _reading(speedtest.parse_json(data), "JSON")


def read_text(data: bytes) -> FileReading:
    """The runs in a text. Raises FormatError where there is none."""
    return _reading(speedtest.parse_text(data), "text")


def _reading(results: Sequence[SpeedTest], form: str) -> FileReading:
    reading = FileReading(f"{results[0].program} {form}")
    for result in results:
        for run in _runs(result):
            run.line = result.line if len(results) > 1 else None
            reading.runs.append(run)
    return reading


def _runs(result: SpeedTest) -> list[ImportedRun]:
    runs = []
    started = moment(result.started_unix_s)
    tool = result.program.partition(" ")[0]
    for rate, seconds, short in (
        (result.download_mbit_s, result.download_s, "rx"),
        (result.upload_mbit_s, result.upload_s, "tx"),
    ):
        if rate is None:
            continue
        run = ImportedRun(
            TestKey("tcp-rx" if short == "rx" else "tcp-tx", seconds or _USUAL_S, name=f"{tool}-{short}"),
            started_at=started,
            window_s=seconds,
        )
        run.put("throughput_mbit_s", rate, result.program)
        run.warnings.append("to a server on the internet, by as many connections as the program chose")
        runs.append(run)
    if result.latency_ms is not None:
        run = ImportedRun(TestKey("latency", _USUAL_S, name=f"{tool}-latency"), started_at=started)
        run.put("latency_ms", result.latency_ms, f"{result.program}: what it calls latency or ping", unit="ms")
        put_summary(
            run,
            result.program,
            least=result.low_ms,
            most=result.high_ms,
            loss_percent=result.loss_percent,
            no_quantiles=NO_SINGLE,
        )
        runs.append(run)
    return runs


def read_betterspeedtest(data: bytes) -> FileReading:
    """A run for each way, or for both at once. Raises FormatError where there is none."""
    reading = FileReading("betterspeedtest")
    parts = betterspeedtest.parse_all(data)
    for part in parts:
        run = _beside(part)
        run.line = part.line if len(parts) > 1 else None
        reading.runs.append(run)
    return reading


def _beside(part: Part) -> ImportedRun:
    source = "betterspeedtest"
    seconds = part.seconds or _USUAL_S
    rates = part.rates_mbit_s
    streams = min(part.streams, 128)
    if len(rates) > 1:
        run = ImportedRun(TestKey("tcp-both", seconds, streams, name="netperfrunner"), window_s=part.seconds)
    elif rates:
        tx = "upload" in rates
        short = "tx" if tx else "rx"
        run = ImportedRun(
            TestKey("tcp-tx" if tx else "tcp-rx", seconds, streams, name=f"betterspeedtest-{short}"),
            window_s=part.seconds,
        )
    else:
        run = ImportedRun(TestKey("latency", seconds, name="betterspeedtest-idle"), window_s=part.seconds)
    for way, rate in rates.items():
        run.put(_KEYS[way] if len(rates) > 1 else "throughput_mbit_s", rate, f"{source}, the sum of its netperf")
    latency = part.latency
    if latency is None or not latency.rows:
        return run
    rows = latency.rows
    lossless = latency.loss_percent == 0
    put_summary(
        run,
        f"{source}, its {latency.count} pings",
        least=rows.get("Min"),
        mean=rows.get("Avg"),
        most=rows.get("Max"),
        loss_percent=latency.loss_percent,
        no_quantiles=NO_SINGLE if lossless else "its percentiles leave lost pings out",
    )
    if lossless and "Median" in rows:
        run.put("rtt_p50_ms", rows["Median"], f"{source}, its {latency.count} pings")
    return run
