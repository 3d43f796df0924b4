"""A campaign as Parquet tables, outside of its archive: those of ``derived/``, and the rows of the comparison."""

from __future__ import annotations

from pathlib import Path

from txop.archive.derived import write_tables
from txop.archive.reader import Archive
from txop.compare.result import CompareResult
from txop.compare.table import frame
from txop.core.whole_file import replacement


def write_parquet(archive: Archive, result: CompareResult, target: Path) -> None:
    """Write ``comparison``, ``runs``, ``metrics``, ``series`` and ``faults`` into the folder ``target``."""
    target.mkdir(parents=True, exist_ok=True)
    table = frame(result)
    with replacement(target / "comparison.parquet") as path:
        table.write_parquet(path, compression="zstd")
    write_tables(archive, target)
