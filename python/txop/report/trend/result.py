"""The result of a trend: figures over several archives. Plain data; ``txop trend --json`` writes it as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

FORMAT = "txop-trend"
VERSION = 1


@dataclass(frozen=True)
class Release:
    """One archive."""

    path: str
    title: str
    label: str
    """Short and unique among the archives: how it is called in sentences."""
    began: str | None
    """When its first run began, ISO 8601; ``None``: the archive does not record it."""
    origin: str
    runs: int
    """Valid runs of the arm."""


@dataclass(frozen=True)
class Changed:
    """A fact that two archives record differently."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Point:
    """A figure in one archive."""

    release: int
    """Place of the archive, from 0."""
    n: int
    median: float | None
    low: float | None
    """Smallest and largest of the runs."""
    high: float | None
    infinite: int = 0
    """Runs with an infinite figure; they count, as the largest."""


@dataclass(frozen=True)
class Step:
    """A figure in one archive against the same in an earlier one."""

    before: int
    after: int
    n_before: int
    n_after: int
    unit: str
    estimate: float | None
    low: float | None
    high: float | None
    confidence: float | None
    p: float | None
    p_adjusted: float | None
    """Holm, over every step of every figure shown."""
    verdict: str
    """``better``, ``worse``, ``equivalent``, ``inconclusive``, or ``not-judged``."""
    sentence: str


@dataclass(frozen=True)
class FigureTrend:
    """A figure over all archives."""

    name: str
    """``TEST.METRIC``."""
    title: str
    unit: str
    better: str | None
    points: list[Point]
    steps: list[Step]
    """Between each two archives that follow each other and have the figure."""
    whole: Step | None
    """The last against the first: what many small steps add up to. ``None`` with fewer than three points."""
    missing: list[str] = field(default_factory=list)
    """Why archives have no point."""


@dataclass(frozen=True)
class ArchiveDifference:
    """What two archives that follow each other record differently."""

    before: int
    after: int
    changed: list[Changed]
    sentence: str


@dataclass(frozen=True)
class Trend:
    """Everything about one arm over several archives."""

    arm: str
    releases: list[Release]
    figures: list[FigureTrend]
    between: list[ArchiveDifference]
    headline: list[str]
    warnings: list[str]
    damage: list[str]
    format: str = FORMAT
    version: int = VERSION
