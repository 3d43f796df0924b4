"""The CSV of iperf 2 (``-y C``): a row has its time, two ends, a number, an interval, bytes, bit/s, and of UDP jitter
and loss.

2.0 has its own end first, 2.1 the sender. So a row with a client's port as its first end is data from the client to the
server in both; one with the server's is ambiguous by itself.
"""

from __future__ import annotations

import re
from datetime import datetime
from itertools import pairwise

from txop.formats.error import FormatError, quoted_start
from txop.formats.iperf2_connections import Connection, Endpoint, OutputFacts, results_of
from txop.formats.iperf3_result import Interval, Iperf3Result, Role
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "CSV of iperf 2"
_ROW = re.compile(
    r"(?:[-+][0-9:]{4,6}:)?(?P<stamp>[0-9]{14})(?:\.[0-9]{1,6})?,(?P<here>[^,\s]{1,100}),(?P<port>[0-9]{1,5}),"
    r"(?P<there>[^,\s]{1,100}),(?P<far>[0-9]{1,5}),(?P<id>-?[0-9]{1,6}),"
    r"(?P<start>[0-9.]{1,12})-(?P<end>[0-9.]{1,12}),(?P<bytes>[0-9]{1,20}),(?P<rate>[0-9]{1,20})"
    r"(?:,(?P<jitter>-?[0-9.]{1,16}),(?P<lost>-?[0-9]{1,18}),(?P<packets>-?[0-9]{1,18}),[^\n]{0,100})?"
)
_LIKE = re.compile(
    rb"^(?:[-+][0-9:]{4,6}:)?[0-9]{14}(?:\.[0-9]{1,6})?,[^,\s]{1,100},[0-9]{1,5},[^,\s]{1,100},[0-9]{1,5},-?[0-9]{1,6},[0-9.]{1,12}-",
    re.MULTILINE,
)
_EPHEMERAL = 32_768


def looks_like(head: bytes) -> bool:
    """Whether ``head`` has a row of it."""
    return _LIKE.search(head) is not None


def parse_all(data: str | bytes) -> tuple[tuple[Iperf3Result, ...], tuple[tuple[int | None, str], ...]]:
    """The tests in ``data``, in the form of iperf3's, and what cannot be read: line and clause.

    Raises FormatError when there is none.
    """
    text = text_of(data, _WHAT)
    connections: list[Connection] = []
    opened: dict[tuple[Endpoint, Endpoint], Connection] = {}
    sums: list[tuple[int, Interval]] = []
    times: dict[int, tuple[float, float]] = {}
    since_sum: dict[int, Connection] = {}
    udp = False
    for number, line in lines_of(text):
        found = _ROW.fullmatch(line[:1000].strip())
        row = None if found is None else _interval(found)
        if found is None or row is None:
            continue
        udp = udp or found["packets"] is not None
        here, there = Endpoint(found["here"], int(found["port"])), Endpoint(found["there"], int(found["far"]))
        if found["id"] == "-1":
            sums.append((number, row))
            for each in since_sum.values():  # its totals stand one below the other, and the sum below them
                each.last_line = number
            since_sum = {}
            continue
        if (other := opened.get((there, here))) is not None and row.packets is not None:
            other.report, other.last_line = row, number
            continue
        connection = opened.get((here, there))
        if connection is None or _is_over(connection, row):
            connection = Connection(number, found["id"], here=here, there=there)
            connections.append(connection)
            opened[here, there] = connection
        connection.rows.append(row)
        connection.last_line = number
        since_sum[id(connection)] = connection
        until = _seconds(found["stamp"])
        if until is not None:
            begin = until - (float(found["end"]) - row.start_s)
            times[id(connection)] = (times.get(id(connection), (begin, 0.0))[0], until)
    if not connections:
        raise FormatError(f"{_WHAT} without a row; {quoted_start(text)}")
    _beside(connections, times)
    _directed(connections)
    role: Role | None = "client" if any(each.accepted is not None for each in connections) else None
    facts = OutputFacts("iperf2-csv", role, "UDP" if udp else "TCP", needs_sum=False)
    results, problems = results_of(connections, sums, facts)
    if not results:
        raise FormatError(f"{_WHAT}: {problems[0][1]}", line=problems[0][0])
    return tuple(results), tuple(problems)


def _seconds(stamp: str) -> float | None:
    """The time of a row; ``None`` where it is none, as 2.1 prints at times."""
    try:
        moment = datetime.strptime(stamp, "%Y%m%d%H%M%S")  # noqa: DTZ007 - only differences count
    except ValueError:
        return None
    return (moment - datetime(1970, 1, 1)).total_seconds() or None  # noqa: DTZ001


def _beside(connections: list[Connection], times: dict[int, tuple[float, float]]) -> None:
    """Without intervals the rows of connections that were there at once stand one below the other; their times tell."""
    for one, other in pairwise(connections):
        if id(one) not in times or id(other) not in times:
            continue
        (begin, end), (later, until) = times[id(one)], times[id(other)]
        if min(end, until) - max(begin, later) > 0.5 * min(end - begin, until - later) > 0:
            one.last_line = max(one.last_line, other.line)


def _is_over(connection: Connection, row: Interval) -> bool:
    """Whether ``row`` is of a later connection between the same ports."""
    rows = connection.rows
    return row.start_s == 0 and len(rows) > 1 and rows[-1].start_s == 0


def _directed(connections: list[Connection]) -> None:
    """Which way each went: from a port of a client to one of a server; the other way round beside such a one of the
    same host (``-r``, ``-d``)."""
    mine = set()
    for each in connections:
        assert each.here is not None
        assert each.there is not None
        if each.there.port < _EPHEMERAL <= each.here.port:
            each.accepted = False
            mine.add(each.here.host)
    for each in connections:
        assert each.here is not None
        assert each.there is not None
        if each.accepted is None and each.here.port < _EPHEMERAL <= each.there.port and each.here.host in mine:
            each.accepted = True


def _interval(found: re.Match[str]) -> Interval | None:
    start, end = real(found["start"], most=1e9), real(found["end"], most=1e9)
    count, rate = whole(found["bytes"]), whole(found["rate"])
    if start is None or end is None or count is None or rate is None or end < start:
        return None
    packets = whole(found["packets"]) if found["packets"] is not None else None
    return Interval(
        start_s=start,
        # times have one decimal, bytes and rate have all of theirs
        end_s=start + count * 8 / rate if rate and count else end,
        bytes=count,
        bits_per_second=float(rate),
        omitted=False,
        jitter_ms=real(found["jitter"]) if packets is not None else None,
        lost_packets=whole(found["lost"]) if packets is not None else None,
        packets=packets,
    )
