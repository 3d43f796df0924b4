"""What traffic costs in an exact guest: instructions, time until an echo request is answered, time on the air."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from txop.formats.error import FormatError
from txop.formats.ping import parse as parse_ping
from txop.formats.proc_net import parse_dev
from txop.stats.spread import quantile

MAX_BYTES = 4 << 20
"""Largest part of a file that is read: the guest writes it."""
MOST_ECHOES = 100_000

_MOMENT = re.compile(r"(begin|end) (\d{1,9}\.\d{1,6}) (\d{1,9}\.\d{1,6})")
_LARGEST = 2**63
"""A counter of a guest is below that."""


class Metric(StrEnum):
    """What can cost more than usual."""

    INSTRUCTIONS = "instructions_per_packet"
    RTT = "rtt_p99_ms"
    AIRTIME = "airtime_ns_per_byte"


Count = Annotated[int, Field(ge=0)]
Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Cost(BaseModel):
    """What was counted between two moments of a guest."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    seconds: Number
    """By the guest's clock."""
    busy_s: Number
    """Time in which its processor was not idle."""
    packets: Count
    """Packets of the interface under test, in both directions, with echo requests and replies."""
    bytes: Count
    """Bytes of these packets, with their Ethernet headers."""
    air_busy_ns: Count | None = None
    """The medium was taken; ``None``: there is no air."""
    echoes: Count = 0
    """Echo requests that were sent."""
    answered: Count = 0
    rtt_p99_ms: Number | None = None
    """A round trip that 99 % of the requests did not exceed; ``None``: more than 1 % were not answered."""


class Costs(BaseModel):
    """By metric; one that is missing is not known."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    instructions_per_packet: Number | None = None
    rtt_p99_ms: Number | None = None
    airtime_ns_per_byte: Number | None = None

    def of(self, metric: Metric) -> float | None:
        """The cost by a metric."""
        value: float | None = getattr(self, metric.value)
        return value


def costs_of(cost: Cost, rest: Cost, instructions_per_s: float) -> Costs:
    """Costs of traffic, without what echo requests alone cost and transfer (``rest``) in as much time.

    Raises:
        ValueError: No more was transferred than by echo requests alone.
    """
    packets, count = traffic_of(cost, rest)
    if packets <= 0 or count <= 0 or rest.seconds <= 0:
        raise ValueError("no more was transferred than by echo requests alone")
    times = cost.seconds / rest.seconds
    busy_s = max(0.0, cost.busy_s - rest.busy_s * times)
    airtime = None
    if cost.air_busy_ns is not None and rest.air_busy_ns is not None:
        airtime = max(0.0, cost.air_busy_ns - rest.air_busy_ns * times) / count
    return Costs(
        instructions_per_packet=busy_s * instructions_per_s / packets,
        rtt_p99_ms=cost.rtt_p99_ms,
        airtime_ns_per_byte=airtime,
    )


def traffic_of(cost: Cost, rest: Cost) -> tuple[int, int]:
    """Packets and bytes beside those of echo requests alone (``rest``); negative where there are fewer."""
    return cost.packets - rest.packets, cost.bytes - rest.bytes


def read_cost(files: Mapping[str, bytes], interface: str) -> Cost | None:
    """What a guest's files say (names: :mod:`txop.guest_exploration.slow.trial`); ``None``: they are not whole."""
    moments = {match[1]: (float(match[2]), float(match[3])) for match in _MOMENT.finditer(_text(files["moments"]))}
    before, after = (_traffic(files[name], interface) for name in ("dev-begin", "dev-end"))
    if set(moments) != {"begin", "end"} or before is None or after is None:
        return None
    seconds, idle_s = (end - begin for begin, end in zip(moments["begin"], moments["end"], strict=True))
    packets, count = after[0] - before[0], after[1] - before[1]
    if seconds <= 0 or min(packets, count, idle_s) < 0:
        return None
    air = [_air_busy_ns(files[name]) for name in ("chip-begin.json", "chip-end.json")]
    echoes, times = _echoes(files["ping"])
    return Cost(
        seconds=seconds,
        busy_s=max(0.0, seconds - idle_s),
        packets=packets,
        bytes=count,
        air_busy_ns=None if air[0] is None or air[1] is None else max(0, air[1] - air[0]),
        echoes=echoes,
        answered=len(times),
        rtt_p99_ms=_p99(times, echoes),
    )


def _p99(times: list[float], echoes: int) -> float | None:
    """The 99 % quantile, where a request without an answer takes infinitely long."""
    if not times:
        return None
    longest = quantile([*times, *[float("inf")] * (echoes - len(times))], 0.99)
    return None if longest == float("inf") else longest


def _text(data: bytes) -> str:
    return data[:MAX_BYTES].decode("utf-8", "replace")


def _echoes(data: bytes) -> tuple[int, list[float]]:
    """How many echo requests were sent, and the round trips of those that were answered, each once, ms."""
    try:
        said = parse_ping(data[:MAX_BYTES])
    except FormatError:
        return 0, []
    sent = 0 if said.summary is None else min(said.summary.transmitted, MOST_ECHOES)
    answers = {reply.sequence: reply.rtt_ms for reply in said.replies if reply.rtt_ms is not None}
    return sent, list(answers.values())[:sent]


def _traffic(data: bytes, interface: str) -> tuple[int, int] | None:
    """Packets and bytes of an interface in /proc/net/dev, both directions together."""
    try:
        counted = parse_dev(data[:MAX_BYTES]).get(interface)
    except FormatError:
        return None
    if counted is None:
        return None
    packets, count = counted.rx_packets + counted.tx_packets, counted.rx_bytes + counted.tx_bytes
    return (packets, count) if max(packets, count) < _LARGEST else None


def _air_busy_ns(data: bytes) -> int | None:
    try:
        document = json.loads(data[:MAX_BYTES])
        busy = document["device"]["air"]["busy_ns"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return busy if isinstance(busy, int) and not isinstance(busy, bool) and 0 <= busy < _LARGEST else None
