"""Runs from what iperf3 printed, of either end: its JSON, ``--json-stream`` or text; and those of iperf 2.

Its results have the same form."""

from __future__ import annotations

from collections.abc import Sequence

from txop.core.visible import visible
from txop.exchange.imported import Direction, FileReading, ImportedRun, Kind, Points, TestKey, Way, moment
from txop.formats.error import FormatError
from txop.formats.iperf3 import parse_all
from txop.formats.iperf3_result import Flow, Iperf3Result

_KEYS = {"tx": "throughput_up_mbit_s", "rx": "throughput_down_mbit_s"}
_ENDS_DIFFER = 0.05
_AS_PLANNED = 0.1
_SOURCES = {
    "json": "iperf3 JSON",
    "json-stream": "iperf3 JSON stream",
    "text": "iperf3 text",
    "iperf2-text": "iperf 2 text",
    "iperf2-csv": "iperf 2 CSV",
}


def read(data: bytes, given: Direction) -> FileReading:
    """A run for each test in ``data``. Raises FormatError where there is none with figures."""
    return reading_of(parse_all(data), given)


def reading_of(results: Sequence[Iperf3Result], given: Direction) -> FileReading:
    """A run for each result, and what is wrong with the others. Raises FormatError where there is no run."""
    reading = FileReading(_SOURCES[results[0].source])
    for result in results:
        try:
            reading.runs += _runs(result, given)
        except FormatError as error:
            reading.problems.append((result.line, error.what))
    if not reading.runs:
        lines = [line for line, _ in reading.problems if line is not None]
        what = reading.problems[0][1]
        if len(reading.problems) > 1:
            shown = ", ".join(map(str, lines[:8])) + (" ..." if len(lines) > 8 else "")
            what = f"{len(reading.problems)} tests" + (f" (lines {shown})" if lines else "") + f": {what}"
        raise FormatError(what, line=None if len(reading.problems) > 1 else next(iter(lines), None))
    return reading


def _runs(result: Iperf3Result, given: Direction) -> list[ImportedRun]:
    """One, or one for each direction of UDP: a test of both ways has no place for its loss and jitter."""
    if not result.flows:
        raise FormatError(f"iperf3 failed: {visible(result.error)}" if result.error else "no interval and no total")
    ways = {_way(flow, given): flow for flow in result.flows}
    known = {way: flow for way, flow in ways.items() if way is not None}
    if len(known) < len(ways):
        raise FormatError("the text does not show which end sent: give it with --direction tx or --direction rx")
    udp = (result.protocol or "TCP").upper() == "UDP"
    if udp and len(known) > 1:
        return [_run(result, {way: flow}, udp=True, beside=True) for way, flow in known.items()]
    return [_run(result, known, udp=udp)]


def _run(result: Iperf3Result, known: dict[Way, Flow], *, udp: bool, beside: bool = False) -> ImportedRun:
    source = visible(f"{_SOURCES[result.source]} {result.version or ''}".strip())
    seconds = max((_seconds(flow) or 0.0 for flow in known.values()), default=0.0)
    if seconds <= 0:
        raise FormatError("the test has no duration")
    in_text = result.source in ("text", "iperf2-text", "iperf2-csv")
    run = ImportedRun(
        test=_test(result, known, _length(result, seconds), udp=udp, beside=beside),
        line=result.line,
        window_s=seconds,
        started_at=moment(result.started_unix_s),
        cookie=f"{result.cookie} {next(iter(known))}" if result.cookie and beside else result.cookie,
        end=result.role if in_text else None,
    )
    if result.error is not None or not result.complete:
        run.warnings.append(f"the test did not reach its end: {visible(result.error or 'no totals were printed')}")
    run.warnings += result.notes
    for way, flow in known.items():
        key = _KEYS[way] if len(known) > 1 else "throughput_mbit_s"
        _throughput(run, key, flow, source)
        _others(run, flow, source, seconds, udp=udp, only=len(known) == 1)
    return run


def _way(flow: Flow, given: Direction) -> Way | None:
    if flow.direction is None:
        return given.way
    up = flow.direction == "client_to_server"
    return "tx" if up == (given.dut == "client") else "rx"


def _seconds(flow: Flow) -> float | None:
    ends = [end.seconds for end in (flow.receiver, flow.sender) if end is not None and end.seconds]
    kept = flow.kept()
    return ends[0] if ends else max((each.end_s for each in kept), default=None)


def _length(result: Iperf3Result, seconds: float) -> float:
    """What was asked for, of a test that took about as long; else what it took."""
    planned = result.duration_s
    return planned if planned is not None and abs(planned - seconds) <= _AS_PLANNED * planned else seconds


def _test(result: Iperf3Result, flows: dict[Way, Flow], seconds: float, *, udp: bool, beside: bool) -> TestKey:
    streams = min(max(len(flow.streams) for flow in flows.values()), 128) or 1
    way = next(iter(flows))
    target = result.target_bits_per_second
    kind: Kind = "tcp-both" if len(flows) > 1 else "tcp-tx" if way == "tx" else "tcp-rx"
    if udp:
        kind = "udp-tx" if way == "tx" else "udp-rx"
        if target is None:
            flow = flows[way]
            ends = [end.bits_per_second for end in (flow.sender, flow.receiver) if end is not None]
            target = next((rate for rate in ends if rate), None)
        if not target:
            raise FormatError("UDP without a rate")
    congestion = result.sender_congestion_control or result.congestion
    return TestKey(
        kind,
        seconds,
        streams,
        None if target is None else float(f"{target / 1e6:.3g}"),
        setup=result.label or "",
        name=f"{kind}-beside-{'rx' if way == 'tx' else 'tx'}" if beside else "",
        dscp=() if result.tos is None else (result.tos >> 2,),
        congestion=() if congestion is None or udp else (congestion.lower(),),
        tool="iperf2" if result.source.startswith("iperf2") else "iperf3",
    )


def _throughput(run: ImportedRun, key: str, flow: Flow, source: str) -> None:
    ends = {
        name: end.bits_per_second / 1e6
        for name, end in (("sender", flow.sender), ("receiver", flow.receiver))
        if end is not None and end.bits_per_second is not None
    }
    if not ends:
        rates = [each.bits_per_second * (each.end_s - each.start_s) for each in flow.kept() if each.bits_per_second]
        seconds = sum(each.end_s - each.start_s for each in flow.kept() if each.bits_per_second is not None)
        mean = sum(rates) / seconds / 1e6 if seconds > 0 else None
        run.put(key, mean, f"{source}, its intervals", None if mean is not None else "no total and no interval")
        run.warnings.append("there are no totals; the figure is that of the intervals of one end")
    else:
        lower = min(ends, key=lambda name: ends[name])
        run.put(key, ends[lower], f"{source}, {lower}" + (", the lower of both ends" if len(ends) > 1 else ", one end"))
        if len(ends) == 2 and abs(ends["sender"] - ends["receiver"]) > _ENDS_DIFFER * max(ends.values()):
            run.warnings.append(
                f"the sender reports {ends['sender']:.2f} Mbit/s, the receiver {ends['receiver']:.2f}; the lower counts"
            )
        elif "receiver" not in ends:
            run.warnings.append("only the sender's total is known; what arrived may be less")
    points: Points = [
        (round((each.start_s + each.end_s) / 2, 3), each.bits_per_second / 1e6)
        for each in flow.intervals
        if each.bits_per_second is not None
    ]
    if points:
        run.series[key] = points


def _others(run: ImportedRun, flow: Flow, source: str, seconds: float, *, udp: bool, only: bool) -> None:
    if not only:
        return
    if udp:
        end = flow.receiver
        lost, packets = (None, None) if end is None else (end.lost_packets, end.packets)
        share = 100 * lost / packets if lost is not None and packets else None
        run.put("udp_loss_percent", share, source, None if share is not None else "the receiver's count is not known")
        if end is not None and end.jitter_ms is not None:
            run.put("udp_jitter_ms", end.jitter_ms, source)
    elif flow.sender is not None and flow.sender.retransmits is not None:
        run.put("tcp_retransmits_per_s", flow.sender.retransmits / (flow.sender.seconds or seconds), source)
    rtts = [each.rtt_us / 1e3 for each in flow.kept() if each.rtt_us]
    if rtts and len(flow.streams) == 1:
        run.put("tcp_rtt_ms", sum(rtts) / len(rtts), f"{source}, TCP_INFO of the sender")
