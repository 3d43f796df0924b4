"""Typed objects for everything in a ``txop-simulate`` JSON document (``docs/simulate.md``).

Null in the document is ``None`` here and means *not available*, never zero.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from txop.air.model import Waterfall
from txop.core.origin import Origin
from txop.present.document import Model, parse_document

FORMAT = "txop-simulate"
VERSION = 1


class Scenario(Model):
    """The scenario, before anything is swept."""

    name: str
    """Its file, or its name."""
    title: str
    """One line."""
    description: str
    """What it is about."""
    calibrated_from: str | None
    """Where its figures were measured, if its parameters were fitted to measurements."""
    link: str
    """Kind of its link: `wlan`, ..."""
    hosts: list[str]
    """Names of the hosts; the first is at the far end of the wire."""
    settings: dict[str, Any]
    """Every setting, defaults filled in."""


class Axis(Model):
    """A key that was swept."""

    key: str
    """Dotted."""
    values: list[str]
    """What it was set to, as in TOML."""


class Latency(Model):
    """Times in ms, from a histogram with three significant digits."""

    n: int
    """How many."""
    min_ms: float
    """Least."""
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
    """Greatest."""
    cdf: list[tuple[float, float]]
    """Points of the distribution: ms, and the share of times up to there."""


class Drop(Model):
    """Packets dropped for one cause."""

    cause: str
    """`queue_full`, `codel`, `overlimit`, `retry_limit`, `receiver_full`, `oversize` or `device_down`."""
    packets: int
    """How many."""


class Tcp(Model):
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
    below_socket_most_bytes: int
    """Most bytes that were below the sender's socket at once, over the whole run."""
    completed_s: float | None
    """When everything had been acknowledged, s after the flow began; `null`: it had not."""


class Flow(Model):
    """One flow of one run."""

    name: str
    """Its name."""
    kind: str
    """`tcp`, `udp` or `ping`."""
    from_: str
    """Sender (`from` in the document)."""
    to: str
    """Receiver."""
    packets_sent: int
    """Packets handed down by the sender: with payload for `tcp`, requests for `ping`."""
    packets_received: int
    """Of these: arrived; for `ping` replies that came back."""
    goodput_mbit_s: float | None
    """Payload of transport delivered; for TCP in order and once. `null` for `ping`."""
    latency: Latency | None
    """One way from stack to stack; for `ping` the round trip; for `tcp` the round trips that its sender measured."""
    one_way: Latency | None
    """One way from stack to stack, for `tcp`."""
    jitter_ms: float | None
    """Jitter of RFC 3550, 6.4.1, at the end."""
    drops: list[Drop]
    """Packets dropped, both ways, by cause; only causes that occurred."""
    tcp: Tcp | None
    """What is special about `tcp`."""

    model_config = Model.model_config | {"alias_generator": lambda name: name.rstrip("_")}


class Direction(Model):
    """One direction of the link between a station and the access point."""

    ppdus: int
    """Data PPDUs, collided ones included."""
    ppdus_collided: int
    """Of these: lost in a collision."""
    mpdus: int
    """Data MPDUs, retransmissions and collided ones included."""
    mpdus_collided: int
    """Of these: in PPDUs lost in a collision."""
    retries: int
    """Of the MPDUs: retransmissions."""
    retries_collided: int
    """Of these: in PPDUs lost in a collision; they are in no capture."""
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


class Station(Model):
    """A station and its link with the access point."""

    name: str
    """Its name."""
    airtime_share: float
    """Time on the air between it and the access point, both ways, control frames included, as share of the run."""
    share_of_stations: float | None
    """Of the airtime of all stations."""
    down: Direction
    """From the access point to it."""
    up: Direction
    """From it to the access point."""


class Air(Model):
    """The air of one run."""

    busy_share: float
    """Share of the time that somebody sent."""
    broadcast_share: float
    """Share of the time for beacons."""
    ppdus_collided: int
    """PPDUs of any kind lost in collisions."""
    jain: float | None
    """Jain's index of the airtime of the stations; `null`: there is one only, or nobody sent."""
    stations: list[Station]
    """The stations."""


class Endpoint(Model):
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
    """Of these: with an error."""
    mbit_s: float
    """Rate."""
    mean_bytes: float | None
    """Bytes of an URB, on average."""
    mean_ms: float | None
    """From submission to completion, on average."""
    most_in_flight: int
    """URBs under way at once, at most."""


class Series(Model):
    """Figures over time."""

    interval_s: float
    """Length of an interval."""
    start_s: float
    """When the first begins, s from the end of the warm-up: 0 or negative."""
    goodput_mbit_s: list[list[float] | None]
    """By flow; `null` for `ping`."""
    latency_ms: list[list[float | None]]
    """Mean by flow; `null`: nothing arrived."""
    airtime_share: list[list[float]]
    """By station, as share of the interval; empty: the link has no air."""


class Run(Model):
    """One run."""

    seed: int
    """Its seed."""
    measured_s: float
    """Time that counts."""
    goodput_mbit_s: float | None
    """Goodput of all flows that carry data; `null`: there is none."""
    flows: list[Flow]
    """The flows, in the order of the scenario."""
    air: Air | None
    """The air, if the link has one."""
    bus: list[Endpoint]
    """Endpoints of the bus, if the link shows one."""
    counters: dict[str, Any] | None
    """What the link itself counted since time 0, warm-up included; keys depend on its kind; `null`: nothing."""
    series: Series
    """Over time, from the beginning of the warm-up."""
    waterfalls: list[Waterfall] | None
    """Where the goodput of each direction went, as `txop air` explains it from what a perfect monitor would have seen;
    `null`: not asked for, or the link has no air."""


class Summary(Model):
    """A figure over the seeds."""

    figure: str
    """`goodput_mbit_s`, `latency_p50_ms`, ..."""
    of: str | None
    """The flow or station it is of; `null`: of the whole run."""
    n: int
    """Seeds that have it."""
    mean: float
    """Mean."""
    sd: float | None
    """Standard deviation (of a sample); `null` with less than two."""
    min: float
    """Least."""
    max: float
    """Greatest."""


class Point(Model):
    """A combination of values, run with several seeds."""

    values: list[str]
    """Of the axes, in their order."""
    runs: list[Run]
    """One for each seed."""
    summary: list[Summary]
    """Over the seeds."""

    def find(self, figure: str, of: str | None = None) -> Summary | None:
        """The summary of a figure."""
        return next((entry for entry in self.summary if entry.figure == figure and entry.of == of), None)


class Simulation(Model):
    """A whole document."""

    format: str
    """Always `"txop-simulate"`."""
    version: int
    """Layout version."""
    origin: Origin
    """Always `"simulated"`."""
    txop: str
    """Version of txop."""
    scenario: Scenario
    """What was run."""
    axes: list[Axis]
    """What was swept, outermost first."""
    points: list[Point]
    """One for every combination of the values of the axes; one without any axis."""
    warnings: list[str] = Field(default_factory=list)
    """What there is to say of all points: flows that had not settled."""

    @classmethod
    def parse(cls, document: bytes | str) -> Simulation:
        """The simulation in a ``txop-simulate`` JSON document.

        Raises:
            FormatError: it is not such a document, or one of a layout version this program does not know.
        """
        return parse_document(cls, document, FORMAT, VERSION)
