"""A campaign as Parquet tables, outside of its archive: those of ``derived/``, and the rows of the comparison."""

from __future__ import annotations

from pathlib import Path

from txop.archive.derived import write_tables
from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.core.whole_file import replacement
from txop.report.exports.csv import ROW_COLUMNS, comparison_rows


def write_parquet(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write ``comparison``, ``runs``, ``metrics``, ``series`` and ``faults`` into the folder ``target``."""
    import polars as pl

    target.mkdir(parents=True, exist_ok=True)
    kinds = {str: pl.String, int: pl.Int64, bool: pl.Boolean, float: pl.Float64}
    schema = {name: kinds[kind] for name, kind in ROW_COLUMNS.items()}
    table = pl.DataFrame(list(comparison_rows(result)), schema=schema, orient="row")
    with replacement(target / "comparison.parquet") as path:
        table.write_parquet(path, compression="zstd")
    write_tables(archive, target)
