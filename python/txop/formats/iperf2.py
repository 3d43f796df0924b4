"""What iperf 2 prints (2.0 and 2.1): the rows of tests, of either end, as a log or a mail has them.

It is another program than iperf3, but has similar rows: times have one decimal (2.0) or four (2.1), the total comes
as one more row from 0, and no end knows the figures of the other, but for the report of a UDP server. A client sends,
and a server receives; with ``-R`` it is the other way round. ``-r`` is one test after the other, ``-d`` and
``--full-duplex`` are both ways at once; ``-d`` and ``-r`` open a second connection, so which way it goes is in its
ports. ``--bounceback`` measures round trips: `iperf2_bounceback` reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.iperf2_connections import ROUNDED, Connection, Endpoint, OutputFacts, results_of
from txop.formats.iperf3_result import Interval, Iperf3Result, Role
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
_CLIENT = re.compile(r"Client connecting to [^\n]{0,300}, (?P<protocol>TCP|UDP) port (?P<port>[0-9]{1,5})")
_SERVER = re.compile(r"Server listening on (?P<protocol>TCP|UDP) port (?P<port>[0-9]{1,5})")
_CONNECTED = re.compile(
    r"\[ *\*?(?P<id>[0-9]{1,5})\] local (?P<here>[^\s%]{1,100})(?:%\S{1,20})? port (?P<port>[0-9]{1,5}) "
    r"connected with (?P<there>\S{1,100}) port (?P<far>[0-9]{1,5})(?P<rest>[^\n]{0,300})"
)
_REPORT = re.compile(r"\[ *\*?(?P<id>[0-9]{1,5})\] Server Report:")
_FAILED = re.compile(r"(?P<what>connect failed: [^\n]{1,200})")
_TOS = re.compile(r"TOS set to 0x(?P<tos>[0-9a-fA-F]{1,2})")
_CONGESTION = re.compile(r"TCP congestion control (?:set to |using )(?P<name>[A-Za-z0-9_]{1,16})")
_LOSS = re.compile(r" +([0-9.]{1,12}) ms +([0-9]{1,18})/ *([0-9]{1,18})(?: |$)")
_PREFIX_LIMIT = 200
_BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_DECIMAL = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_NEARLY = 0.05


@dataclass
class _Section:
    """What one iperf printed, from its heading on."""

    role: Role | None = None
    listens: int | None = None
    connects: int | None = None
    protocol: str | None = None
    tos: int | None = None
    congestion: str | None = None
    connections: list[Connection] = field(default_factory=list)
    sums: list[tuple[int, Interval]] = field(default_factory=list)
    """Rows of the sum of connections, by line."""
    open: dict[str, Connection] = field(default_factory=dict)
    """The connection that a number stands for now: servers use one again."""

    @property
    def begun(self) -> bool:
        return any(connection.rows or connection.starred for connection in self.connections)


def looks_like(head: bytes) -> bool:
    """Whether ``head`` is the beginning of such a text, and not one of iperf3."""
    return _LIKE.search(head) is not None


def parse_all(data: str | bytes) -> tuple[tuple[Iperf3Result, ...], tuple[tuple[int | None, str], ...]]:
    """The tests in ``data``, in the form of iperf3's, and what cannot be read: line and clause.

    Raises FormatError when there is no test.
    """
    text = text_of(data, _WHAT)
    sections = [_Section()]
    problems: list[tuple[int | None, str]] = []
    error = awaited = None
    for number, line in lines_of(text):
        head = line[:1000]
        section = sections[-1]
        if (heading := _CLIENT.search(head) or _SERVER.search(head)) is not None:
            sections = _headed(sections, heading, client=heading.re is _CLIENT)
        elif (connected := _CONNECTED.search(head)) is not None:
            _connect(sections, connected, number)
        elif (failed := _FAILED.search(head)) is not None:
            error = visible(failed["what"])
        elif (report := _REPORT.search(head)) is not None:
            awaited = report["id"]
        elif (found := _ROW.search(head)) is not None and found.start() <= _PREFIX_LIMIT:
            row = _interval(found)
            if row is None:
                continue
            reported = awaited == found["id"] and row.packets is not None
            _take(section, found, row, number, reported=reported)
            awaited = None if reported else awaited
        elif (marked := _TOS.search(head)) is not None:
            section.tos = int(marked["tos"], 16)
        elif (control := _CONGESTION.search(head)) is not None:
            section.congestion = control["name"].lower()
    results: list[Iperf3Result] = []
    for section in sections:
        for connection in section.connections:
            if connection.accepted is None:  # its line stands above the heading
                connection.accepted = _accepted(section, connection)
        facts = OutputFacts(
            "iperf2-text",
            section.role,
            section.protocol,
            needs_sum=True,
            tos=section.tos,
            congestion=section.congestion,
            notes=(ROUNDED,),
        )
        made, wrong = results_of(section.connections, section.sums, facts)
        results += made
        problems += wrong
    if not results:
        if problems:
            raise FormatError(f"{_WHAT}: {problems[0][1]}", line=problems[0][0])
        if error is not None:
            raise FormatError(f"iperf failed: {error}")
        raise FormatError(f"{_WHAT}: no row of a test; {quoted_start(text)}")
    return tuple(results), tuple(problems)


def _headed(sections: list[_Section], heading: re.Match[str], *, client: bool) -> list[_Section]:
    section, port = sections[-1], int(heading["port"])
    accepted = section.role == "server" and any(each.accepted for each in section.connections)
    if client and accepted:
        section.connects = port  # a server that sends back, for -r or -d
        return sections
    if section.begun:
        sections.append(_Section())
        section = sections[-1]
    section.protocol = heading["protocol"]
    if client:
        section.role, section.connects = "client", port
    else:
        section.role, section.listens = section.role or "server", port
    return sections


def _connect(sections: list[_Section], found: re.Match[str], number: int) -> None:
    section = sections[-1]
    here, there = Endpoint(found["here"], int(found["port"])), Endpoint(found["there"], int(found["far"]))
    connection = Connection(
        number,
        found["id"],
        here=here,
        there=there,
        reverse="(reverse)" in found["rest"],
        full_duplex="(full-duplex)" in found["rest"],
        bounceback="(bb " in found["rest"],
    )
    connection.accepted = _accepted(section, connection)
    if section.role == "server" and connection.accepted is False:
        accepted = [each for each in section.connections if each.accepted]
        both = any((each.here, each.there) == (there, here) for each in accepted)
        if both and connection.reverse:
            connection.with_itself = True
        elif both or there.host not in {each.there.host for each in accepted if each.there is not None}:
            # not the server that sends back, but a paste of the client's text below that of the server
            sections.append(_Section("client", None, section.connects, section.protocol))
            section = sections[-1]
    section.connections.append(connection)
    section.open[connection.number] = connection


def _accepted(section: _Section, connection: Connection) -> bool | None:
    """Whether this end waited for it, by the ports of the headings."""
    here, there = connection.here, connection.there
    far = there is not None and section.connects is not None and there.port == section.connects
    near = here is not None and section.listens is not None and here.port == section.listens
    if far != near:
        return near
    return None if section.role is None or far else section.role == "server"


def _take(section: _Section, found: re.Match[str], row: Interval, number: int, *, reported: bool) -> None:
    if found["id"] == "SUM":
        section.sums.append((number, row))
        return
    known = section.open.get(found["id"])
    star = bool(found["star"])
    if known is None or (known.here is None and not reported and _is_of_another(known, row)):
        connection = Connection(number, found["id"])
        connection.accepted = None if section.role is None else section.role == "server"
        section.connections.append(connection)
        section.open[found["id"]] = connection
    else:
        connection = known
    connection.last_line = number
    if reported:
        connection.report = row
    elif star and connection.full_duplex:
        connection.starred.append(row)
    else:
        connection.rows.append(row)


def _is_of_another(connection: Connection, row: Interval) -> bool:
    """Whether ``row`` begins another test, where nothing but its time says so."""
    rows = connection.rows
    if not rows or row.start_s > 0:
        return False
    if len(rows) > 1:
        return rows[-1].start_s == 0 or row.end_s < rows[-1].end_s - _NEARLY
    first, now = rows[0].bytes or 0, row.bytes or 0
    return row.end_s < rows[0].end_s - _NEARLY or abs(first - now) > _NEARLY * max(first, now)


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
