"""iperf3's output for people: the rows of a pasted or logged run (3.1 to 3.21).

Rates have three significant digits and bytes are prefixed, so the figures are rounded; the notes of the result say so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.iperf3_result import (
    Direction,
    EndFigures,
    Flow,
    Interval,
    Iperf3Result,
    Role,
    Side,
    Stream,
    summed,
    summed_ends,
)
from txop.formats.reading import lines_of, real, whole

_ROW = re.compile(
    r"\[ *(?P<id>SUM|[0-9]{1,5})\](?:\[(?P<way>[TR]X)-(?P<who>[CS])\])? +"
    r"(?P<start>[0-9.]{1,12})-(?P<end>[0-9.]{1,12}) +sec +"
    r"(?P<amount>[0-9.]{1,12}) (?P<amount_prefix>[KMGT]?)Bytes +"
    r"(?P<rate>[0-9.]{1,12}) (?P<rate_prefix>[KMGT]?)(?P<rate_unit>bits|Bytes)/sec(?P<rest>[^\n]*)"
)
_HEADER = re.compile(r"\[ ID\](?:\[Role\])? +Interval ")
_LOSS = re.compile(r"([0-9.]{1,12}) ms +(-?[0-9]{1,18}|Unknown)/(-?[0-9]{1,18})(?: |$)")
_RETRANSMITS = re.compile(r" *([0-9]{1,18}) +(?:([0-9.]{1,12}) ([KMGT]?)Bytes)?")
_ERROR = re.compile(r"iperf3: (?:error|interrupt) - (?P<what>[^\n]{1,400})")
_BEGIN = re.compile(r"(?P<client>Connecting to host )|Server listening on |Accepted connection from ")
_SAID = re.compile(
    r"(?P<reverse>Reverse mode, remote host)|^iperf (?P<version>3\.[0-9][^ \n]{0,20})"
    r"|Starting Test: [^\n]{0,200} tos (?P<tos>[0-9]{1,3})"
    r"|snd_tcp_congestion (?P<congestion>[A-Za-z0-9_]{1,16})"
    r"|\] local (?P<here>\S{1,100}) port (?P<port>[0-9]{1,5}) connected (?:to|with) (?P<there>\S{1,100}) "
    r"port (?P<far>[0-9]{1,5})"
)
_BESIDE = re.compile(r"- - - -|-----|\[ *(?:ID|SUM|[0-9]{1,5})\]")
"""Lines that stand among the rows of one test."""

_LONGEST_LABEL = 100
_BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_DECIMAL = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_PREFIX_LIMIT = 200
_SWAPPED = (
    "iperf3 printed the time of each end at the other one where both ends send; the rates are bytes by the right times"
)
_ROUNDED = "read from text: rates have three significant digits, bytes are rounded too"


@dataclass(frozen=True, slots=True)
class _Row:
    socket: int | None
    direction: Direction | None
    label: Side | None
    summary: bool
    interval: Interval


@dataclass
class _Part:
    """The lines of one test."""

    line: int | None = None
    rows: list[_Row] = field(default_factory=list)
    headers: int = 0
    summaries: set[tuple[int | None, Direction | None, Side | None]] = field(default_factory=set)
    last: dict[tuple[int | None, Direction | None], Interval] = field(default_factory=dict)
    label: str | None = None
    error: str | None = None
    role: Role | None = None
    reverse: bool = False
    version: str | None = None
    tos: int | None = None
    congestion: str | None = None
    summed: bool = False
    """There are rows of the sum of several connections."""
    closed: bool = False
    """Something else stands after its totals."""
    ends: str | None = None
    """The addresses of its first connection, the same whichever end prints them."""

    def begins_again(self, row: _Row) -> bool:
        """Whether ``row`` cannot be of this test."""
        key = (row.socket, row.direction)
        if self.closed and self.rows:
            return True
        if row.label is not None and row.summary:
            return (*key, row.label) in self.summaries
        before = self.last.get(key)
        if before is None or row.summary:
            return bool(self.summaries) and not row.summary
        return row.interval.start_s < before.end_s - 0.02 and row.interval.omitted == before.omitted

    def take(self, row: _Row, number: int) -> None:
        self.line = self.line or number
        self.rows.append(row)
        key = (row.socket, row.direction)
        self.summed = self.summed or row.socket is None
        if row.summary:
            self.summaries.add((*key, row.label))
        else:
            self.last[key] = row.interval


def parse(text: str) -> Iperf3Result:
    """The test with the rows in ``text``, whatever stands before each row (``--timestamps``, ``--title``, a log's
    prefix).

    Raises FormatError when there is no row and no error message of iperf3, or more than one test.
    """
    results = parse_all(text)
    if len(results) != 1:
        lines = ", ".join(str(result.line) for result in results[:8])
        raise FormatError(f"iperf3 output: {len(results)} tests where one is expected (lines {lines})")
    return results[0]


def parse_all(text: str) -> tuple[Iperf3Result, ...]:
    """Every test in ``text``, in order: a server's log has many, and so may a paste. A new one begins with iperf3's
    own words for a new connection, and where a row cannot be of the one before.

    Raises FormatError when there is no row and no error message of iperf3.
    """
    parts = [_Part()]
    unknown = ""
    for number, line in lines_of(text):
        head = line[:1000]
        part = parts[-1]
        if (failure := _ERROR.search(head)) is not None:
            part.error = visible(failure["what"])
        elif _HEADER.search(head[: _PREFIX_LIMIT * 2]) is not None:
            if part.summaries:
                part = _next(parts, part)
            part.headers += 1
        elif (found := _ROW.search(head)) is not None and found.start() <= _PREFIX_LIMIT:
            row = _row(found, summary=part.headers > 1)
            if row is None:
                continue
            if part.begins_again(row):
                part = _next(parts, part)
                row = _row(found, summary=False) or row
            if not part.rows:
                part.label = None if part.headers else visible(unknown.strip()[:_LONGEST_LABEL]) or None
            part.take(row, number)
            unknown = ""
        elif (begun := _BEGIN.search(head)) is not None:
            role: Role = "client" if begun["client"] else "server"
            if part.rows or (part.role not in (None, role) and part.ends is not None):
                part = _next(parts, part)
            part.role = role
        elif (said := _SAID.search(head)) is not None:
            _note(part, said)
        elif head.strip() and _BESIDE.search(head) is None:
            unknown = head
            part.closed = bool(part.summaries)
    tests = [part for part in parts if part.rows or part.error is not None]
    if not tests:
        raise FormatError(f"iperf3 output: neither JSON nor rows of iperf3; {quoted_start(text)}")
    if len(tests) == 1:
        tests[0].label = None
    return tuple(_result(part) for part in tests)


def _next(parts: list[_Part], part: _Part) -> _Part:
    """A further test, by the same program."""
    keeps = part.role == "server"
    parts.append(_Part(role="server" if keeps else None, version=part.version))
    return parts[-1]


def _note(part: _Part, said: re.Match[str]) -> None:
    if said["reverse"] is not None:
        part.reverse = True
    elif said["version"] is not None:
        part.version = said["version"]
    elif said["tos"] is not None:
        part.tos = whole(said["tos"], most=255)
    elif said["congestion"] is not None:
        part.congestion = said["congestion"].lower()
    elif part.ends is None:
        part.ends = " - ".join(sorted((f"{said['here']} {said['port']}", f"{said['there']} {said['far']}")))


def _result(part: _Part) -> Iperf3Result:
    rows = part.rows
    if all(row.socket is None for row in rows):  # only the sum was kept
        rows = [replace(row, socket=0) for row in rows]
    for direction in {row.direction for row in rows}:
        if not part.summed and len({row.socket for row in rows if row.direction == direction}) > 1:
            raise FormatError(
                "iperf3 output: several connections without a sum: more than one test, or rows that were left out",
                line=part.line,
            )
    flows, notes = _flows(rows, part.role, part.reverse)
    udp = any(row.interval.packets is not None for row in rows)
    return Iperf3Result(
        source="text",
        version=part.version,
        role=part.role,
        error=part.error,
        complete=part.error is None and any(row.summary for row in rows),
        connections=(),
        duration_s=None,
        protocol=("UDP" if udp else "TCP") if rows else None,
        reverse=True if part.reverse else None,
        bidirectional=len(flows) > 1 if rows else None,
        stream_count=max((len(flow.streams) for flow in flows), default=None),
        cookie=part.ends,
        flows=flows,
        notes=(*notes, _ROUNDED) if rows else (),
        line=part.line,
        label=part.label,
        tos=part.tos,
        congestion=part.congestion,
    )


def _row(found: re.Match[str], *, summary: bool) -> _Row | None:
    start, end = real(found["start"], most=1e9), real(found["end"], most=1e9)
    amount, rate = real(found["amount"]), real(found["rate"])
    if start is None or end is None or amount is None or rate is None:
        return None
    rest = found["rest"]
    in_bits = found["rate_unit"] == "bits"
    scale = _DECIMAL[found["rate_prefix"]] if in_bits else _BINARY[found["rate_prefix"]] * 8
    label: Side | None = None
    if rest.rstrip().endswith("sender"):
        label = "sender"
    elif rest.rstrip().endswith("receiver"):
        label = "receiver"
    direction: Direction | None = None
    if found["way"] is not None:
        direction = "client_to_server" if (found["way"] == "TX") == (found["who"] == "C") else "server_to_client"
        label = label or ("sender" if found["way"] == "TX" else "receiver")
    jitter = lost = packets = retransmits = window = None
    if (loss := _LOSS.search(rest)) is not None:
        jitter, lost, packets = real(loss[1]), whole(loss[2]), whole(loss[3])
    elif (counted := _RETRANSMITS.match(rest)) is not None and rest[: counted.end()].strip():
        if counted[2] is not None:
            size = real(counted[2])
            window = None if size is None else round(size * _BINARY[counted[3]])
        retransmits = whole(counted[1])
    return _Row(
        whole(found["id"]),
        direction,
        label,
        summary or (label is not None and found["way"] is None),
        Interval(
            start_s=start,
            end_s=end,
            bytes=round(amount * _BINARY[found["amount_prefix"]]),
            bits_per_second=rate * scale,
            omitted="(omitted)" in rest,
            retransmits=retransmits,
            snd_cwnd_bytes=window,
            jitter_ms=jitter,
            lost_packets=lost,
            packets=packets,
        ),
    )


def _flows(rows: list[_Row], role: Role | None, reverse: bool) -> tuple[tuple[Flow, ...], list[str]]:
    notes: list[str] = []
    directions = list(dict.fromkeys(row.direction for row in rows))
    flows = []
    for named in directions:
        mine = [row for row in rows if row.direction == named and row.socket is not None]
        if not mine:
            continue
        direction = named or _only_direction(rows, role, reverse)
        if direction is None:
            notes.append("the text does not show whether the client or the server sent")
        streams = []
        for socket in dict.fromkeys(row.socket for row in mine):
            own = [row for row in mine if row.socket == socket]
            series = tuple(_shifted([row.interval for row in own if not row.summary]))
            sender, receiver = _ends([row for row in own if row.summary])
            if named is not None:
                as_printed = sender, receiver
                sender, receiver = _unswapped(sender, receiver, series, sends=_sends(named, role))
                if (sender, receiver) != as_printed and _SWAPPED not in notes:
                    notes.append(_SWAPPED)
            streams.append(Stream(socket, sender, receiver, series))
        longest = max(len(stream.intervals) for stream in streams)
        sums = tuple(
            summed([stream.intervals[index] for stream in streams if index < len(stream.intervals)])
            for index in range(longest)
        )
        sender = summed_ends([stream.sender for stream in streams])
        receiver = summed_ends([stream.receiver for stream in streams])
        totals = [row for row in rows if row.summary and row.socket is None and row.label is not None]
        if named is None and len(streams) > 1 and totals:
            own_sender, own_receiver = _ends(totals)
            sender, receiver = own_sender or sender, own_receiver or receiver
        seen_by: Side | None = None
        if direction is not None and role is not None:
            seen_by = "sender" if (direction == "client_to_server") == (role == "client") else "receiver"
        flows.append(
            Flow(
                direction,
                seen_by,
                sender,
                receiver,
                sums,
                tuple(streams),
            )
        )
    return tuple(sorted(flows, key=lambda flow: flow.direction or "")), notes


def _sends(direction: Direction, role: Role | None) -> bool:
    return (direction == "client_to_server") == (role != "server")


def _unswapped(
    sender: EndFigures | None, receiver: EndFigures | None, series: tuple[Interval, ...], *, sends: bool
) -> tuple[EndFigures | None, EndFigures | None]:
    """``--bidir`` swaps the times of the ends where the client receives; this end's own rows show it."""
    last_end_s = max((interval.end_s for interval in series if not interval.omitted), default=None)
    own, peer = (sender, receiver) if sends else (receiver, sender)
    if last_end_s is None or own is None or peer is None or own.seconds is None or peer.seconds is None:
        return sender, receiver
    if abs(peer.seconds - last_end_s) >= abs(own.seconds - last_end_s):
        return sender, receiver
    own_s, peer_s = peer.seconds, own.seconds
    own, peer = _over(own, own_s), _over(peer, peer_s)
    return (own, peer) if sends else (peer, own)


def _over(figures: EndFigures, seconds: float) -> EndFigures:
    rate = figures.bytes * 8 / seconds if figures.bytes is not None else None
    return replace(figures, seconds=seconds, bits_per_second=rate)


def _only_direction(rows: list[_Row], role: Role | None, reverse: bool) -> Direction | None:
    """The direction of a test without [Role] columns, from the end that printed it."""
    if role == "client":
        return "server_to_client" if reverse else "client_to_server"
    if role == "server":
        sent = any(row.label == "sender" and row.interval.bytes for row in rows)
        return "server_to_client" if sent else "client_to_server"
    return None


def _shifted(intervals: list[Interval]) -> list[Interval]:
    """Omitted rows moved before 0: the clock of the text restarts with the first kept row, as in the JSON."""
    omitted_s = max((interval.end_s for interval in intervals if interval.omitted), default=0.0)
    if not omitted_s:
        return intervals
    return [
        replace(interval, start_s=interval.start_s - omitted_s, end_s=interval.end_s - omitted_s)
        if interval.omitted
        else interval
        for interval in intervals
    ]


def _ends(rows: list[_Row]) -> tuple[EndFigures | None, EndFigures | None]:
    """Sender and receiver totals of one stream. An end that prints 0 bytes of the other end never learnt them."""
    sender = receiver = None
    both = {row.label for row in rows} >= {"sender", "receiver"}
    other_counted = any(row.interval.bytes for row in rows)
    for row in rows:
        figures = _figures(row.interval)
        if both and not row.interval.bytes and other_counted:
            continue
        if row.label == "sender":
            sender = _without_loss(figures)
        elif row.label == "receiver":
            receiver = figures
        elif row.interval.lost_packets is not None:
            # 3.1 has one unlabelled row for UDP: the sender's bytes with the receiver's loss.
            sender = _without_loss(figures) if row.interval.bytes else None
            receiver = EndFigures(
                None,
                figures.seconds,
                None,
                jitter_ms=figures.jitter_ms,
                lost_packets=figures.lost_packets,
                packets=figures.packets,
            )
    return sender, receiver


def _figures(interval: Interval) -> EndFigures:
    return EndFigures(
        interval.bytes,
        interval.end_s - interval.start_s if interval.end_s > interval.start_s else None,
        interval.bits_per_second,
        retransmits=interval.retransmits if interval.packets is None else None,
        jitter_ms=interval.jitter_ms,
        lost_packets=interval.lost_packets,
        packets=interval.packets,
    )


def _without_loss(figures: EndFigures) -> EndFigures:
    return EndFigures(
        figures.bytes, figures.seconds, figures.bits_per_second, figures.retransmits, packets=figures.packets
    )
