"""What ping prints: iputils (text and ``-j``), BusyBox, and the BSDs', which macOS and GNU inetutils have, too.

Facts of ``ping/ping_common.c`` and ``ping_json.c`` (iputils), ``networking/ping.c`` (BusyBox), and of runs:

- iputils rounds by size: three decimals below 1 ms, two below 10 ms, one below 100 ms, none above, unless ``-3``.
- iputils counts from 1, BusyBox and BSD from 0; the 16-bit number wraps.
- BusyBox does not mention a lost packet: it is a gap. A reply may come after ``no answer yet``; then it is late, not
  lost.
- ``ping -j`` prints ``(DUP!)``, ``(BAD CHECKSUM!)`` and ``no answer yet`` outside the JSON, and may end its summary
  with ``, }``.
- There is no ``rtt`` line when everything is lost.
- BSD's ``Request timeout`` is a wait that ended; the answer may come later, and its summary counts it. It does not mark
  answers of several hosts to a broadcast.
- A text may hold several runs: a further one begins with its heading, or with a reply below a summary.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

from txop.core.visible import visible
from txop.formats import fping
from txop.formats.error import FormatError, quoted_start
from txop.formats.ping_result import IcmpError, PingResult, Program, Reply, Summary, gaps, resolution_ms
from txop.formats.reading import lines_of, mapping, real, string, text_of, whole

__all__ = ["IcmpError", "PingResult", "Program", "Reply", "Summary", "parse", "parse_all"]

_WHAT = "ping output"
_WRAP = 1 << 16
_STAMP = r"(?:\[(?P<time>[0-9]{1,12}\.[0-9]{1,9})\] ?)?"
_HEADER = re.compile(
    r"PING (?P<host>[^ (]{1,255}) ?\((?P<address>[^)]{1,255})\)(?P<rest>[^\n]{0,300}?)"
    r"(?P<payload>[0-9]{1,6})(?:\([0-9]{1,6}\))? (?:bytes of data\.|data bytes)"
)
_HEADER_OF_6 = re.compile(
    r"PING6?\([0-9]{1,6}=40\+8\+(?P<payload>[0-9]{1,6}) bytes\) \S{1,255} --> (?P<host>\S{1,255})"
)
_REPLY = re.compile(
    _STAMP + r"(?:[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{1,9} )?"
    r"(?P<bytes>[0-9]{1,6}) bytes from (?P<host>[^\n]{1,300}?)(?::|,) "
    r"(?P<key>icmp_seq|icmp_req|seq)=(?P<sequence>[0-9]{1,10})(?: ident=[0-9]{1,6})?"
    r"(?: (?:ttl|hlim)=(?P<ttl>[0-9]{1,3}))?"
    r"(?: time=(?P<rtt>[0-9]{1,12}(?:\.[0-9]{1,6})?) ms)?(?P<rest>[^\n]{0,200})"
)
_UNANSWERED = re.compile(
    _STAMP
    + r"(?:no answer yet for icmp_seq=|(?:[0-9:.]{8,18} )?Request timeout for icmp_seq )(?P<sequence>[0-9]{1,10})"
)
_ICMP_ERROR = re.compile(
    _STAMP + r"From (?P<host>[^\n]{1,300}?):? icmp_seq=(?P<sequence>[0-9]{1,10}) (?P<what>[^\n]{1,300})"
)
_PLAIN_ERROR = re.compile(_STAMP + r"(?P<what>(?:Destination|Time to live|Redirect|Packet filtered)[^\n]{0,200})")
_SUMMARY = re.compile(
    r"(?P<sent>[0-9]{1,12}) packets transmitted, (?P<received>[0-9]{1,12}) (?:packets )?received"
    r"(?P<extra>[^%\n]{0,200}?), (?P<loss>[0-9.]{1,12})% packet loss(?:, time (?P<time>[0-9]{1,15})ms)?"
)
_RTT = re.compile(
    r"(?:rtt|round-trip) min/avg/max(?:/(?:mdev|std-?dev))? = "
    r"(?P<min>[0-9.]{1,15})/(?P<avg>[0-9.]{1,15})/(?P<max>[0-9.]{1,15})(?:/(?P<deviation>[0-9.]{1,15}|nan))? ms"
    r"(?:, pipe [0-9]{1,9})?(?:, ipg/ewma (?P<interval>[0-9.]{1,15})/)?"
)
_COMMAND = re.compile(r"(?:^|[$#%>] ?)(?:sudo )?(?:[^\s]{0,200}/)?ping6? (?P<options>[^\n]{1,500})$")
_TOS = re.compile(r"(?:^| )-[Qz] ?(?P<tos>0x[0-9a-fA-F]{1,2}|[0-9]{1,3})(?: |$)")

_JSON = re.compile(_STAMP + r"(?P<before>[^{\n]{0,2000})(?P<object>\{[^\n]*\})")
_LONE_STAMP = re.compile(r"\[(?P<time>[0-9]{1,12}\.[0-9]{1,9})\] ?")
_OWN_ERROR = re.compile(r"(?:[^\n :]{0,200}/)?(?:f?ping6?): (?P<what>[^\n]{1,300})")
_LONGEST_LINE = 4096
_FIRST = frozenset("P[0123456789")
"""How lines begin that may begin a run."""


def parse(data: str | bytes, *, host: str | None = None) -> PingResult:
    """One run of ping or fping. ``host`` picks one when fping was given several.

    Raises FormatError when the text is not ping's, when ping only printed an error, when it printed in another language
    than English, and when there are several runs.
    """
    text = text_of(data, _WHAT)
    if fping.looks_like(text):
        return fping.parse(text, host=host)
    results = parse_all(text)
    if len(results) != 1:
        raise FormatError(f"{_WHAT}: {len(results)} runs where one is expected", line=results[1].line)
    return results[0]


def parse_all(data: str | bytes) -> tuple[PingResult, ...]:
    """Every run of ping in the text, in order.

    Raises FormatError when the text is not ping's, when ping only printed an error, and when it printed in another
    language than English.
    """
    text = text_of(data, _WHAT)
    runs = [_Gathered()]
    for number, line in lines_of(text):
        cut = line[:_LONGEST_LINE].lstrip(" \t>")
        if runs[-1].is_over(cut):
            runs.append(_Gathered(tos=runs[-1].asked_next))
        runs[-1].take(number, cut)
    results = tuple(run.result() for run in runs if run.program is not None)
    if not results:
        raise _not_ping(text, runs[-1].own_error)
    return results


def _not_ping(text: str, own_error: str | None) -> FormatError:
    if own_error is not None:
        return FormatError(f"{_WHAT}: ping failed: {visible(own_error)}")
    if re.search(r"icmp_seq=|\bttl=|^PING ", text[:65_536], re.MULTILINE | re.IGNORECASE):
        return FormatError(f"{_WHAT} in another language or form; run ping with LC_ALL=C; {quoted_start(text)}")
    return FormatError(f"{_WHAT} expected; {quoted_start(text)}")


@dataclass
class _Gathered:
    line: int | None = None
    tos: int | None = None
    asked_next: int | None = None
    """What the command line below the summary asks for."""
    program: Program | None = None
    host: str | None = None
    address: str | None = None
    payload_bytes: int | None = None
    replies: list[Reply] = field(default_factory=list)
    unanswered: list[int] = field(default_factory=list)
    errors: list[IcmpError] = field(default_factory=list)
    summary: Summary | None = None
    own_error: str | None = None
    json_damaged: int = 0
    lone_stamp: str | None = None
    highest: int | None = None
    answered: dict[int, str | None] = field(default_factory=dict)
    """The first host that answered a number."""
    several_hosts: bool = False
    headed: bool = False
    """Its heading is in the text."""

    def is_over(self, line: str) -> bool:
        """Whether ``line`` begins another run."""
        if self.program is None or line[:1] not in _FIRST:
            return False
        if _HEADER.match(line) is not None or _HEADER_OF_6.match(line) is not None:
            return True
        return self.summary is not None and _REPLY.match(line) is not None

    def take(self, number: int, line: str) -> None:
        """One line, of whichever program."""
        self._take(line)
        if self.line is None and self.program is not None:
            self.line = number

    def _take(self, line: str) -> None:
        if (found := _REPLY.match(line)) is not None:
            self.program = self._who(found)
            self._reply(found)
        elif (found := _UNANSWERED.match(line)) is not None:
            self.program = "bsd" if self.program == "busybox" else self.program or "iputils"
            self.unanswered.append(self._counted_on(int(found["sequence"])))
        elif (found := _ICMP_ERROR.match(line)) is not None:
            self.program = self.program or "iputils"
            self.errors.append(
                IcmpError(
                    self._counted_on(int(found["sequence"])), real(found["time"]), visible(found["host"]), found["what"]
                )
            )
        elif (found := _SUMMARY.match(line)) is not None:
            self.program = self.program or ("busybox" if " packets received" in line else "iputils")
            self._summary(found)
        elif (found := _RTT.match(line)) is not None and self.summary is not None:
            if found["deviation"] is not None and self.program == "busybox":
                self.program = "bsd"
            self._rtt(self.summary, found)
        elif (found := _HEADER_OF_6.match(line)) is not None:
            self.program, self.host, self.headed = "bsd", visible(found["host"]), True
            self.payload_bytes = whole(found["payload"])
        elif (found := _HEADER.match(line)) is not None:
            self.program = "busybox" if ": " in found["rest"] and "from" not in found["rest"] else "iputils"
            self.host, self.address = visible(found["host"]), visible(found["address"])
            self.payload_bytes, self.headed = whole(found["payload"]), True
        elif (found := _JSON.match(line)) is not None:
            self._json(found)
        elif (found := _LONE_STAMP.fullmatch(line)) is not None:
            self.lone_stamp = found["time"]  # -j with damaged data: the JSON follows two lines further down
        elif (found := _PLAIN_ERROR.match(line)) is not None:
            self.errors.append(IcmpError(None, real(found["time"]), None, found["what"]))
        elif (found := _OWN_ERROR.match(line)) is not None:
            self.own_error = found["what"]
        elif "ping" in line and (found := _COMMAND.search(line)) is not None:
            marked = _TOS.search(found["options"])
            asked = None if marked is None else int(marked["tos"], 0 if "x" in marked["tos"].lower() else 10)
            if self.program is None:
                self.tos = asked
            else:
                self.asked_next = asked

    def _who(self, found: re.Match[str]) -> Program:
        """BusyBox and BSD have the same heading, and other words for a reply."""
        if found["key"] == "seq":
            return "busybox"
        if self.program == "busybox" or " hlim=" in found[0]:
            return "bsd"
        return self.program or "iputils"

    def _counted_on(self, sequence: int) -> int:
        """``sequence`` of 16 bits, counted on: the number nearest to the highest one so far."""
        if sequence >= _WRAP:
            return sequence
        if self.highest is None:
            counted = sequence
        else:
            distance = (sequence - self.highest) % _WRAP
            counted = self.highest + (distance - _WRAP if distance >= _WRAP // 2 else distance)
        self.highest = counted if self.highest is None else max(self.highest, counted)
        return counted

    def _add(self, reply: Reply, host: str | None = None) -> None:
        if reply.sequence in self.answered:
            if host != self.answered[reply.sequence] and not reply.from_other_address:
                self.several_hosts = True
            if not reply.corrupted and not reply.duplicate:
                reply = replace(reply, duplicate=True)
        elif not reply.corrupted:
            self.answered[reply.sequence] = host
        self.replies.append(reply)

    def _reply(self, found: re.Match[str]) -> None:
        rest = found["rest"]
        self._add(
            Reply(
                sequence=self._counted_on(int(found["sequence"])),
                rtt_ms=real(found["rtt"]),
                time_unix_s=real(found["time"]),
                resolution_ms=resolution_ms(found["rtt"]),
                bytes=whole(found["bytes"]),
                ttl=whole(found["ttl"]),
                duplicate="(DUP!)" in rest,
                corrupted="(BAD CHECKSUM!)" in rest,
                from_other_address="(DIFFERENT ADDRESS!)" in rest,
                truncated="(truncated)" in rest,
            ),
            found["host"],
        )

    def _json(self, found: re.Match[str]) -> None:
        try:
            document: Any = json.loads(re.sub(r",\s*\}", "}", found["object"]))
        except (ValueError, RecursionError):
            self.json_damaged += 1
            return
        said = mapping(document)
        before = found["before"]
        stamp, self.lone_stamp = found["time"] or self.lone_stamp, None
        if "seq" in said and (sequence := whole(said["seq"], most=2**32)) is not None:
            self.program = "iputils-json"
            self.host = self.host or _host(said)
            rtt = string(said.get("time"), longest=32)
            self._add(
                Reply(
                    sequence=self._counted_on(sequence),
                    rtt_ms=real(rtt),
                    time_unix_s=real(stamp),
                    resolution_ms=resolution_ms(rtt),
                    bytes=whole(said.get("bytes")),
                    ttl=whole(said.get("ttl"), most=255),
                    duplicate="(DUP!)" in before,
                    corrupted="(BAD CHECKSUM!)" in before,
                    from_other_address="(DIFFERENT ADDRESS!)" in before,
                    truncated=said.get("info") == "truncated",
                )
            )
        elif (sent := whole(said.get("transmitted"))) is not None:
            self.program = "iputils-json"
            self.host = _host(said) or self.host
            rtt_said = mapping(said.get("rtt"))
            minimum, mean, maximum, mdev = (real(rtt_said.get(key)) for key in ("min", "avg", "max", "mdev"))
            self.summary = Summary(
                transmitted=sent,
                received=whole(said.get("received")) or 0,
                duplicates=whole(said.get("duplicates")) or 0,
                corrupted=whole(said.get("corrupted")) or 0,
                errors=whole(said.get("errors")) or 0,
                loss_percent=real(said.get("loss"), most=100),
                duration_ms=real(said.get("time")),
                rtt_min_ms=minimum,
                rtt_mean_ms=mean,
                rtt_max_ms=maximum,
                rtt_mdev_ms=mdev,
            )
        elif "error" in said:
            self.program = self.program or "iputils-json"
            parts = said["error"] if isinstance(said["error"], list) else [said["error"]]
            what = ": ".join(part for part in parts if isinstance(part, str))
            self.errors.append(IcmpError(None, real(stamp), None, what[:300]))

    def _summary(self, found: re.Match[str]) -> None:
        extra = found["extra"]

        def count(name: str) -> int:
            said = re.search(rf"([0-9]{{1,12}}) {name}", extra)
            return int(said[1]) if said is not None else 0

        self.summary = Summary(
            transmitted=int(found["sent"]),
            received=int(found["received"]),
            duplicates=count("duplicates"),
            corrupted=count("corrupted"),
            errors=count("errors"),
            loss_percent=real(found["loss"], most=100),
            duration_ms=real(found["time"]),
            rtt_min_ms=None,
            rtt_mean_ms=None,
            rtt_max_ms=None,
            rtt_mdev_ms=None,
        )

    def _rtt(self, summary: Summary, found: re.Match[str]) -> None:
        self.summary = replace(
            summary,
            rtt_min_ms=real(found["min"]),
            rtt_mean_ms=real(found["avg"]),
            rtt_max_ms=real(found["max"]),
            rtt_mdev_ms=real(found["deviation"]),
            interval_ms=real(found["interval"]),
        )

    def result(self) -> PingResult:
        """Everything, with what was lost."""
        assert self.program is not None
        first = 1 if self.program.startswith("iputils") else 0
        notes: list[str] = []
        summary = self.summary
        seen = [*self.answered, *self.unanswered]
        if summary is None and not self.headed and seen and self.program != "iputils-json":
            first = min(seen)  # the beginning is not in the text
        past_the_end = (self.highest + 1) if self.highest is not None else first
        lost: tuple[range, ...] = ()
        if summary is not None and not self.replies and summary.received:
            notes.append("only the summary was printed (-q or -f); there are no single round-trip times")
        else:
            if summary is not None and summary.transmitted:
                past_the_end = first + summary.transmitted
            lost = gaps(sorted(self.answered), first, past_the_end)
        if summary is None:
            notes.append("there is no summary: ping was stopped before its end")
        if self.json_damaged:
            notes.append(f"{self.json_damaged} JSON object(s) could not be read")
        return PingResult(
            program=self.program,
            host=self.host,
            address=self.address,
            payload_bytes=self.payload_bytes,
            first_sequence=first,
            replies=tuple(self.replies),
            lost=lost,
            unanswered_in_time=tuple(self.unanswered),
            errors=tuple(self.errors),
            summary=summary,
            notes=tuple(notes),
            line=self.line,
            tos=self.tos,
            several_hosts=self.several_hosts,
        )


def _host(said: Any) -> str | None:
    host = string(said.get("host"), longest=300)
    return None if host is None else visible(host)
