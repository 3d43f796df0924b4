"""Runs from what ``crusader export`` wrote: one for each phase of a test."""

from __future__ import annotations

from txop.exchange.imported import Direction, FileReading, ImportedRun, Kind, Points, TestKey
from txop.exchange.round_trips import put_round_trips
from txop.formats.crusader import CrusaderRun, Phase, parse
from txop.formats.error import FormatError

_MOST_DAYS_S = 7 * 86400.0


def read(data: bytes, direction: Direction) -> FileReading:
    """The runs in ``data``. Raises FormatError where there is none."""
    found = parse(data)
    source = found.made_by or "crusader"
    reading = FileReading(f"export of {source}")
    alone = [phase for phase in found.phases if not phase.both]
    together = [phase for phase in found.phases if phase.both]
    for phases in [*([phase] for phase in alone), *([together] if together else [])]:
        reading.runs.append(_run(found, phases, direction, source))
    if not found.phases:
        if not found.pings:
            raise FormatError("an export of crusader without samples")
        reading.runs.append(_run(found, [], direction, source))
    return reading


def _run(found: CrusaderRun, phases: list[Phase], direction: Direction, source: str) -> ImportedRun:
    start = min((phase.start_s for phase in phases), default=found.pings[0].sent_s if found.pings else 0.0)
    end = max((phase.end_s for phase in phases), default=found.pings[-1].sent_s if found.pings else 0.0)
    length = end - start
    if not 0 < length <= _MOST_DAYS_S:
        raise FormatError("an export of crusader with times that are not those of a test")
    ways = [_is_tx(phase, direction) for phase in phases]
    kind: Kind = "latency" if not phases else "tcp-both" if len(phases) > 1 else "tcp-tx" if ways[0] else "tcp-rx"
    streams = max((min(phase.streams, 128) for phase in phases), default=1)
    run = ImportedRun(TestKey(kind, found.load_s or length, streams), window_s=length, warnings=list(found.notes))
    for phase, is_tx in zip(phases, ways, strict=True):
        key = "throughput_mbit_s"
        if len(phases) > 1:
            key = "throughput_up_mbit_s" if is_tx else "throughput_down_mbit_s"
        run.put(key, phase.mbit_s, f"{source}, {phase.streams} connection(s) from the first byte to the last sample")
        run.series[key] = [(t, rate) for t, rate in phase.rates]
    within = [ping for ping in found.pings if start <= ping.sent_s <= end]
    points: Points = [(round(ping.sent_s - start, 4), ping.rtt_ms) for ping in within]
    if points:
        run.series["rtt_ms"] = points
    put_round_trips(run, [ping.rtt_ms for ping in within], f"{source}, its UDP probes")
    return run


def _is_tx(phase: Phase, direction: Direction) -> bool:
    return (phase.way == "upload") == (direction.dut == "client")
