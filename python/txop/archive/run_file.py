"""``run.json``: what one run was and gave. Written once, whole, before the journal says that the run has ended."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from txop.archive.text import storable
from txop.core.origin import Origin, Start


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="null")


Bound = Literal["at-least", "at-most"]
"""Which side of the true figure a value is on, where the raw files hold no more than that."""

Absence = Literal["below-noise"]
"""Kinds of reasons that a comparison treats in a way of their own: of runs that lack a figure because it was too small,
the others are no fair sample."""

RUN_VERSION = 1
"""Version of ``run.json`` that this txop writes and reads."""

Finite = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid", ser_json_inf_nan="null"))
class Value:
    """A figure of a run. ``value`` is ``None`` when it is not available, and ``reason`` then says why."""

    value: Finite | None
    unit: str
    source: str
    """What it was read from: ``iperf3 of both ends``, ``/proc/stat``, ``air.pcapng``."""
    reason: str | None = None
    infinite: bool = False
    """The figure is infinite: a quantile of round trips among the lost ones. ``value`` is then ``None``."""
    bound: Bound | None = None
    """``value`` is not the figure but a bound of it, as where a capture cut off what would have been counted."""
    code: Absence | None = None
    """Which kind of reason ``reason`` is, where that matters to a comparison: ``below-noise``, the figure is smaller
    than the noise of its reading; ``None``, any other."""

    @property
    def below_noise(self) -> bool:
        """Whether the figure is not available because it is smaller than the noise of its reading."""
        return self.code == "below-noise" or (self.reason or "").startswith(_BELOW_NOISE_UNCODED)


_BELOW_NOISE_UNCODED = "not distinguishable from idle: "
"""How the reason begins in files that were written before there was a ``code``."""


class Voiding(_Record):
    """Why a run does not count."""

    gate: str
    """Stable name of the gate: ``association-lost``, ``peer-cpu``, ``target-lost``, ``interrupted``, ..."""
    cause: str
    """In words, with the figures."""
    target: str | None = None


SERIOUS = frozenset({"error", "critical"})
"""Severities of what figures and tables call a fault."""


class Fault(_Record):
    """A named fault of the kernel log of a run."""

    key: str
    title: str
    severity: str
    target: str
    count: int
    lines: list[str] = []
    """The first few lines, as the kernel wrote them."""
    while_loading: bool = False
    """It came while the arm was loaded and brought up, not in the run itself."""


class RunTiming(_Record):
    """Where the time of a run in a guest went, seconds by the clock of the machine; ``None``: it had no such part."""

    boot_s: Finite | None = None
    """From QEMU's start until the guest's first word."""
    association_s: Finite | None = None
    """From there until it was associated."""
    traffic_s: Finite | None = None
    """From there, or from the restore, until it had ended."""
    check_s: Finite | None = None
    """The second guest, to see that both leave the same."""
    reading_s: Finite | None = None
    """Figures were read from what it left."""


class Reused(_Record):
    """Where the files of a run are from that was not run again: an exact guest with the same inputs left them."""

    key: str
    """Hash of everything that the guest is a function of."""
    made_at: str
    """When it was run; ISO 8601, UTC."""
    place: str
    """The folder or address of the cache."""


class RunFile(_Record):
    """One run: one arm, one test, in one block."""

    format: Literal["txop-run"] = "txop-run"
    version: Literal[1] = 1
    run: str
    """Name of its folder: ``BLOCK-ARM-TEST``, as in ``003-vanilla-tx``."""
    block: int
    """From 1; blocks beyond the design's number are repeats."""
    replaces: int | None = None
    """The block that this one repeats."""
    position: int
    """Place of the arm in its block, from 1."""
    arm: str
    test: str
    origin: Origin
    state: Literal["valid", "void"]
    void: list[Voiding] = Field(default_factory=list)
    started_at: str
    """ISO 8601, UTC."""
    seconds: Finite
    """From the load to the unload."""
    window_s: Finite | None = None
    """Length of the measured window, warm-up left out."""
    metrics: dict[str, Value] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list)
    """What a reader must know and does not void the run."""
    gates: dict[str, str] = Field(default_factory=dict)
    """Every gate, and what it found: ``ok``, ``void``, or ``not available: REASON``."""
    faults: list[Fault] = Field(default_factory=list)
    verified: dict[str, Any] = Field(default_factory=dict)
    """What was found loaded: driver, its module, srcversion, build_id, parameters."""
    provenance: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Per target: what may differ from run to run (link, rate, addresses of the access point)."""
    air: dict[str, Any] | None = None
    """Digest of ``txop air`` on the run's capture, if there was one."""
    bus: dict[str, Any] | None = None
    """Digest of ``txop bus`` on the run's USB capture, if there was one."""
    files: dict[str, str] = Field(default_factory=dict)
    """Raw files of the run's folder, and what each one is."""
    start: Start | None = None
    """Where the run of a guest began; ``None``: it booted, or it was not in a guest."""
    timing: RunTiming | None = None
    """``None``: it was not in a guest."""
    reused: Reused | None = None
    """``None``: it was run."""

    @classmethod
    def of_words(cls, **fields: Any) -> RunFile:
        """A run with causes and warnings that quote tools: their words must not keep it from being stored.

        Raises:
            pydantic.ValidationError: as the constructor does.
        """
        return cls.model_validate(storable(fields))


class SeriesFile(_Record):
    """``series.json``: what happened over time within a run. Times are seconds from the start of the measured window;
    negative ones belong to the warm-up."""

    format: Literal["txop-series"] = "txop-series"
    version: Literal[1] = 1
    series: dict[str, list[tuple[Finite, Finite | None]]] = Field(default_factory=dict)
    """By metric-like name (``throughput_mbit_s``, ``rtt_ms``, ``cpu_busy_percent``): time and value; a ``null`` value
    is a probe that was lost."""
