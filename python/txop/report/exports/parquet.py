"""A campaign as Parquet tables, outside of its archive: those of ``derived/``, and the rows of the comparison."""

from __future__ import annotations

from pathlib import Path

from txop.archive.derived import write_tables
from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.core.whole_file import replacement
from txop.report.exports.csv import ROW_COLUMNS, comparison_rows

_TEXT = {
    "figure", "role", "arm", "baseline", "unit", "effect_unit", "verdict", "warnings", "change", "given", "adjustment",
    "not_judged", "baseline_bound", "arm_bound",
}  # fmt: skip
_WHOLE = {"n", "n_with_voided", "blocks_needed"}
_TRUTH = {"paired", "small_but_real"}


def write_parquet(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write ``comparison``, ``runs``, ``metrics``, ``series`` and ``faults`` into the folder ``target``."""
    import polars as pl

    target.mkdir(parents=True, exist_ok=True)
    schema = {
        name: pl.String
        if name in _TEXT
        else pl.Int64
        if name in _WHOLE
        else pl.Boolean
        if name in _TRUTH
        else pl.Float64
        for name in ROW_COLUMNS
    }
    table = pl.DataFrame(list(comparison_rows(result)), schema=schema, orient="row")
    with replacement(target / "comparison.parquet") as path:
        table.write_parquet(path, compression="zstd")
    write_tables(archive, target)
