"""iperf3's output: ``-J``, ``--json-stream`` and plain text; client or server; 3.1 to 3.21.

What differs from the numbers as printed, and why (facts of iperf3's ``src/iperf_api.c``, and of runs of 3.1 ... 3.21):

- The end that does not know the other end's count prints 0; such figures are ``None`` here. The server never knows
  them.
- The RTT and congestion window that a receiver prints for "sender" are those of its own socket; they are dropped.
- ``seconds`` of ``end.streams[].receiver`` repeats the sender's time; the receiver's is ``end``.
- Before 3.11 ``--bidir`` repeats the keys ``sum``, ``sum_sent`` and ``sum_received`` in one object.
- The client's summary of ``--bidir`` (3.7 to 3.21) swaps the times of the two ends in the direction that it receives.
- An end that is stopped early prints its last interval twice, and a summary with a time that ends before its bytes do;
  then the totals here are those of the intervals.
- Before 3.11 a client that sent UDP with ``--omit`` counts what was lost in the omitted part as lost.
- UDP: ``bytes`` of a stream are bytes sent, also in the receiver's report, where they are 0.
- ``lost_percent`` can be ``-nan``; counts can be negative or wrap around; both become ``None``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from txop.formats import iperf3_text
from txop.formats.error import FormatError, quoted_start
from txop.formats.iperf3_result import (
    Connection,
    Direction,
    EndFigures,
    Flow,
    Interval,
    Iperf3Result,
    ProcessCpu,
    Role,
    Side,
    Stream,
    goodput_mbit_s,
    summed,
    summed_ends,
)
from txop.formats.reading import items, json_documents, mapping, real, string, text_of, whole

__all__ = ["Iperf3Result", "goodput_mbit_s", "parse", "parse_all"]

_WHAT = "iperf3 output"
_COUNT_MAX = 2**62
_TIMES_DIFFER_SHARE, _TIMES_DIFFER_S = 0.05, 0.02
_MAX_NESTED_SERVERS = 1


def parse(data: str | bytes) -> Iperf3Result:
    """The one test in ``data``. Raises FormatError when there is none, or more than one (see `parse_all`)."""
    results = parse_all(data)
    if len(results) != 1:
        raise FormatError(f"{_WHAT}: {len(results)} tests where one is expected")
    return results[0]


def parse_all(data: str | bytes) -> tuple[Iperf3Result, ...]:
    """Every test in ``data``: a server that keeps running prints one document after another.

    Raises FormatError when nothing can be read. A ``--json-stream`` that ends early (a killed iperf3) gives what it
    has, with ``complete`` false; a cut-off ``-J`` document gives an error.
    """
    text = text_of(data, _WHAT)
    if not text.strip():
        raise FormatError(f"{_WHAT}: it is empty; iperf3 -J that is killed prints nothing")
    in_array = re.match(r"\s*\[\s*\{", text) is not None
    if not in_array and re.search(r"^[ \t]*\{", text, re.MULTILINE) is None:
        return iperf3_text.parse_all(text)
    results: list[Iperf3Result] = []
    stream: _Events | None = None
    documents = json_documents(text, _WHAT, opening="[" if in_array else "{", object_pairs_hook=_object)
    try:
        for document in chain.from_iterable(each if isinstance(each, list) else [each] for each in documents):
            if not isinstance(document, dict):
                continue
            if isinstance(document.get("event"), str):
                if document["event"] == "start" and stream is not None and stream.started:
                    results.append(stream.result())
                    stream = None
                stream = stream or _Events()
                stream.take(document)
            elif "start" in document or "intervals" in document or "error" in document:
                if stream is not None and stream.cookie() == _cookie(document):
                    stream = None  # --json-stream-full-output says everything again
                elif stream is not None:
                    results.append(stream.result())
                    stream = None
                results.append(_result(document, "json"))
    except FormatError as error:
        if stream is None and not results:
            raise
        if stream is None:
            results[-1] = replace(results[-1], notes=(*results[-1].notes, f"what follows it is not read: {error}"))
        else:
            stream.cut_off = True
    if stream is not None:
        results.append(stream.result())
    if not results:
        raise FormatError(f"{_WHAT}: JSON, but not of iperf3; {quoted_start(text)}")
    return tuple(results)


class _Events:
    """The lines of --json-stream, gathered into the document that -J would have printed."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = {"intervals": []}
        self.started = self.ended = self.cut_off = False

    def take(self, line: Mapping[str, Any]) -> None:
        data = line.get("data")
        match line["event"]:
            case "start":
                self.started = True
                self.document["start"] = data
            case "interval":
                self.document["intervals"].append(data)
            case "end":
                self.ended = True
                self.document["end"] = data
            case "error" | "server_output_json" | "server_output_text" as name:
                self.document[name] = data

    def cookie(self) -> object:
        return _cookie(self.document)

    def result(self) -> Iperf3Result:
        result = _result(self.document, "json-stream")
        if self.ended and not self.cut_off:
            return result
        return replace(result, complete=False, notes=(*result.notes, "the stream of events stops before its end"))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which repeated ``sum*`` keys (before 3.11) get the names that 3.11 gave them; else the last one
    counts.
    """
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members and key.startswith("sum"):
            members.setdefault(f"{key}_bidir_reverse", value)
        else:
            members[key] = value
    return members


def _cookie(document: Mapping[str, Any]) -> object:
    return mapping(document.get("start")).get("cookie")


def _result(document: Mapping[str, Any], source: Any, depth: int = 0) -> Iperf3Result:
    start, end = mapping(document.get("start")), mapping(document.get("end"))
    test = mapping(start.get("test_start"))
    error = string(document.get("error"))
    role = _role(start)
    reverse = _flag(test.get("reverse"))
    notes: list[str] = []
    own_cpu, peer_cpu, peer_cpu_known = _cpu(end)
    both_ways = "sum_sent_bidir_reverse" in end
    test_facts = _Test(role, reverse, whole(test.get("blksize")), _omit_s(test), peer_cpu_known, both_ways)
    flows = _flows(document, end, test_facts, notes)
    stamp = mapping(start.get("timestamp"))
    milliseconds, seconds = whole(stamp.get("timemillisecs")), whole(stamp.get("timesecs"))
    nested = document.get("server_output_json")
    server = _result(nested, "json", depth + 1) if isinstance(nested, dict) and depth < _MAX_NESTED_SERVERS else None
    return Iperf3Result(
        source=source,
        version=_version(start),
        role=role,
        error=error,
        complete=error is None and bool(end),
        started_unix_s=milliseconds / 1e3 if milliseconds else float(seconds) if seconds else None,
        started_resolution_s=1e-3 if milliseconds else 1.0 if seconds else None,
        connections=tuple(_connection(each) for each in items(start.get("connected"))),
        omit_s=_omit_s(test) if test else None,
        duration_s=real(test.get("duration")) or None,
        protocol=string(test.get("protocol"), longest=16),
        reverse=reverse,
        bidirectional=None if not test else bool(_flag(test.get("bidir"))) or len(flows) > 1,
        stream_count=whole(test.get("num_streams")),
        block_bytes=whole(test.get("blksize")),
        target_bits_per_second=real(test.get("target_bitrate", start.get("target_bitrate"))) or None,
        title=string(document.get("title")),
        tos=whole(test.get("tos"), most=255),
        extra_data=string(document.get("extra_data")),
        cookie=string(start.get("cookie"), longest=64),
        sender_congestion_control=string(end.get("sender_tcp_congestion"), longest=64),
        receiver_congestion_control=string(end.get("receiver_tcp_congestion"), longest=64),
        own_cpu=own_cpu,
        peer_cpu=peer_cpu,
        flows=flows,
        server=server,
        server_text=string(document.get("server_output_text"), longest=2**20),
        notes=tuple(notes),
    )


def _version(start: Mapping[str, Any]) -> str | None:
    printed = string(start.get("version"), longest=64)
    return None if printed is None else printed.removeprefix("iperf ")


def _role(start: Mapping[str, Any]) -> Role | None:
    if "connecting_to" in start:
        return "client"
    return "server" if "accepted_connection" in start else None


def _flag(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    number = whole(value)
    return None if number is None else number != 0


def _omit_s(test: Mapping[str, Any]) -> float:
    return real(test.get("omit"), most=1e6) or 0.0


def _connection(value: object) -> Connection:
    said = mapping(value)
    return Connection(
        whole(said.get("socket")),
        string(said.get("local_host"), longest=256),
        whole(said.get("local_port"), most=65535),
        string(said.get("remote_host"), longest=256),
        whole(said.get("remote_port"), most=65535),
    )


def _cpu(end: Mapping[str, Any]) -> tuple[ProcessCpu | None, ProcessCpu | None, bool]:
    """CPU of this process and of the peer's; and whether the peer's figures ever arrived."""
    said = mapping(end.get("cpu_utilization_percent"))
    if not said:
        return None, None, False
    own, peer = (
        [real(said.get(f"{whose}_{part}"), most=1e6) for part in ("total", "user", "system")]
        for whose in ("host", "remote")
    )
    arrived = any(peer)
    return ProcessCpu(*own), ProcessCpu(*peer) if arrived else None, arrived


class _Test:
    """What decides how the figures of a document are to be read."""

    def __init__(
        self,
        role: Role | None,
        reverse: bool | None,
        block_bytes: int | None,
        omit_s: float,
        peer_cpu_known: bool,
        both_ways: bool,
    ) -> None:
        self.role, self.reverse, self.block_bytes, self.omit_s = role, reverse, block_bytes, omit_s
        self.peer_cpu_known, self.both_ways = peer_cpu_known, both_ways

    def own_side(self, said: Mapping[str, Any]) -> Side:
        """Whether this end sent. ``sender`` says so since 3.7; before, there was one direction."""
        flag = said.get("sender")
        if isinstance(flag, bool):
            return "sender" if flag else "receiver"
        return "sender" if (self.role != "server") != bool(self.reverse) else "receiver"

    def direction(self, own_side: Side) -> Direction:
        return "client_to_server" if (own_side == "sender") == (self.role != "server") else "server_to_client"


def _flows(document: Mapping[str, Any], end: Mapping[str, Any], test: _Test, notes: list[str]) -> tuple[Flow, ...]:
    series: dict[Side, dict[int | None, list[Interval]]] = {}
    sums: dict[Side, list[Interval]] = {}
    contradicting = 0
    for each in items(document.get("intervals")):
        together: dict[Side, list[Interval]] = {}
        for said in items(mapping(each).get("streams")):
            interval = _interval(mapping(said), test)
            if interval is None:
                continue
            side = test.own_side(said)
            of_stream = series.setdefault(side, {}).setdefault(whole(said.get("socket")), [])
            if of_stream and of_stream[-1] == interval:
                continue
            contradicting += not interval.times_agree
            of_stream.append(interval)
            together.setdefault(side, []).append(interval)
        for side, parts in together.items():
            sums.setdefault(side, []).append(summed(parts))
    if contradicting:
        notes.append(f"{contradicting} interval(s) have times that contradict each other; their rate is left out")

    ends: dict[Side, dict[int | None, tuple[EndFigures | None, EndFigures | None]]] = {}
    for said in items(end.get("streams")):
        entry = mapping(said)
        if "udp" in entry:
            figures = mapping(entry["udp"])
            side = test.own_side(figures)
            socket = whole(figures.get("socket"))
            pair = _udp_ends(figures, side, test, series.get(side, {}).get(socket, []))
        else:
            sender, receiver = mapping(entry.get("sender")), mapping(entry.get("receiver"))
            if not sender and not receiver:
                continue
            side = test.own_side(sender or receiver)
            socket = whole((sender or receiver).get("socket"))
            pair = _tcp_ends(sender, receiver, side, test, _last_end_s(series.get(side, {}).get(socket, [])))
        ends.setdefault(side, {})[socket] = pair

    broken_off = document.get("error") is not None
    if broken_off:
        ends = {
            side: {socket: pair for socket, pair in of.items() if not series.get(side, {}).get(socket)}
            for side, of in ends.items()
        }
    flows = []
    sides: tuple[Side, Side] = ("sender", "receiver")
    for side in sides:
        sockets = [*ends.get(side, {}), *(s for s in series.get(side, {}) if s not in ends.get(side, {}))]
        if not sockets:
            continue
        streams = tuple(
            _stream(socket, ends.get(side, {}).get(socket), series.get(side, {}).get(socket, []), side)
            for socket in sockets
        )
        flow = Flow(
            test.direction(side),
            side,
            summed_ends([stream.sender for stream in streams]),
            summed_ends([stream.receiver for stream in streams]),
            tuple(sums.get(side, [])),
            streams,
        )
        flows.append(_with_printed_udp_totals(flow, end, test, notes) if ends.get(side) else flow)
    if (not end or broken_off) and flows:
        notes.append("the test did not reach its end; the totals are those of the intervals that were printed")
    return tuple(sorted(flows, key=lambda flow: flow.direction or ""))


def _interval(said: Mapping[str, Any], test: _Test) -> Interval | None:
    start, end = real(said.get("start"), most=1e9), real(said.get("end"), most=1e9)
    if start is None or end is None:
        return None
    seconds = real(said.get("seconds"), most=1e9)
    agree = seconds is None or abs((end - start) - seconds) <= max(_TIMES_DIFFER_S, _TIMES_DIFFER_SHARE * seconds)
    omitted = said.get("omitted") is True
    shift = test.omit_s if omitted else 0.0
    sends = test.own_side(said) == "sender"
    return Interval(
        start_s=start - shift,
        end_s=end - shift,
        bytes=whole(said.get("bytes"), most=_COUNT_MAX),
        bits_per_second=real(said.get("bits_per_second")) if agree else None,
        omitted=omitted,
        times_agree=agree,
        retransmits=whole(said.get("retransmits"), most=_COUNT_MAX) if sends else None,
        rtt_us=whole(said.get("rtt"), least=1, most=2**32) if sends else None,
        rttvar_us=whole(said.get("rttvar"), least=1, most=2**32) if sends else None,
        snd_cwnd_bytes=whole(said.get("snd_cwnd"), most=_COUNT_MAX) if sends else None,
        snd_wnd_bytes=whole(said.get("snd_wnd"), most=_COUNT_MAX) if sends else None,
        pmtu_bytes=whole(said.get("pmtu"), least=1, most=2**32) if sends else None,
        reordering_segments=whole(said.get("reorder"), most=2**32) if sends else None,
        jitter_ms=real(said.get("jitter_ms")) if not sends else None,
        lost_packets=whole(said.get("lost_packets"), most=_COUNT_MAX) if not sends else None,
        packets=whole(said.get("packets"), most=_COUNT_MAX),
    )


def _seconds(said: Mapping[str, Any]) -> float | None:
    start, end = real(said.get("start"), most=1e9), real(said.get("end"), most=1e9)
    if start is not None and end is not None and end > start:
        return end - start
    return real(said.get("seconds"), most=1e9) or None


def _rate(count: int | None, seconds: float | None) -> float | None:
    return None if count is None or not seconds else count * 8 / seconds


def _tcp_ends(
    sender: Mapping[str, Any], receiver: Mapping[str, Any], own: Side, test: _Test, last_end_s: float | None
) -> tuple[EndFigures | None, EndFigures | None]:
    send_s, receive_s = _seconds(sender), _seconds(receiver)
    may_be_swapped = test.both_ways and test.role == "client" and own == "receiver"
    if may_be_swapped and last_end_s is not None and send_s is not None and receive_s is not None:
        own_s, peer_s = (send_s, receive_s) if own == "sender" else (receive_s, send_s)
        if abs(peer_s - last_end_s) < abs(own_s - last_end_s):
            send_s, receive_s = receive_s, send_s
    sent, received = whole(sender.get("bytes"), most=_COUNT_MAX), whole(receiver.get("bytes"), most=_COUNT_MAX)
    peer_arrived = test.peer_cpu_known or bool(received if own == "sender" else sent)
    sending = receiving = None
    if sender and (own == "sender" or peer_arrived):
        mine = own == "sender"
        sending = EndFigures(
            bytes=sent,
            seconds=send_s,
            bits_per_second=_rate(sent, send_s),
            retransmits=whole(sender.get("retransmits"), most=_COUNT_MAX),
            min_rtt_us=whole(sender.get("min_rtt"), least=1, most=2**32) if mine else None,
            mean_rtt_us=whole(sender.get("mean_rtt"), least=1, most=2**32) if mine else None,
            max_rtt_us=whole(sender.get("max_rtt"), least=1, most=2**32) if mine else None,
            max_snd_cwnd_bytes=whole(sender.get("max_snd_cwnd"), least=1, most=_COUNT_MAX) if mine else None,
        )
    if receiver and (own == "receiver" or peer_arrived):
        receiving = EndFigures(received, receive_s, _rate(received, receive_s))
    return sending, receiving


def _udp_ends(
    said: Mapping[str, Any], own: Side, test: _Test, intervals: list[Interval]
) -> tuple[EndFigures | None, EndFigures | None]:
    sent = whole(said.get("bytes"), most=_COUNT_MAX)
    packets, lost = (whole(said.get(key), most=_COUNT_MAX) for key in ("packets", "lost_packets"))
    seconds = _seconds(said)
    peer_arrived = test.peer_cpu_known
    sending = receiving = None
    if own == "sender" or (peer_arrived and sent):
        sent_packets = sent // test.block_bytes if sent is not None and test.block_bytes else None
        sending = EndFigures(sent, seconds, _rate(sent, seconds), packets=sent_packets)
    if own == "receiver" or peer_arrived:
        received = _total([each.bytes for each in intervals if not each.omitted]) if own == "receiver" else None
        if received is None and packets is not None and lost is not None and test.block_bytes:
            received = max(0, packets - lost) * test.block_bytes
        receiving = EndFigures(
            received,
            seconds,
            _rate(received, seconds),
            jitter_ms=real(said.get("jitter_ms")),
            lost_packets=lost,
            packets=packets,
            out_of_order_packets=whole(said.get("out_of_order"), most=_COUNT_MAX),
        )
    return sending, receiving


def _with_printed_udp_totals(flow: Flow, end: Mapping[str, Any], test: _Test, notes: list[str]) -> Flow:
    """UDP: the receiver's time is only in the sums, and since 3.11 its bytes are too."""
    if flow.receiver is None or not any("udp" in mapping(entry) for entry in items(end.get("streams"))):
        return flow
    suffix = "_bidir_reverse" if flow.direction == "server_to_client" and not test.reverse else ""
    printed = mapping(end.get(f"sum_received{suffix}"))
    received, lost = whole(printed.get("bytes"), most=_COUNT_MAX), flow.receiver.lost_packets
    if flow.seen_by == "receiver":
        seconds = _seconds(printed) or _last_end_s(list(flow.intervals)) or flow.receiver.seconds
        received = flow.receiver.bytes if received is None else received
        observed = _total([interval.lost_packets for interval in flow.kept()])
        if observed is not None and lost != observed:
            notes.append(f"the summary reports {lost} datagrams lost, the kept intervals {observed}; the latter count")
            lost = observed
        elif observed is None and lost and test.omit_s:
            notes.append("this version counts datagrams lost in the omitted part too; the loss is left out")
            lost = None
    elif received is not None:
        seconds = _seconds(printed) or flow.receiver.seconds
    else:
        seconds = flow.receiver.seconds  # the packets counted are those sent in the sender's time
        if test.omit_s and lost:
            lost = None
            notes.append("this version counts datagrams lost in the omitted part too; loss and goodput are left out")
        else:
            received = flow.receiver.bytes
            notes.append("this version does not print what the UDP receiver got; it is taken from the packet count")
    rate = _rate(received, seconds)
    receiver = replace(flow.receiver, bytes=received, seconds=seconds, bits_per_second=rate, lost_packets=lost)
    return replace(flow, receiver=receiver)


def _last_end_s(intervals: list[Interval]) -> float | None:
    return max((interval.end_s for interval in intervals if not interval.omitted), default=None)


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _stream(
    socket: int | None,
    ends: tuple[EndFigures | None, EndFigures | None] | None,
    intervals: list[Interval],
    own: Side,
) -> Stream:
    if ends is None:
        # No summary: what this end printed while it ran.
        kept = [interval for interval in intervals if not interval.omitted]
        count, seconds = _total([interval.bytes for interval in kept]), _last_end_s(kept)
        retransmits = _total([interval.retransmits for interval in kept])
        figures = EndFigures(count, seconds, _rate(count, seconds), retransmits) if kept else None
        ends = (figures, None) if own == "sender" else (None, figures)
    return Stream(socket, ends[0], ends[1], tuple(intervals))
