"""irtt's JSON (``irtt client -o FILE``, also ``-o -`` with its text around it; plain or gzip), versions 0.9.0 to 0.9.2.

irtt counts nanoseconds; here everything is in milliseconds. The round-trip time leaves the server's processing out.
One-way delays are true only when both clocks are synchronised (they may be negative); IPDV does not depend on that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import (
    JSON_LIMIT_BYTES,
    items,
    json_documents,
    mapping,
    real,
    string,
    text_of,
    unpacked,
    whole,
)

_WHAT = "irtt output"
_LONGEST_NS = 10**15

Lost = Literal["upstream", "downstream", "direction unknown"]

_LOST: Mapping[str, Lost] = {
    "true_up": "upstream",
    "true_down": "downstream",
    "true": "direction unknown",
}


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """One packet."""

    sequence: int
    lost: Lost | None
    """``None``: not lost."""

    sent_unix_s: float | None
    sent_monotonic_s: float | None
    """By the client's monotonic clock, from irtt's start: no step of the wall clock is in it."""
    """By the client's clock."""

    rtt_ms: float | None
    send_delay_ms: float | None
    receive_delay_ms: float | None
    ipdv_rtt_ms: float | None
    ipdv_send_ms: float | None
    ipdv_receive_ms: float | None
    late: bool | None
    """It came after a later one; ``None`` before 0.9.2, which does not say."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """As irtt computed them, in milliseconds; ``median_ms`` is ``None`` for figures that have none."""

    count: int | None
    min_ms: float | None
    mean_ms: float | None
    median_ms: float | None
    max_ms: float | None
    stddev_ms: float | None


@dataclass(frozen=True, slots=True)
class IrttResult:
    """One run of an irtt client."""

    version: str | None
    json_format: int | None
    started_unix_s: float | None
    remote_address: str | None
    interval_ms: float | None
    duration_s: float | None
    length_bytes: int | None
    dscp: int | None
    expected_packets: int | None
    """0.9.2 and later."""

    packets_sent: int | None
    packets_received: int | None
    """Duplicates included."""

    server_packets_received: int | None
    duplicates: int | None
    late_packets: int | None
    packet_loss_percent: float | None
    upstream_loss_percent: float | None
    downstream_loss_percent: float | None
    timer_misses: int | None
    timer_miss_percent: float | None
    timer_error_percent: float | None
    rtt: Statistics | None
    send_delay: Statistics | None
    receive_delay: Statistics | None
    ipdv_round_trip: Statistics | None
    ipdv_send: Statistics | None
    ipdv_receive: Statistics | None
    send_call: Statistics | None
    timer_error: Statistics | None
    server_processing: Statistics | None
    round_trips: tuple[RoundTrip, ...]
    notes: tuple[str, ...]


def parse(data: str | bytes) -> IrttResult:
    """The run in ``data``. Raises FormatError for anything else, damaged JSON, and gzip that is cut off."""
    if isinstance(data, bytes):
        data = unpacked(data, _WHAT, limit_bytes=JSON_LIMIT_BYTES)
    text = text_of(data, _WHAT)
    for document in json_documents(text, _WHAT):
        said = mapping(document)
        if "round_trips" in said or "stats" in said:
            return _result(said)
    failure = re.search(r"^Error: ([^\n]{1,300})", text, re.MULTILINE)
    if failure is not None:
        raise FormatError(f"{_WHAT}: irtt failed: {visible(failure[1])}")
    raise FormatError(f"{_WHAT}: there is no JSON of irtt in it; {quoted_start(text)}")


def _result(said: Mapping[str, Any]) -> IrttResult:
    stats, version = mapping(said.get("stats")), mapping(said.get("version"))
    config = mapping(said.get("config"))
    params = mapping(config.get("params"))
    notes = []
    misses = whole(stats.get("timer_misses"))
    if misses:
        notes.append(f"the probing host missed {misses} send time(s): it was too busy to measure")
    if whole(version.get("json_format")) not in (1, None):
        notes.append("this version of irtt's JSON is newer than the one txop knows (1)")
    trips = tuple(trip for trip in map(_trip, items(said.get("round_trips"))) if trip is not None)
    interval, duration = whole(params.get("interval")), whole(params.get("duration"))
    return IrttResult(
        version=string(version.get("irtt"), longest=64),
        json_format=whole(version.get("json_format")),
        started_unix_s=_start(stats.get("start_time")),
        remote_address=string(config.get("remote_address"), longest=300),
        interval_ms=None if interval is None else interval / 1e6,
        duration_s=None if duration is None else duration / 1e9,
        length_bytes=whole(params.get("length")),
        dscp=whole(params.get("dscp"), most=255),
        expected_packets=whole(stats.get("expected_packets_sent")),
        packets_sent=whole(stats.get("packets_sent")),
        packets_received=whole(stats.get("packets_received")),
        server_packets_received=whole(stats.get("server_packets_received")),
        duplicates=whole(stats.get("duplicates")),
        late_packets=whole(stats.get("late_packets")),
        packet_loss_percent=real(stats.get("packet_loss_percent"), most=100),
        upstream_loss_percent=real(stats.get("upstream_loss_percent"), most=100),
        downstream_loss_percent=real(stats.get("downstream_loss_percent"), most=100),
        timer_misses=misses,
        timer_miss_percent=real(stats.get("timer_miss_percent"), most=100),
        timer_error_percent=real(stats.get("timer_err_percent")),
        rtt=_statistics(stats.get("rtt")),
        send_delay=_statistics(stats.get("send_delay")),
        receive_delay=_statistics(stats.get("receive_delay")),
        ipdv_round_trip=_statistics(stats.get("ipdv_round_trip")),
        ipdv_send=_statistics(stats.get("ipdv_send")),
        ipdv_receive=_statistics(stats.get("ipdv_receive")),
        send_call=_statistics(stats.get("send_call")),
        timer_error=_statistics(stats.get("timer_error")),
        server_processing=_statistics(stats.get("server_processing_time")),
        round_trips=trips,
        notes=tuple(notes),
    )


def _milliseconds(value: object) -> float | None:
    nanoseconds = whole(value, least=-_LONGEST_NS, most=_LONGEST_NS)
    return None if nanoseconds is None else nanoseconds / 1e6


def _statistics(value: object) -> Statistics | None:
    said = mapping(value)
    if not said or not whole(said.get("n")):
        return None
    minimum, mean, median, maximum, stddev = (
        _milliseconds(said.get(key)) for key in ("min", "mean", "median", "max", "stddev")
    )
    return Statistics(whole(said.get("n")), minimum, mean, median, maximum, stddev)


def _start(value: object) -> float | None:
    """0.9.0 prints an ISO 8601 time, 0.9.2 an object with nanoseconds."""
    if isinstance(value, str):
        try:
            # Nanoseconds: more digits than datetime takes.
            head, _, rest = value[:40].partition(".")
            moment = datetime.fromisoformat(f"{head}+00:00" if rest.endswith("Z") else value[:40])
            fraction = real(f"0.{rest[:-1]}") if rest.endswith("Z") else 0.0
            return moment.timestamp() + (fraction or 0.0)
        except (ValueError, OverflowError):
            return None
    wall = whole(mapping(value).get("wall"))
    return None if wall is None else wall / 1e9


def _trip(value: object) -> RoundTrip | None:
    said = mapping(value)
    sequence = whole(said.get("seqno"), most=2**32)
    if sequence is None:
        return None
    stamps = mapping(said.get("timestamps"))
    sent = whole(mapping(mapping(stamps.get("client")).get("send")).get("wall"))
    monotonic = whole(mapping(mapping(stamps.get("client")).get("send")).get("monotonic"))
    delay, ipdv = mapping(said.get("delay")), mapping(said.get("ipdv"))
    lost = said.get("lost")
    late = stamps.get("late")
    rtt = _milliseconds(delay.get("rtt"))
    return RoundTrip(
        sequence=sequence,
        lost="direction unknown" if lost is True else _LOST.get(lost) if isinstance(lost, str) else None,
        sent_unix_s=None if sent is None else sent / 1e9,
        sent_monotonic_s=None if monotonic is None else monotonic / 1e9,
        rtt_ms=rtt if rtt is None or rtt >= 0 else None,
        send_delay_ms=_milliseconds(delay.get("send")),
        receive_delay_ms=_milliseconds(delay.get("receive")),
        ipdv_rtt_ms=_milliseconds(ipdv.get("rtt")),
        ipdv_send_ms=_milliseconds(ipdv.get("send")),
        ipdv_receive_ms=_milliseconds(ipdv.get("receive")),
        late=late if isinstance(late, bool) else None,
    )
