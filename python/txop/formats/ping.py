"""What ping prints: iputils (text and ``-j``), BusyBox, fping ``-D``.

Facts of ``ping/ping_common.c`` and ``ping_json.c`` (iputils), ``networking/ping.c`` (BusyBox), and of runs:

- iputils rounds by size: three decimals below 1 ms, two below 10 ms, one below 100 ms, none above, unless ``-3``.
- iputils counts from 1, BusyBox and fping from 0; the 16-bit number of iputils and BusyBox wraps.
- BusyBox does not mention a lost packet: it is a gap. A reply may come after ``no answer yet``; then it is late, not
  lost.
- ``ping -j`` prints ``(DUP!)``, ``(BAD CHECKSUM!)`` and ``no answer yet`` outside the JSON, and may end its summary
  with ``, }``.
- There is no ``rtt`` line when everything is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, mapping, real, string, text_of, whole

Program = Literal["iputils", "iputils-json", "busybox", "fping"]

_WHAT = "ping output"
_WRAP = 1 << 16
_STAMP = r"(?:\[(?P<time>[0-9]{1,12}\.[0-9]{1,9})\] ?)?"
_HEADER = re.compile(
    r"PING (?P<host>[^ (]{1,255}) ?\((?P<address>[^)]{1,255})\)(?P<rest>[^\n]{0,300}?)"
    r"(?P<payload>[0-9]{1,6})(?:\([0-9]{1,6}\))? (?:bytes of data\.|data bytes)"
)
_REPLY = re.compile(
    _STAMP + r"(?P<bytes>[0-9]{1,6}) bytes from (?P<host>[^\n]{1,300}?): "
    r"(?P<key>icmp_seq|icmp_req|seq)=(?P<sequence>[0-9]{1,10})(?: ident=[0-9]{1,6})?(?: ttl=(?P<ttl>[0-9]{1,3}))?"
    r"(?: time=(?P<rtt>[0-9]{1,12}(?:\.[0-9]{1,6})?) ms)?(?P<rest>[^\n]{0,200})"
)
_UNANSWERED = re.compile(_STAMP + r"no answer yet for icmp_seq=(?P<sequence>[0-9]{1,10})")
_ICMP_ERROR = re.compile(
    _STAMP + r"From (?P<host>[^\n]{1,300}?):? icmp_seq=(?P<sequence>[0-9]{1,10}) (?P<what>[^\n]{1,300})"
)
_PLAIN_ERROR = re.compile(_STAMP + r"(?P<what>(?:Destination|Time to live|Redirect|Packet filtered)[^\n]{0,200})")
_SUMMARY = re.compile(
    r"(?P<sent>[0-9]{1,12}) packets transmitted, (?P<received>[0-9]{1,12}) (?:packets )?received"
    r"(?P<extra>[^%\n]{0,200}?), (?P<loss>[0-9.]{1,12})% packet loss(?:, time (?P<time>[0-9]{1,15})ms)?"
)
_RTT = re.compile(
    r"(?:rtt|round-trip) min/avg/max(?:/(?:mdev|stddev))? = "
    r"([0-9.]{1,15})/([0-9.]{1,15})/([0-9.]{1,15})(?:/([0-9.]{1,15}))? ms"
)
_JSON = re.compile(_STAMP + r"(?P<before>[^{\n]{0,2000})(?P<object>\{[^\n]*\})")
_LONE_STAMP = re.compile(r"\[(?P<time>[0-9]{1,12}\.[0-9]{1,9})\] ?")
_FPING = re.compile(
    r"(?P<from> ?\[<- [^\]\n]{1,255}\])?" + _STAMP + r"(?P<host>[^ \n]{1,255}) +: "
    r"(?:(?P<duplicate>duplicate for )?\[(?P<sequence>[0-9]{1,12})\], )"
    r"(?:(?P<lost>timed out)|(?P<bytes>[0-9]{1,6}) bytes, (?P<rtt>[0-9]{1,12}(?:\.[0-9]{1,6})?) ms)"
)
_FPING_SUMMARY = re.compile(
    r"(?P<host>[^ \n]{1,255}) +: xmt/rcv/%loss = (?P<sent>[0-9]{1,12})/(?P<received>[0-9]{1,12})/(?P<loss>[0-9]{1,3})%"
    r"(?:, min/avg/max = (?P<min>[0-9.]{1,15})/(?P<avg>[0-9.]{1,15})/(?P<max>[0-9.]{1,15}))?"
)
_OWN_ERROR = re.compile(r"(?:[^\n :]{0,200}/)?(?:f?ping6?): (?P<what>[^\n]{1,300})")
_LONGEST_LINE = 4096


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that came."""

    sequence: int
    """Counted on past 65,535."""

    rtt_ms: float | None
    """``None`` when the packet is too short to carry a time."""

    time_unix_s: float | None
    """When it came (``-D``), else ``None``."""

    resolution_ms: float | None
    """The last digit that was printed."""

    bytes: int | None
    ttl: int | None
    duplicate: bool = False
    corrupted: bool = False
    """Its ICMP checksum was wrong; ping does not count it as received."""

    from_other_address: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class IcmpError:
    """An ICMP error that came instead of an answer."""

    sequence: int | None
    time_unix_s: float | None
    reporter: str | None
    what: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The last lines, as printed."""

    transmitted: int
    received: int
    duplicates: int
    corrupted: int
    errors: int
    loss_percent: float | None
    duration_ms: float | None
    rtt_min_ms: float | None
    rtt_mean_ms: float | None
    rtt_max_ms: float | None
    rtt_mdev_ms: float | None


@dataclass(frozen=True, slots=True)
class PingResult:
    """One run of ping to one host."""

    program: Program
    host: str | None
    address: str | None
    payload_bytes: int | None
    first_sequence: int
    replies: tuple[Reply, ...]
    lost: tuple[range, ...]
    """Numbers that no valid reply answered, in order. Without a summary, only below the last number that was seen."""

    unanswered_in_time: tuple[int, ...]
    """``no answer yet`` (``-O``); some of them may have been answered later."""

    errors: tuple[IcmpError, ...]
    summary: Summary | None
    """``None`` when ping was killed."""

    notes: tuple[str, ...]

    @property
    def resolution_ms(self) -> float | None:
        """The coarsest rounding among the replies."""
        return max((reply.resolution_ms for reply in self.replies if reply.resolution_ms is not None), default=None)

    @property
    def lost_count(self) -> int:
        """How many numbers ``lost`` holds."""
        return sum(len(part) for part in self.lost)

    def lost_sequences(self) -> Iterator[int]:
        """The lost numbers one by one."""
        for part in self.lost:
            yield from part

    def rtts_ms(self) -> tuple[float, ...]:
        """Round-trip times of the first valid reply to each number, in order of arrival."""
        return tuple(
            reply.rtt_ms
            for reply in self.replies
            if reply.rtt_ms is not None and not reply.duplicate and not reply.corrupted
        )


def parse(data: str | bytes, *, host: str | None = None) -> PingResult:
    """One run of ping. ``host`` picks one when fping was given several.

    Raises FormatError when the text is not ping's, when ping only printed an error, and when it printed in another
    language than English.
    """
    text = text_of(data, _WHAT)
    gathered = _Gathered(host)
    for number, line in lines_of(text):
        gathered.take(number, line[:_LONGEST_LINE])
    if gathered.program is None:
        raise _not_ping(text, gathered.own_error)
    return gathered.result()


def _not_ping(text: str, own_error: str | None) -> FormatError:
    if own_error is not None:
        return FormatError(f"{_WHAT}: ping failed: {visible(own_error)}")
    if re.search(r"icmp_seq=|\bttl=|^PING ", text[:65_536], re.MULTILINE | re.IGNORECASE):
        return FormatError(f"{_WHAT} in another language or form; run ping with LC_ALL=C; {quoted_start(text)}")
    return FormatError(f"{_WHAT} expected; {quoted_start(text)}")


@dataclass
class _Gathered:
    wanted_host: str | None
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
    answered: set[int] = field(default_factory=set)

    def take(self, number: int, line: str) -> None:
        """One line, of whichever program."""
        if (found := _FPING.match(line)) is not None:
            self._fping(found, number)
        elif (found := _FPING_SUMMARY.match(line)) is not None:
            self._fping_summary(found, number)
        elif (found := _REPLY.match(line)) is not None:
            self.program = "busybox" if found["key"] == "seq" else self.program or "iputils"
            self._reply(found)
        elif (found := _UNANSWERED.match(line)) is not None:
            self.program = self.program or "iputils"
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
            self._rtt(found)
        elif (found := _HEADER.match(line)) is not None:
            self.program = "busybox" if ": " in found["rest"] and "from" not in found["rest"] else "iputils"
            self.host, self.address = visible(found["host"]), visible(found["address"])
            self.payload_bytes = whole(found["payload"])
        elif (found := _JSON.match(line)) is not None:
            self._json(found)
        elif (found := _LONE_STAMP.fullmatch(line)) is not None:
            self.lone_stamp = found["time"]  # -j with damaged data: the JSON follows two lines further down
        elif (found := _PLAIN_ERROR.match(line)) is not None:
            self.errors.append(IcmpError(None, real(found["time"]), None, found["what"]))
        elif (found := _OWN_ERROR.match(line)) is not None:
            self.own_error = found["what"]

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

    def _add(self, reply: Reply) -> None:
        if not reply.corrupted:
            self.answered.add(reply.sequence)
        self.replies.append(reply)

    def _reply(self, found: re.Match[str]) -> None:
        rest = found["rest"]
        self._add(
            Reply(
                sequence=self._counted_on(int(found["sequence"])),
                rtt_ms=real(found["rtt"]),
                time_unix_s=real(found["time"]),
                resolution_ms=_resolution_ms(found["rtt"]),
                bytes=whole(found["bytes"]),
                ttl=whole(found["ttl"]),
                duplicate="(DUP!)" in rest,
                corrupted="(BAD CHECKSUM!)" in rest,
                from_other_address="(DIFFERENT ADDRESS!)" in rest,
                truncated="(truncated)" in rest,
            )
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
                    resolution_ms=_resolution_ms(rtt),
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

    def _rtt(self, found: re.Match[str]) -> None:
        summary = self.summary
        assert summary is not None
        minimum, mean, maximum, mdev = (real(part) for part in found.groups())
        self.summary = Summary(
            summary.transmitted,
            summary.received,
            summary.duplicates,
            summary.corrupted,
            summary.errors,
            summary.loss_percent,
            summary.duration_ms,
            minimum,
            mean,
            maximum,
            mdev,
        )

    def _is_wanted(self, host: str, number: int) -> bool:
        if self.wanted_host is not None and host != self.wanted_host:
            return False
        if self.host is not None and self.host != visible(host):
            raise FormatError(f"{_WHAT}: fping to several hosts; name one", line=number)
        self.program, self.host = "fping", visible(host)
        return True

    def _fping(self, found: re.Match[str], number: int) -> None:
        if not self._is_wanted(found["host"], number):
            return
        sequence = int(found["sequence"])
        self.highest = sequence if self.highest is None else max(self.highest, sequence)
        if found["lost"] is not None:
            self.unanswered.append(sequence)
            return
        self._add(
            Reply(
                sequence=sequence,
                rtt_ms=real(found["rtt"]),
                time_unix_s=real(found["time"]),
                resolution_ms=_resolution_ms(found["rtt"]),
                bytes=whole(found["bytes"]),
                ttl=None,
                duplicate=found["duplicate"] is not None,
                from_other_address=found["from"] is not None,
            )
        )

    def _fping_summary(self, found: re.Match[str], number: int) -> None:
        if not self._is_wanted(found["host"], number):
            return
        self.summary = Summary(
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

    def result(self) -> PingResult:
        """Everything, with what was lost."""
        assert self.program is not None
        first = 1 if self.program.startswith("iputils") else 0
        notes: list[str] = []
        summary = self.summary
        past_the_end = (self.highest + 1) if self.highest is not None else first
        lost: tuple[range, ...] = ()
        if summary is not None and not self.replies and summary.received:
            notes.append("only the summary was printed (-q or -f); there are no single round-trip times")
        else:
            if summary is not None and summary.transmitted:
                past_the_end = first + summary.transmitted
            lost = _gaps(sorted(self.answered), first, past_the_end)
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
        )


def _gaps(answered: list[int], first: int, past_the_end: int) -> tuple[range, ...]:
    """The numbers from ``first`` to before ``past_the_end`` that are not in ``answered`` (sorted)."""
    gaps = []
    expected = first
    for sequence in answered:
        if sequence >= past_the_end:
            break
        if sequence > expected:
            gaps.append(range(expected, sequence))
        expected = max(expected, sequence + 1)
    if expected < past_the_end:
        gaps.append(range(expected, past_the_end))
    return tuple(gaps)


def _host(said: Any) -> str | None:
    host = string(said.get("host"), longest=300)
    return None if host is None else visible(host)


def _resolution_ms(printed: str | None) -> float | None:
    """One unit of the last digit printed.

    >>> _resolution_ms("12.7"), _resolution_ms("512"), _resolution_ms(None)
    (0.1, 1.0, None)
    """
    if printed is None or real(printed) is None:
        return None
    return float(10.0 ** -len(printed.partition(".")[2]))
