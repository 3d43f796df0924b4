"""Figures of module cycles from what was noted of each, and from iperf3's reports. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from txop.archive.window import is_inside
from txop.core.visible import visible
from txop.formats import iperf3
from txop.formats.error import FormatError
from txop.formats.iperf3_result import Interval
from txop.measure.instrument import Points, Reading, RunFacts

CYCLES_FILE = "cycles.jsonl"
"""A line per cycle, and per connection of the traffic."""
MAX_SEGMENTS = 200
"""Connections with reports that are kept."""
MAX_LINES = 100_000
MAX_WARNINGS = 5
SOURCE = "module cycles"


def segment_files(number: int) -> tuple[str, str]:
    """Names of the client's and the server's report of a connection."""
    return f"iperf3-cycle-{number}-client.json", f"iperf3-cycle-{number}-server.json"


def read_cycles(facts: RunFacts) -> Reading:
    """``cycles``, ``cycles_failed``, ``recovery_s``, and the throughput with its gaps."""
    reading = Reading()
    cycles: list[dict[str, Any]] = []
    segments: list[dict[str, Any]] = []
    records = list(_records(facts.folder / CYCLES_FILE))
    for record in records:
        cycles += [found for found in [record.get("cycle")] if isinstance(found, dict)]
        segments += [found for found in [record.get("segment")] if isinstance(found, dict)]
    if records:
        reading.files[CYCLES_FILE] = "every module cycle, and every connection of the traffic"
    if not cycles:
        for key in ("cycles", "cycles_failed", "recovery_s"):
            reading.put(key, None, SOURCE, "no cycle was carried out")
    else:
        _figures(facts, cycles, reading)
    if any(record.get("no_iperf3") for record in records):
        reading.warnings.append("iperf3 is not available on both ends: the module was removed without load")
        reading.put("throughput_mbit_s", None, "iperf3", "iperf3 is not available on both ends")
    else:
        _throughput(facts, segments, reading)
    return reading


def _figures(facts: RunFacts, cycles: list[dict[str, Any]], reading: Reading) -> None:
    failed = [cycle for cycle in cycles if cycle.get("problem") is not None]
    reading.put("cycles", float(len(cycles)), SOURCE)
    reading.put("cycles_failed", float(len(failed)), SOURCE)
    times = [t for cycle in cycles if isinstance(t := cycle.get("recovery_s"), int | float) and cycle not in failed]
    reading.put("recovery_s", median(times) if times else None, SOURCE, None if times else "it never recovered")
    for cycle in failed[:MAX_WARNINGS]:
        reading.warnings.append(f"cycle {cycle.get('number')} failed: {visible(str(cycle['problem'])[:300])}")
    if len(failed) > MAX_WARNINGS:
        reading.warnings.append(f"{len(failed) - MAX_WARNINGS} more cycles failed")
    planned = facts.test.module_cycles
    if planned is not None and len(cycles) < planned.cycles:
        reading.warnings.append(f"{len(cycles)} of {planned.cycles} cycles were carried out")
    idle = sum(cycle.get("flowing") is False for cycle in cycles)
    if idle:
        reading.warnings.append(f"no traffic ran when the module was removed in {idle} of {len(cycles)} cycles")
    window = facts.marks.window or 0.0
    reading.series["recovery_s"] = [
        (round(float(cycle["begun"]) - window, 3), _number(cycle.get("recovery_s")))
        for cycle in cycles
        if isinstance(cycle.get("begun"), int | float)
    ]


def _throughput(facts: RunFacts, segments: list[dict[str, Any]], reading: Reading) -> None:
    """What arrived in the window, gaps included, over the length of the window."""
    key, source, window_s = "throughput_mbit_s", "iperf3 of the receiver, gaps included", facts.marks.window_s
    if not segments or window_s is None or window_s <= 0 or facts.marks.window is None:
        reading.put(key, None, source, "there was no traffic")
        return
    if len(segments) > MAX_SEGMENTS:
        reading.put(key, None, source, f"more than {MAX_SEGMENTS} connections")
        return
    points: Points = []
    total_bytes, unread = 0, 0
    for segment in segments:
        number, begun = segment.get("number"), segment.get("begun")
        if not isinstance(number, int) or not isinstance(begun, int | float):
            unread += 1
            continue
        intervals = _intervals(facts.folder, number, reading)
        if intervals is None:
            unread += 1
            continue
        for interval in intervals:
            t = begun - facts.marks.window + (interval.start_s + interval.end_s) / 2
            if interval.bytes is not None and interval.end_s > interval.start_s:
                points.append((round(t, 3), interval.bytes * 8e-6 / (interval.end_s - interval.start_s)))
                total_bytes += interval.bytes if is_inside(t, window_s) else 0
    if unread:
        reading.put(key, None, source, f"{unread} of {len(segments)} connections left no report")
    else:
        reading.put(key, total_bytes * 8e-6 / window_s, source)
    if points:
        reading.series[key] = sorted(points)


def _intervals(folder: Path, number: int, reading: Reading) -> tuple[Interval, ...] | None:
    """Intervals of the receiver, else of the sender; ``None`` when neither left a report."""
    client, server = segment_files(number)
    for name in (server, client):
        try:
            flow = iperf3.parse((folder / name).read_bytes()).flow("client_to_server")
        except (OSError, FormatError):
            continue
        if flow is not None and flow.intervals:
            reading.files[name] = f"iperf3 of connection {number}"
            return flow.intervals
    return None


def _records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open("r", encoding="utf-8", errors="replace") as file:
            for _ in range(MAX_LINES):
                line = file.readline(1 << 16)
                if not line:
                    return
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(record, dict):
                    yield record
    except OSError:
        return


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
