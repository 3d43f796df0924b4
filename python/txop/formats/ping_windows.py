"""What ping of Windows prints, in whatever language: its numbers stand at the same places in each.

A reply ends with ``TTL=``, or is of an IPv6 address and ends with its time; the statistics are three counts (sent,
received, lost) and three times (least, most, mean) behind equal signs. Times are whole milliseconds. ``<1ms`` is a
bound and no time, and Windows counts it as 0 in its own mean. What a router says instead of an answer ("Destination
host unreachable") has no time, and Windows counts it as received.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "output of ping of Windows"
_ADDRESS = r"(?P<address>[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-fA-F:]{2,39}(?:%[0-9A-Za-z]{1,16})?)"
_REPLY = re.compile(
    r"[^\n=\[]{0,80}?" + _ADDRESS + r"[^\n=]{0,60}?:[^\n=<]{1,40}?= ?(?P<bytes>[0-9]{1,6}) "
    r"[^\n=<0-9]{1,40}?(?P<bound>[=<]) ?(?P<rtt>[0-9]{1,9}(?:[.,][0-9]{1,3})?) ?[^\s0-9=]{1,8} "
    r"TTL ?= ?(?P<ttl>[0-9]{1,3})\s*"
)
_REPLY_OF_6 = re.compile(
    r"[^\n=\[]{0,80}?(?P<address>[0-9a-fA-F]{0,4}:[0-9a-fA-F:]{1,39}(?:%[0-9A-Za-z]{1,16})?)[^\n=:<]{0,60}?: ?"
    r"[^\n=<0-9:]{1,40}?(?P<bound>[=<]) ?(?P<rtt>[0-9]{1,9}) ?[^\s0-9=]{1,8}\s*"
)
_COUNTS = re.compile(
    r"[^\n=]{1,60}= ?(?P<sent>[0-9]{1,12})[^\n=0-9]{1,60}= ?(?P<received>[0-9]{1,12})[^\n=0-9]{1,60}= ?"
    r"(?P<lost>[0-9]{1,12})(?![0-9.]| ?[^\s0-9(,.;]{1,6}\b(?<!\())"
)
_PART = re.compile(r"[^\n=]{1,60}= ?[0-9]{1,12}(?:[^\n=0-9]{1,60}= ?[0-9]{1,12})?[,\uff0c\u3001]")
"""Two of the three counts, where a language needs a second line for the third."""

_TIME = r"= *(?P<{}>[0-9]{{1,9}}) ?[^\s0-9=,;\uff0c\u3001]{{1,8}}"
_TIMES = re.compile(
    r"[^\n=]{1,60}" + _TIME.format("least") + r"[^\n=]{1,60}" + _TIME.format("most") + r"[^\n=]{1,60}"
    + _TIME.format("mean") + r"\s*"
)  # fmt: skip
_HEADING = re.compile(
    r"[^\n\[\]]{0,120}?(?:(?P<host>\S{1,255}) \[(?P<address>[0-9a-fA-F.:%]{2,60})\]|"
    r"(?P<alone>[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-fA-F]{0,4}:[0-9a-fA-F:%]{1,45}))"
    r"[^\n]{0,80}? (?P<bytes>[0-9]{1,6}) [^\n=]{1,60}:\s*"
)
_LIKE = re.compile(
    rb"^[^\n=\[]{0,80}?(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-fA-F:]{2,39})[^\n=]{0,90}?= ?[0-9]{1,6} "
    rb"[^\n=<]{1,90}?[=<] ?[0-9]{1,9}[^\n=]{1,12} TTL ?= ?[0-9]{1,3}\s*$"
    rb"|^[^\n=]{1,90}= ?[0-9]{1,9},?[^\n=0-9]{1,90}= ?[0-9]{1,9},?[^=0-9]{1,90}= ?[0-9]{1,9}\s{0,12}\([^\n()]{0,40}%",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class WindowsReply:
    """An answer, or a line that stands for none."""

    rtt_ms: float | None
    """``None``: there was no answer."""
    below: bool = False
    """The time is below ``rtt_ms``, and that is all that is known."""


@dataclass
class WindowsPing:
    """One run."""

    line: int
    host: str | None = None
    address: str | None = None
    payload_bytes: int | None = None
    probes: list[WindowsReply] = field(default_factory=list)
    """In order; lines without a time are probes that were not answered."""
    sent: int | None = None
    received: int | None = None
    """As Windows counts it: what a router says instead is in it."""
    least_ms: float | None = None
    most_ms: float | None = None
    mean_ms: float | None = None
    """Of whole milliseconds, cut down to one; those below 1 count as 0."""

    @property
    def answered(self) -> int:
        """Probes with an answer in the text."""
        return sum(probe.rtt_ms is not None for probe in self.probes)

    @property
    def bounded(self) -> bool:
        """Whether a time is only known to be below 1 ms."""
        return any(probe.below for probe in self.probes)


def looks_like(head: bytes) -> bool:
    """Whether ``head`` has a reply or the statistics of it, in any language."""
    return _LIKE.search(head) is not None


def parse_all(data: str | bytes) -> tuple[WindowsPing, ...]:
    """Every run in the text. Raises FormatError when there is none."""
    text = text_of(data, _WHAT)
    runs: list[WindowsPing] = []
    now: WindowsPing | None = None
    pending = ""
    for number, line in lines_of(text):
        head = (pending + " " + line[:1000]).strip()
        pending = ""
        if not head:
            continue
        if _PART.fullmatch(head) is not None:
            pending = head
            continue
        reply = _reply(head)
        if reply is not None:
            if now is None or now.sent is not None:
                now = WindowsPing(number, address=reply[1])
                runs.append(now)
            now.probes.append(reply[0])
        elif (times := _TIMES.fullmatch(head)) is not None and now is not None and now.sent is not None:
            now.least_ms, now.most_ms, now.mean_ms = (real(times[name]) for name in ("least", "most", "mean"))
            now = None
        elif (counts := _COUNTS.match(head)) is not None and _adds_up(counts):
            if now is None or now.sent is not None:
                now = WindowsPing(number)
                runs.append(now)
            now.sent, now.received = whole(counts["sent"]), whole(counts["received"])
        elif (heading := _HEADING.fullmatch(head)) is not None:
            now = WindowsPing(
                number,
                visible(heading["host"]) if heading["host"] else None,
                heading["address"] or heading["alone"],
                whole(heading["bytes"]),
            )
            runs.append(now)
        elif now is not None and now.sent is None and not _is_statistics(head, now):
            now.probes.append(WindowsReply(None))
    found = tuple(run for run in runs if run.probes or run.sent)
    if not found:
        raise FormatError(f"{_WHAT}: no reply and no statistics; {quoted_start(text)}")
    return found


def _reply(line: str) -> tuple[WindowsReply, str] | None:
    found = _REPLY.fullmatch(line) or _REPLY_OF_6.fullmatch(line)
    if found is None:
        return None
    rtt = real(found["rtt"].replace(",", "."))
    return None if rtt is None else (WindowsReply(rtt, below=found["bound"] == "<"), found["address"])


def _adds_up(counts: re.Match[str]) -> bool:
    return int(counts["sent"]) == int(counts["received"]) + int(counts["lost"])


def _is_statistics(line: str, run: WindowsPing) -> bool:
    """The heading of the statistics, which names the host and ends with a colon; a shell's prompt; Ctrl-C."""
    named = {name for name in (run.address, run.host) if name}
    if line.endswith((":", "\uff1a")) and any(name in line for name in named):
        return True
    return line.endswith(">") or "^C" in line or re.match(r"[A-Za-z]:\\|PS ", line) is not None
