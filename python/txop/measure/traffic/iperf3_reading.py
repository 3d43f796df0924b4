"""Figures from the JSON of both ends of every flow. Pure: files in, a :class:`Reading` out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from txop.core.metrics import station_key
from txop.formats.error import FormatError
from txop.formats.iperf3 import parse
from txop.formats.iperf3_result import Direction, EndFigures, Interval, Iperf3Result
from txop.formats.iperf3_result import Flow as Reported
from txop.measure.instrument import GateFinding, Points, Reading, RunFacts
from txop.measure.traffic.flows import Flow, series_of
from txop.measure.traffic.rates import added_up, by_second
from txop.measure.traffic.steadiness import dropout_words, dropouts, unsteady

ENDS_DIFFER = 0.05
"""Share by which the two ends of a flow may differ before it is reported."""

WINDOW_DIFFERS_SHARE, WINDOW_DIFFERS_S = 0.2, 0.5
"""An end counts when the time of its own total is that of the window within this share of it, or within these seconds:
an end that was not scheduled in time resets its clock late, or stops late, and has a total of another time."""

_ROUTINE = re.compile("times that contradict each other")
"""Some versions do so at every end of the omitted part; only points of the series are missing for it."""

SOURCE = "iperf3, the lower of both ends"
PAYLOAD = {"uplink": "payload_uplink_bytes", "downlink": "payload_downlink_bytes"}
"""Names of the bytes that were received in the whole run, omitted part included, among a reading's ``extra``."""


@dataclass(frozen=True)
class FlowReading:
    """What is known of one flow."""

    flow: Flow
    sent: EndFigures | None
    """As the sending end counted."""
    received: EndFigures | None
    """As the receiving end counted."""
    received_intervals: tuple[Interval, ...]
    sent_intervals: tuple[Interval, ...]
    streams_mbit_s: tuple[float, ...] = ()
    """Rate of each connection within the flow, as received."""
    problem: str | None = None
    """Why there are no figures."""
    notes: tuple[str, ...] = ()
    """What the reader of the figures must know."""

    @property
    def mbit_s(self) -> float | None:
        """Goodput over the kept part: the lower of both ends, of one if only one is known."""
        rates = [end.bits_per_second for end in (self.sent, self.received) if end and end.bits_per_second is not None]
        return min(rates) / 1e6 if rates else None


def read_flows(facts: RunFacts, flows: Sequence[Flow], files: Mapping[int, tuple[str, str, str]]) -> Reading:
    """Figures of all flows of a run; ``files``: names of the client's and the server's output, and of the word on how
    the client ended, by flow number."""
    readings = [_read_flow(facts.folder, flow, *files[flow.number]) for flow in flows]
    reading = Reading()
    for flow in flows:
        client, server, _ = files[flow.number]
        reading.files[client] = f"iperf3 client on {flow.station}, {flow.direction}"
        reading.files[server] = f"iperf3 server on the peer, {flow.direction}"
    for each in readings:
        if each.problem is not None:
            reading.gates.append(GateFinding("traffic-failed", "void", each.problem, each.flow.station))
        else:
            _compare_ends(each, reading)
            reading.warnings += [f"flow {each.flow.number}: {note}" for note in dict.fromkeys(each.notes)]
    if readings and not reading.gates:
        reading.gates.append(GateFinding("traffic-failed", "ok"))
    _throughput(facts, readings, reading)
    _tcp(facts, readings, reading)
    _udp(readings, reading)
    return reading


def _read_flow(folder: Path, flow: Flow, client_file: str, server_file: str, end_file: str) -> FlowReading:
    client, client_problem = _parsed(folder / client_file)
    server, server_problem = _parsed(folder / server_file)
    to_server = flow.direction == "tx"
    direction: Direction = "client_to_server" if to_server else "server_to_client"
    problem = None
    if client is None or client.error is not None or not client.complete:
        said = client_problem if client is None else client.error or "it did not reach its end"
        said = _end_of(folder / end_file) or said
        problem = f"iperf3 client of flow {flow.number} ({flow.direction}): {said}"
    by_client = client.flow(direction) if client is not None else None
    by_server = server.flow(direction) if server is not None else None
    sender, receiver = (by_client, by_server) if to_server else (by_server, by_client)
    sent = _end(sender, "sender") or _end(receiver, "sender")
    received = _end(receiver, "receiver") or _end(sender, "receiver")
    if problem is None and (received is None or received.bits_per_second is None):
        problem = f"flow {flow.number} ({flow.direction}): no count of the receiver: {server_problem or 'not reported'}"
    notes = [note for end in (client, server) if end is not None for note in end.notes if not _ROUTINE.search(note)]
    if problem is None:
        sent, received, wrong = _of_the_window(flow, sent, received)
        notes += wrong
        if sent is None and received is None:
            problem = f"flow {flow.number} ({flow.direction}): {'; '.join(wrong)}"
    return FlowReading(
        flow,
        sent,
        received,
        receiver.intervals if receiver is not None and receiver.seen_by == "receiver" else (),
        sender.intervals if sender is not None and sender.seen_by == "sender" else (),
        _streams(receiver, sender),
        problem,
        tuple(notes),
    )


def _of_the_window(
    flow: Flow, sent: EndFigures | None, received: EndFigures | None
) -> tuple[EndFigures | None, EndFigures | None, list[str]]:
    """The ends with totals that are of the flow's window, and in words which are not, or contradict each other."""
    expected_s = flow.seconds - flow.omit_s
    most_s = max(WINDOW_DIFFERS_SHARE * expected_s, WINDOW_DIFFERS_S)
    notes = []

    def kept(end: EndFigures | None, name: str) -> EndFigures | None:
        if end is None or end.seconds is None or abs(end.seconds - expected_s) <= most_s:
            return end
        notes.append(
            f"the total of the {name} is of {end.seconds:.4g} s, the window is {expected_s:.4g} s; it does not count"
        )
        return None

    sent, received = kept(sent, "sender"), kept(received, "receiver")
    if sent is not None and received is not None and sent.bytes == 0 and received.bytes:
        notes.append(f"the sender reports 0 bytes where the receiver got {received.bytes}; the sender does not count")
        sent = None
    elif received is not None and received.bytes == 0:
        count = "an unknown count" if sent is None or sent.bytes is None else str(sent.bytes)
        notes.append(f"nothing arrived: the receiver reports 0 bytes, the sender {count}")
    return sent, received, notes


def _streams(*ends: Reported | None) -> tuple[float, ...]:
    """Rates of the single connections as received; empty when no end reports all of them."""
    for end in ends:
        rates = [s.receiver.bits_per_second if s.receiver is not None else None for s in end.streams] if end else []
        known = [rate / 1e6 for rate in rates if rate is not None]
        if len(known) > 1 and len(known) == len(rates):
            return tuple(known)
    return ()


def _end(flow: Reported | None, side: str) -> EndFigures | None:
    if flow is None:
        return None
    return flow.sender if side == "sender" else flow.receiver


def _end_of(path: Path) -> str | None:
    """How the client ended, where that was written down."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")[:1000].strip() or None
    except OSError:
        return None


def _parsed(path: Path) -> tuple[Iperf3Result | None, str]:
    try:
        return parse(path.read_bytes()), ""
    except FormatError as error:
        return None, error.what
    except OSError as error:
        return None, f"no output ({error.strerror})"


def _compare_ends(each: FlowReading, reading: Reading) -> None:
    if each.sent is None or each.received is None:
        return
    sent, received = each.sent.bits_per_second, each.received.bits_per_second
    if sent and received and abs(sent - received) > ENDS_DIFFER * max(sent, received) and each.flow.protocol == "tcp":
        reading.warnings.append(
            f"flow {each.flow.number} ({each.flow.direction}): the sender reports {sent / 1e6:.2f} Mbit/s, the "
            f"receiver {received / 1e6:.2f}; the lower one counts"
        )


def _throughput(facts: RunFacts, readings: Sequence[FlowReading], reading: Reading) -> None:
    directions = {each.flow.direction for each in readings}
    keys = {"tx": "throughput_up_mbit_s", "rx": "throughput_down_mbit_s"}
    for direction in sorted(directions):
        mine = [each for each in readings if each.flow.direction == direction]
        key = keys[direction] if len(directions) > 1 else "throughput_mbit_s"
        known = [rate for each in mine if (rate := _over_window(facts, each)) is not None]
        if len(known) < len(mine):
            problem = next((each.problem for each in mine if each.problem), "not reported")
            reading.put(key, None, SOURCE, problem)
        else:
            reading.put(key, sum(known), SOURCE)
        reading.series[key] = _summed(facts, mine)
        counts = [_received_bytes(each) for each in mine]
        way = PAYLOAD["uplink" if direction == "tx" else "downlink"]
        reading.extra[way] = None if None in counts else float(sum(count for count in counts if count is not None))
        _steadiness(facts, key, reading)
        if facts.test.stations_measured:
            for each in mine:
                own = station_key(each.flow.station, key)
                rate = _over_window(facts, each)
                reading.put(own, rate, SOURCE, None if rate is not None else each.problem or "not reported")
                reading.series[own] = _points(facts, each)
    if len(readings) > 1:
        for each in readings:
            reading.series[series_of(each.flow)] = _points(facts, each)
    _fairness(facts, readings, reading)


def _fairness(facts: RunFacts, readings: Sequence[FlowReading], reading: Reading) -> None:
    """Jain's index of the connections, of several stations that of their sums; of staggered ones over the time in which
    all of them run."""
    of_stations = bool(facts.test.stations_measured)
    if sum(each.flow.streams for each in readings) < 2:
        return
    last_s = max(each.flow.start_s for each in readings) - facts.plan.warm_up_s(facts.test)
    rates: list[float] = []
    for each in readings:
        if each.problem is not None or each.mbit_s is None:
            reading.put("jain_index", None, SOURCE, each.problem or "not reported")
            return
        if each.flow.streams > 1 and not of_stations:
            rates += each.streams_mbit_s
        elif last_s > 0:
            common = [rate for t, rate in _points(facts, each) if t >= last_s + 1 and rate is not None]
            rates += [sum(common) / len(common)] if common else []
        else:
            rates.append(each.mbit_s)
    known = len(rates) == sum(1 if of_stations else each.flow.streams for each in readings)
    value = jain(rates) if known else None
    reason = None if value is not None else "nothing was moved" if known else "iperf3 does not report single flows"
    reading.put("jain_index", value, SOURCE, reason)


def _steadiness(facts: RunFacts, key: str, reading: Reading) -> None:
    points = by_second(reading.series[key])
    inside = [(t, rate) for t, rate in points if t < facts.test.duration_s]
    way = {"throughput_up_mbit_s": "sent: ", "throughput_down_mbit_s": "received: "}.get(key, "")
    if found := dropouts(inside):
        reading.warnings.append(f"throughput: {way}{dropout_words(found)}")
    if not getattr(facts.test, "stagger_s", 0):
        soak = facts.test.for_hours
        reading.warnings += [f"throughput: {way}{words}" for words in unsteady(inside, soak=soak)]


def _over_window(facts: RunFacts, each: FlowReading) -> float | None:
    """Goodput of a flow spread over the whole window: a flow that began later counts for its part."""
    if each.problem is not None or each.mbit_s is None:
        return None
    window_s = facts.test.duration_s
    return each.mbit_s * min(1.0, (each.flow.seconds - each.flow.omit_s) / window_s)


def jain(rates: Sequence[float]) -> float | None:
    """Jain's fairness index (Jain, Chiu, Hawe 1984): (sum x)^2 / (n sum x^2); ``None`` when nothing was moved.

    >>> jain([10, 10]), jain([10, 0])
    (1.0, 0.5)
    """
    squares = sum(rate * rate for rate in rates)
    return None if squares == 0 else sum(rates) ** 2 / (len(rates) * squares)


def _points(facts: RunFacts, each: FlowReading) -> Points:
    """The flow's rate over time: as its receiver saw it, or else its sender."""
    intervals = each.received_intervals or each.sent_intervals
    warm_up_s = facts.plan.warm_up_s(facts.test)
    # The kept part begins where the flow's omitted part ends; omitted intervals have negative times.
    shift_s = each.flow.start_s + each.flow.omit_s - warm_up_s
    usual_s = _usual_s(intervals)
    return [
        (round((interval.start_s + interval.end_s) / 2 + shift_s, 3), interval.bits_per_second / 1e6)
        for interval in intervals
        if interval.bits_per_second is not None and interval.end_s - interval.start_s >= usual_s / 2
    ]


def _received_bytes(each: FlowReading) -> int | None:
    """What a flow's receiver got from its first interval to its last; ``None`` where it did not report all of them."""
    counts = [interval.bytes for interval in each.received_intervals]
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


def _usual_s(intervals: Sequence[Interval]) -> float:
    """How long a report's interval is; the last one of a flow may be shorter."""
    return median(interval.end_s - interval.start_s for interval in intervals) if intervals else 0.0


def _summed(facts: RunFacts, readings: Sequence[FlowReading]) -> Points:
    """Rates of several flows added up, one interval of their reports after the other."""
    step_s = max((_usual_s(each.received_intervals or each.sent_intervals) for each in readings), default=0.0)
    return added_up([_points(facts, each) for each in readings], round(step_s, 1) or 1.0)


def _tcp(facts: RunFacts, readings: Sequence[FlowReading], reading: Reading) -> None:
    tcp = [each for each in readings if each.flow.protocol == "tcp" and each.problem is None]
    if not tcp:
        return
    kept_s = facts.test.duration_s
    retransmits = [each.sent.retransmits for each in tcp if each.sent is not None and each.sent.retransmits is not None]
    if len(retransmits) == len(tcp):
        reading.put("tcp_retransmits_per_s", sum(retransmits) / kept_s, "iperf3 of the sender")
    else:
        why = "the sending iperf3 does not report them for the window"
        reading.put("tcp_retransmits_per_s", None, "iperf3 of the sender", why)
    rtts = [
        interval.rtt_us / 1e3
        for each in tcp
        for interval in each.sent_intervals
        if not interval.omitted and interval.rtt_us
    ]
    if not rtts:  # several streams: only their totals have it
        rtts = [each.sent.mean_rtt_us / 1e3 for each in tcp if each.sent is not None and each.sent.mean_rtt_us]
    reason = None if rtts else "the sending iperf3 does not report it"
    reading.put("tcp_rtt_ms", sum(rtts) / len(rtts) if rtts else None, "iperf3 of the sender (TCP_INFO)", reason)


def _udp(readings: Sequence[FlowReading], reading: Reading) -> None:
    udp = [each.received for each in readings if each.flow.protocol == "udp" and each.received is not None]
    if not udp:
        return
    lost = [end.lost_packets for end in udp if end.lost_packets is not None]
    packets = [end.packets for end in udp if end.packets is not None]
    complete = len(lost) == len(packets) == len(udp)
    share = 100 * sum(lost) / sum(packets) if complete and sum(packets) > 0 else None
    reading.put("udp_loss_percent", share, "iperf3 of the receiver", None if share is not None else "not reported")
    jitters = [end.jitter_ms for end in udp if end.jitter_ms is not None]
    jitter_ms = sum(jitters) / len(jitters) if jitters else None
    reading.put("udp_jitter_ms", jitter_ms, "iperf3 of the receiver", None if jitters else "not reported")
