"""What nuttcp prints: a line for each interval (``-i``) and one for the test, the same with ``-fparse``, and with
``-v`` the report of each end.

The line of a test is the same whether the client sent or received (``-r``); only ``-v`` and the command line say which.
A MB is 2^20 bytes, the rates are decimal. What the receiver got counts in the line of UDP.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "output of nuttcp"
_LINE = re.compile(
    r" *(?P<amount>[0-9.]{1,16}) (?P<prefix>[KMGT]?)B / +(?P<seconds>[0-9.]{1,12}) sec = +(?P<rate>[0-9.]{1,16}) "
    r"(?P<unit>[KMGT]?)bps(?P<rest>[^\n]{0,200})"
)
_PARSE = re.compile(
    r"megabytes=(?P<amount>[0-9.]{1,16}) real_seconds=(?P<seconds>[0-9.]{1,12}) rate_Mbps=(?P<rate>[0-9.]{1,16})"
    r"(?P<rest>[^\n]{0,200})"
)
_CPU = re.compile(r" %TX +[0-9]{1,3} %RX|tx_cpu=")
_RETRANS = re.compile(r"retrans=(?P<said>[0-9]{1,12})|(?<![=0-9])(?P<count>[0-9]{1,12}) (?:host-)?retrans")
_DROPS = re.compile(
    r"(?P<lost>[0-9]{1,12}) / +(?P<packets>[0-9]{1,12}) ~?drop/pkt|drop=(?P<d>[0-9]{1,12}) pkt=(?P<p>[0-9]{1,12})"
)
_RTT = re.compile(r"(?P<rtt>[0-9.]{1,12}) msRTT|rtt_ms=(?P<said>[0-9.]{1,12})")
_VERBOSE = re.compile(
    r"nuttcp-(?P<end>[tr]): +(?P<amount>[0-9.]{1,16}) MB in (?P<seconds>[0-9.]{1,12}) real seconds = [^\n=]{1,60}= "
    r"(?P<rate>[0-9.]{1,16}) Mbps"
)
_SAYS = re.compile(
    r"nuttcp-(?P<end>[tr]): (?:(?:v[0-9.]{1,12}: socket)|buflen=[0-9]{1,9}, nstream=(?P<streams>[0-9]{1,4}))"
)
_SAYS_RETRANS = re.compile(r"nuttcp-t: retrans = (?P<count>[0-9]{1,12})")
_COMMAND = re.compile(r"(?:^|[$#%>] ?)(?:sudo )?(?:\S{0,200}/)?nuttcp(?P<options>(?: [^\n]{1,500})?)$")
_LIKE = re.compile(
    rb"^ *[0-9.]{1,16} [KMGT]?B / +[0-9.]{1,12} sec = +[0-9.]{1,16} [KMGT]?bps|^megabytes=[0-9.]{1,16} real_seconds=|"
    rb"^nuttcp-[tr]: ",
    re.MULTILINE,
)
_BITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass
class Nuttcp:
    """One test."""

    line: int
    seconds: float
    mbit_s: float
    client_sends: bool | None
    """``None``: nothing in the text says so. nuttcp's default is that it does."""
    retransmits: int | None = None
    lost: int | None = None
    packets: int | None = None
    connect_rtt_ms: float | None = None
    streams: int = 1
    intervals: list[tuple[float, float]] = field(default_factory=list)
    """Seconds and Mbit/s."""

    @property
    def udp(self) -> bool:
        """Whether datagrams were counted."""
        return self.packets is not None


def looks_like(head: bytes) -> bool:
    """Whether ``head`` has a line of it."""
    return _LIKE.search(head) is not None


def parse_all(data: str | bytes) -> tuple[Nuttcp, ...]:
    """Every test in the text. Raises FormatError when there is none that completed."""
    text = text_of(data, _WHAT)
    found: list[Nuttcp] = []
    intervals: list[tuple[float, float]] = []
    sends: bool | None = None
    first_end: str | None = None
    streams = 1
    ends: dict[str, Nuttcp] = {}
    for number, line in lines_of(text):
        head = line[:1000]
        if (row := _LINE.match(head) or _PARSE.match(head)) is not None:
            seconds, rate = real(row["seconds"], most=1e9), real(row["rate"])
            if not seconds or rate is None:
                continue
            mbit_s = rate * (_BITS[row["unit"]] / 1e6 if row.re is _LINE else 1.0)
            if _CPU.search(row["rest"]) is None:
                intervals.append((seconds, mbit_s))
                continue
            test = Nuttcp(number, seconds, mbit_s, sends, intervals=intervals, streams=streams)
            _counts(test, row["rest"])
            found.append(test)
            intervals, sends, streams = [], None, 1
        elif (report := _VERBOSE.match(head)) is not None:
            seconds, rate = real(report["seconds"], most=1e9), real(report["rate"])
            if not seconds or rate is None:
                continue
            end = Nuttcp(number, seconds, rate, first_end == "t", streams=streams)
            if report["end"] in ends:
                ends = {}
            ends[report["end"]] = end
            if len(ends) == 2:
                lower = min(ends.values(), key=lambda each: each.mbit_s)
                lower.line, lower.retransmits = min(each.line for each in ends.values()), ends["t"].retransmits
                found.append(lower)
                ends, first_end, streams = {}, None, 1
        elif (retransmits := _SAYS_RETRANS.match(head)) is not None:
            if "t" in ends:
                ends["t"].retransmits = whole(retransmits["count"])
            elif found and found[-1].client_sends is False:
                found[-1].retransmits = whole(retransmits["count"])
        elif (said := _SAYS.match(head)) is not None:
            first_end = first_end or said["end"]
            streams = (whole(said["streams"], least=1) or streams) if said["streams"] else streams
        elif "nuttcp" in head and (command := _COMMAND.search(head)) is not None:
            sends = re.search(r" -r(?: |$)", command["options"]) is None
            parallel = re.search(r" -N ?(?P<streams>[0-9]{1,3})(?: |$)", command["options"])
            streams = 1 if parallel is None else int(parallel["streams"]) or 1
    if not found:
        what = "intervals without the line of the whole test" if intervals else "no line of a test"
        raise FormatError(f"{_WHAT}: {what}; {quoted_start(text)}")
    return tuple(found)


def _counts(test: Nuttcp, rest: str) -> None:
    if (drops := _DROPS.search(rest)) is not None:
        test.lost = whole(drops["lost"] or drops["d"])
        test.packets = whole(drops["packets"] or drops["p"])
    if (retrans := _RETRANS.search(rest)) is not None:
        test.retransmits = whole(retrans["count"] or retrans["said"])
    if (rtt := _RTT.search(rest)) is not None:
        test.connect_rtt_ms = real(rtt["rtt"] or rtt["said"])
