"""The series of the runs, read once and made small enough to draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from txop.archive.counting import counting
from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.compare.result import CompareResult
from txop.report.campaign.plots.drawing import spaced

Points = list[tuple[float, float | None]]

MAX_RUNS = 60
"""Runs of one arm and test with series that are read; further ones are left out evenly."""

MAX_FILE_BYTES = 32 * 1024 * 1024
_MAX_POINTS = 400_000
"""Points kept of one series."""


@dataclass(frozen=True)
class RunSeries:
    """One series of one run."""

    run: str
    block: int
    arm: str
    points: Points
    window_s: float | None
    """Length of the measured window, which begins at 0."""


@dataclass
class TestSeries:
    """All series of a test, by name of the series."""

    __test__ = False  # pytest: not a test case

    runs: dict[str, list[RunSeries]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    """Why some runs are not drawn."""


def load(archive: Archive, result: CompareResult, test: str, arms: Iterable[str], names: Sequence[str]) -> TestSeries:
    """The series ``names`` of the runs of ``test`` that count."""
    found = TestSeries()
    imported = {figure.test for figure in result.figures if any(v.points for v in figure.arms)}
    if test not in imported:
        return found
    count = counting(archive, test)
    for arm in arms:
        mine = count.of(arm)
        shown = spaced(mine, MAX_RUNS)
        if len(shown) < len(mine):
            found.left_out.append(f"{len(shown)} of {len(mine)} runs of {arm} are drawn")
        for run in shown:
            _read(archive, run, names, found)
    return found


def _read(archive: Archive, run: RunFile, names: Sequence[str], found: TestSeries) -> None:
    path = archive.layout.run(run.run) / "series.json"
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            found.left_out.append(f"the series of {run.run} are too long to be drawn")
            return
    except OSError:
        return
    for name, points in archive.series(run).series.items():
        if name in names and points:
            kept = spaced(points, _MAX_POINTS)
            found.runs.setdefault(name, []).append(RunSeries(run.run, run.block, run.arm, kept, run.window_s))


def thinned(points: Sequence[tuple[float, float | None]], buckets: int) -> Points:
    """At most three points for each of ``buckets`` spans of time: the lowest, the highest, and one that was lost, so
    that no peak and no gap disappears.

    >>> thinned([(0, 1.0), (1, 9.0), (2, 2.0)], 10)
    [(0, 1.0), (1, 9.0), (2, 2.0)]
    """
    if len(points) <= 2 * buckets:
        return list(points)
    start, end = points[0][0], points[-1][0]
    width = (end - start) / buckets or 1.0
    kept: Points = []
    bucket: list[tuple[float, float | None]] = []
    at = 0
    for point in points:
        here = int((point[0] - start) / width)
        if here != at and bucket:
            kept += _extremes(bucket)
            bucket = []
        at = here
        bucket.append(point)
    return kept + _extremes(bucket)


def _extremes(bucket: Sequence[tuple[float, float | None]]) -> Points:
    known = [i for i, (_, value) in enumerate(bucket) if value is not None]
    chosen: set[int] = set()
    if known:
        low = min(known, key=lambda i: bucket[i][1] or 0.0)
        high = max(known, key=lambda i: bucket[i][1] or 0.0)
        chosen = {low, high}
    if len(known) < len(bucket):
        chosen.add(next(i for i, (_, value) in enumerate(bucket) if value is None))
    return [bucket[i] for i in sorted(chosen)]
