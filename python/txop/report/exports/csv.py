"""Tables as CSV: every figure of every run, and the rows of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from txop.archive.counting import counted_runs, figure_value
from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.compare.table import ROW_COLUMNS, comparison_rows
from txop.core.whole_file import whole_file
from txop.present.csv_cells import Cell, write_table

RUN_COLUMNS = (
    "run",
    "block",
    "replaces",
    "position",
    "arm",
    "test",
    "origin",
    "state",
    "counts",
    "void_gates",
    "started_at",
    "metric",
    "value",
    "bound",
    "unit",
    "source",
    "reason",
)


def write_csv(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write one row per run and figure; an empty value is not available, for the reason beside it."""
    del result
    with whole_file(target, newline="") as out:
        write_table(out, RUN_COLUMNS, _run_rows(archive))


def write_comparison(result: CompareResult, out: IO[str]) -> None:
    """Write one row per figure and arm, and per pair of arms that differ by one change."""
    write_table(out, tuple(ROW_COLUMNS), comparison_rows(result))


def _run_rows(archive: Archive) -> Iterator[Sequence[Cell]]:
    counted = counted_runs(archive)
    for run in archive.runs:
        for key, value in run.metrics.items():
            yield (
                run.run,
                run.block,
                run.replaces,
                run.position,
                run.arm,
                run.test,
                run.origin.value,
                run.state,
                run.run in counted,
                "; ".join(voiding.gate for voiding in run.void),
                run.started_at,
                key,
                figure_value(run, key),
                value.bound,
                value.unit,
                value.source,
                value.reason,
            )
