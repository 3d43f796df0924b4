"""``derived/``: the archive as Parquet tables, for DuckDB, polars and whatever else reads them.

Made from the runs and nothing else, atomically, at any time and as often as wanted; ``docs/archive.md`` lists
the columns. Infinite figures are infinite here (Parquet has infinity), and figures that are not available are null.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from txop.archive.counting import counted_runs, figure_value
from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.core.whole_file import replacement, whole_file

if TYPE_CHECKING:
    import polars as pl

DERIVED_VERSION = 1

_ROWS_AT_ONCE = 2_000_000
"""Rows of the longest table kept in memory."""

Schema = dict[str, Any]
Rows = dict[str, list[Any]]


def rebuild(archive: Archive) -> list[Path]:
    """Write ``derived/{runs,metrics,series,faults}.parquet`` and ``derived.json``; what is there is replaced.

    Works on partial and damaged archives: what cannot be read is missing, and is in ``archive.damage``.

    Raises:
        OSError: a file could not be written.
    """
    from txop.core.version import program_version

    folder = archive.layout.derived
    folder.mkdir(exist_ok=True)
    written = write_tables(archive, folder)
    identity = {
        "format": "txop-derived",
        "version": DERIVED_VERSION,
        "txop": program_version(),
        "runs": len(archive.runs),
        "damage": archive.damage,
    }
    with whole_file(folder / "derived.json") as out:
        out.write(json.dumps(identity, indent=1) + "\n")
    return [*written, folder / "derived.json"]


def write_tables(archive: Archive, folder: Path) -> list[Path]:
    """Write every table into ``folder``, which exists. Raises :class:`OSError`."""
    counted = counted_runs(archive)
    written = []
    for name, (schema, rows) in tables().items():
        target = folder / f"{name}.parquet"
        _write(target, schema(), (rows(archive, run, run.run in counted) for run in archive.runs))
        written.append(target)
    return written


def frame(archive: Archive, name: str) -> pl.DataFrame:
    """One of :func:`tables` as a polars frame, in memory. Raises :class:`KeyError` for another name."""
    import polars as pl

    schema, rows = tables()[name]
    counted = counted_runs(archive)
    pieces = (pl.DataFrame(rows(archive, run, run.run in counted), schema=schema()) for run in archive.runs)
    return pl.concat([pl.DataFrame(schema=schema()), *pieces])


def tables() -> dict[str, tuple[Callable[[], Schema], Callable[[Archive, RunFile, bool], Rows]]]:
    """Every table: its columns, and what one run adds to it."""
    return {
        "runs": (_runs_schema, _runs),
        "metrics": (_metrics_schema, _metrics),
        "series": (_series_schema, _series),
        "faults": (_faults_schema, _faults),
    }


def _keys(run: RunFile, count: int) -> Rows:
    return {
        "run": [run.run] * count,
        "block": [_int64(run.block)] * count,
        "arm": [run.arm] * count,
        "test": [run.test] * count,
    }


def _key_schema() -> Schema:
    import polars as pl

    return {"run": pl.String, "block": pl.Int64, "arm": pl.String, "test": pl.String}


def _runs_schema() -> Schema:
    import polars as pl

    return {
        **_key_schema(),
        "replaces": pl.Int64,
        "position": pl.Int64,
        "origin": pl.String,
        "state": pl.String,
        "counts": pl.Boolean,
        "void_gates": pl.List(pl.String),
        "void_causes": pl.List(pl.String),
        "started_at": pl.Datetime("ms", "UTC"),
        "seconds": pl.Float64,
        "window_s": pl.Float64,
        "warnings": pl.List(pl.String),
        "gates_json": pl.String,
        "verified_json": pl.String,
        "provenance_json": pl.String,
        "air_json": pl.String,
        "bus_json": pl.String,
    }


def _runs(_: Archive, run: RunFile, counts: bool) -> Rows:
    return {
        **_keys(run, 1),
        "replaces": [_int64(run.replaces)],
        "position": [_int64(run.position)],
        "origin": [run.origin.value],
        "state": [run.state],
        "counts": [counts],
        "void_gates": [[voiding.gate for voiding in run.void]],
        "void_causes": [[voiding.cause for voiding in run.void]],
        "started_at": [_moment(run.started_at)],
        "seconds": [run.seconds],
        "window_s": [run.window_s],
        "warnings": [run.warnings],
        "gates_json": [_json(run.gates)],
        "verified_json": [_json(run.verified)],
        "provenance_json": [_json(run.provenance)],
        "air_json": [None if run.air is None else _json(run.air)],
        "bus_json": [None if run.bus is None else _json(run.bus)],
    }


def _metrics_schema() -> Schema:
    import polars as pl

    return {
        **_key_schema(),
        "state": pl.String,
        "counts": pl.Boolean,
        "metric": pl.String,
        "value": pl.Float64,
        "bound": pl.String,
        "unit": pl.String,
        "source": pl.String,
        "reason": pl.String,
    }


def _metrics(_: Archive, run: RunFile, counts: bool) -> Rows:
    values = list(run.metrics.items())
    return {
        **_keys(run, len(values)),
        "state": [run.state] * len(values),
        "counts": [counts] * len(values),
        "metric": [key for key, _ in values],
        "value": [figure_value(run, key) for key, _ in values],
        "bound": [value.bound for _, value in values],
        "unit": [value.unit for _, value in values],
        "source": [value.source for _, value in values],
        "reason": [value.reason for _, value in values],
    }


def _series_schema() -> Schema:
    import polars as pl

    return {**_key_schema(), "counts": pl.Boolean, "series": pl.String, "t_s": pl.Float64, "value": pl.Float64}


def _series(archive: Archive, run: RunFile, counts: bool) -> Rows:
    rows = [(name, t, value) for name, points in archive.series(run).series.items() for t, value in points]
    return {
        **_keys(run, len(rows)),
        "counts": [counts] * len(rows),
        "series": [name for name, _, _ in rows],
        "t_s": [t for _, t, _ in rows],
        "value": [value for _, _, value in rows],
    }


def _faults_schema() -> Schema:
    import polars as pl

    return {
        **_key_schema(),
        "counts": pl.Boolean,
        "fault": pl.String,
        "title": pl.String,
        "severity": pl.String,
        "target": pl.String,
        "count": pl.Int64,
        "lines": pl.List(pl.String),
    }


def _faults(_: Archive, run: RunFile, counts: bool) -> Rows:
    return {
        **_keys(run, len(run.faults)),
        "counts": [counts] * len(run.faults),
        "fault": [fault.key for fault in run.faults],
        "title": [fault.title for fault in run.faults],
        "severity": [fault.severity for fault in run.faults],
        "target": [fault.target for fault in run.faults],
        "count": [_int64(fault.count) for fault in run.faults],
        "lines": [fault.lines for fault in run.faults],
    }


def _write(target: Path, schema: Schema, pieces: Iterator[Rows]) -> None:
    """Write a table, however long, with a bounded part of it in memory."""
    import polars as pl

    with tempfile.TemporaryDirectory(prefix=".parts-", dir=target.parent) as parts:
        waiting: list[pl.DataFrame] = [pl.DataFrame(schema=schema)]
        rows = 0
        stored: list[Path] = []
        for piece in pieces:
            waiting.append(pl.DataFrame(piece, schema=schema))
            rows += waiting[-1].height
            if rows >= _ROWS_AT_ONCE:
                stored.append(Path(parts) / f"{len(stored)}.parquet")
                pl.concat(waiting).write_parquet(stored[-1], compression="zstd")
                waiting, rows = [pl.DataFrame(schema=schema)], 0
        with replacement(target) as path:
            if not stored:
                pl.concat(waiting).write_parquet(path, compression="zstd")
                return
            stored.append(Path(parts) / "last.parquet")
            pl.concat(waiting).write_parquet(stored[-1], compression="zstd")
            pl.scan_parquet(stored).sink_parquet(path, compression="zstd")


def _moment(text: str) -> Any:
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _int64(value: int | None) -> int | None:
    """``None`` for what no table can hold (and no txop writes)."""
    return value if value is not None and -(2**63) <= value < 2**63 else None


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True)
