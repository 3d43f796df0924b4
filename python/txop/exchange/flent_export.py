"""Runs as data files of flent, version 4 of its format, one file for each run.

flent plots what its own tests describe, so a run becomes a file of the flent test with the same series
(:mod:`txop.exchange.flent_shape`); what has none is left out with the reason. Raw values are the run's series as they
are. ``results`` are drawn onto flent's grid by interpolation, as flent does: in them, and in what flent computes of
them, is no more than in the raw values. Whatever the origin of a figure is stands in the title, so every plot shows it.
"""

from __future__ import annotations

import gzip
import json
import math
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.core.whole_file import replacement
from txop.exchange.flent_shape import PING, Computation, Shape, shape_of

STEP_S = 0.2
"""flent's own default step."""

_FARTHEST_STEPS = 5
"""flent draws no value farther than this from its neighbours (aggregators.py, max_distance)."""


@dataclass
class Exported:
    """What was written, and what was not."""

    files: list[Path] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Runs without a file, with the reason."""


def export(archive: Archive, folder: Path) -> Exported:
    """Write every valid run that flent has a test for into ``folder``. Raises :class:`OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    done = Exported()
    for run in archive.runs:
        if run.state != "valid":
            done.left_out.append(f"{run.run}: void")
            continue
        try:
            document = flent_document(archive, run)
        except ValueError as error:
            done.left_out.append(f"{run.run}: {error}")
            continue
        target = folder / f"{run.run}.flent.gz"
        with replacement(target) as path, path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as out:
            out.write(json.dumps(document, indent=1, sort_keys=True, allow_nan=False).encode("utf-8"))
        done.files.append(target)
    return done


def flent_document(archive: Archive, run: RunFile) -> dict[str, Any]:
    """The data file of one run. Raises ValueError, with the reason, when flent has none for it."""
    plan = archive.plan
    try:
        test = plan.find_test(run.test)
    except KeyError:
        raise ValueError("belongs to no test of the plan") from None
    shape = shape_of(test)
    ours = archive.series(run).series
    series = {theirs: ours[mine] for mine, theirs in shape.series.items() if ours.get(mine)}
    if not series:
        raise ValueError("has no series to plot")
    first = min(t for points in series.values() for t, _ in points)
    last = max(t for points in series.values() for t, _ in points)
    begun, known = _start(run.started_at)
    t0 = begun.timestamp()
    x_values = [round(step * STEP_S, 6) for step in range(min(math.floor((last - first) / STEP_S), 1_000_000) + 1)]
    arms = {arm.name: arm.shown for arm in plan.arm}
    host = f"{run.origin.value} link"
    moment = begun.isoformat(timespec="microseconds").replace("+00:00", "Z")
    results = {each: list(_drawn(points, first, x_values)) for each, points in series.items()}
    about = {each: _about(each, points, shape) for each, points in series.items()}
    for each, (begin, compute) in shape.computed.items():
        columns = [values for theirs, values in results.items() if theirs.startswith(f"{begin} ") and theirs in series]
        if columns:
            results[each] = [_computed(row, compute) for row in zip(*columns, strict=True)]
            unit = "Idx" if each.endswith("fairness") else "ms" if begin == PING else "Mbits/s"
            about[each] = {"UNITS": unit, "RUNNER": "txop", "NOTE": "computed of the others, on the grid"}
    title = f"{arms.get(run.arm, run.arm)}, block {run.block} ({run.origin.value}; {plan.title})"[:200]
    return {
        "version": 4,
        "x_values": x_values,
        "results": results,
        "raw_values": {each: list(_raw(each, points, first, t0)) for each, points in series.items()},
        "metadata": {
            "NAME": shape.name,
            "TITLE": title,
            "NOTE": f"{run.origin.value} figures, exported by txop" + ("" if known else "; the time is not known"),
            "TIME": moment,
            "T0": moment,
            "HOST": shape.hosts[0] if shape.hosts else host,
            "HOSTS": list(shape.hosts) or [host],
            "LOCAL_HOST": socket.gethostname() if run.origin.value == "hardware" else f"txop, {run.origin.value}",
            "LENGTH": math.ceil(run.window_s or last - first),
            "TOTAL_LENGTH": math.ceil(last - first) or 1,
            "STEP_SIZE": STEP_S,
            "TEST_PARAMETERS": {},
            "FLENT_VERSION": "2.3.0",
            "IP_VERSION": 4,
            "SERIES_META": about,
            "TXOP": {
                "origin": run.origin.value,
                "run": run.run,
                "arm": run.arm,
                "test": run.test,
                "block": run.block,
                "txop": _version(),
                "window_starts_s": -first,
                "figures": {key: value.value for key, value in run.metrics.items() if value.value is not None},
            },
        },
    }


def _version() -> str:
    from txop.core.version import program_version

    return program_version()


def _start(text: str) -> tuple[datetime, bool]:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return datetime(1970, 1, 2, tzinfo=UTC), False
    return (found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)), True


def _raw(name: str, points: Sequence[tuple[float, float | None]], first: float, t0: float) -> Iterator[dict[str, Any]]:
    earlier = None
    for number, (t, value) in enumerate(points, start=1):
        at = round(t0 + t - first, 6)
        if name.startswith(PING):
            yield (
                {"t": at, "seq": number, "val": value} if value is not None else {"t": at, "seq": number, "lost": True}
            )
        elif value is not None:
            point = {"t": at, "val": value}
            if earlier is not None and t > earlier:
                point["dur"] = round(t - earlier, 6)
            yield point
        earlier = t


def _drawn(
    points: Sequence[tuple[float, float | None]], first: float, x_values: Sequence[float]
) -> Iterator[float | None]:
    """The points on the grid, by interpolation between neighbours that are not too far."""
    known = sorted((t - first, value) for t, value in points if value is not None)
    gaps = sorted(b - a for (a, _), (b, _) in pairwise(known))
    usual = gaps[len(gaps) // 2] if gaps else STEP_S
    farthest = _FARTHEST_STEPS * max(STEP_S, usual)
    at = 0
    for x in x_values:
        while at < len(known) and known[at][0] < x:
            at += 1
        before = known[at - 1] if at else None
        after = known[at] if at < len(known) else None
        if after is not None and after[0] == x:
            yield after[1]
        elif before is None or after is None or after[0] - before[0] > farthest:
            yield None
        else:
            share = (x - before[0]) / (after[0] - before[0])
            yield before[1] + share * (after[1] - before[1])


def _computed(row: Sequence[float | None], compute: Computation) -> float | None:
    known = [value for value in row if value is not None]
    return compute(known) if known else None


def _about(name: str, points: Sequence[tuple[float, float | None]], shape: Shape) -> dict[str, Any]:
    known = [value for _, value in points if value is not None]
    about: dict[str, Any] = {
        "UNITS": "ms" if name.startswith(PING) else "Mbits/s",
        "RUNNER": "txop",
        "MEAN_VALUE": math.fsum(known) / len(known) if known else None,
        "MIN_VALUE": min(known, default=None),
        "MAX_VALUE": max(known, default=None),
    }
    if not name.startswith(PING) and shape.sums_flows:
        about["NOTE"] = "the sum of several flows"
    if name.startswith(PING):
        about["PACKETS_SENT"], about["PACKETS_RECEIVED"] = len(points), len(known)
    return about
