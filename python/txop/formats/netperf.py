"""What netperf prints for people: the streams (``TCP_STREAM``, ``TCP_MAERTS``, ``TCP_SENDFILE``, ``UDP_STREAM``) and
the request-response tests (``TCP_RR``, ``UDP_RR``), with their heading.

A STREAM goes from netperf to netserver, a MAERTS back. The unit of a throughput is in the heading. With one request at
a time a mean round trip is the inverse of the rate of transactions. Numbers alone (``-P 0``) do not say what they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "output of netperf"
_HEADING = re.compile(
    r"(?:MIGRATED )?(?P<name>(?:TCP|UDP|SCTP|DCCP) (?:STREAM|MAERTS|SENDFILE|UNIDIRECTIONAL SEND|REQUEST/RESPONSE|"
    r"(?i:CONNECT/REQUEST/RESPONSE|CONNECT/CLOSE))) TEST(?= |$)(?P<rest>[^\n]{0,600})"
)
_TO = re.compile(r"(?:^| )to (?P<host>\S{1,255})")
_UNIT = re.compile(r"(?P<unit>10\^[369]bits/s|[KMG]?Bytes */sec|[KMG]Bytes/s)")
_BURST = re.compile(r"first burst (?P<count>[0-9]{1,6})")
_INTERIM = re.compile(
    r"Interim result: +(?P<rate>[0-9.]{1,16}) (?P<unit>10\^[369]bits/s|[KMG]?Bytes/s|Trans/s) over "
    r"(?P<seconds>[0-9.]{1,12}) seconds"
)
_LIKE = re.compile(
    rb"^(?:MIGRATED )?(?:TCP|UDP|SCTP|DCCP) "
    rb"(?:STREAM|MAERTS|SENDFILE|UNIDIRECTIONAL SEND|REQUEST/RESPONSE"
    rb"|(?i:CONNECT/REQUEST/RESPONSE|CONNECT/CLOSE)) TEST ",
    re.MULTILINE,
)
_NAMES = {"REQUEST/RESPONSE": "RR", "UNIDIRECTIONAL SEND": "STREAM", "CONNECT/REQUEST/RESPONSE": "CRR"}
_BITS = {
    "10^3bits/s": 1e3, "10^6bits/s": 1e6, "10^9bits/s": 1e9,
    "Bytes/sec": 8.0, "KBytes/sec": 8.0 * 2**10, "MBytes/sec": 8.0 * 2**20, "GBytes/sec": 8.0 * 2**30,
}  # fmt: skip


@dataclass
class Netperf:
    """One test."""

    line: int
    name: str
    """``TCP STREAM`` and so on."""
    host: str | None = None
    seconds: float | None = None
    sent_mbit_s: float | None = None
    received_mbit_s: float | None = None
    """Of UDP; of TCP both are the one that is printed."""
    messages_sent: int | None = None
    messages_received: int | None = None
    transactions_s: float | None = None
    burst: int = 0
    intervals: list[tuple[float, float]] = field(default_factory=list)
    """Seconds and Mbit/s (``-D``)."""

    @property
    def back(self) -> bool:
        """Whether the data went from netserver to netperf."""
        return "MAERTS" in self.name


@dataclass
class _Open:
    test: Netperf
    unit: str | None = None
    done: bool = False


def looks_like(head: bytes) -> bool:
    """Whether ``head`` has the heading of a test."""
    return _LIKE.search(head) is not None


def parse_all(data: str | bytes) -> tuple[tuple[Netperf, ...], tuple[tuple[int | None, str], ...]]:
    """Every test in the text, and those that did not complete: line and clause.

    Raises FormatError when there is none.
    """
    text = text_of(data, _WHAT)
    tests: list[_Open] = []
    for number, line in lines_of(text):
        head = line[:1000]
        if (begun := _HEADING.search(head)) is not None:
            burst = _BURST.search(begun["rest"])
            protocol, _, kind = begun["name"].upper().partition(" ")
            test = Netperf(number, f"{protocol} {_NAMES.get(kind, kind)}", burst=0 if burst is None else int(burst[1]))
            tests.append(_Open(test))
            head = begun["rest"]
        if not tests:
            continue
        now = tests[-1]
        if now.test.host is None and now.unit is None and (to := _TO.search(head)) is not None:
            now.test.host = visible(to["host"])
        elif (interim := _INTERIM.match(head)) is not None:
            seconds, rate = real(interim["seconds"], most=1e9), real(interim["rate"])
            scale = _BITS.get(interim["unit"].replace("Bytes/s", "Bytes/sec"))
            if seconds and rate is not None and scale is not None:
                now.test.intervals.append((seconds, rate * scale / 1e6))
        elif (unit := _UNIT.search(head)) is not None and now.unit is None:
            now.unit = unit["unit"].replace(" ", "")
        else:
            _row(now, head.split())
    if not tests:
        raise FormatError(f"{_WHAT}: no heading of a test; {quoted_start(text)}")
    done = tuple(each.test for each in tests if each.done)
    problems = tuple(
        (each.test.line, f"a {each.test.name} of netperf without a result that is read")
        for each in tests
        if not each.done
    )
    if not done:
        raise FormatError(f"{_WHAT}: {problems[0][1]}", line=problems[0][0])
    return done, problems


def _row(now: _Open, cells: list[str]) -> None:
    """A line of numbers under a heading: where they stand is what they are."""
    numbers = [real(cell) for cell in cells]
    if not numbers or None in numbers:
        return
    values = [number for number in numbers if number is not None]
    test = now.test
    scale = _BITS.get((now.unit or "").replace("bits/sec", "bits/s"))
    if test.name.endswith(" RR"):
        if len(values) >= 6 and not now.done and values[4] > 0:
            test.seconds, test.transactions_s, now.done = values[4], values[5], True
    elif test.name.endswith((" CRR", "CONNECT/CLOSE")):
        return  # a transaction opens a connection too: not a round trip
    elif test.name == "UDP STREAM":
        if scale is None:
            return
        if len(values) >= 6 and not now.done:
            test.seconds, test.messages_sent, now.done = values[2], whole(cells[3]), True
            test.sent_mbit_s = values[5] * scale / 1e6
        elif len(values) >= 4 and now.done and test.received_mbit_s is None:
            test.messages_received = whole(cells[2])
            test.received_mbit_s = values[3] * scale / 1e6
    elif len(values) >= 5 and not now.done and scale is not None and values[3] > 0:
        test.seconds, now.done = values[3], True
        test.sent_mbit_s = test.received_mbit_s = values[4] * scale / 1e6
