"""The tests that the connections of iperf 2 make, whatever form their rows have: those at once are one test, those one
after the other are several."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from txop.formats.error import FormatError
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
from txop.formats.reading import whole

ROUNDED = "read from text: rates have three significant digits, bytes are rounded too"


class Endpoint(NamedTuple):
    """One end of a connection."""

    host: str
    port: int


@dataclass
class Connection:
    """The rows of one connection, as one end printed them."""

    line: int
    number: str
    here: Endpoint | None = None
    there: Endpoint | None = None
    reverse: bool = False
    full_duplex: bool = False
    bounceback: bool = False
    accepted: bool | None = None
    """Whether this end waited for it; ``None``: not known."""
    with_itself: bool = False
    """The same process is at both ends."""
    rows: list[Interval] = field(default_factory=list)
    starred: list[Interval] = field(default_factory=list)
    """The other way of a full-duplex connection."""
    report: Interval | None = None
    """What the other end reported."""
    last_line: int = 0

    def sends(self, *, starred: bool) -> bool | None:
        """Whether this end sent what these rows are of."""
        if self.accepted is None:
            return None
        return self.accepted == (starred if self.full_duplex else self.reverse)


@dataclass(frozen=True)
class OutputFacts:
    """What all tests of one output have in common."""

    source: Literal["iperf2-text", "iperf2-csv"]
    role: Role | None
    protocol: str | None
    needs_sum: bool
    """Connections at once are of one test only where a sum of them is printed."""
    tos: int | None = None
    congestion: str | None = None
    notes: tuple[str, ...] = ()


def results_of(
    connections: Sequence[Connection], sums: Sequence[tuple[int, Interval]], facts: OutputFacts
) -> tuple[list[Iperf3Result], list[tuple[int | None, str]]]:
    """A result for each test, and what cannot be read: line and clause. ``sums``: rows of the sum of connections, by
    line."""
    results: list[Iperf3Result] = []
    problems: list[tuple[int | None, str]] = []
    for group in _groups([each for each in connections if each.rows or each.starred or each.report]):
        try:
            results.append(_result(group, _within(sums, group), facts))
        except FormatError as error:
            problems.append((group[0].line, error.what))
    return results, problems


def _groups(connections: list[Connection]) -> list[list[Connection]]:
    """Those that were there at once, by the lines they have."""
    groups: list[list[Connection]] = []
    until = -1
    for connection in sorted(connections, key=lambda each: each.line):
        if not groups or connection.line > until:
            groups.append([])
        groups[-1].append(connection)
        until = max(until, connection.last_line)
    return groups


def _within(sums: Sequence[tuple[int, Interval]], group: list[Connection]) -> list[Interval]:
    """Those that stand among the rows of ``group``, or right below."""
    first, last = min(each.line for each in group), max(each.last_line for each in group)
    begin = bisect_left(sums, first, key=lambda each: each[0])
    end = bisect_right(sums, last + len(group), key=lambda each: each[0])
    return [row for _, row in sums[begin:end]]


def _result(group: list[Connection], sums: list[Interval], facts: OutputFacts) -> Iperf3Result:
    if any(each.bounceback for each in group):
        raise FormatError("the server's side of a bounce-back test: the client has its round trips")
    if any(each.with_itself for each in group):
        raise FormatError("a connection of this iperf with itself: the figures of both ends in one")
    ways: dict[bool | None, list[tuple[Connection, list[Interval]]]] = {}
    for each in group:
        for starred, rows in ((False, each.rows), (True, each.starred)):
            if rows or (each.report is not None and not starred):
                ways.setdefault(each.sends(starred=starred), []).append((each, rows))
    first, last = min(each.line for each in group), max(each.last_line for each in group)
    if facts.needs_sum and not sums and any(len(parts) > 1 for parts in ways.values()):
        raise FormatError(
            f"{len(group)} connections at once without a sum (lines {first} to {last}): more than one test, or rows of "
            "both ends"
        )
    if None in ways and len(ways) > 1:
        raise FormatError(f"it does not show which way each connection went (lines {first} to {last})")
    total = next((row for row in reversed(sums) if row.start_s == 0), None) if len(ways) == 1 else None
    flows, complete = [], True
    for sends, parts in ways.items():
        flow, whole_test = _flow(parts, sends, facts.role, total)
        flows.append(flow)
        complete = complete and whole_test
    udp = facts.protocol == "UDP" or any(
        row.packets is not None for each in group for row in (*each.rows, *each.starred, each.report) if row is not None
    )
    unknown = () if None not in ways else ("the text does not show whether the client or the server sent",)
    first_of = group[0]
    ends = None
    if first_of.here is not None and first_of.there is not None:
        ends = " - ".join(sorted(f"{end.host} {end.port}" for end in (first_of.here, first_of.there)))
    return Iperf3Result(
        source=facts.source,
        version=None,
        role=facts.role,
        error=None,
        complete=complete,
        connections=(),
        duration_s=None,
        protocol="UDP" if udp else "TCP",
        reverse=any(each.reverse for each in group) or None,
        bidirectional=len(flows) > 1,
        stream_count=max(len(flow.streams) for flow in flows),
        cookie=ends,
        flows=tuple(sorted(flows, key=lambda flow: flow.direction or "")),
        notes=(*unknown, *facts.notes),
        line=first,
        tos=facts.tos,
        congestion=facts.congestion,
    )


def _flow(
    parts: list[tuple[Connection, list[Interval]]], sends: bool | None, role: Role | None, total: Interval | None
) -> tuple[Flow, bool]:
    streams, complete = [], True
    for connection, rows in parts:
        series, row = _parted(rows)
        complete = complete and (row is not None or connection.report is not None)
        own = None if row is None else figures_of(row)
        other = None if connection.report is None else figures_of(connection.report)
        receives = sends is False or (own is not None and own.packets is not None)
        sender, receiver = (other, own) if receives else (own, other)
        streams.append(Stream(whole(connection.number), sender, receiver, tuple(series)))
    longest = max(len(stream.intervals) for stream in streams)
    sums = tuple(
        summed([stream.intervals[index] for stream in streams if index < len(stream.intervals)])
        for index in range(longest)
    )
    seen_by: Side | None = None if sends is None else "sender" if sends else "receiver"
    direction: Direction | None = None
    if sends is not None and role is not None:
        direction = "client_to_server" if sends == (role == "client") else "server_to_client"
    sender = summed_ends([stream.sender for stream in streams])
    receiver = summed_ends([stream.receiver for stream in streams])
    if total is not None and len(streams) > 1:
        if sends is False and receiver is not None:
            receiver = figures_of(total)
        elif sender is not None:
            sender = figures_of(total)
    return Flow(direction, seen_by, sender, receiver, sums, tuple(streams)), complete


def _parted(rows: list[Interval]) -> tuple[list[Interval], Interval | None]:
    """Intervals, and the total: the last row, when it goes over all of them."""
    if not rows:
        return [], None
    last, before = rows[-1], rows[:-1]
    whole_test = last.start_s == 0 and all(row.end_s <= last.end_s + 1e-6 for row in before)
    if whole_test and (len(before) != 1 or before[0].start_s == 0):
        return before, last
    return rows, None


def figures_of(row: Interval) -> EndFigures:
    """A row as the total of one side."""
    return EndFigures(
        row.bytes,
        row.end_s - row.start_s if row.end_s > row.start_s else None,
        row.bits_per_second,
        jitter_ms=row.jitter_ms,
        lost_packets=row.lost_packets,
        packets=row.packets,
    )
