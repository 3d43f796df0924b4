"""Runs as data files of flent, version 4 of its format, one file for each run.

flent plots what its own tests describe, so a run becomes a file of the flent test with the same series; what has none
is left out with the reason. Raw values are the run's series as they are. ``results`` are drawn onto flent's grid by
interpolation, as flent does: in them, and in what flent computes of them, is no more than in the raw values. Whatever
the origin of a figure is stands in the title, so every plot shows it.
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

STEP_S = 0.2
"""flent's own default step."""

_FARTHEST_STEPS = 5
"""flent draws no value farther than this from its neighbours (aggregators.py, max_distance)."""

_UP, _DOWN, _PING = "TCP upload", "TCP download", "Ping (ms) ICMP"
_TESTS: dict[str, tuple[str, dict[str, str]]] = {
    "tcp-tx": ("tcp_1up", {"throughput_mbit_s": _UP, "rtt_ms": _PING}),
    "tcp-rx": ("tcp_1down", {"throughput_mbit_s": _DOWN, "rtt_ms": _PING}),
    "soak": ("tcp_bidirectional", {"throughput_up_mbit_s": _UP, "throughput_down_mbit_s": _DOWN, "rtt_ms": _PING}),
    "tcp-both": ("tcp_bidirectional", {"throughput_up_mbit_s": _UP, "throughput_down_mbit_s": _DOWN, "rtt_ms": _PING}),
    "rrul": ("tcp_bidirectional", {"throughput_up_mbit_s": _UP, "throughput_down_mbit_s": _DOWN, "rtt_ms": _PING}),
    "udp-tx": ("udp_flood", {"throughput_mbit_s": "UDP upload", "rtt_ms": _PING}),
    "latency": ("ping", {"rtt_ms": _PING}),
}
"""By kind of test: the flent test, and the names of its series for ours."""

_FLOWS_SUMMED = frozenset({"rrul"})


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
    if test.kind not in _TESTS:
        raise ValueError(f"flent has no test like {test.kind}")
    name, series_names = _TESTS[test.kind]
    ours = archive.series(run).series
    series = {theirs: ours[mine] for mine, theirs in series_names.items() if ours.get(mine)}
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
    title = f"{arms.get(run.arm, run.arm)}, block {run.block} ({run.origin.value}; {plan.title})"[:200]
    return {
        "version": 4,
        "x_values": x_values,
        "results": {each: list(_drawn(points, first, x_values)) for each, points in series.items()},
        "raw_values": {each: list(_raw(each, points, first, t0)) for each, points in series.items()},
        "metadata": {
            "NAME": name,
            "TITLE": title,
            "NOTE": f"{run.origin.value} figures, exported by txop" + ("" if known else "; the time is not known"),
            "TIME": moment,
            "T0": moment,
            "HOST": host,
            "HOSTS": [host],
            "LOCAL_HOST": socket.gethostname() if run.origin.value == "hardware" else f"txop, {run.origin.value}",
            "LENGTH": math.ceil(run.window_s or last - first),
            "TOTAL_LENGTH": math.ceil(last - first) or 1,
            "STEP_SIZE": STEP_S,
            "TEST_PARAMETERS": {},
            "FLENT_VERSION": "2.3.0",
            "IP_VERSION": 4,
            "SERIES_META": {each: _about(each, points, test.kind) for each, points in series.items()},
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
    from txop import __version__

    return __version__


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
        if name == _PING:
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


def _about(name: str, points: Sequence[tuple[float, float | None]], kind: str) -> dict[str, Any]:
    known = [value for _, value in points if value is not None]
    about: dict[str, Any] = {
        "UNITS": "ms" if name == _PING else "Mbits/s",
        "RUNNER": "txop",
        "MEAN_VALUE": math.fsum(known) / len(known) if known else None,
        "MIN_VALUE": min(known, default=None),
        "MAX_VALUE": max(known, default=None),
    }
    if name != _PING and kind in _FLOWS_SUMMED:
        about["NOTE"] = "the sum of several flows"
    if name == _PING:
        about["PACKETS_SENT"], about["PACKETS_RECEIVED"] = len(points), len(known)
    return about
