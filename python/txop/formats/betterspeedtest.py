"""What OpenWrtScripts print: ``betterspeedtest.sh`` (one way after the other), ``netperfrunner.sh`` (both at once) and
``idlelatency.sh``; and the ``speedtest-netperf`` that OpenWrt packages, which was made of them.

Each figure of throughput is the sum of several netperf. The latency below is that of pings beside it, of those that
were answered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "output of betterspeedtest"
_HEADING = re.compile(
    r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} )?Testing "
    r"(?:against |(?P<idle>idle line)|(?P<both>\S{1,255}))(?P<rest>[^\n]{0,400})"
)
_STREAMS = re.compile(r"(?P<streams>[0-9]{1,4}) (?:simultaneous )?(?:sessions|streams)")
_SECONDS = re.compile(r"(?:for |\(|about )(?P<seconds>[0-9]{1,6}) seconds")
_PACKAGED = re.compile(r"(?:[0-9: -]{10,24} )?Starting speedtest for (?P<seconds>[0-9]{1,6}) seconds")
_RATE = re.compile(r" *(?P<way>Download|Upload): +(?P<rate>[0-9.]{1,16}) Mbps")
_LATENCY = re.compile(r" *Latency: [(\[]in msec, (?P<count>[0-9]{1,9}) pings, (?P<loss>[0-9.]{1,12})% packet loss[)\]]")
_ROW = re.compile(r" *(?P<name>Min|10pct|Median|Avg|90pct|Max): +(?P<ms>[0-9.]{1,16}) *")
_LIKE = re.compile(
    rb"Latency: [(\[]in msec, [0-9]{1,9} pings, |simultaneous (?:sessions|streams)"
    rb"|Starting speedtest for [0-9]{1,6} seconds|streams down and up while pinging"
)

Way = Literal["download", "upload"]


@dataclass
class Latency:
    """The pings beside a load."""

    count: int | None
    loss_percent: float | None
    rows: dict[str, float] = field(default_factory=dict)
    """By name, in milliseconds."""


@dataclass
class Part:
    """What was measured at once."""

    line: int
    seconds: float | None
    streams: int
    rates_mbit_s: dict[Way, float] = field(default_factory=dict)
    latency: Latency | None = None
    host: str | None = None


def looks_like(head: bytes) -> bool:
    """Whether ``head`` is of one of these scripts."""
    return _LIKE.search(head) is not None


def parse_all(data: str | bytes) -> tuple[Part, ...]:
    """What was measured, in order: each way by itself, or both at once. Raises FormatError when there is none."""
    text = text_of(data, _WHAT)
    parts: list[Part] = []
    seconds: float | None = None
    streams, both = 1, False
    for number, line in lines_of(text):
        head = line[:1000].lstrip(".")
        if (rate := _RATE.match(head)) is not None:
            value = real(rate["rate"])
            way: Way = "download" if rate["way"] == "Download" else "upload"
            if value is None:
                continue
            if not (both and parts and way not in parts[-1].rates_mbit_s and parts[-1].latency is None):
                parts.append(Part(number, seconds, streams))
            parts[-1].rates_mbit_s[way] = value
        elif (latency := _LATENCY.match(head)) is not None:
            if not parts or parts[-1].latency is not None:
                parts.append(Part(number, seconds, 1))
            parts[-1].latency = Latency(whole(latency["count"]), real(latency["loss"], most=100))
        elif (row := _ROW.fullmatch(head)) is not None:
            value = real(row["ms"])
            if parts and parts[-1].latency is not None and value is not None:
                parts[-1].latency.rows[row["name"]] = value
        elif (begun := _PACKAGED.match(head)) is not None:
            seconds, both = real(begun["seconds"]), False
        elif "sessions are " in head or "concurrent" in head:
            both = "concurrent" in head
            streams = _count(head, streams)
        elif (heading := _HEADING.match(head)) is not None:
            length = _SECONDS.search(heading["rest"])
            seconds = None if length is None else real(length["seconds"])
            streams, both = _count(heading["rest"], 1), heading["both"] is not None
    found = tuple(part for part in parts if part.rates_mbit_s or part.latency)
    if not found:
        raise FormatError(f"{_WHAT}: no download, upload or latency; {quoted_start(visible(text[:200]))}")
    return found


def _count(text: str, otherwise: int) -> int:
    said = _STREAMS.search(text)
    return otherwise if said is None else int(said["streams"]) or 1
