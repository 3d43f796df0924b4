"""What ``irtt client`` prints for people: a line for each packet (not with ``-q``), and its tables.

Durations are Go's: ``73.8µs``, ``1m2.5s``. They have three significant digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.irtt import Statistics
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "text of irtt"
_GO = r"(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ns|µs|μs|us|ms|s|m|h)){1,4}"
_PACKET = re.compile(rf"seq=(?P<sequence>[0-9]{{1,10}}) rtt=(?P<rtt>{_GO}|n/a)\b")
_LOST = re.compile(r"(?:LOST|lost)[^\n]{0,40}seq=(?P<sequence>[0-9]{1,10})|seq=(?P<other>[0-9]{1,10}) (?:LOST|lost)")
_RTT = re.compile(rf" +RTT +(?P<min>{_GO}) +(?P<mean>{_GO}) +(?P<median>{_GO}) +(?P<max>{_GO}) +(?P<stddev>{_GO})")
_COUNTS = re.compile(
    r" *packets sent/received: (?P<sent>[0-9]{1,12})/(?P<received>[0-9]{1,12}) \((?P<loss>[0-9.]{1,12})%"
)
_WAYS = re.compile(r"\((?P<up>[0-9.]{1,12})%/(?P<down>[0-9.]{1,12})% loss up/down\)")
_DURATION = re.compile(rf" +duration: (?P<duration>{_GO})(?: |$)")
_DUPLICATES = re.compile(r" +\*\*\* DUPLICATES: (?P<count>[0-9]{1,12})")
_ADDRESS = re.compile(r"\[Connecting\] connecting to (?P<host>\S{1,300})")
_LENGTH = re.compile(r" +packet length: (?P<bytes>[0-9]{1,6}) bytes")
_PART = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ns|µs|μs|us|ms|s|m|h)")
_MS = {"ns": 1e-6, "µs": 1e-3, "μs": 1e-3, "us": 1e-3, "ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3}
_LIKE = re.compile(
    rb"^seq=[0-9]{1,10} rtt=|^ *packets sent/received: [0-9]{1,12}/[0-9]{1,12} \(|^\[Connecting\] connecting to ",
    re.MULTILINE,
)


@dataclass
class IrttText:
    """One run."""

    line: int
    host: str | None = None
    rtts_ms: dict[int, float] | None = None
    """By number; ``None``: no packets are printed."""
    rtt: Statistics | None = None
    sent: int | None = None
    received: int | None = None
    """Duplicates included."""
    duplicates: int = 0
    loss_percent: float | None = None
    duration_s: float | None = None
    length_bytes: int | None = None


def looks_like(head: bytes) -> bool:
    """Whether ``head`` is of such a text."""
    return _LIKE.search(head) is not None


def parse_all(data: str | bytes) -> tuple[IrttText, ...]:
    """Every run in the text. Raises FormatError when there is none."""
    text = text_of(data, _WHAT)
    runs: list[IrttText] = []
    for number, line in lines_of(text):
        head = line[:1000]
        if (begun := _ADDRESS.search(head)) is not None:
            runs.append(IrttText(number, host=visible(begun["host"])))
            continue
        packet = _PACKET.match(head)
        if not runs or (packet is not None and runs[-1].sent is not None):
            if packet is None and _RTT.match(head) is None and _COUNTS.match(head) is None:
                continue
            runs.append(IrttText(number))
        run = runs[-1]
        if packet is not None:
            rtts = run.rtts_ms = {} if run.rtts_ms is None else run.rtts_ms
            rtt = milliseconds(packet["rtt"])
            if rtt is not None:
                rtts.setdefault(int(packet["sequence"]), rtt)
        elif (table := _RTT.match(head)) is not None:
            run.rtt = Statistics(
                None, *(milliseconds(table[name]) for name in ("min", "mean", "median", "max", "stddev"))
            )
        elif (counts := _COUNTS.match(head)) is not None:
            run.sent, run.received = whole(counts["sent"]), whole(counts["received"])
            run.loss_percent = real(counts["loss"], most=100)
        elif (duplicates := _DUPLICATES.match(head)) is not None:
            run.duplicates = whole(duplicates["count"]) or 0
        elif (length := _DURATION.match(head)) is not None:
            duration = milliseconds(length["duration"])
            run.duration_s = None if duration is None else duration / 1e3
        elif (size := _LENGTH.match(head)) is not None:
            run.length_bytes = whole(size["bytes"])
    found = tuple(run for run in runs if run.rtts_ms or run.rtt is not None or run.sent)
    if not found:
        failure = re.search(r"^Error: ([^\n]{1,300})", text, re.MULTILINE)
        if failure is not None:
            raise FormatError(f"{_WHAT}: irtt failed: {visible(failure[1])}")
        raise FormatError(f"{_WHAT}: no packet and no table; {quoted_start(text)}")
    return found


def milliseconds(duration: str) -> float | None:
    """A duration of Go.

    >>> milliseconds("73.8µs"), milliseconds("1m2.5s"), milliseconds("n/a")
    (0.0738, 62500.0, None)
    """
    parts = _PART.findall(duration)
    if not parts or "".join(f"{number}{unit}" for number, unit in parts) != duration:
        return None
    return round(sum(float(number) * _MS[unit] for number, unit in parts), 9)
