"""Runs from what latency probes printed: ping (iputils, BusyBox, fping) and irtt."""

from __future__ import annotations

from datetime import UTC, datetime

from txop.exchange.imported import FileReading, ImportedRun, Points, TestKey
from txop.exchange.round_trips import put_round_trips
from txop.formats import irtt, ping
from txop.formats.error import FormatError

_USUAL_INTERVAL_S = 1.0
_MOST_LOST = 1_000_000


def read_ping(data: bytes) -> FileReading:
    """The run in ping's output. Raises FormatError where there is none, or no reply and no loss in it."""
    result = ping.parse(data)
    usable = [r for r in result.replies if not (r.duplicate or r.corrupted) and r.rtt_ms is not None]
    lost = min(result.lost_count, _MOST_LOST)
    if not usable and not lost:
        raise FormatError("ping output without a single round trip; its summary alone has no percentiles")
    source = f"ping ({result.program})"
    interval_s, is_given = _interval_s(result)
    stamps = {r.sequence: r.time_unix_s - (r.rtt_ms or 0.0) / 1e3 for r in usable if r.time_unix_s is not None}
    start = min(stamps.values(), default=0.0)
    first = result.first_sequence
    points: Points = [
        (stamps[r.sequence] - start if r.sequence in stamps else (r.sequence - first) * interval_s, r.rtt_ms)
        for r in usable
    ]
    points += [
        ((sequence - first) * interval_s, None)
        for _, sequence in zip(range(lost), result.lost_sequences(), strict=False)
    ]
    points = (
        sorted((round(t, 4), rtt) for t, rtt in points)
        if not lost
        else sorted(((round(t, 4), rtt) for t, rtt in points), key=lambda point: point[0])
    )
    length_s = max(points[-1][0] + interval_s, interval_s)
    run = ImportedRun(
        TestKey("latency", length_s),
        window_s=length_s,
        started_at=datetime.fromtimestamp(start, UTC).isoformat(timespec="seconds") if stamps else None,
    )
    run.warnings += result.notes
    if not stamps and not is_given:
        run.warnings.append("ping printed no times; its probes are taken to be 1 s apart")
    if result.lost_count > _MOST_LOST:
        raise FormatError(f"ping output with more than {_MOST_LOST} probes lost")
    run.series["rtt_ms"] = points
    put_round_trips(run, [rtt for _, rtt in points], source)
    return FileReading(f"{result.program} ping" if result.program != "fping" else "fping", [run])


def _interval_s(result: ping.PingResult) -> tuple[float, bool]:
    """Time from probe to probe, and whether the output gives it."""
    summary = result.summary
    if summary is not None and summary.duration_ms and summary.transmitted > 1:
        return summary.duration_ms / 1e3 / (summary.transmitted - 1), True
    return _USUAL_INTERVAL_S, False


def read_irtt(data: bytes) -> FileReading:
    """The run in irtt's JSON. Raises FormatError where there is none."""
    result = irtt.parse(data)
    if not result.round_trips:
        raise FormatError("irtt output without round trips")
    interval_s = (result.interval_ms or 1000.0) / 1e3
    starts = [trip.sent_monotonic_s for trip in result.round_trips if trip.sent_monotonic_s is not None]
    start = min(starts, default=0.0)
    points: Points = sorted(
        (
            (
                round(
                    trip.sequence * interval_s if trip.sent_monotonic_s is None else trip.sent_monotonic_s - start, 4
                ),
                None if trip.lost else trip.rtt_ms,
            )
            for trip in result.round_trips
        ),
        key=lambda point: point[0],
    )
    length_s = result.duration_s or points[-1][0] + interval_s
    run = ImportedRun(
        TestKey("latency", length_s),
        window_s=length_s,
        started_at=None
        if result.started_unix_s is None
        else datetime.fromtimestamp(result.started_unix_s, UTC).isoformat(timespec="seconds"),
        series={"rtt_ms": points},
        warnings=list(result.notes),
    )
    put_round_trips(run, [rtt for _, rtt in points], f"irtt {result.version or ''}".strip())
    return FileReading("irtt JSON", [run])
