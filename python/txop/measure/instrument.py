"""What records something during a run: traffic, probes, captures. One contract, one module per instrument.

A run has three phases: *idle* (no traffic, to know what the machine uses by itself), *warm-up* and the measured
*window*. An instrument that has to see the arm come up begins before that (:class:`EarlyInstrument`). Instruments are
prepared before the idle phase, started, and stopped after the window; they leave raw files in the run's folder. Then
:meth:`Instrument.read` makes figures of those files and of nothing else, so that the figures of an old archive can be
made again by a newer txop.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from txop.archive.run_file import Absence, Bound, Fault, Value
from txop.core.metrics import describe
from txop.core.whole_file import whole_file
from txop.plan.arm import Arm
from txop.plan.measurement import Test
from txop.plan.model import Plan
from txop.targets.contract import Targets

Points = list[tuple[float, float | None]]
"""A series: seconds from the start of the measured window, and the value (``None``: lost)."""


class Clock(BaseModel):
    """The time of day of a target on another machine, against this machine."""

    model_config = ConfigDict(extra="forbid")

    wall_minus_monotonic_s: float
    """Its seconds since 1970 minus this machine's monotonic clock."""
    uncertainty_s: float
    """Half the round trip of the best question."""
    problem: str | None = None
    """Why it is not a clock for this run, to be read after "the clock of NAME"."""


class Marks(BaseModel):
    """When the phases of a run began, in seconds of this machine's monotonic clock; ``marks.json`` of a run."""

    model_config = ConfigDict(extra="forbid")

    idle: float | None = None
    load: float | None = None
    """The traffic was started."""
    window: float | None = None
    """The warm-up was over."""
    end: float | None = None
    """The measured window ended."""
    wall_minus_monotonic_s: float = 0.0
    """Wall-clock time (seconds since 1970) minus the monotonic clock, at the start of the load."""
    uptime_minus_monotonic_s: dict[str, float] = {}
    """Per target: its /proc/uptime minus this machine's monotonic clock."""
    clocks: dict[str, Clock] = {}
    """Per target on another machine: its time of day, which stamps captures made there."""

    def save(self, folder: Path) -> None:
        """Write ``marks.json``."""
        with whole_file(folder / "marks.json") as out:
            out.write(self.model_dump_json(indent=1) + "\n")

    @classmethod
    def of(cls, folder: Path) -> Marks:
        """Read ``marks.json``; empty marks when it is missing or damaged."""
        try:
            return cls.model_validate(json.loads((folder / "marks.json").read_bytes()))
        except (OSError, ValueError):
            return cls()

    @property
    def window_s(self) -> float | None:
        """Length of the measured window."""
        return None if self.window is None or self.end is None else self.end - self.window


@dataclass
class RunContext:
    """What an instrument works with while a run goes on."""

    plan: Plan
    arm: Arm
    test: Test
    targets: Targets
    folder: Path
    marks: Marks
    peer_address: str
    """Where the traffic of the device under test goes."""
    seconds_left: float
    """How long the run may still take at most; what is started on a target ends by itself after this."""
    device_address: str | None = None
    """Where the peer reaches the device under test; ``None``: the device has to be asked."""


@dataclass(frozen=True)
class RunFacts:
    """What :meth:`Instrument.read` may use: what was planned, when it happened, and the files."""

    plan: Plan
    arm: Arm
    test: Test
    folder: Path
    marks: Marks


GateState = Literal["ok", "void", "not available"]


@dataclass(frozen=True)
class GateFinding:
    """What a validity gate found."""

    gate: str
    state: GateState
    words: str = ""
    """The cause when void, the reason when not available."""
    target: str | None = None


@dataclass
class Reading:
    """What an instrument's files say."""

    metrics: dict[str, Value] = field(default_factory=dict)
    series: dict[str, Points] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    gates: list[GateFinding] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    """File name in the run's folder, and what it is."""
    air: dict[str, Any] | None = None
    bus: dict[str, Any] | None = None
    provenance: dict[str, dict[str, object]] = field(default_factory=dict)
    """By target: what may differ from run to run, such as the access point and the channel."""
    extra: dict[str, float | None] = field(default_factory=dict)
    """Figures that only make sense together with another instrument's; see :mod:`txop.campaign.joined`."""

    def put(
        self,
        key: str,
        value: float | None,
        source: str,
        reason: str | None = None,
        *,
        bound: Bound | None = None,
        code: Absence | None = None,
    ) -> None:
        """Set a metric of :data:`~txop.core.metrics.METRICS`; ``None``: not available, for ``reason``. ``bound``: the
        figure is no less, or no more, than ``value``. ``code``: which kind of reason it is."""
        if value is None and reason is None:
            raise ValueError(f"{key}: not available for no reason")
        infinite = value == float("inf")
        self.metrics[key] = Value(
            value=None if value is None or infinite else value,
            unit=describe(key).unit,
            source=source,
            reason="beyond the last probe that came back" if infinite else reason,
            infinite=infinite,
            bound=bound,
            code=code,
        )

    def merge(self, others: Iterable[Reading]) -> Reading:
        """Take in what other instruments read. A figure that is there already is kept, unless it is not available."""
        for other in others:
            for key, value in other.metrics.items():
                mine = self.metrics.get(key)
                if mine is None or (mine.value is None and not mine.infinite):
                    self.metrics[key] = value
            self.series.update({k: v for k, v in other.series.items() if k not in self.series})
            self.warnings += other.warnings
            self.gates += other.gates
            self.faults += other.faults
            self.files.update(other.files)
            self.air = self.air or other.air
            self.bus = self.bus or other.bus
            self.extra.update(other.extra)
            for target, facts in other.provenance.items():
                self.provenance.setdefault(target, {}).update(facts)
        return self


class Instrument(Protocol):
    """One thing that records. Methods may raise :class:`~txop.targets.contract.TargetError`; the run is then void,
    with the error as the cause, except for probes, which only note it."""

    @property
    def name(self) -> str:
        """Name for logs, and prefix of its files."""

    @property
    def essential(self) -> bool:
        """Whether the run is void when it fails. Traffic is; a probe with a target that lacks something is not."""

    async def prepare(self, run: RunContext) -> None:
        """Before the idle phase: take first snapshots, start what must cover the whole run."""

    async def start(self, run: RunContext) -> None:
        """At the start of the load. Returns when it runs."""

    async def stop(self, run: RunContext) -> None:
        """After the window: end what runs, fetch what is left. Also called after a failure; safe at any point."""

    def read(self, facts: RunFacts) -> Reading:
        """Figures from the raw files. Never raises for what is in them: what cannot be read becomes a reason."""


class PostRunInstrument:
    """What an instrument is that records nothing itself, and reads what others have left when a run is over."""

    essential: bool = False

    async def prepare(self, run: RunContext) -> None:
        """Nothing."""

    async def start(self, run: RunContext) -> None:
        """Nothing."""

    async def stop(self, run: RunContext) -> None:
        """Nothing."""


@runtime_checkable
class EarlyInstrument(Protocol):
    """An instrument that has to see the arm come up: the loading of its module, the association."""

    async def before_arm(self, run: RunContext) -> None:
        """Before the arm is put in place (before the run, when an earlier one has put it there). What it began ends in
        ``stop``, also when the arm never came up."""


@runtime_checkable
class SelfEndingInstrument(Protocol):
    """An instrument that has to end by itself: the window is not over before."""

    async def finished(self, run: RunContext) -> None:
        """Wait for that end, which is bounded. May raise :class:`~txop.targets.contract.TargetError`."""
