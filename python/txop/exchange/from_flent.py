"""Runs from flent's data files: throughput and round trips of raw values, over the time in which the load ran."""

from __future__ import annotations

import math
import re

from txop.exchange.imported import FileReading, ImportedRun, Kind, Points, TestKey, moment
from txop.exchange.round_trips import put_round_trips
from txop.formats.error import FormatError
from txop.formats.flent import FlentData, Series, parse

_UP, _DOWN = "upload", "download"
_FLOW = re.compile(r"(?:TCP|UDP) [^:]*(?:::[0-9]+)?$")
"""Also of several streams (``TCP upload::3``), but not the statistics of a socket (``TCP upload::tcp_rtt``)."""

_RATE = "Mbits/s"
_TOOL_DIFFERS = 0.05
_PINGS = ("Ping (ms)",)


def read(data: bytes) -> FileReading:
    """The run in ``data``. Raises FormatError where there is none with figures that txop knows."""
    found = parse(data)
    up, down, left_out = _flows(found)
    pings = [each for each in found.series if each.name.startswith(_PINGS) and each.samples and not each.computed]
    if not up and not down and (left_out or not pings):
        names = ", ".join(each.name for each in found.series[:6])
        raise FormatError(f"the flent test {found.name} has no flows of a known direction and no pings alone ({names})")
    start, end = _window(found, [*up, *down] or pings)
    run = ImportedRun(_test(found, up, down, end - start), started_at=moment(start), window_s=end - start)
    if left_out:
        names = ", ".join(each.name for each in left_out[:6])
        run.warnings.append(f"left out, UDP beside TCP or flows that no direction is given for: {names}")
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


def _flows(found: FlentData) -> tuple[list[Series], list[Series], list[Series]]:
    """The flows up and down, and those that are no part of a throughput: UDP beside TCP, and of no direction."""
    flows = [
        each
        for each in found.series
        if each.samples and not each.computed and _FLOW.match(each.name) and (each.units or _RATE) in (_RATE, "bits/s")
    ]
    tcp = [each for each in flows if each.name.startswith("TCP")]
    counted = tcp or flows
    ways = [[each for each in counted if way in each.name.lower()] for way in (_UP, _DOWN)]
    known = {id(each) for way in ways for each in way}
    return ways[0], ways[1], [each for each in flows if id(each) not in known]


def _test(found: FlentData, up: list[Series], down: list[Series], seconds: float) -> TestKey:
    """Its name makes it what it is; ``rrul`` is flent's of several classes, whatever else is called so."""
    flows = [*up, *down]
    marks = {each.dscp for each in flows} | ({0} if flows and any(each.dscp is None for each in flows) else set())
    dscp = tuple(sorted(mark for mark in marks if mark is not None))
    controls = tuple(sorted({each.congestion for each in flows if each.congestion is not None}))
    asked = found.parameters.get("tcp_cong_control")
    setup = ", ".join(f"{key} {value}" for key, value in found.parameters.items() if key != "tcp_cong_control")
    kind: Kind = "tcp-tx" if up else "tcp-rx" if down else "latency"
    rate = None
    if up and down:
        kind = "rrul" if len(dscp) > 1 else "tcp-both"
    elif flows and flows[0].name.startswith("UDP"):
        kind = "udp-tx" if up else "udp-rx"
        rate = float(f"{max(sum(_mean(each) or 0.0 for each in flows), 0.001):.3g}")
    return TestKey(
        kind,
        round(seconds, 3) or 1.0,
        max(len(up), len(down), 1) if rate is None else 1,
        rate,
        setup=setup[:200],
        name=found.name,
        tool="flent",
        dscp=dscp if any(dscp) else (),
        congestion=controls or ((asked.lower(),) if asked else ()),
    )


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
    total = math.fsum(known)
    own = [each.mean_value for each in flows if each.mean_value is not None]
    if len(own) == len(flows) and abs(math.fsum(own) - total) > _TOOL_DIFFERS * total + 0.01 * len(own):
        run.put(key, math.fsum(own), f"flent {run.test.name}, the tool's own totals, {len(flows)} flow(s)")
        run.warnings.append(
            f"the samples of the flows make {total:.2f} Mbit/s, the tool's own totals {math.fsum(own):.2f}, which count"
        )
    else:
        run.put(key, total, f"{source}, {len(flows)} flow(s)")
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
