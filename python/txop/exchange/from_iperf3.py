"""Runs from what iperf printed, of either end: iperf3's JSON, ``--json-stream`` or text, or the text of iperf 2."""

from __future__ import annotations

from datetime import UTC, datetime

from txop.exchange.imported import Direction, FileReading, ImportedRun, Kind, Points, TestKey, Way
from txop.formats import iperf2
from txop.formats.error import FormatError
from txop.formats.iperf3 import parse
from txop.formats.iperf3_result import Flow, Iperf3Result

_KEYS = {"tx": "throughput_up_mbit_s", "rx": "throughput_down_mbit_s"}
_ENDS_DIFFER = 0.05
_HEAD = 65_536


def read(data: bytes, given: Direction) -> FileReading:
    """The run in ``data``. Raises FormatError where it is not one, or has no figures."""
    result = iperf2.parse(data) if iperf2.looks_like(data[:_HEAD]) else parse(data)
    words = {
        "json": "iperf3 JSON",
        "json-stream": "iperf3 JSON stream",
        "text": "iperf3 text",
        "iperf2-text": "iperf 2 text",
    }
    reading = FileReading(words[result.source])
    if result.error is not None and not result.flows:
        raise FormatError(f"iperf3 failed: {result.error}")
    if not result.flows:
        raise FormatError("iperf3 output without a single interval or total")
    source = f"{words[result.source]} {result.version or ''}".strip()
    ways = {_way(flow, given): flow for flow in result.flows}
    known = {way: flow for way, flow in ways.items() if way is not None}
    if len(known) < len(ways):
        raise FormatError("the text does not show which end sent: give it with --direction tx or --direction rx")
    udp = (result.protocol or "TCP").upper() == "UDP"
    if len(known) == 2 and udp:
        raise FormatError("UDP both ways at once has no place among the tests of txop")
    seconds = result.duration_s or max((_seconds(flow) or 0.0 for flow in known.values()), default=0.0)
    if seconds <= 0:
        raise FormatError("the test has no duration")
    run = ImportedRun(
        test=_test(result, known, seconds, udp=udp),
        window_s=seconds,
        started_at=None
        if result.started_unix_s is None
        else datetime.fromtimestamp(result.started_unix_s, UTC).isoformat(timespec="seconds"),
        cookie=result.cookie,
    )
    if result.error is not None or not result.complete:
        run.warnings.append(f"the test did not reach its end: {result.error or 'no totals were printed'}")
    run.warnings += result.notes
    for way, flow in known.items():
        key = _KEYS[way] if len(known) > 1 else "throughput_mbit_s"
        _throughput(run, key, flow, source)
        _others(run, flow, source, seconds, udp=udp, only=len(known) == 1)
    reading.runs.append(run)
    return reading


def _way(flow: Flow, given: Direction) -> Way | None:
    if flow.direction is None:
        return given.way
    up = flow.direction == "client_to_server"
    return "tx" if up == (given.dut == "client") else "rx"


def _seconds(flow: Flow) -> float | None:
    ends = [end.seconds for end in (flow.receiver, flow.sender) if end is not None and end.seconds]
    kept = flow.kept()
    return ends[0] if ends else max((each.end_s for each in kept), default=None)


def _test(result: Iperf3Result, flows: dict[Way, Flow], seconds: float, *, udp: bool) -> TestKey:
    streams = min(max(len(flow.streams) for flow in flows.values()), 128) or 1
    way = next(iter(flows))
    if udp:
        target = result.target_bits_per_second
        if target is None:
            flow = flows[way]
            ends = [end.bits_per_second for end in (flow.sender, flow.receiver) if end is not None]
            target = next((rate for rate in ends if rate), None)
        if not target:
            raise FormatError("UDP without a rate")
        kind: Kind = "udp-tx" if way == "tx" else "udp-rx"
        return TestKey(kind, seconds, streams, float(f"{target / 1e6:.3g}"))
    if len(flows) > 1:
        return TestKey("tcp-both", seconds, streams)
    return TestKey("tcp-tx" if way == "tx" else "tcp-rx", seconds, streams)


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
        run.put("tcp_retransmits_per_s", flow.sender.retransmits / seconds, source)
    rtts = [each.rtt_us / 1e3 for each in flow.kept() if each.rtt_us]
    if rtts and len(flow.streams) == 1:
        run.put("tcp_rtt_ms", sum(rtts) / len(rtts), f"{source}, TCP_INFO of the sender")
