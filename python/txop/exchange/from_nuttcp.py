"""Runs from what nuttcp printed."""

from __future__ import annotations

from txop.exchange.imported import Direction, FileReading, ImportedRun, Kind, TestKey
from txop.formats.nuttcp import Nuttcp, parse_all


def read(data: bytes, given: Direction) -> FileReading:
    """A run for each test in the text. Raises FormatError where there is none."""
    results = parse_all(data)
    reading = FileReading("nuttcp")
    for result in results:
        run = _run(result, given)
        run.line = result.line if len(results) > 1 else None
        reading.runs.append(run)
    return reading


def _run(result: Nuttcp, given: Direction) -> ImportedRun:
    if result.client_sends is not None:
        tx = result.client_sends == (given.dut == "client")
    else:
        tx = given.way == "tx" if given.way is not None else given.dut == "client"
    kind: Kind = ("udp-tx" if tx else "udp-rx") if result.udp else ("tcp-tx" if tx else "tcp-rx")
    rate = float(f"{max(result.mbit_s, 0.001):.3g}") if result.udp else None
    run = ImportedRun(
        TestKey(kind, round(result.seconds, 2), min(result.streams, 128), rate, tool="nuttcp"), window_s=result.seconds
    )
    if result.client_sends is None and given.way is None:
        run.warnings.append(
            "nuttcp does not print which end sent; its client does unless -r was given: then use --direction rx"
        )
    run.put("throughput_mbit_s", result.mbit_s, "nuttcp")
    if result.retransmits is not None:
        run.put("tcp_retransmits_per_s", result.retransmits / result.seconds, "nuttcp")
    if result.packets:
        share = None if result.lost is None else 100 * result.lost / result.packets
        run.put("udp_loss_percent", share, "nuttcp", None if share is not None else "not printed")
    at = 0.0
    points: list[tuple[float, float | None]] = []
    for seconds, mbit_s in result.intervals:
        points.append((round(at + seconds / 2, 3), mbit_s))
        at += seconds
    if points:
        run.series["throughput_mbit_s"] = points
    return run
