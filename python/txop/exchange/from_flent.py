"""Runs from flent's data files: throughput and round trips of raw values, over the time in which the load ran."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from txop.exchange.imported import FileReading, ImportedRun, Kind, Points, TestKey
from txop.exchange.round_trips import put_round_trips
from txop.formats.error import FormatError
from txop.formats.flent import FlentData, Series, parse

_UP, _DOWN = "upload", "download"
_FLOWS = ("TCP ", "UDP ")
_PINGS = ("Ping (ms)",)


def read(data: bytes) -> FileReading:
    """The run in ``data``. Raises FormatError where there is none with figures that txop knows."""
    found = parse(data)
    up, down = _flows(found, _UP), _flows(found, _DOWN)
    pings = [each for each in found.series if each.name.startswith(_PINGS) and each.samples]
    if not up and not down and not pings:
        names = ", ".join(each.name for each in found.series[:6])
        raise FormatError(f"the flent test {found.name} has neither flows nor pings (its series: {names})")
    start, end = _window(found, [*up, *down] or pings)
    run = ImportedRun(
        TestKey(_kind(found, up, down), round(end - start, 3) or 1.0, max(len(up), len(down), 1)),
        started_at=_moment(start),
        window_s=end - start,
    )
    udp = any(each.name.startswith("UDP ") for each in (*up, *down))
    if udp:
        rate = sum(_mean(each) or 0.0 for each in (up or down))
        run.test = TestKey("udp-tx" if up else "udp-rx", run.test.duration_s, 1, float(f"{max(rate, 0.001):.3g}"))
    source = f"flent {found.name}, raw values" + (" (drawn onto a grid)" if found.notes else "")
    for flows, both_key in ((up, "throughput_up_mbit_s"), (down, "throughput_down_mbit_s")):
        if flows:
            _throughput(run, both_key if up and down else "throughput_mbit_s", flows, source, start)
    if pings:
        _round_trips(run, pings, source, start, end)
    run.warnings += found.notes
    origin = found.txop.get("origin")
    if isinstance(origin, str):
        run.warnings.append(f"exported by txop; there its origin was {origin[:40]}")
    reading = FileReading(f"flent data of version {found.version}", [run])
    reading.notes.append(
        f"flent test {found.name}"
        + (f", {found.title}" if found.title else "")
        + (f": {found.note}" if found.note else "")
    )
    return reading


def _flows(found: FlentData, way: str) -> list[Series]:
    return [
        each
        for each in found.series
        if each.samples and each.name.startswith(_FLOWS) and way in each.name.split("::")[0].lower()
    ]


def _kind(found: FlentData, up: list[Series], down: list[Series]) -> Kind:
    if up and down:
        return "rrul" if found.name.startswith("rrul") else "tcp-both"
    return "tcp-tx" if up else "tcp-rx" if down else "latency"


def _window(found: FlentData, series: list[Series]) -> tuple[float, float]:
    """From the first to the last sample of the load; of a probe alone, its whole time."""
    firsts, lasts = [], []
    for each in series:
        known = [sample for sample in each.samples if sample.value is not None]
        if known:
            firsts.append(known[0].unix_s - (known[0].seconds or 0.0))
            lasts.append(known[-1].unix_s)
    if not firsts:
        raise FormatError(f"the flent test {found.name} has no sample with a value")
    start, end = min(firsts), max(lasts)
    if not math.isfinite(end - start) or end - start > 7 * 86400:
        raise FormatError("samples are more than a week apart")
    return start, max(end, start + 0.001)


def _mean(series: Series) -> float | None:
    """Weighted by how long each value is of, where every value says so; else the plain mean."""
    values = [(sample.value, sample.seconds) for sample in series.samples if sample.value is not None]
    if not values:
        return series.mean_value
    if all(seconds for _, seconds in values):
        total = math.fsum(seconds or 0.0 for _, seconds in values)
        return math.fsum(value * (seconds or 0.0) for value, seconds in values) / total
    return math.fsum(value for value, _ in values) / len(values)


def _throughput(run: ImportedRun, key: str, flows: list[Series], source: str, start: float) -> None:
    means = [_mean(each) for each in flows]
    known = [mean for mean in means if mean is not None and mean >= 0]
    if len(known) < len(flows):
        run.put(key, None, source, "not every flow has values")
        return
    run.put(key, math.fsum(known), f"{source}, {len(flows)} flow(s)")
    if len(flows) == 1:
        points: Points = [
            (round(s.unix_s - start - (s.seconds or 0.0) / 2, 4), s.value)
            for s in flows[0].samples
            if s.value is not None
        ]
        run.series[key] = sorted(points, key=lambda point: point[0])


def _round_trips(run: ImportedRun, pings: list[Series], source: str, start: float, end: float) -> None:
    chosen = next((each for each in pings if "ICMP" in each.name), pings[0])
    if len(pings) > 1:
        run.warnings.append(f"round trips are those of the series {chosen.name}; there are {len(pings) - 1} more")
    points: Points = [(round(sample.unix_s - start, 4), sample.value) for sample in chosen.samples]
    run.series["rtt_ms"] = points
    last = end - start
    put_round_trips(run, [rtt for t, rtt in points if 0 <= t <= last], f"{source}, {chosen.name}")


def _moment(unix_s: float) -> str | None:
    try:
        return datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None
