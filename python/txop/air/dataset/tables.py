"""The tables of a data set: their columns, and the rows of one capture."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from txop.air import tables as report_tables
from txop.air.report import AirReport

if TYPE_CHECKING:
    import polars

OF_REPORTS = ("stations", "links")
"""Tables of ``txop air --csv`` that a data set has, with the columns of it and two in front."""

FRONT = {"capture": str, "origin": str}
"""Columns in front of theirs: the address of the capture, and where its figures come from."""

CAPTURES: dict[str, type] = {
    **FRONT,
    "bytes": int,
    "changed": str,
    "tool": str,
    "frames": int,
    "bad_fcs": int,
    "unreadable": int,
    "stations": int,
    "links": int,
    "first_time_unix_s": float,
    "span_us": float,
    "channels": str,
    "busy_share": float,
    "damage_offset": int,
    "damage": str,
    "reading_s": float,
}
ERRORS: dict[str, type] = {"capture": str, "bytes": int, "changed": str, "kind": str, "error": str}

NAMES = ("captures", *OF_REPORTS, "errors")
"""Every table, in the order of the documentation."""


def columns(table: str) -> dict[str, type]:
    """The columns of a table, with the type of their cells (``str``, ``int``, ``float`` or ``bool``)."""
    if table == "captures":
        return CAPTURES
    if table == "errors":
        return ERRORS
    return FRONT | report_tables.columns(report_tables.TABLES[table])


def parquet(table: str, rows: list[dict[str, str | int | float | bool | None]]) -> bytes:
    """Rows of a table as a Parquet file, which has the columns also where it has no row."""
    import polars

    kinds: dict[type, type[polars.DataType]] = {
        str: polars.String,
        int: polars.Int64,
        float: polars.Float64,
        bool: polars.Boolean,
    }
    schema = {name: kinds[kind] for name, kind in columns(table).items()}
    out = io.BytesIO()
    polars.DataFrame(rows, schema=schema, orient="row").write_parquet(out)
    return out.getvalue()


def report_rows(report: AirReport, table: str, address: str) -> list[dict[str, str | int | float | bool | None]]:
    """The rows of a table of a report, with the columns in front."""
    front = {"capture": address, "origin": report.origin}
    return [{**front, **row} for row in report_tables.rows(report, report_tables.TABLES[table])]
