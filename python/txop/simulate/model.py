"""Typed objects for everything in a `txop-simulate` document (docs/simulate.md).

Null in the document is ``None`` here and means *not available*, never zero.

Made by scripts/contract.py from docs/schema: change the structs in Rust instead.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from txop.air.model import Waterfall
from txop.present.document import Model


class Summary(Model):
    """A figure over the seeds."""

    figure: str
    """`goodput_mbit_s`, `latency_p50_ms`, ..."""
    of: str | None
    """The flow or station it is of; null: of the whole run."""
    n: int
    """Seeds that have it."""
    mean: float
    """Mean."""
    sd: float | None
    """Standard deviation (of a sample); null with less than two."""
    min: float
    """Least."""
    max: float
    """Greatest."""


class SeriesResult(Model):
    """Figures over time."""

    interval_s: float
    """Length of an interval, s."""
    start_s: float
    """When the first begins, s from the end of the warm-up: 0 or negative."""
    goodput_mbit_s: list[list[float] | None]
    """Goodput by flow, Mbit/s; null for `ping`."""
    latency_ms: list[list[float | None]]
    """Mean latency by flow, ms; null: nothing arrived."""
    airtime_share: list[list[float]]
    """Airtime by station, as share of the interval; empty: the link has no air."""


class EndpointResult(Model):
    """One endpoint of a USB device."""

    device: int
    """Address of the device."""
    endpoint: int
    """Address of the endpoint."""
    direction: str
    """`in` or `out`."""
    transfer: str
    """`bulk` or `interrupt`."""
    urbs_per_s: float
    """URBs completed in a second."""
    errors_per_s: float
    """URBs with an error in a second."""
    mbit_s: float
    """Rate, Mbit/s."""
    mean_bytes: float | None
    """Bytes of a URB, on average."""
    mean_ms: float | None
    """From submission to completion, on average, ms."""
    most_in_flight: int
    """URBs under way at once, at most."""


class DirectionResult(Model):
    """One direction of a link."""

    ppdus: int
    """Data PPDUs, collided ones included."""
    ppdus_collided: int
    """PPDUs lost in a collision."""
    mpdus: int
    """Data MPDUs, retransmissions and collided ones included."""
    mpdus_collided: int
    """MPDUs in PPDUs lost in a collision."""
    retries: int
    """Retransmissions among the MPDUs."""
    retries_collided: int
    """Retransmissions in PPDUs lost in a collision."""
    retry_percent: float | None
    """Retransmissions among the data MPDUs, %."""
    data_airtime_share: float
    """Time of the data PPDUs, as share of the run."""
    control_airtime_share: float
    """Time of control frames sent in this direction, as share of the run."""
    mean_aggregate: float | None
    """MPDUs in a data PPDU, on average."""
    aggregates: list[tuple[int, int]]
    """Data PPDUs by their number of MPDUs: number, PPDUs. Only numbers that occurred."""


class StationResult(Model):
    """A station and its link with the access point."""

    name: str
    """Its name."""
    airtime_share: float
    """Time on the air between it and the access point, both ways, control frames included, as share of the run."""
    share_of_stations: float | None
    """Its share of the airtime of all stations."""
    down: DirectionResult
    """From the access point to it."""
    up: DirectionResult
    """From it to the access point."""


class AirResult(Model):
    """The air of one run."""

    busy_share: float
    """Share of the time in which a station sent."""
    collided_share: float
    """Share of the time in which frames collided; overlaps count once."""
    broadcast_share: float
    """Share of the time for beacons."""
    ppdus_collided: int
    """PPDUs of any kind lost in collisions."""
    jain: float | None
    """Jain's index of the airtime of the stations; null: there is only one, or none sent."""
    stations: list[StationResult]
    """The stations."""


class TcpResult(Model):
    """What is special about a TCP flow."""

    retransmitted: int
    """Retransmitted segments."""
    recoveries: int
    """Times that losses were repaired without a timeout."""
    timeouts: int
    """Retransmission timeouts."""
    probes: int
    """Tail loss probes."""
    undone: int
    """Reductions that were undone: the retransmission was spurious."""
    local_drops: int
    """Segments that the sender's own host refused."""
    ecn_reductions: int
    """Reductions because of ECN marks."""
    acks: int
    """ACKs that the receiver sent."""
    sender_waits: int
    """Times that the sending process waited for its socket: voluntary context switches."""
    receiver_waits: int
    """Times that the receiving process waited for data: voluntary context switches. Data that reach it at the same
    time wake it once."""
    below_socket_most_bytes: int
    """Most bytes that were below the sender's socket at once, over the whole run."""
    completed_s: float | None
    """When everything had been acknowledged, s after the flow began; null: it had not."""


class Drop(Model):
    """Packets dropped for one cause."""

    cause: str
    """As in `link.DropCause`. `queue_full`: a queue was full; `codel`: CoDel dropped it, to make its flow slow down
    (RFC 8289); `overlimit`: a flow queue dropped it because all flows together had too much (RFC 8290, 4.1.3);
    `retry_limit`: it was sent as often as the retry limit allows; `receiver_full`: the host at the receiving end did
    not keep up; `oversize`: it is larger than what the link can carry; `device_down`: the device at one end had
    crashed or was being reset."""
    packets: int
    """How many."""


class Latency(Model):
    """A distribution of times."""

    n: int
    """How many times there are."""
    min_ms: float
    """Shortest."""
    mean_ms: float
    """Mean."""
    sd_ms: float
    """Standard deviation."""
    p5_ms: float
    """5th percentile."""
    p25_ms: float
    """25th percentile."""
    p50_ms: float
    """Median."""
    p75_ms: float
    """75th percentile."""
    p95_ms: float
    """95th percentile."""
    p99_ms: float
    """99th percentile."""
    max_ms: float
    """Longest."""
    cdf: list[tuple[float, float]]
    """Points of the distribution: ms, and the share of times up to there."""


class FlowResult(Model):
    """One flow of one run."""

    name: str
    """Its name."""
    kind: str
    """`tcp`, `udp` or `ping`. `tcp`: bulk data over TCP; `udp`: datagrams, at a rate or as many as can be; `ping`:
    echo requests, as of ping(8)."""
    from_: str = Field(alias="from")
    """Sender."""
    to: str
    """Receiver."""
    packets_sent: int
    """Packets handed down by the sender: with payload for `tcp`, requests for `ping`."""
    packets_received: int
    """Packets that arrived; for `ping` replies that came back."""
    goodput_mbit_s: float | None
    """Payload of transport delivered, Mbit/s; for TCP in order and once. null for `ping`."""
    latency: Latency | None
    """One way from the sender's stack to the receiver's; for `ping` the round trip; for `tcp` the round trips that
    its sender measured."""
    one_way: Latency | None
    """One way from the sender's stack to the receiver's, for `tcp`."""
    jitter_ms: float | None
    """Jitter of RFC 3550, 6.4.1, at the end, ms."""
    drops: list[Drop]
    """Packets dropped, both ways, by cause; only causes that occurred."""
    tcp: TcpResult | None
    """What is special about `tcp`."""


class Run(Model):
    """One run."""

    seed: int
    """Its seed."""
    measured_s: float
    """Time that counts, s."""
    goodput_mbit_s: float | None
    """Goodput of all flows that carry data, Mbit/s; null: there is none."""
    flows: list[FlowResult]
    """The flows, in the order of the scenario."""
    air: AirResult | None
    """The air, if the link has one."""
    bus: list[EndpointResult]
    """Endpoints of the bus, if the link shows one."""
    counters: dict[str, Any] | None
    """What the link itself counted since time 0, warm-up included; keys depend on its kind."""
    series: SeriesResult
    """Over time, from the beginning of the warm-up."""
    waterfalls: list[Waterfall] | None
    """Where the goodput of each direction went, as `txop air` explains it from what a perfect monitor would have
    captured; null: not asked for, or the link has no air."""


class Point(Model):
    """A combination of values, run with several seeds."""

    values: list[str]
    """Values of the axes, in their order."""
    runs: list[Run]
    """One for each seed."""
    summary: list[Summary]
    """Over the seeds."""


class Axis(Model):
    """A key and the values it takes."""

    key: str
    """Dotted key, as `link.scenario.Draft.set` takes it."""
    values: list[str]
    """The values, as they would be written in TOML."""


class ScenarioSummary(Model):
    """The scenario, before anything is swept."""

    name: str
    """Its file, or its name."""
    title: str
    """One line."""
    description: str
    """What it is about."""
    calibrated_from: str | None
    """Where its figures were measured, if its parameters were fitted."""
    link: str
    """Kind of its link."""
    hosts: list[str]
    """Names of the hosts; the first is at the far end of the wire."""
    settings: dict[str, Any]
    """Every setting, defaults filled in."""


class Document(Model):
    """The whole document."""

    format: str
    """Always `"txop-simulate"`."""
    version: int
    """Layout version."""
    origin: str
    """Where the figures come from."""
    txop: str
    """Version of txop."""
    scenario: ScenarioSummary
    """The scenario."""
    axes: list[Axis]
    """What was swept, outermost first."""
    points: list[Point]
    """One for every combination of the values of the axes; one without any axis."""
