"""Runs from what ping, fping and ping of Windows printed.

What a tool's own summary says counts. Quantiles are of the single round trips, so they are there only where the text
has all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TypeVar

from txop.exchange.imported import FileReading, ImportedRun, Points, TestKey, moment
from txop.exchange.round_trips import NO_SINGLE, put_quantiles, put_round_trips, put_summary
from txop.formats import fping, ping, ping_windows
from txop.formats.error import FormatError
from txop.formats.ping_result import PingResult, Summary
from txop.formats.ping_windows import WindowsPing

_USUAL_INTERVAL_S = 1.0
_MOST_LOST = 1_000_000

_Result = TypeVar("_Result", PingResult, WindowsPing)


def read_ping(data: bytes) -> FileReading:
    """A run for each run of ping in the text. Raises FormatError where there is none with figures."""
    return _reading("ping", ping.parse_all(data), _run)


def read_fping(data: bytes) -> FileReading:
    """A run for each host that fping asked. Raises FormatError where there is none with figures."""
    return _reading("fping", fping.parse_all(data), _run)


def read_windows(data: bytes) -> FileReading:
    """A run for each run of ping in the text. Raises FormatError where there is none with figures."""
    return _reading("ping of Windows", ping_windows.parse_all(data), _windows)


def _reading(name: str, results: Sequence[_Result], make: Callable[[_Result], ImportedRun]) -> FileReading:
    programs = {getattr(result, "program", "fping") for result in results} - {"fping"}
    reading = FileReading(f"{' and '.join(sorted(programs))} {name}" if programs else name)
    for result in results:
        try:
            run = make(result)
        except FormatError as error:
            reading.problems.append((result.line, error.what))
            continue
        run.line = result.line if len(results) > 1 else None
        reading.runs.append(run)
    if not reading.runs:
        raise FormatError(reading.problems[0][1], line=reading.problems[0][0])
    return reading


def _run(result: PingResult) -> ImportedRun:
    if result.several_hosts:
        raise FormatError("answers of several hosts to one probe (a broadcast): not the round trips of a link")
    if result.lost_count > _MOST_LOST:
        raise FormatError(f"ping output with more than {_MOST_LOST} probes lost")
    usable = [r for r in result.replies if not (r.duplicate or r.corrupted) and r.rtt_ms is not None]
    summary = result.summary
    if not usable and not result.lost_count and (summary is None or not summary.transmitted):
        raise FormatError("ping output without a single round trip")
    source = f"ping ({result.program})" if result.program != "fping" else "fping"
    interval_s = _interval_s(result)
    whole = summary is None or result.answered == summary.received
    points, start = _points(result, interval_s or _USUAL_INTERVAL_S)
    sent = summary.transmitted if summary is not None else len(points)
    length_s = max(sent, 1) * (interval_s if interval_s is not None else _USUAL_INTERVAL_S)
    if points:
        length_s = max(points[-1][0] + (interval_s or _USUAL_INTERVAL_S), interval_s or _USUAL_INTERVAL_S)
    run = ImportedRun(
        TestKey(
            "latency",
            max(length_s, 0.001),
            setup=_setup(result.address or result.host, result.payload_bytes),
            short="",
            dscp=() if result.tos is None else (result.tos >> 2,),
            interval_s=interval_s,
            tool="fping" if result.program == "fping" else "ping",
        ),
        window_s=length_s or None,
        started_at=moment(start),
    )
    run.warnings += result.notes
    if start is None and interval_s is None:
        run.warnings.append("ping printed no times; its probes are taken to be 1 s apart")
    if whole and points:
        run.series["rtt_ms"] = points
        put_round_trips(run, [rtt for _, rtt in points], source)
    if summary is None and usable:
        rtts = [reply.rtt_ms for reply in usable if reply.rtt_ms is not None]
        put_summary(run, f"{source}, of its replies", least=min(rtts), mean=fmean(rtts), most=max(rtts))
    elif summary is not None:
        why = None
        if not whole or not points:
            why = f"{result.answered} of {summary.received} replies are in the text" if usable else NO_SINGLE
        put_summary(
            run,
            f"{source}, its summary",
            least=summary.rtt_min_ms,
            mean=summary.rtt_mean_ms,
            most=summary.rtt_max_ms,
            deviation=summary.rtt_mdev_ms,
            loss_percent=_loss(summary),
            no_quantiles=why,
        )
        if why is not None and usable:
            run.warnings.append(f"{why}, so what the summary says counts")
    return run


def _setup(host: str | None, payload_bytes: int | None) -> str:
    parts = [host or "", f"{payload_bytes} bytes" if payload_bytes is not None else ""]
    return ", ".join(part for part in parts if part)


def _loss(summary: Summary) -> float | None:
    """From the counts, which are exact where the percentage is rounded."""
    if not summary.transmitted or summary.received > summary.transmitted:
        return summary.loss_percent
    return 100 * (summary.transmitted - summary.received) / summary.transmitted


def _points(result: PingResult, interval_s: float) -> tuple[Points, float | None]:
    """Round trips over time, lost ones among them, and when the first was sent, where it is known."""
    usable = [r for r in result.replies if not (r.duplicate or r.corrupted) and r.rtt_ms is not None]
    stamps = {r.sequence: r.time_unix_s - (r.rtt_ms or 0.0) / 1e3 for r in usable if r.time_unix_s is not None}
    start, first = min(stamps.values(), default=None), result.first_sequence
    points: Points = [
        (stamps[r.sequence] - (start or 0.0) if r.sequence in stamps else (r.sequence - first) * interval_s, r.rtt_ms)
        for r in usable
    ]
    points += [((sequence - first) * interval_s, None) for sequence in result.lost_sequences()]
    return sorted(((round(t, 4), rtt) for t, rtt in points), key=lambda point: point[0]), start


def _interval_s(result: PingResult) -> float | None:
    """Time from probe to probe, where the output gives it."""
    summary = result.summary
    if summary is None or summary.transmitted < 2:
        return None
    if summary.interval_ms:
        return summary.interval_ms / 1e3
    return summary.duration_ms / 1e3 / (summary.transmitted - 1) if summary.duration_ms else None


def _windows(result: WindowsPing) -> ImportedRun:
    source = "ping of Windows"
    probes, sent = result.probes, result.sent
    if not probes and not sent:
        raise FormatError("ping of Windows without a probe")
    length_s = float(max(sent or 0, len(probes))) * _USUAL_INTERVAL_S
    run = ImportedRun(
        TestKey(
            "latency",
            length_s,
            setup=_setup(result.address or result.host, result.payload_bytes),
            short="",
            tool="windows",
        ),
        window_s=length_s,
    )
    whole = bool(probes) and sent in (None, len(probes))
    loss = 100 * (len(probes) - result.answered) / len(probes) if whole else None
    if loss is None and sent and result.received is not None:
        loss = 100 * (sent - result.received) / sent
    if whole and result.received is not None and result.received != result.answered:
        run.warnings.append(
            f"Windows counts {result.received} answers, {result.received - result.answered} of which say that the "
            "host was not reached"
        )
    if whole:
        rtts = [0.0 if probe.below else probe.rtt_ms for probe in probes]
        put_quantiles(run, rtts, source, floor_ms=1.0 if result.bounded else 0.0)
        if not result.bounded:
            run.series["rtt_ms"] = [(at * _USUAL_INTERVAL_S, rtt) for at, rtt in enumerate(rtts)]
    zero = result.least_ms == 0
    put_summary(
        run,
        f"{source}, its statistics",
        least=None if zero else result.least_ms,
        mean=result.mean_ms,
        most=None if result.most_ms == 0 else result.most_ms,
        loss_percent=loss,
        no_quantiles=None if whole else f"{len(probes)} of {sent} probes are in the text" if probes else NO_SINGLE,
    )
    if zero:
        run.put("rtt_min_ms", None, source, "below 1 ms, which the tool does not resolve")
        run.warnings.append("times are whole milliseconds; those below 1 count as 0 in the mean of Windows")
    else:
        run.warnings.append("times are whole milliseconds")
    if result.sent is None:
        run.warnings.append("there are no statistics: ping was stopped before its end")
    return run
