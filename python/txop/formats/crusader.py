"""What ``crusader export`` writes: the raw samples of a run of crusader as JSON, of its files of versions 0 to 2.

A test has up to three phases (download, upload, both at once), each of several TCP connections; bytes are counted
from their start, beside probes of the round trip that go on all the time. Times are ``{"secs", "nanos"}`` from when the
client began. The program's own raw files (``.crr``) are a binary format without a description; it exports them itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from txop.formats.error import FormatError
from txop.formats.reading import items, json_documents, mapping, real, string, text_of, whole

RAW_MAGIC = bytes.fromhex("cb597cae82ab7253")
"""How a ``.crr`` file begins."""

_WHAT = "crusader's export"
_STEP_S = 0.2

Way = Literal["download", "upload"]


@dataclass(frozen=True, slots=True)
class Ping:
    """A probe; ``rtt_ms`` is ``None`` for one that was lost."""

    sent_s: float
    rtt_ms: float | None


@dataclass
class Phase:
    """The connections of one direction in one phase."""

    way: Way
    both: bool
    """Whether the other direction was loaded at the same time."""
    start_s: float
    """The last sample of any connection before its first byte, of the earliest."""
    end_s: float
    """The last sample of all."""
    bytes: int
    streams: int
    rates: list[tuple[float, float]] = field(default_factory=list)
    """Mbit/s of all connections over time, from the start of the phase."""

    @property
    def mbit_s(self) -> float:
        """From the first byte to the last sample."""
        return self.bytes * 8e-6 / (self.end_s - self.start_s)


@dataclass
class CrusaderRun:
    """A run of crusader."""

    made_by: str
    load_s: float | None
    phases: list[Phase]
    pings: list[Ping]
    notes: list[str]


def parse(data: str | bytes) -> CrusaderRun:
    """The run in ``data``. Raises FormatError when it is none."""
    text = text_of(data, _WHAT)
    document = next((each for each in json_documents(text, _WHAT) if isinstance(each, dict)), None)
    if document is None or "stream_groups" not in document:
        raise FormatError(f"{_WHAT} expected")
    notes = []
    if document.get("server_overload") is True:
        notes.append("crusader reports that its server was overloaded")
    if document.get("load_termination_timeout") is True:
        notes.append("crusader reports that its load did not end in time")
    phases = [phase for group in items(document["stream_groups"]) if (phase := _phase(mapping(group))) is not None]
    pings = [
        Ping(sent, None if ping.get("latency") is None else _ms(mapping(ping["latency"]).get("total")))
        for each in items(document.get("pings"))
        if (sent := _seconds((ping := mapping(each)).get("sent"))) is not None
    ]
    pings.sort(key=lambda ping: ping.sent_s)
    made_by = string(document.get("generated_by"), longest=100) or ""
    return CrusaderRun(made_by, _seconds(mapping(document.get("config")).get("load_duration")), phases, pings, notes)


def _phase(group: Any) -> Phase | None:
    streams = [samples for each in items(group.get("streams")) if (samples := list(_samples(each)))]
    begun = [(stream, first) for stream in streams if (first := _first_byte(stream)) is not None]
    if not begun:
        return None
    start = min(stream[max(first - 1, 0)][0] for stream, first in begun)
    end = max(stream[-1][0] for stream, _ in begun)
    if end <= start:
        return None
    made = Phase(
        "download" if group.get("download") is True else "upload", group.get("both") is True, start, end,
        sum(stream[-1][1] for stream, _ in begun), len(streams),
    )  # fmt: skip
    made.rates = list(_rates([stream for stream, _ in begun], start, end))
    return made


def _samples(stream: Any) -> Iterator[tuple[float, int]]:
    """Time and bytes so far, as long as neither goes back."""
    last_s, last_bytes = 0.0, 0
    for each in items(mapping(stream).get("data")):
        point = mapping(each)
        at, count = _seconds(point.get("time")), whole(point.get("bytes"), most=2**62)
        if at is None or count is None or at < last_s or count < last_bytes:
            continue
        last_s, last_bytes = at, count
        yield at, count


def _first_byte(stream: Sequence[tuple[float, int]]) -> int | None:
    return next((number for number, (_, count) in enumerate(stream) if count > 0), None)


def _rates(streams: Sequence[Sequence[tuple[float, int]]], start: float, end: float) -> Iterator[tuple[float, float]]:
    times = [[at for at, _ in stream] for stream in streams]

    def bytes_at(moment: float) -> float:
        total = 0.0
        for stream, at in zip(streams, times, strict=True):
            place = bisect_left(at, moment)
            if place == 0:
                continue
            if place == len(at):
                total += stream[-1][1]
                continue
            (t0, b0), (t1, b1) = stream[place - 1], stream[place]
            total += b0 + (b1 - b0) * (moment - t0) / (t1 - t0) if t1 > t0 else b1
        return total

    before = bytes_at(start)
    for step in range(1, min(int((end - start) / _STEP_S + 1e-9), 1_000_000) + 1):
        now = bytes_at(start + step * _STEP_S)
        yield round((step - 0.5) * _STEP_S, 3), (now - before) * 8e-6 / _STEP_S
        before = now


def _seconds(value: Any) -> float | None:
    duration = mapping(value)
    seconds, nanos = real(duration.get("secs"), most=1e9), real(duration.get("nanos"), most=1e9)
    return None if seconds is None or nanos is None else seconds + nanos * 1e-9


def _ms(value: Any) -> float | None:
    seconds = _seconds(value)
    return None if seconds is None else seconds * 1e3
