"""The tables of a USB report; :mod:`txop.present.tables` says what a table is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

from txop.bus import model
from txop.bus.model import Report
from txop.present import tables
from txop.present.tables import Table, columns, nested, plain, rows

if TYPE_CHECKING:
    import polars

__all__ = ["TABLES", "columns", "frame", "rows", "write_csv"]

_ENDPOINT = ("device", "address", "transfer")
_TRAFFIC = ("device", "endpoint", "framing")

BusTable = Table[Report]

TABLES: dict[str, BusTable] = {
    table.name: table
    for table in (
        BusTable("verdicts", "what it means, in words", (), model.Verdict, plain(lambda r: r.verdicts)),
        BusTable("limits", "what the capture cannot show", (), model.Limit, plain(lambda r: r.summary.limits)),
        BusTable("devices", "one row per device", (), model.Device, plain(lambda r: r.devices)),
        BusTable("interfaces", "interfaces of the devices", ("name",), model.Interface,
              nested(lambda r: r.devices, ("name",), "interfaces")),
        BusTable("endpoints", "one row per endpoint and direction", (), model.Endpoint, plain(lambda r: r.endpoints)),
        BusTable("statuses", "how requests ended", _ENDPOINT, model.StatusCount,
              nested(lambda r: r.endpoints, _ENDPOINT, "statuses")),
        BusTable("sizes", "sizes of completed transfers, by powers of two", _ENDPOINT, model.Bar,
              nested(lambda r: r.endpoints, _ENDPOINT, "size_histogram")),
        BusTable("rates", "completions over time", _ENDPOINT, model.RateBin,
              nested(lambda r: r.endpoints, _ENDPOINT, "series")),
        BusTable("gaps", "longest times without a completion", _ENDPOINT, model.Gap,
              nested(lambda r: r.endpoints, _ENDPOINT, "gaps")),
        BusTable("traffic", "what transfers carry, by framing", (), model.Traffic, plain(lambda r: r.traffic)),
        BusTable("datagrams", "histogram of datagrams per whole transfer", _TRAFFIC, model.Bar,
              nested(lambda r: r.traffic, _TRAFFIC, "datagram_histogram")),
        BusTable("requests", "control requests", (), model.Request, plain(lambda r: r.requests)),
        BusTable("qmi_messages", "QMI messages of modems", (), model.QmiMessage, plain(lambda r: r.qmi_messages)),
        BusTable("data_formats", "what hosts and modems agreed on for the data path", (), model.DataFormat,
              plain(lambda r: r.data_formats)),
        BusTable("sdio_registers", "registers and mailboxes of an SDIO card by commands", (), model.SdioRegister,
              plain(lambda r: r.sdio.registers if r.sdio is not None else [])),
    )
}  # fmt: skip
"""Every table, in the order of the report."""


def frame(report: Report, name: str) -> polars.DataFrame:
    """The table ``name`` as a polars frame."""
    return tables.frame(report, TABLES[name])


def write_csv(reports: Iterable[Report], name: str, out: IO[str]) -> None:
    """The table ``name`` of all ``reports`` as CSV; see :func:`txop.present.tables.write_csv`."""
    tables.write_csv(reports, TABLES[name], out)
