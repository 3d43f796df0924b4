"""What a reader of a foreign file gives: runs with figures, and what could not be read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from txop.archive.run_file import Value
from txop.core.errors import UserError
from txop.core.metrics import describe

Way = Literal["tx", "rx"]
"""Direction, seen from the device under test."""

Kind = Literal["tcp-tx", "tcp-rx", "tcp-both", "udp-tx", "udp-rx", "rrul", "latency"]

Points = list[tuple[float, float | None]]


class DataImportError(UserError):
    """Nothing of the files can become an archive."""


@dataclass(frozen=True)
class Direction:
    """What the files do not say and the user does."""

    dut: Literal["client", "server"] = "client"
    """End of the traffic that is the device under test."""
    way: Way | None = None
    """The direction of pasted text that does not give it; for a ttcp table see ``device``."""
    device: str | None = None
    """Name of the device under test in a table of transfers between named machines."""


@dataclass(frozen=True)
class TestKey:
    """What makes two runs runs of the same test."""

    kind: Kind
    duration_s: float
    streams: int = 1
    rate_mbit_s: float | None = None
    setup: str = ""
    """What else it was measured with: device, access point and distance of a table, host and size of a ping, what
    stands above the rows of a paste."""
    short: str | None = field(default=None, compare=False)
    """The same in a few words, for the name of the test; empty: only where another test has its name already."""
    name: str = ""
    """What the tool calls the test (``rrul_be``), or what tells it from a plain one of its kind (``speedtest-rx``)."""
    dscp: tuple[int, ...] = ()
    """Differentiated Services code points of its flows; empty: not known."""
    congestion: tuple[str, ...] = ()
    """TCP congestion controls of its senders; empty: not known."""
    tool: str = ""
    """The program that measured: two programs do not make one test."""
    interval_s: float | None = None
    """From one latency probe to the next, where the output gives it."""


@dataclass
class ImportedRun:
    """One imported run."""

    test: TestKey
    line: int | None = None
    """Where it stands in the file."""
    arm: str | None = None
    """As the file names it; ``None``: it does not."""
    started_at: str | None = None
    """ISO 8601, UTC; ``None``: not given."""
    window_s: float | None = None
    metrics: dict[str, Value] = field(default_factory=dict)
    series: dict[str, Points] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    cookie: str | None = None
    """The same in the output of both ends of one run."""
    end: str | None = None
    """Which end printed it, where a cookie is not made for one run alone: a run of the same end is another run."""

    def put(
        self, key: str, value: float | None, source: str, reason: str | None = None, *, unit: str | None = None
    ) -> None:
        """Set a figure; ``None`` needs its reason. ``unit``: of one that is the tool's own."""
        endless = value is not None and math.isinf(value)
        self.metrics[key] = Value(
            value=None if endless else value,
            unit=describe(key).unit if unit is None else unit,
            source=source,
            reason="beyond the last probe that came back" if endless else reason,
            infinite=endless,
        )


def moment(unix_s: float | None) -> str | None:
    """When a run began, as runs have it; ``None`` where it is not known or no time of any calendar."""
    try:
        return None if unix_s is None else datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None


@dataclass
class FileReading:
    """One file, read."""

    format: str
    """In words: ``iperf3 JSON``."""
    runs: list[ImportedRun] = field(default_factory=list)
    problems: list[tuple[int | None, str]] = field(default_factory=list)
    """What could not be read: line and clause."""
    notes: list[str] = field(default_factory=list)
    """What must be known to read the figures."""
