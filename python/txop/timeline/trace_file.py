"""A timeline as a file that trace viewers open (Perfetto, chrome://tracing), with its packets beside.

The format is Chrome's JSON ("Trace Event Format"): times are microseconds, here with three decimals. Viewers ignore
the key :data:`OWN`, which has the packets that :mod:`txop why <txop.cli.why>` reads.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

from txop.core.errors import UserError
from txop.core.whole_file import replacement
from txop.formats.trace_ring import TracedEvent
from txop.timeline.packet import Packet, Point, Stage, spans, stages
from txop.timeline.timeline import Timeline

OWN = "txop"
FORMAT, VERSION = "txop-timeline", 1
MAX_BYTES = 2 << 30
MAX_LINE = 256 << 20
_CPU, _AIR, _BUS, _SENT, _RECEIVED, _TCP = 1, 2, 3, 4, 5, 6
_PROCESSES = {
    _CPU: "processor",
    _AIR: "air",
    _BUS: "device: registers and transfers",
    _SENT: "packets that the device sends",
    _RECEIVED: "packets that the device receives",
    _TCP: "TCP",
}
_THREADS, _INTERRUPTS, _SOFTIRQS = 1, 2, 3
_REGISTERS, _TRANSFERS = 1, 2
_SOFTIRQ = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU")
"""By number (Linux include/linux/interrupt.h)."""


@dataclass(frozen=True)
class Recorded:
    """What a file says of the packets of its run."""

    packets: tuple[Packet, ...]
    has_txq: dict[bool, bool]
    sees_submitted: bool
    sees_taken: bool
    sees_fetched: bool
    lost_events: int
    disordered: int
    missing: tuple[str, ...]
    device: str
    driver: str
    seconds: float
    """Of the trace."""

    def path(self, *, by_device: bool) -> tuple[Stage, ...]:
        """The stages of packets in one direction."""
        return stages(
            by_device=by_device,
            has_txq=self.has_txq[by_device],
            sees_submitted=self.sees_submitted,
            sees_taken=self.sees_taken,
            sees_fetched=self.sees_fetched,
        )


def recorded(timeline: Timeline, device: str, driver: str) -> Recorded:
    """What is written of a timeline."""
    clocks, seen = timeline.clocks, timeline.seen
    return Recorded(
        packets=seen.packets,
        has_txq=seen.has_txq,
        sees_submitted=seen.submitted,
        sees_taken=seen.taken,
        sees_fetched=seen.fetched,
        lost_events=timeline.lost_events,
        disordered=seen.disordered,
        missing=timeline.missing,
        device=device,
        driver=driver,
        seconds=(clocks.end_ns - clocks.begin_ns) / 1e9,
    )


def write_trace(path: Path, timeline: Timeline, found: Recorded) -> None:
    """Write a timeline, atomically; compressed where the name ends with ``.gz``. Raises :class:`OSError`."""
    with replacement(path) as part, _opened(part, "wt", packed=path.suffix == ".gz") as out:
        out.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        first = True
        for event in _trace_events(timeline, found):
            out.write(("" if first else ",\n") + json.dumps(event, separators=(",", ":")))
            first = False
        out.write(f'\n],"{OWN}":')
        json.dump(_document(found), out, separators=(",", ":"))
        out.write("}\n")


def _opened(path: Path, mode: Literal["rt", "wt"], *, packed: bool) -> TextIO:
    if packed:
        return gzip.open(path, mode, encoding="utf-8")
    return path.open(mode, encoding="utf-8")


def _document(found: Recorded) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "device": found.device,
        "driver": found.driver,
        "seconds": found.seconds,
        "lost_events": found.lost_events,
        "disordered": found.disordered,
        "missing": list(found.missing),
        "has_txq": {"sent": found.has_txq[True], "received": found.has_txq[False]},
        "sees_submitted": found.sees_submitted,
        "sees_taken": found.sees_taken,
        "sees_fetched": found.sees_fetched,
        "packets": [_packet(packet) for packet in found.packets],
    }


def _packet(packet: Packet) -> dict[str, Any]:
    return {
        "source": packet.source,
        "target": packet.target,
        "protocol": packet.protocol,
        "length": packet.length,
        "payload": packet.payload,
        "by_device": packet.by_device,
        "tries": packet.tries,
        "acknowledged_ns": packet.acknowledged_ns,
        "completed_ns": packet.completed_ns,
        "points_ns": {str(point): packet.points[point] for point in Point if point in packet.points},
    }


def read_recorded(path: Path) -> Recorded:
    """The packets in a file of :func:`write_trace`. Raises :class:`UserError`."""
    try:
        with _opened(path, "rt", packed=path.suffix == ".gz") as source:
            document = _own(source)
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise UserError("a timeline of another version of txop", where=str(path))
        return Recorded(
            tuple(_read_packet(each) for each in document["packets"]),
            {True: bool(document["has_txq"]["sent"]), False: bool(document["has_txq"]["received"])},
            bool(document["sees_submitted"]),
            bool(document["sees_taken"]),
            bool(document["sees_fetched"]),
            int(document["lost_events"]),
            int(document["disordered"]),
            tuple(str(each) for each in document["missing"]),
            str(document["device"]),
            str(document["driver"]),
            _finite(document["seconds"]),
        )
    except OSError as error:
        raise UserError(error.strerror or str(error), where=str(path)) from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, EOFError, zlib.error):
        raise UserError(
            "not a timeline", where=str(path), what_to_do="`txop guest run --timeline FILE` writes one"
        ) from None


def _own(source: TextIO) -> Any:
    """What this program reads of a file: its last line, behind the events. Raises :class:`ValueError`."""
    prefix, left = f'],"{OWN}":', MAX_BYTES
    while line := source.readline(MAX_LINE):
        left -= len(line)
        if left < 0:
            raise ValueError("too long")
        if (at := line.find(prefix)) >= 0:  # quotes within a text have a backslash
            return json.loads("{" + line[at + 2 :])[OWN]
    raise ValueError("without packets")


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _whole(value: Any) -> int:
    number = int(value)
    if abs(number) >= 1 << 63:
        raise ValueError("too large")
    return number


def _read_packet(each: dict[str, Any]) -> Packet:
    if not each["points_ns"]:
        raise ValueError("a packet without points")
    return Packet(
        source=str(each["source"]),
        target=str(each["target"]),
        protocol=str(each["protocol"]),
        length=_whole(each["length"]),
        payload=_whole(each["payload"]),
        by_device=bool(each["by_device"]),
        points={Point(name): _whole(time) for name, time in each["points_ns"].items()},
        tries=_whole(each["tries"]),
        acknowledged_ns=_or_none(each["acknowledged_ns"]),
        completed_ns=_or_none(each["completed_ns"]),
    )


def _or_none(value: object) -> int | None:
    return None if value is None else _whole(value)


def _trace_events(timeline: Timeline, found: Recorded) -> Iterator[dict[str, Any]]:
    for number, name in _PROCESSES.items():
        yield {"ph": "M", "name": "process_name", "pid": number, "tid": 0, "args": {"name": name}}
        yield {"ph": "M", "name": "process_sort_index", "pid": number, "tid": 0, "args": {"sort_index": number}}
    for thread, name in ((_THREADS, "threads"), (_INTERRUPTS, "interrupts"), (_SOFTIRQS, "softirqs")):
        yield {"ph": "M", "name": "thread_name", "pid": _CPU, "tid": thread, "args": {"name": name}}
    for thread, name in ((_REGISTERS, "registers"), (_TRANSFERS, "transfers")):
        yield {"ph": "M", "name": "thread_name", "pid": _BUS, "tid": thread, "args": {"name": name}}
    yield from _processor(timeline.events, timeline.clocks.begin_ns, timeline.clocks.end_ns)
    yield from _on_air(timeline)
    for event in timeline.device:
        if timeline.clocks.begin_ns <= event.time_ns <= timeline.clocks.end_ns:
            track = _REGISTERS if event.kind in ("read", "write") else _TRANSFERS
            name = event.name if event.name.startswith("CMD") else f"{event.kind} {event.name}"
            if event.length_ns:
                begin = event.time_ns if event.kind == "out" else event.time_ns - event.length_ns
                yield _slice(_BUS, track, name, begin, begin + event.length_ns, means=event.words)
            else:
                row = {"ph": "i", "s": "t", "pid": _BUS, "tid": track, "name": name, "ts": _us(event.time_ns)}
                yield {**row, "args": {"means": event.words}}
    yield from _packets(found)


def _us(time_ns: int) -> float:
    return time_ns / 1000


def _slice(pid: int, tid: int, name: str, begin_ns: int, end_ns: int, **args: object) -> dict[str, Any]:
    row = {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": _us(begin_ns), "dur": _us(max(end_ns - begin_ns, 0))}
    return {**row, "args": args} if args else row


def _processor(events: Iterable[TracedEvent], begin_ns: int, end_ns: int) -> Iterator[dict[str, Any]]:
    since, thread = begin_ns, None
    begun: dict[int, list[tuple[int, str]]] = {_INTERRUPTS: [], _SOFTIRQS: []}
    for event in events:
        match event.name:
            case "sched_switch":
                name = f"{event.text('prev_comm')} {event.number('prev_pid')}"
                if event.number("prev_pid"):
                    yield _slice(_CPU, _THREADS, name, since, event.time)
                since, thread = event.time, f"{event.text('next_comm')} {event.number('next_pid')}"
            case "irq_handler_entry":
                begun[_INTERRUPTS].append((event.time, f"{event.number('irq')} {event.text('name')}"))
            case "softirq_entry":
                number = event.number("vec")
                begun[_SOFTIRQS].append((event.time, _SOFTIRQ[number] if number < len(_SOFTIRQ) else str(number)))
            case "irq_handler_exit" | "softirq_exit":
                track = _INTERRUPTS if event.name == "irq_handler_exit" else _SOFTIRQS
                if begun[track]:
                    at, name = begun[track].pop()
                    yield _slice(_CPU, track, name, at, event.time)
            case "tcp_probe":
                ports = f"{event.number('sport')} to {event.number('dport')}"
                yield {
                    "ph": "C", "pid": _TCP, "tid": 0, "name": f"window, segments: {ports}", "ts": _us(event.time),
                    "args": {"cwnd": event.number("snd_cwnd")},
                }  # fmt: skip
                yield {
                    "ph": "C", "pid": _TCP, "tid": 0, "name": f"smoothed RTT, us: {ports}", "ts": _us(event.time),
                    "args": {"srtt": event.number("srtt")},
                }  # fmt: skip
            case _:
                pass
    if thread is not None and not thread.endswith(" 0"):
        yield _slice(_CPU, _THREADS, thread, since, end_ns)


def _on_air(timeline: Timeline) -> Iterator[dict[str, Any]]:
    tracks: dict[bytes, int] = {}
    sender = b""
    for sent in timeline.air:
        if not timeline.clocks.begin_ns <= sent.end_ns <= timeline.clocks.end_ns:
            continue
        # ACK and CTS do not say whose they are: the receiver of the frame before sent them
        address = sent.transmitter if len(sent.frames[0].frame) >= 16 else sender
        sender = sent.receiver
        if address not in tracks:
            tracks[address] = len(tracks) + 1
            whose = " (device)" if address.hex(":") == timeline.device_address else ""
            name = f"{address.hex(':')}{whose}"
            yield {"ph": "M", "name": "thread_name", "pid": _AIR, "tid": tracks[address], "args": {"name": name}}
        kind, subtype = sent.frames[0].kind
        count = len(sent.frames)
        name = ("management", "control", "data", "extension")[kind]
        if sent.frames[0].is_response:
            name = "ACK" if subtype == 13 else "Block Ack"
        elif kind == 1:
            name = {11: "RTS", 12: "CTS", 8: "Block Ack request", 10: "PS-Poll"}.get(subtype, name)
        elif count > 1 or sent.frames[0].ampdu is not None:
            name = f"A-MPDU of {count}"
        retries = sum(frame.retry for frame in sent.frames)
        args = {"rate": sent.rate, "retries": retries, "acknowledged": sum(sent.acknowledged)}
        yield _slice(_AIR, tracks[address], name, sent.begin_ns, sent.end_ns, **args)


def _packets(found: Recorded) -> Iterator[dict[str, Any]]:
    paths = {by_device: found.path(by_device=by_device) for by_device in (True, False)}
    waiting: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for number, packet in enumerate(found.packets):
        if Point.DEQUEUED in packet.points:
            waiting[packet.by_device].append((packet.points[Point.STARTED], 1))
            waiting[packet.by_device].append((packet.points[Point.DEQUEUED], -1))
        if packet.total_ns is None:
            continue
        begin, end = packet.points[packet.begins], packet.points[packet.ends or packet.begins]
        common = {"cat": "packet", "id": number, "pid": _SENT if packet.by_device else _RECEIVED, "tid": 1}
        title = f"{packet.protocol} {packet.length} bytes"
        args = {"packet": number, "tries": packet.tries, "from": packet.source, "to": packet.target}
        yield {"ph": "b", "name": title, "ts": _us(begin), **common, "args": args}
        for span in spans(packet, paths[packet.by_device]):
            name = "?" if span.stage is None else span.stage.name
            yield {"ph": "b", "name": name, "ts": _us(span.begin_ns), **common}
            yield {"ph": "e", "name": name, "ts": _us(span.end_ns), **common}
        yield {"ph": "e", "name": title, "ts": _us(end), **common}
    for by_device, changes in waiting.items():
        count = 0
        pid = _SENT if by_device else _RECEIVED
        for time, change in sorted(changes):
            count += change
            yield {"ph": "C", "pid": pid, "tid": 0, "name": "packets in TXQs", "ts": _us(time), "args": {"n": count}}
