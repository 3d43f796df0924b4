"""What ``txop ci --json`` writes: ``txop-ci``, version 1."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from txop.archive.timing import Timing
from txop.ci.board_rows import Answer
from txop.ci.verdict import State
from txop.core.origin import Origin


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null")


class FigureVerdict(_Model):
    """A judged figure of the series against the base."""

    name: str
    verdict: str
    estimate: float | None
    low: float | None
    high: float | None
    unit: str
    n: int
    """Blocks."""
    p_adjusted: float | None
    sentence: str


class FaultFacts(_Model):
    """A fault of the kernel log that the base has not."""

    key: str
    title: str
    severity: str
    runs: int
    of: int
    line: str


class BuildFacts(_Model):
    """A module."""

    sha256: str
    build_id: str | None


class RowFacts(_Model):
    """A task of the board, as the runs of both builds show it."""

    task: str
    base: Answer
    series: Answer
    base_because: str
    series_because: str


class BoardFacts(_Model):
    """The board that was given."""

    title: str
    rows: list[RowFacts]


class CiResult(_Model):
    """A series, judged."""

    format: Literal["txop-ci"] = "txop-ci"
    version: Literal[1] = 1
    txop: str
    state: State
    ok: bool
    """Nothing counts against it. True of ``inconclusive``, too, but not of ``not measured``."""
    headline: str
    base: str
    series: str
    patches: list[str]
    driver: str
    origin: Origin
    base_build: BuildFacts | None
    series_build: BuildFacts | None
    new_warnings: list[str]
    new_faults: list[FaultFacts]
    figures: list[FigureVerdict]
    board: BoardFacts | None = None
    """``None``: none was given, or nothing was run."""
    runs: int = 0
    """Of the campaign, void ones included."""
    reused_runs: int = 0
    """Of these: not run again, as an exact guest with the same inputs had been run."""
    timing: Timing | None = None
    """Where the time went."""
    notes: list[str]
    archive: str | None
    """Folder of the campaign; ``None``: nothing was run."""
    again: str
    """The command that repeats it."""
    seconds: float
