"""The report as flat tables: for polars, for CSV. Cells and columns follow the rules of :mod:`txop.air.tables`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from txop.air.model.base import Model
from txop.air.tables import Cell, _cell, _columns_of, _flatten
from txop.bus import model
from txop.bus.model import BusReport

if TYPE_CHECKING:
    import polars

Row = tuple[dict[str, Cell], Model]
"""Key columns of the parent, and the object the row shows."""


@dataclass(frozen=True)
class Table:
    """One table of the report."""

    name: str
    about: str
    keys: tuple[str, ...]
    """Columns that come from the parent object, all of them text."""
    item: type[Model]
    rows: Callable[[BusReport], Iterator[Row]]


def _plain(get: Callable[[BusReport], Iterable[Model]]) -> Callable[[BusReport], Iterator[Row]]:
    def rows(report: BusReport) -> Iterator[Row]:
        for item in get(report):
            yield {}, item

    return rows


def _nested(
    get: Callable[[BusReport], Iterable[Model]], keys: tuple[str, ...], inner: str
) -> Callable[[BusReport], Iterator[Row]]:
    def rows(report: BusReport) -> Iterator[Row]:
        for parent in get(report):
            key = {name: getattr(parent, name) for name in keys}
            for item in getattr(parent, inner):
                yield key, item

    return rows


_ENDPOINT = ("device", "address", "transfer")
_TRAFFIC = ("device", "endpoint", "framing")

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table("verdicts", "what it means, in words", (), model.Verdict, _plain(lambda r: r.verdicts)),
        Table("limits", "what the capture cannot tell", (), model.Limit, _plain(lambda r: r.summary.limits)),
        Table("devices", "one row per device", (), model.Device, _plain(lambda r: r.devices)),
        Table("interfaces", "interfaces of the devices", ("name",), model.Interface,
              _nested(lambda r: r.devices, ("name",), "interfaces")),
        Table("endpoints", "one row per endpoint and direction", (), model.Endpoint, _plain(lambda r: r.endpoints)),
        Table("statuses", "how requests ended", _ENDPOINT, model.StatusCount,
              _nested(lambda r: r.endpoints, _ENDPOINT, "statuses")),
        Table("sizes", "sizes of completed transfers, by powers of two", _ENDPOINT, model.Bar,
              _nested(lambda r: r.endpoints, _ENDPOINT, "size_histogram")),
        Table("rates", "completions over time", _ENDPOINT, model.RateBin,
              _nested(lambda r: r.endpoints, _ENDPOINT, "series")),
        Table("gaps", "longest times without a completion", _ENDPOINT, model.Gap,
              _nested(lambda r: r.endpoints, _ENDPOINT, "gaps")),
        Table("traffic", "what transfers carry, by framing", (), model.Traffic, _plain(lambda r: r.traffic)),
        Table("datagrams", "histogram of datagrams per whole transfer", _TRAFFIC, model.Bar,
              _nested(lambda r: r.traffic, _TRAFFIC, "datagram_histogram")),
        Table("requests", "control requests", (), model.Request, _plain(lambda r: r.requests)),
    )
}  # fmt: skip
"""Every table, in the order of the report."""


def columns(table: Table) -> dict[str, type]:
    """Names of the columns with the type of their cells (``str``, ``int``, ``float`` or ``bool``)."""
    return dict.fromkeys(table.keys, str) | dict(_columns_of(table.item, ""))


def rows(report: BusReport, table: Table) -> Iterator[dict[str, Cell]]:
    """The rows of a table of ``report``, in the order of the report."""
    for keys, item in table.rows(report):
        cells = dict(keys)
        _flatten(item, "", cells)
        yield cells


def frame(report: BusReport, name: str) -> polars.DataFrame:
    """The table ``name`` as a polars frame."""
    import polars

    table = TABLES[name]
    kinds = {str: polars.String, int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
    schema = {column: kinds[kind] for column, kind in columns(table).items()}
    return polars.DataFrame(list(rows(report, table)), schema=schema, orient="row")


def write_csv(reports: Iterable[BusReport], name: str, out: IO[str]) -> None:
    """The table ``name`` of all ``reports`` as CSV with a heading line; the first column names the capture.

    An empty cell is *not available*; text is made visible, and safe for spreadsheets.
    """
    table = TABLES[name]
    writer = csv.writer(out, lineterminator="\n")
    names = list(columns(table))
    writer.writerow(["capture", *names])
    for report in reports:
        for row in rows(report, table):
            writer.writerow([_cell(report.path), *(_cell(row[column]) for column in names)])
