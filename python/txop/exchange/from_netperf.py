"""Runs from what netperf printed: streams as throughput, request-response tests as a mean round trip."""

from __future__ import annotations

from txop.exchange.imported import Direction, FileReading, ImportedRun, Kind, TestKey
from txop.exchange.round_trips import NO_SINGLE, put_summary
from txop.formats.error import FormatError
from txop.formats.netperf import Netperf, parse_all


def read(data: bytes, given: Direction) -> FileReading:
    """A run for each test in the text. Raises FormatError where there is none."""
    results, problems = parse_all(data)
    reading = FileReading("netperf", problems=[*problems])
    for result in results:
        try:
            run = _run(result, given)
        except FormatError as error:
            reading.problems.append((result.line, error.what))
            continue
        run.line = result.line if len(results) > 1 else None
        reading.runs.append(run)
    if not reading.runs:
        raise FormatError(reading.problems[-1][1], line=reading.problems[-1][0])
    return reading


def _run(result: Netperf, given: Direction) -> ImportedRun:
    seconds = result.seconds
    if not seconds:
        raise FormatError(f"a {result.name} of netperf without its time")
    name = result.name.replace(" ", "_")
    source = f"netperf {name}"
    if result.transactions_s is not None:
        return _round_trip(result, seconds, name, source)
    tx = result.back != (given.dut == "client")
    udp = result.name.startswith("UDP")
    sent, received = result.sent_mbit_s, result.received_mbit_s
    got = received if received is not None else sent
    if got is None:
        raise FormatError(f"a {result.name} of netperf without its rate")
    kind: Kind = ("udp-tx" if tx else "udp-rx") if udp else ("tcp-tx" if tx else "tcp-rx")
    rate = float(f"{max(sent or got, 0.001):.3g}") if udp else None
    own = name.lower() if result.name.split(" ")[0] not in ("TCP", "UDP") or "SENDFILE" in result.name else ""
    run = ImportedRun(TestKey(kind, seconds, 1, rate, name=own, tool="netperf"), window_s=seconds)
    one = udp and received is None
    run.put("throughput_mbit_s", got, source + (", the sender" if one else ", the receiver" if udp else ""))
    if one:
        run.warnings.append("only the sender's total is known; what arrived may be less")
    if result.messages_sent and result.messages_received is not None:
        lost = 100 * (result.messages_sent - result.messages_received) / result.messages_sent
        run.put("udp_loss_percent", max(lost, 0.0), source)
    at = 0.0
    points: list[tuple[float, float | None]] = []
    for length, mbit_s in result.intervals:
        points.append((round(at + length / 2, 3), mbit_s))
        at += length
    if points:
        run.series["throughput_mbit_s"] = points
    return run


def _round_trip(result: Netperf, seconds: float, name: str, source: str) -> ImportedRun:
    if not result.transactions_s:
        raise FormatError(f"a {result.name} of netperf without a transaction")
    if result.burst:
        raise FormatError(f"a {result.name} of netperf with {result.burst + 1} requests at once: no round trip in it")
    run = ImportedRun(TestKey("latency", seconds, name=name.lower()), window_s=seconds)
    put_summary(
        run,
        f"{source}, the inverse of {result.transactions_s:g} transactions per second",
        mean=1e3 / result.transactions_s,
        no_quantiles=NO_SINGLE,
    )
    return run
