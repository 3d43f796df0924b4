"""What iperf 2 prints (2.0 and 2.1): the rows of one test, of either end, as a log or a mail has them.

It is another program than iperf3, whose rows it resembles: times have one decimal (2.0) or four (2.1), the total comes
as one more row from 0, and no end knows the figures of the other, but for the report of a UDP server. A client sends,
and a server receives; with ``-R`` it is the other way round. Texts with data both ways (``-d``, ``-r``,
``--full-duplex``) are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from txop.formats.error import FormatError, quoted_start
from txop.formats.iperf3_result import EndFigures, Flow, Interval, Iperf3Result, Role, Side, Stream, summed, summed_ends
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "iperf 2 output"
_ROW = re.compile(
    r"\[ *(?P<star>\*?)(?P<id>SUM|[0-9]{1,5})\] +(?P<start>[0-9.]{1,12})- *(?P<end>[0-9.]{1,12}) +sec +"
    r"(?P<amount>[0-9.]{1,12}) (?P<amount_prefix>[KMGT]?)Bytes +"
    r"(?P<rate>[0-9.]{1,12}) (?P<rate_prefix>[KMGT]?)(?P<rate_unit>bits|Bytes)/sec(?P<rest>[^\n]*)"
)
_LIKE = re.compile(
    rb"^(?:Client connecting to|Server listening on) [^\n]{0,300}(?:TCP|UDP) port [0-9]"
    rb"|\[ *\*?(?:SUM|[0-9]{1,5})\] +[0-9]{1,8}\.(?:[0-9]|[0-9]{4})- *[0-9]{1,8}\.(?:[0-9]|[0-9]{4}) sec ",
    re.MULTILINE,
)
_CLIENT = re.compile(r"Client connecting to [^\n]{0,300}, (TCP|UDP) port")
_SERVER = re.compile(r"Server listening on (TCP|UDP) port")
_CONNECTED = re.compile(r"\[ *\*?[0-9]{1,5}\] local \S{1,100} port [0-9]{1,5} connected with (?P<rest>[^\n]{0,300})")
_REPORT = re.compile(r"\[ *\*?(?P<id>[0-9]{1,5})\] Server Report:")
_FAILED = re.compile(r"(?P<what>connect failed: [^\n]{1,200})")
_LOSS = re.compile(r" +([0-9.]{1,12}) ms +([0-9]{1,18})/ *([0-9]{1,18})(?: |$)")
_PREFIX_LIMIT = 200
_BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_DECIMAL = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_ROUNDED = "read from text: rates have three significant digits, bytes are rounded too"


@dataclass
class _Rows:
    """The rows of one connection."""

    own: list[Interval] = field(default_factory=list)
    report: Interval | None = None
    """What the other end reported."""


def looks_like(head: bytes) -> bool:
    """Whether ``head`` is the beginning of such a text, and not one of iperf3."""
    return _LIKE.search(head) is not None


def parse(data: str | bytes) -> Iperf3Result:
    """The one test in ``data``, in the form of iperf3's.

    Raises FormatError when there is none, more than one, or data both ways.
    """
    text = text_of(data, _WHAT)
    client, server = _CLIENT.search(text), _SERVER.search(text)
    connections: dict[str, _Rows] = {}
    reverse = stars = plain = summed_up = False
    error = awaited = None
    for number, line in lines_of(text):
        head = line[:1000]
        if (connected := _CONNECTED.search(head)) is not None:
            reverse = reverse or "(reverse)" in connected["rest"]
            if "(full-duplex)" in connected["rest"]:
                raise FormatError(f"{_WHAT}: data both ways at once (--full-duplex), which is not read", line=number)
        elif (failed := _FAILED.search(head)) is not None:
            error = failed["what"]
        elif (report := _REPORT.search(head)) is not None:
            awaited = report["id"]
        elif (found := _ROW.search(head)) is not None and found.start() <= _PREFIX_LIMIT:
            if found["id"] == "SUM":
                summed_up = True
                continue
            row = _interval(found)
            if row is None:
                continue
            stars, plain = stars or bool(found["star"]), plain or not found["star"]
            rows = connections.setdefault(found["id"], _Rows())
            if awaited == found["id"] and row.packets is not None:
                rows.report, awaited = row, None
            else:
                rows.own.append(row)
    if not connections:
        if error is not None:
            raise FormatError(f"iperf failed: {error}")
        raise FormatError(f"{_WHAT}: no row of a test; {quoted_start(text)}")
    if (client is not None and server is not None) or (stars and plain):
        raise FormatError(f"{_WHAT}: data both ways (-d, -r), which is not read")
    if len(connections) > 1 and not summed_up:
        raise FormatError(f"{_WHAT}: several connections without a sum: more than one test, or rows of both ends")
    protocol = client or server
    role: Role | None = "client" if client is not None else "server" if server is not None else None
    udp = any(row.packets is not None for rows in connections.values() for row in (*rows.own, rows.report) if row)
    return _result(connections, role, reverse=reverse, udp=udp or (protocol is not None and protocol[1] == "UDP"))


def _interval(found: re.Match[str]) -> Interval | None:
    start, end = real(found["start"], most=1e9), real(found["end"], most=1e9)
    amount, rate = real(found["amount"]), real(found["rate"])
    if start is None or end is None or amount is None or rate is None or end < start:
        return None
    scale = _DECIMAL[found["rate_prefix"]] if found["rate_unit"] == "bits" else _BINARY[found["rate_prefix"]] * 8
    loss = _LOSS.match(found["rest"])
    return Interval(
        start_s=start,
        end_s=end,
        bytes=round(amount * _BINARY[found["amount_prefix"]]),
        bits_per_second=rate * scale,
        omitted=False,
        jitter_ms=real(loss[1]) if loss is not None else None,
        lost_packets=whole(loss[2]) if loss is not None else None,
        packets=whole(loss[3]) if loss is not None else None,
    )


def _result(connections: dict[str, _Rows], role: Role | None, *, reverse: bool, udp: bool) -> Iperf3Result:
    client_sends = not reverse
    sends = None if role is None else (role == "client") == client_sends
    streams, complete = [], True
    for name, rows in connections.items():
        series, total = _parted(rows.own)
        complete = complete and total is not None
        own = None if total is None else _figures(total)
        other = None if rows.report is None else _figures(rows.report)
        receives = sends is False or (sends is None and own is not None and own.packets is not None)
        sender, receiver = (other, own) if receives else (own, other)
        streams.append(Stream(whole(name), sender, receiver, tuple(series)))
    longest = max(len(stream.intervals) for stream in streams)
    sums = tuple(
        summed([stream.intervals[index] for stream in streams if index < len(stream.intervals)])
        for index in range(longest)
    )
    seen_by: Side | None = None if sends is None else "sender" if sends else "receiver"
    flow = Flow(
        None if role is None else "client_to_server" if client_sends else "server_to_client",
        seen_by,
        summed_ends([stream.sender for stream in streams]),
        summed_ends([stream.receiver for stream in streams]),
        sums,
        tuple(streams),
    )
    unknown = () if role is not None else ("the text does not show whether the client or the server sent",)
    return Iperf3Result(
        source="iperf2-text",
        version=None,
        role=role,
        error=None,
        complete=complete,
        connections=(),
        duration_s=None,
        protocol="UDP" if udp else "TCP",
        reverse=reverse or None,
        bidirectional=False,
        stream_count=len(streams),
        flows=(flow,),
        notes=(*unknown, _ROUNDED),
    )


def _parted(rows: list[Interval]) -> tuple[list[Interval], Interval | None]:
    """Intervals, and the total: the last row, when it goes over all of them."""
    if not rows:
        return [], None
    last, before = rows[-1], rows[:-1]
    whole_test = last.start_s == 0 and all(row.end_s <= last.end_s + 1e-6 for row in before)
    if whole_test and (len(before) != 1 or before[0].start_s == 0):
        return before, last
    return rows, None


def _figures(row: Interval) -> EndFigures:
    return EndFigures(
        row.bytes,
        row.end_s - row.start_s if row.end_s > row.start_s else None,
        row.bits_per_second,
        jitter_ms=row.jitter_ms,
        lost_packets=row.lost_packets,
        packets=row.packets,
    )
