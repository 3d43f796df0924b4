"""What fping prints: each reply (``-l``, ``-c``, ``-D``), the round trips of a host in one line (``-C``), its summary.

It counts from 0 and may ask several hosts in turn. ``-C`` has ``-`` for a probe that was lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.ping_result import PingResult, Reply, Summary, gaps, resolution_ms
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "fping output"
_REPLY = re.compile(
    r"(?P<from> ?\[<- [^\]\n]{1,255}\])?(?:\[(?P<time>[0-9]{1,12}\.[0-9]{1,9})\] ?)?(?P<host>[^ \n]{1,255}) +: "
    r"(?:(?P<duplicate>duplicate for )?\[(?P<sequence>[0-9]{1,12})\], )"
    r"(?:(?P<lost>timed out)|(?P<bytes>[0-9]{1,6}) bytes, (?P<rtt>[0-9]{1,12}(?:\.[0-9]{1,6})?) ms)"
)
_SUMMARY = re.compile(
    r"(?P<host>[^ \n]{1,255}) +: xmt/rcv/%loss = (?P<sent>[0-9]{1,12})/(?P<received>[0-9]{1,12})/(?P<loss>[0-9]{1,3})%"
    r"(?:, min/avg/max = (?P<min>[0-9.]{1,15})/(?P<avg>[0-9.]{1,15})/(?P<max>[0-9.]{1,15}))?"
)
_ALL = re.compile(r"(?P<host>[^ \n]{1,255}) +:(?P<rtts>(?: (?:[0-9]{1,9}\.[0-9]{1,6}|[0-9]{1,9}|-)){1,1000000}) *")
_LIKE = re.compile(
    r"^(?:\[[0-9.]{1,24}\] ?)?\S{1,255} +: (?:(?:duplicate for )?\[[0-9]{1,12}\], |xmt/rcv/%loss = |"
    r"(?:[0-9]{1,9}\.[0-9]{1,6}|-)(?: (?:[0-9]{1,9}\.[0-9]{1,6}|-))* *$)",
    re.MULTILINE,
)
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-fA-F:]{2,39}")
_ALIVE = re.compile(r"^\S{1,255} is (?:alive|unreachable)", re.MULTILINE)
_HEAD = 65_536


@dataclass
class _Host:
    """What is printed of one host."""

    line: int
    replies: list[Reply] = field(default_factory=list)
    unanswered: list[int] = field(default_factory=list)
    answered: set[int] = field(default_factory=set)
    summary: Summary | None = None
    rtts: list[str] | None = None
    highest: int = -1


def looks_like(text: str) -> bool:
    """Whether it is fping's and not ping's."""
    head = text[:_HEAD]
    return _LIKE.search(head) is not None or _ALIVE.search(head) is not None


def parse(data: str | bytes, *, host: str | None = None) -> PingResult:
    """The run to the one host, or to ``host``. Raises FormatError when there are several."""
    results = parse_all(data)
    chosen = [result for result in results if host is None or result.host == visible(host)]
    if len(chosen) != 1:
        what = f"{_WHAT}: fping to several hosts; name one" if chosen else f"{_WHAT}: nothing of that host"
        raise FormatError(what, line=chosen[1].line if chosen else None)
    return chosen[0]


def parse_all(data: str | bytes) -> tuple[PingResult, ...]:
    """A run for each host, in the order in which they are first named. Raises FormatError when there is none."""
    text = text_of(data, _WHAT)
    hosts: dict[str, _Host] = {}
    for number, line in lines_of(text):
        if (found := _REPLY.match(line[:4096])) is not None:
            _reply(hosts.setdefault(found["host"], _Host(number)), found)
        elif (found := _SUMMARY.match(line[:4096])) is not None:
            hosts.setdefault(found["host"], _Host(number)).summary = _summary(found)
        elif " :" in line[:300] and (found := _ALL.fullmatch(line)) is not None and _is_of_hosts(found):
            _all(hosts.setdefault(found["host"], _Host(number)), found["rtts"].split(), number)
    if not hosts:
        if _ALIVE.search(text[:_HEAD]) is not None:
            raise FormatError(f"{_WHAT}: only that hosts are alive; fping -C 100 HOST measures round trips")
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")
    return tuple(_result(name, host) for name, host in hosts.items())


def _is_of_hosts(found: re.Match[str]) -> bool:
    """Whether it is round trips of a host, and not one number beside some other word."""
    return " " in found["rtts"].strip() or _ADDRESS.fullmatch(found["host"]) is not None


def _reply(host: _Host, found: re.Match[str]) -> None:
    sequence = int(found["sequence"])
    host.highest = max(host.highest, sequence)
    if found["lost"] is not None:
        host.unanswered.append(sequence)
        return
    duplicate = found["duplicate"] is not None
    host.answered.add(sequence)
    host.replies.append(
        Reply(
            sequence=sequence,
            rtt_ms=real(found["rtt"]),
            time_unix_s=real(found["time"]),
            resolution_ms=resolution_ms(found["rtt"]),
            bytes=whole(found["bytes"]),
            ttl=None,
            duplicate=duplicate,
            from_other_address=found["from"] is not None,
        )
    )


def _summary(found: re.Match[str]) -> Summary:
    return Summary(
        transmitted=int(found["sent"]),
        received=int(found["received"]),
        duplicates=0,
        corrupted=0,
        errors=0,
        loss_percent=real(found["loss"], most=100),
        duration_ms=None,
        rtt_min_ms=real(found["min"]),
        rtt_mean_ms=real(found["avg"]),
        rtt_max_ms=real(found["max"]),
        rtt_mdev_ms=None,
    )


def _all(host: _Host, rtts: list[str], number: int) -> None:
    """The line of ``-C``: every probe of the host, which replies above it (without ``-q``) say, too."""
    if host.rtts is not None:
        raise FormatError(f"{_WHAT}: two lines of round trips of one host, so several runs", line=number)
    host.rtts = rtts
    if host.replies or host.unanswered:
        return
    for sequence, rtt in enumerate(rtts):
        host.highest = sequence
        if rtt != "-":
            host.answered.add(sequence)
            host.replies.append(Reply(sequence, real(rtt), None, resolution_ms(rtt), None, None))
        else:
            host.unanswered.append(sequence)


def _result(name: str, host: _Host) -> PingResult:
    notes: list[str] = []
    summary = host.summary
    past_the_end = host.highest + 1
    lost: tuple[range, ...] = ()
    if summary is not None and not host.replies and summary.received:
        notes.append("only the summary was printed (-q); there are no single round-trip times")
    else:
        if summary is not None and summary.transmitted:
            past_the_end = summary.transmitted
        lost = gaps(sorted(host.answered), 0, past_the_end)
    if summary is None and host.rtts is None:
        notes.append("there is no summary: fping was stopped before its end")
    return PingResult(
        program="fping",
        host=visible(name),
        address=None,
        payload_bytes=None,
        first_sequence=0,
        replies=tuple(host.replies),
        lost=lost,
        unanswered_in_time=tuple(host.unanswered),
        errors=(),
        summary=summary,
        notes=tuple(notes),
        line=host.line,
    )
