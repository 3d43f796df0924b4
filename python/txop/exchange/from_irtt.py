"""Runs from what irtt wrote or printed: its JSON, or its text."""

from __future__ import annotations

from txop.core.visible import visible
from txop.exchange.imported import FileReading, ImportedRun, Points, TestKey, moment
from txop.exchange.round_trips import NO_SINGLE, put_quantiles, put_round_trips, put_summary
from txop.formats import irtt, irtt_text
from txop.formats.error import FormatError

_USUAL_INTERVAL_S = 1.0
_MOST_PACKETS = 2_000_000


def read_text(data: bytes) -> FileReading:
    """A run for each in the text. Raises FormatError where there is none."""
    results = irtt_text.parse_all(data)
    reading = FileReading("irtt text")
    for result in results:
        run = _run(result)
        run.line = result.line if len(results) > 1 else None
        reading.runs.append(run)
    return reading


def _run(result: irtt_text.IrttText) -> ImportedRun:
    source = "irtt text"
    rtts = result.rtts_ms or {}
    sent = result.sent
    received = None if result.received is None else result.received - result.duplicates
    span = max(rtts, default=0) + 1
    interval_s = result.duration_s / (sent - 1) if result.duration_s and sent and sent > 1 else None
    length_s = (sent or span) * (interval_s or _USUAL_INTERVAL_S)
    size = f"{result.length_bytes} bytes" if result.length_bytes is not None else ""
    setup = ", ".join(part for part in (result.host or "", size) if part)
    run = ImportedRun(
        TestKey("latency", length_s, setup=setup, short="", name="irtt", interval_s=interval_s), window_s=length_s
    )
    run.warnings.append("read from text: times have three significant digits")
    whole = bool(rtts) and (received is None or len(rtts) == received)
    if whole:
        count = span if sent is None else sent
        if span > count or count > _MOST_PACKETS:
            raise FormatError("irtt text with numbers that go beyond the packets that were sent", line=result.line)
        probes = [rtts.get(number) for number in range(count)]
        put_quantiles(run, probes, source)
        run.series["rtt_ms"] = [
            (round(number * (interval_s or _USUAL_INTERVAL_S), 4), rtt) for number, rtt in enumerate(probes)
        ]
    table = result.rtt
    loss = result.loss_percent
    if sent and received is not None:
        loss = 100 * max(sent - received, 0) / sent
    why = f"{len(rtts)} of {received} packets are in the text" if rtts else NO_SINGLE
    put_summary(
        run,
        f"{source}, its summary",
        least=None if table is None else table.min_ms,
        mean=None if table is None else table.mean_ms,
        most=None if table is None else table.max_ms,
        deviation=None if table is None else table.stddev_ms,
        loss_percent=loss,
        no_quantiles=None if whole else why,
    )
    if not whole and table is not None and loss == 0:
        run.put("rtt_p50_ms", table.median_ms, f"{source}, its summary")
    return run


def read_json(data: bytes) -> FileReading:
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
    marked = [f"dscp {result.dscp}"] if result.dscp else []
    size = [f"{result.length_bytes} bytes"] if result.length_bytes is not None else []
    run = ImportedRun(
        TestKey(
            "latency",
            length_s,
            setup=", ".join([*marked, *size]),
            short="",
            name="irtt",
            interval_s=interval_s if result.interval_ms else None,
        ),
        window_s=length_s,
        started_at=moment(result.started_unix_s),
        series={"rtt_ms": points},
        warnings=list(result.notes),
    )
    source = visible(f"irtt {result.version or ''}".strip())
    put_round_trips(run, [rtt for _, rtt in points], source)
    if (table := result.rtt) is not None:
        put_summary(
            run,
            f"{source}, its statistics",
            least=table.min_ms,
            mean=table.mean_ms,
            most=table.max_ms,
            deviation=table.stddev_ms,
        )
    return FileReading("irtt JSON", [run])
