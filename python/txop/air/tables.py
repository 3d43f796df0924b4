"""The report as flat tables: for polars, for CSV.

A table is a list of model objects; its columns are their fields. A nested object becomes one column per field
(``signal_dbm.median`` is ``signal_dbm_median``), a list of plain values becomes one text cell, a list of objects is a
table of its own, with the key columns of its parent in front.
"""

from __future__ import annotations

import csv
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Union

from txop.air import model
from txop.air.model import AirReport, Model
from txop.visible import visible

if TYPE_CHECKING:
    import polars

Cell = str | int | float | bool | None
Row = tuple[dict[str, Cell], Model]
"""Key columns of the parent, and the object the row shows."""


@dataclass(frozen=True)
class Table:
    """One table of the report."""

    name: str
    about: str
    keys: tuple[str, ...]
    """Columns that come from the parent object."""
    item: type[Model]
    rows: Callable[[AirReport], Iterator[Row]]


def _plain(get: Callable[[AirReport], Iterable[Model]]) -> Callable[[AirReport], Iterator[Row]]:
    def rows(report: AirReport) -> Iterator[Row]:
        for item in get(report):
            yield {}, item

    return rows


def _nested(
    get: Callable[[AirReport], Iterable[Model]], keys: tuple[str, ...], inner: str
) -> Callable[[AirReport], Iterator[Row]]:
    def rows(report: AirReport) -> Iterator[Row]:
        for parent in get(report):
            key = {name: getattr(parent, name) for name in keys}
            for item in getattr(parent, inner):
                yield key, item

    return rows


_FLOW = ("ta", "ra", "direction")
_BLOCK_ACK = ("originator", "recipient", "tid")

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table("channels", "channels heard", (), model.Channel, _plain(lambda r: r.summary.channels)),
        Table("limits", "what the capture cannot tell", (), model.Limit, _plain(lambda r: r.summary.limits)),
        Table("timing", "meanings of the time stamp tried", (), model.StampHypothesis,
              _plain(lambda r: r.timing.hypotheses)),
        Table("stations", "one row per address", (), model.Station, _plain(lambda r: r.stations)),
        Table("station_rates", "rates of each station", ("address",), model.RateRow,
              _nested(lambda r: r.stations, ("address",), "rates")),
        Table("bss", "one row per network", (), model.Bss, _plain(lambda r: r.bss)),
        Table("bss_members", "the station rows of each network", ("bssid", "ssid"), model.BssMember,
              _nested(lambda r: r.bss, ("bssid", "ssid"), "members")),
        Table("links", "one row per transmitter and receiver", (), model.Link, _plain(lambda r: r.links)),
        Table("link_rates", "rates of each link", ("ta", "ra"), model.RateRow,
              _nested(lambda r: r.links, ("ta", "ra"), "rates")),
        Table("ghosts", "addresses that exist only because of damage", (), model.Ghost, _plain(lambda r: r.ghosts)),
        Table("exchanges", "PPDUs and their responses", (), model.Exchange, _plain(lambda r: r.exchanges)),
        Table("exchange_rates", "the same by rate", ("ta", "ra"), model.ExchangeRate,
              _nested(lambda r: r.exchanges, ("ta", "ra"), "by_rate")),
        Table("response_gaps", "histogram of the response delay", ("ta", "ra"), model.Bar,
              _nested(lambda r: r.exchanges, ("ta", "ra"), "gap_histogram")),
        Table("block_acks", "Block Ack accounting", (), model.BlockAckFlow, _plain(lambda r: r.block_acks)),
        Table("block_ack_positions", "left-out MPDUs by position", _BLOCK_ACK, model.PositionRow,
              _nested(lambda r: r.block_acks, _BLOCK_ACK, "by_position_from_end")),
        Table("block_ack_examples", "Block Acks that leave MPDUs out", _BLOCK_ACK, model.BlockAckExample,
              _nested(lambda r: r.block_acks, _BLOCK_ACK, "examples")),
        Table("ack_verdicts", "not received, or too slow to acknowledge", (), model.AckVerdict,
              _plain(lambda r: r.ack_verdicts)),
        Table("aggregation", "A-MPDU sizes", (), model.Aggregation, _plain(lambda r: r.aggregation)),
        Table("aggregation_sizes", "histogram of MPDUs per PPDU", ("ta", "ra", "tid"), model.Bar,
              _nested(lambda r: r.aggregation, ("ta", "ra", "tid"), "histogram")),
        Table("airtime_phy", "airtime by PHY", (), model.PhyAirtime, _plain(lambda r: r.airtime.by_phy)),
        Table("airtime_series", "busy share over time", (), model.BusyBin, _plain(lambda r: r.airtime.series)),
        Table("waterfall", "where the time went, every direction", _FLOW, model.WaterfallStep,
              _nested(lambda r: r.waterfalls, _FLOW, "steps")),
        Table("capabilities", "claimed and seen used", ("address", "role", "ssid"), model.CapabilityRow,
              _nested(lambda r: r.capabilities, ("address", "role", "ssid"), "rows")),
        Table("steadiness_series", "throughput and retries over time", _FLOW, model.FlowBin,
              _nested(lambda r: r.steadiness, _FLOW, "series")),
        Table("steadiness_events", "remarkable moments", _FLOW, model.SteadinessEvent,
              _nested(lambda r: r.steadiness, _FLOW, "events")),
    )
}  # fmt: skip
"""Every table, in the order of the report."""


def columns(table: Table) -> dict[str, type]:
    """Names of the columns with the type of their cells (``str``, ``int``, ``float`` or ``bool``)."""
    return {key: int if key == "tid" else str for key in table.keys} | dict(_columns_of(table.item, ""))


def rows(report: AirReport, table: Table) -> Iterator[dict[str, Cell]]:
    """The rows of a table of ``report``, in the order of the report."""
    for keys, item in table.rows(report):
        cells = dict(keys)
        _flatten(item, "", cells)
        yield cells


def frame(report: AirReport, name: str) -> polars.DataFrame:
    """The table ``name`` as a polars frame."""
    import polars

    table = TABLES[name]
    kinds = {str: polars.String, int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
    schema = {column: kinds[kind] for column, kind in columns(table).items()}
    return polars.DataFrame(list(rows(report, table)), schema=schema, orient="row")


def write_csv(reports: Iterable[AirReport], name: str, out: IO[str]) -> None:
    """The table ``name`` of all ``reports`` as CSV with a heading line; the first column names the capture.

    Text from the capture is made visible first, and a text that a spreadsheet would take for a formula gets a ``'``
    in front. An empty cell is *not available*.
    """
    table = TABLES[name]
    writer = csv.writer(out, lineterminator="\n")
    names = list(columns(table))
    writer.writerow(["capture", *names])
    for report in reports:
        for row in rows(report, table):
            writer.writerow([_cell(report.path), *(_cell(row[column]) for column in names)])


_FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for a formula, also in full width, as East Asian ones do."""


def _cell(value: Cell) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = visible(value)
        return f"'{text}" if text.lstrip().startswith(_FORMULA_STARTS) else text
    return value


def _columns_of(item: type[Model], prefix: str) -> Iterator[tuple[str, type]]:
    for name, field in item.model_fields.items():
        inner = _without_none(field.annotation)
        if isinstance(inner, type) and issubclass(inner, Model):
            yield from _columns_of(inner, f"{prefix}{name}_")
        elif typing.get_origin(inner) is list:
            if not _is_model_list(inner):
                yield f"{prefix}{name}", str
        elif isinstance(inner, type):
            yield f"{prefix}{name}", inner


def _flatten(item: Model, prefix: str, into: dict[str, Cell]) -> None:
    for name, field in type(item).model_fields.items():
        inner = _without_none(field.annotation)
        value = getattr(item, name)
        if isinstance(inner, type) and issubclass(inner, Model):
            if value is None:
                into.update(dict.fromkeys((column for column, _ in _columns_of(inner, f"{prefix}{name}_")), None))
            else:
                _flatten(value, f"{prefix}{name}_", into)
        elif typing.get_origin(inner) is list:
            if not _is_model_list(inner):
                into[f"{prefix}{name}"] = None if value is None else "; ".join(str(part) for part in value)
        else:
            into[f"{prefix}{name}"] = value


def _without_none(annotation: Any) -> Any:
    if typing.get_origin(annotation) in (Union, types.UnionType):
        present = [part for part in typing.get_args(annotation) if part is not type(None)]
        if len(present) == 1:
            return present[0]
    return annotation


def _is_model_list(annotation: Any) -> bool:
    (inner,) = typing.get_args(annotation)
    return isinstance(inner, type) and issubclass(inner, Model)
