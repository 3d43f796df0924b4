"""The tests of a plan: what is measured."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, StringConstraints, model_validator

from txop.plan.allowed_rates import AllowedRates
from txop.plan.fields import Argv, Congestion, Name, Seconds
from txop.plan.strict import Strict

TAKE_OUT_S = 60.0
"""For removing a module and clearing up after it; it may be in use for a while."""


class ModuleCycles(NamedTuple):
    """The cycles of a test that removes and inserts the arm's module, as :class:`ModuleCycleTest` has them."""

    cycles: int
    way: Literal["reload", "replug"]
    pause_s: float
    recover_s: float


class _Test(Strict):
    name: Name
    """Short name; figures are called ``NAME.METRIC``."""
    duration_s: Annotated[float, Field(gt=0, le=7 * 86400, allow_inf_nan=False)] = 30.0
    """Length of the measured window; the warm-up comes before it."""
    warm_up_s: Seconds | None = None
    """Default: the design's."""
    latency: Literal["none", "ping", "irtt"] = "none"
    """Latency probe beside the load."""
    latency_interval_s: Annotated[float, Field(ge=0.002, le=60)] = 0.1
    """Time from one latency probe to the next."""
    station: Name = "dut"
    """Target that is this end of the flows."""
    rates: AllowedRates | None = None
    """In a guest: rates that the device under test may send at; default: those of ``queues``."""

    needs_peer: ClassVar[bool] = True
    """Whether it has traffic with the peer."""
    steady_load: ClassVar[bool] = True
    """Whether it is a steady load over ``duration_s``, after a warm-up."""
    reconnects: ClassVar[bool] = False
    """Whether it takes the association away itself, so that losing it voids no run."""
    outlasts_association: ClassVar[bool] = False
    """Whether a run goes on and counts when the association is lost."""
    for_hours: ClassVar[bool] = False
    """Whether it is watched for slow change over hours rather than for its level."""
    trial: ClassVar[Literal["never", "in a guest", "always"]] = "never"
    """When it is a trial in a guest, with steps of its own in place of idle phase, warm-up and window."""
    whole_seconds: ClassVar[bool] = False
    """Whether ``duration_s`` counts in whole seconds only, as iperf3's does."""
    amount_of_data: ClassVar[bool] = False
    """Whether it sends an amount of data, and lasts as long as that takes."""

    @property
    def length(self) -> str:
        """How long it lasts, in words."""
        return f"{self.duration_s:g} s"

    @property
    def stations_measured(self) -> list[str]:
        """Targets that take part at once, each with figures of its own; empty for a test of one station."""
        return []

    @property
    def targets_used(self) -> list[str]:
        """Targets that it needs beside the peer."""
        return [self.station, *self.stations_measured]

    @property
    def probed_from_peer(self) -> bool:
        """Whether the peer sends the latency probes, to the station."""
        return False

    @property
    def one_way(self) -> Literal["uplink", "downlink"] | None:
        """Where its data goes, seen from the station, if it has traffic that no flow of iperf3 is."""
        return None

    @property
    def module_cycles(self) -> ModuleCycles | None:
        """How often, and how, the module is removed and inserted; ``None`` for a test that leaves it in place."""
        return None

    @property
    def longest_s(self) -> float:
        """What its window may take at most."""
        return self.duration_s * 1.5

    @property
    def argv(self) -> Argv | None:
        """The program that the test itself is; ``None`` where txop chooses the programs."""
        return None

    @property
    def directions(self) -> dict[str, Literal["higher", "lower"]]:
        """Figures that only this test has, with what is better; those of all tests are in ``METRICS``."""
        return {}

    @property
    def own_figures(self) -> list[str]:
        """Figures that only this test is known to bring."""
        return []

    @property
    def prints_more(self) -> bool:
        """Whether it can bring figures that are known only when it has run."""
        return False


class TcpTest(_Test):
    """TCP from the device (``tcp-tx``), to it (``tcp-rx``), or both at once (``tcp-both``)."""

    whole_seconds: ClassVar[bool] = True

    kind: Literal["tcp-tx", "tcp-rx", "tcp-both"]
    """Direction, seen from the device under test."""
    streams: Annotated[int, Field(ge=1, le=128)] = 1
    """Connections at once, in each direction."""
    stagger_s: Seconds = 0.0
    """Each further stream starts this much later, and ends with the first."""
    congestion: Congestion | None = None
    """TCP congestion control of the sender; default: that of its kernel."""
    dscp: Annotated[int, Field(ge=0, le=63)] | None = None
    """Differentiated Services code point of the flows (RFC 2474); decides the access category on the air."""


class UdpTest(_Test):
    """UDP at a rate, from the device or to it."""

    whole_seconds: ClassVar[bool] = True

    kind: Literal["udp-tx", "udp-rx"]
    """Direction, seen from the device under test."""
    rate_mbit_s: Annotated[float, Field(gt=0, le=100_000)]
    """Payload sent per second."""
    datagram_bytes: Annotated[int, Field(ge=16, le=65507)] = 1448
    """Payload of one datagram."""
    dscp: Annotated[int, Field(ge=0, le=63)] | None = None
    """Differentiated Services code point (RFC 2474)."""


class TtcpTest(_Test):
    """One transfer of ttcp from the device (``ttcp-tx``) or to it (``ttcp-rx``): so many buffers over one TCP
    connection. It begins with the load and has to end within ``duration_s``."""

    steady_load: ClassVar[bool] = False
    amount_of_data: ClassVar[bool] = True

    kind: Literal["ttcp-tx", "ttcp-rx"]
    """Direction, seen from the device under test."""
    warm_up_s: Seconds | None = 0.0
    """None: a transfer is measured from its first byte to its last."""
    buffers: Annotated[int, Field(ge=1, le=10_000_000)] = 2_048
    """Buffers that are sent."""
    buffer_bytes: Annotated[int, Field(ge=1, le=1 << 20)] = 8_192
    """Bytes of a buffer."""

    @property
    def length(self) -> str:
        """How long it lasts, in words."""
        return f"{self.buffers * self.buffer_bytes / 1e6:.3g} MB"

    @property
    def one_way(self) -> Literal["uplink", "downlink"]:
        """Where its data goes, seen from the station."""
        return "uplink" if self.kind == "ttcp-tx" else "downlink"


class LatencyTest(_Test):
    """Round-trip times of an idle link."""

    kind: Literal["latency"]
    """An idle link."""
    latency: Literal["ping", "irtt"] = "ping"
    """Latency probe."""
    sender: Literal["station", "peer"] = "station"
    """Who sends the probes; the peer only with ping."""

    @property
    def probed_from_peer(self) -> bool:
        """Whether the peer sends the latency probes."""
        return self.sender == "peer"


class RrulTest(_Test):
    """Real-time response under load: TCP flows both ways in several classes, with latency beside them."""

    kind: Literal["rrul"]
    """Real-time response under load."""
    dscp: list[Annotated[int, Field(ge=0, le=63)]] = [0, 8, 40, 46]
    """One flow each way per class: CS0, CS1, CS5, EF."""
    latency: Literal["ping", "irtt"] = "ping"
    """Latency probe beside the load."""


class StationsTest(_Test):
    """Several stations at once, with fairness."""

    whole_seconds: ClassVar[bool] = True

    kind: Literal["stations"]
    """Several stations at once."""
    stations: Annotated[list[Name], Field(min_length=2, max_length=32)]
    """Targets that take part, each with one iperf3 per direction."""
    direction: Literal["tx", "rx", "both"] = "rx"
    """Direction, seen from the stations."""
    streams: Annotated[int, Field(ge=1, le=128)] = 1
    """TCP connections of each station at once, in each direction."""
    congestion: Congestion | None = None
    """TCP congestion control of the senders; default: that of their kernels."""
    rate_mbit_s: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """UDP at this rate to or from each station, in place of TCP."""

    @model_validator(mode="after")
    def _protocol(self) -> StationsTest:
        if self.rate_mbit_s is not None and (self.streams > 1 or self.congestion is not None):
            raise ValueError("with rate_mbit_s it is UDP, which has no streams and congestion here")
        return self

    @property
    def stations_measured(self) -> list[str]:
        """Targets that take part at once."""
        return self.stations


class ModuleCycleTest(_Test):
    """Remove and insert the module while traffic runs."""

    steady_load: ClassVar[bool] = False
    reconnects: ClassVar[bool] = True
    trial: ClassVar[Literal["never", "in a guest", "always"]] = "in a guest"

    kind: Literal["module-cycle"]
    """Remove and insert the arm's module."""
    way: Literal["reload", "replug"] = "reload"
    """``reload``: the module is removed and inserted. ``replug``, in a guest: the virtual chip is unplugged for a
    second."""
    cycles: Annotated[int, Field(ge=1, le=10_000)] = 5
    """How often. In a guest the test ends with the last cycle, whatever ``duration_s`` says."""
    pause_s: Seconds = 2.0
    """Time without the module."""
    recover_s: Seconds = 30.0
    """How long traffic may take to come back; in a guest: the association."""

    @property
    def length(self) -> str:
        """How long it lasts, in words."""
        return f"{self.cycles} cycles"

    @property
    def module_cycles(self) -> ModuleCycles:
        """How often, and how, the module is removed and inserted."""
        return ModuleCycles(self.cycles, self.way, self.pause_s, self.recover_s)

    @property
    def longest_s(self) -> float:
        """What its window may take at most: every removal, and two waits for the recovery."""
        return super().longest_s + self.cycles * (TAKE_OUT_S + self.pause_s + 2 * self.recover_s + 10.0)


class FaultTrialTest(_Test):
    """In a guest: what the driver makes of the arm's fault script (``faults``). It strikes under light traffic, and 8 s
    later the peer is asked; a driver that has lost it is reloaded, then the chip plugged in again. A trial lasts as
    long as that takes: ``duration_s`` does not count. An arm without a script is the control."""

    steady_load: ClassVar[bool] = False
    trial: ClassVar[Literal["never", "in a guest", "always"]] = "always"

    kind: Literal["fault-trial"]
    """What a driver makes of a fault; see docs/guest-faults.md."""

    @property
    def length(self) -> str:
        """How long it lasts, in words."""
        return "to its end"


class SoakTest(_Test):
    """Load for hours, watched for faults, drop-outs and slow change."""

    outlasts_association: ClassVar[bool] = True
    for_hours: ClassVar[bool] = True

    kind: Literal["soak"]
    """Load for hours."""
    duration_s: Annotated[float, Field(gt=0, le=7 * 86400, allow_inf_nan=False)] = 3600.0
    """Length of the measured window."""
    direction: Literal["tx", "rx", "both"] = "both"
    """Direction of the load, seen from the device under test."""
    rate_mbit_s: Annotated[float, Field(ge=0.01, le=100_000)] | None = None
    """What the TCP connection of each direction sends, on average since its start; default: as fast as it can. A device
    that is not loaded to its limit spends much of a long test waiting, which a guest with exact time skips. iperf3 3.16
    and 3.17 keep a processor busy while they wait."""
    latency: Literal["none", "ping", "irtt"] = "ping"
    """Latency probe beside the load."""
    latency_interval_s: Annotated[float, Field(ge=0.002, le=60)] = 1.0
    """Time from one latency probe to the next."""


class CommandTest(_Test):
    """A free command, and how its output becomes figures."""

    needs_peer: ClassVar[bool] = False
    steady_load: ClassVar[bool] = False

    kind: Literal["command"]
    """Any program."""
    command: Argv
    """The program; it has to end with 0."""
    on: Name = "dut"
    """Target that it runs on."""
    parser: Literal["json", "regex"] = "json"
    """``json``: an object of numbers on stdout, taken by key. ``regex``: named groups are the metrics."""
    pattern: Annotated[str, StringConstraints(max_length=1000)] | None = None
    """Regular expression (Python's) for ``parser = "regex"``; its first match in the output counts."""
    higher_is_better: list[Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$")]] = []
    """Figures of which more is better; one that is in neither list is shown and never judged."""
    lower_is_better: list[Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$")]] = []
    """Figures of which less is better."""

    @model_validator(mode="after")
    def _pattern(self) -> CommandTest:
        if (self.parser == "regex") != (self.pattern is not None):
            raise ValueError('pattern goes with parser = "regex", and only with it')
        return self

    @property
    def targets_used(self) -> list[str]:
        """The target that it runs on, and its station."""
        return [self.station, self.on]

    @property
    def argv(self) -> Argv:
        """The command."""
        return self.command

    @property
    def directions(self) -> dict[str, Literal["higher", "lower"]]:
        """The figures to which the plan gives a direction."""
        found: dict[str, Literal["higher", "lower"]] = dict.fromkeys(self.higher_is_better, "higher")
        for key in self.lower_is_better:
            found.setdefault(key, "lower")
        return found

    @property
    def own_figures(self) -> list[str]:
        """The named groups of its pattern, and the figures to which the plan gives a direction."""
        groups: list[str] = []
        if self.pattern is not None:
            try:
                groups = list(re.compile(self.pattern).groupindex)
            except (re.error, OverflowError, RecursionError):
                groups = []
        return list(dict.fromkeys([*groups, *self.directions]))

    @property
    def prints_more(self) -> bool:
        """Whether it can bring figures that are known only when it has run."""
        return self.parser == "json"


Test = Annotated[
    TcpTest
    | TtcpTest
    | UdpTest
    | LatencyTest
    | RrulTest
    | StationsTest
    | ModuleCycleTest
    | FaultTrialTest
    | SoakTest
    | CommandTest,
    Field(discriminator="kind"),
]
