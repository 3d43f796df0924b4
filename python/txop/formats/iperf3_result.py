"""What an iperf3 run says, in one form for all versions, both ends and both output formats.

Units: bytes, seconds, bits per second, microseconds and milliseconds as the names say. ``None``: this end of this
version does not know, which iperf3 itself often prints as 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["client_to_server", "server_to_client"]
"""Which way the data went, whatever end printed it. With ``-R`` only ``server_to_client`` exists."""

Role = Literal["client", "server"]

Side = Literal["sender", "receiver"]


@dataclass(frozen=True, slots=True)
class Interval:
    """One line of the series, as the end that printed it saw it."""

    start_s: float
    """From the start of the kept part. iperf3 restarts its clock after ``--omit``; omitted intervals are negative
    here.
    """

    end_s: float
    bytes: int | None
    bits_per_second: float | None
    """``None`` where iperf3's own times of the interval contradict each other; see ``times_agree``."""

    omitted: bool
    times_agree: bool = True
    """False where ``end - start`` and ``seconds`` differ: some versions count the first kept interval over the omitted
    part too, and print a rate that never was."""

    retransmits: int | None = None
    """TCP segments, not 802.11 retries."""

    rtt_us: int | None = None
    rttvar_us: int | None = None
    snd_cwnd_bytes: int | None = None
    snd_wnd_bytes: int | None = None
    pmtu_bytes: int | None = None
    reordering_segments: int | None = None
    jitter_ms: float | None = None
    lost_packets: int | None = None
    packets: int | None = None


@dataclass(frozen=True, slots=True)
class EndFigures:
    """The totals of the kept part at one side of a direction."""

    bytes: int | None
    seconds: float | None
    bits_per_second: float | None
    retransmits: int | None = None
    """Sender, TCP: segments."""

    min_rtt_us: int | None = None
    mean_rtt_us: int | None = None
    max_rtt_us: int | None = None
    max_snd_cwnd_bytes: int | None = None
    jitter_ms: float | None = None
    """Receiver, UDP; the mean over the streams, as iperf3 does."""

    lost_packets: int | None = None
    packets: int | None = None
    """Sender: sent. Receiver: the highest number seen, so received is ``packets - lost_packets``."""

    out_of_order_packets: int | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """One connection (``-P``), in the direction of its `Flow`."""

    socket: int | None
    sender: EndFigures | None
    receiver: EndFigures | None
    intervals: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """All streams of one direction. ``direction`` is ``None`` only for pasted text that does not say who sent."""

    direction: Direction | None
    seen_by: Side | None
    """Which side printed ``intervals``."""

    sender: EndFigures | None
    receiver: EndFigures | None
    intervals: tuple[Interval, ...]
    """Summed over the streams."""

    streams: tuple[Stream, ...]

    def kept(self) -> tuple[Interval, ...]:
        """The intervals that were not omitted."""
        return tuple(interval for interval in self.intervals if not interval.omitted)


@dataclass(frozen=True, slots=True)
class ProcessCpu:
    """``getrusage(RUSAGE_SELF)`` of one iperf3 process, in percent of one core.

    Not the CPU cost of the traffic: work in softirqs, kworkers and completion handlers is charged elsewhere.
    """

    iperf3_process_percent: float | None
    iperf3_process_user_percent: float | None
    iperf3_process_system_percent: float | None


@dataclass(frozen=True, slots=True)
class Connection:
    """The addresses of one stream."""

    socket: int | None
    local_host: str | None
    local_port: int | None
    remote_host: str | None
    remote_port: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Iperf3Result:
    """One test as one end reported it."""

    source: Literal["json", "json-stream", "text", "iperf2-text", "iperf2-csv"]
    version: str | None
    """As printed, ``3.12``; the program prints ``iperf 3.12``."""

    role: Role | None
    error: str | None
    complete: bool
    """The end was reached and no error was printed."""

    started_unix_s: float | None = None
    started_resolution_s: float | None = None
    """1 s before 3.20, then 1 ms."""

    connections: tuple[Connection, ...]
    omit_s: float | None = None
    duration_s: float | None
    protocol: str | None
    """``TCP``, ``UDP`` or ``SCTP``."""

    reverse: bool | None
    bidirectional: bool | None
    stream_count: int | None
    block_bytes: int | None = None
    target_bits_per_second: float | None = None
    """``None`` where unlimited, or where an old version does not say."""

    title: str | None = None
    extra_data: str | None = None
    cookie: str | None = None
    sender_congestion_control: str | None = None
    receiver_congestion_control: str | None = None
    own_cpu: ProcessCpu | None = None
    peer_cpu: ProcessCpu | None = None
    flows: tuple[Flow, ...]
    server: Iperf3Result | None = None
    """The server's own result, with ``--get-server-output`` and a server that runs with ``-J``."""

    server_text: str | None = None
    notes: tuple[str, ...]
    """What the reader of the figures must know."""

    line: int | None = None
    """Line of the text in which it begins, where the text may hold several."""
    label: str | None = None
    """The line above its rows, of a paste with rows that have no heading of iperf's own."""
    tos: int | None = None
    """The TOS byte of its packets; ``None``: not printed."""
    congestion: str | None = None
    """Congestion control of the sender, as text prints it (``-V``)."""

    def flow(self, direction: Direction) -> Flow | None:
        """The flow of ``direction``, or ``None`` when the test had none."""
        return next((flow for flow in self.flows if flow.direction == direction), None)


def goodput_mbit_s(result: Iperf3Result, direction: Direction) -> float | None:
    """What the receiver of ``direction`` got over the kept time, in Mbit/s; ``None`` when no receiver's count
    arrived.
    """
    flow = result.flow(direction)
    if flow is None or flow.receiver is None or flow.receiver.bits_per_second is None:
        return None
    return flow.receiver.bits_per_second / 1e6


def _total(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def summed(intervals: list[Interval]) -> Interval:
    """One interval of several streams: bytes and rates add, jitter is averaged, per-connection figures are dropped."""

    if len(intervals) == 1:
        return intervals[0]
    rates = [interval.bits_per_second for interval in intervals]
    known_rates = [rate for rate in rates if rate is not None]
    jitters = [interval.jitter_ms for interval in intervals if interval.jitter_ms is not None]
    return Interval(
        start_s=min(interval.start_s for interval in intervals),
        end_s=max(interval.end_s for interval in intervals),
        bytes=_total([interval.bytes for interval in intervals]),
        bits_per_second=sum(known_rates) if len(known_rates) == len(rates) else None,
        omitted=any(interval.omitted for interval in intervals),
        times_agree=all(interval.times_agree for interval in intervals),
        retransmits=_total([interval.retransmits for interval in intervals]),
        jitter_ms=sum(jitters) / len(jitters) if jitters else None,
        lost_packets=_total([interval.lost_packets for interval in intervals]),
        packets=_total([interval.packets for interval in intervals]),
    )


def summed_ends(ends: list[EndFigures | None]) -> EndFigures | None:
    """The totals of several streams at one side; ``None`` when one of them is not known."""
    known = [end for end in ends if end is not None]
    if not known or len(known) != len(ends):
        return None
    if len(known) == 1:
        return known[0]

    seconds = [end.seconds for end in known if end.seconds is not None]
    longest = max(seconds) if len(seconds) == len(known) else None
    count = _total([end.bytes for end in known])
    rates = [end.bits_per_second for end in known if end.bits_per_second is not None]
    rate = count * 8 / longest if count is not None and longest else sum(rates) if len(rates) == len(known) else None
    jitters = [end.jitter_ms for end in known if end.jitter_ms is not None]
    return EndFigures(
        bytes=count,
        seconds=longest,
        bits_per_second=rate,
        retransmits=_total([end.retransmits for end in known]),
        jitter_ms=sum(jitters) / len(jitters) if jitters else None,
        lost_packets=_total([end.lost_packets for end in known]),
        packets=_total([end.packets for end in known]),
        out_of_order_packets=_total([end.out_of_order_packets for end in known]),
    )
