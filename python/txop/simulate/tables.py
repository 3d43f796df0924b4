"""A simulation as flat tables: for CSV, for Parquet, for polars.

Every row begins with the swept values (a column per axis, named after its key) and the seed; ``None`` is *not
available*.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from txop.present.csv_cells import Cell, write_table
from txop.simulate.model import DirectionResult, Point, Run
from txop.simulate.simulation import Simulation

if TYPE_CHECKING:
    import polars

Row = dict[str, Cell]


@dataclass(frozen=True)
class Table:
    """One table."""

    name: str
    about: str
    rows: Callable[[Simulation], Iterator[Row]]


def _runs(simulation: Simulation) -> Iterator[tuple[Row, Run]]:
    for point in simulation.points:
        for run in point.runs:
            yield {**_swept(simulation, point), "seed": run.seed}, run


def _swept(simulation: Simulation, point: Point) -> Row:
    return {axis.key: _value(text) for axis, text in zip(simulation.axes, point.values, strict=True)}


def _value(text: str) -> Cell:
    """A swept value as a number, where it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _totals(simulation: Simulation) -> Iterator[Row]:
    for head, run in _runs(simulation):
        air = run.air
        yield {
            **head,
            "measured_s": run.measured_s,
            "goodput_mbit_s": run.goodput_mbit_s,
            "air_busy_share": None if air is None else air.busy_share,
            "airtime_jain": None if air is None else air.jain,
            "ppdus_collided": None if air is None else air.ppdus_collided,
        }


def _flows(simulation: Simulation) -> Iterator[Row]:
    for head, run in _runs(simulation):
        for flow in run.flows:
            latency = flow.latency
            yield {
                **head,
                "flow": flow.name,
                "kind": flow.kind,
                "from": flow.from_,
                "to": flow.to,
                "packets_sent": flow.packets_sent,
                "packets_received": flow.packets_received,
                "packets_dropped": sum(drop.packets for drop in flow.drops),
                "goodput_mbit_s": flow.goodput_mbit_s,
                "latency_n": None if latency is None else latency.n,
                "latency_min_ms": None if latency is None else latency.min_ms,
                "latency_mean_ms": None if latency is None else latency.mean_ms,
                "latency_p5_ms": None if latency is None else latency.p5_ms,
                "latency_p50_ms": None if latency is None else latency.p50_ms,
                "latency_p95_ms": None if latency is None else latency.p95_ms,
                "latency_p99_ms": None if latency is None else latency.p99_ms,
                "latency_max_ms": None if latency is None else latency.max_ms,
                "jitter_ms": flow.jitter_ms,
                "tcp_retransmitted": None if flow.tcp is None else flow.tcp.retransmitted,
                "tcp_timeouts": None if flow.tcp is None else flow.tcp.timeouts,
                "tcp_sender_waits": None if flow.tcp is None else flow.tcp.sender_waits,
                "tcp_receiver_waits": None if flow.tcp is None else flow.tcp.receiver_waits,
                "tcp_completed_s": None if flow.tcp is None else flow.tcp.completed_s,
            }


def _stations(simulation: Simulation) -> Iterator[Row]:
    for head, run in _runs(simulation):
        for station in run.air.stations if run.air is not None else ():
            row: Row = {
                **head,
                "station": station.name,
                "airtime_share": station.airtime_share,
                "share_of_stations": station.share_of_stations,
            }
            for way, direction in (("down", station.down), ("up", station.up)):
                for name in DirectionResult.model_fields:
                    if name != "aggregates":
                        row[f"{way}_{name}"] = getattr(direction, name)
            yield row


def _aggregates(simulation: Simulation) -> Iterator[Row]:
    for head, run in _runs(simulation):
        for station in run.air.stations if run.air is not None else ():
            for way, direction in (("down", station.down), ("up", station.up)):
                for size, ppdus in direction.aggregates:
                    yield {**head, "station": station.name, "direction": way, "mpdus": size, "ppdus": ppdus}


def _drops(simulation: Simulation) -> Iterator[Row]:
    for head, run in _runs(simulation):
        for flow in run.flows:
            for drop in flow.drops:
                yield {**head, "flow": flow.name, "cause": drop.cause, "packets": drop.packets}


def _endpoints(simulation: Simulation) -> Iterator[Row]:
    for head, run in _runs(simulation):
        for endpoint in run.bus:
            yield {**head, **endpoint.model_dump()}


def _cdf(simulation: Simulation) -> Iterator[Row]:
    for head, run in _runs(simulation):
        for flow in run.flows:
            for ms, share in flow.latency.cdf if flow.latency is not None else ():
                yield {**head, "flow": flow.name, "ms": ms, "share": share}


def _series(simulation: Simulation) -> Iterator[Row]:
    for head, run in _runs(simulation):
        series = run.series
        for number, flow in enumerate(run.flows):
            rates = series.goodput_mbit_s[number]
            for interval, latency in enumerate(series.latency_ms[number]):
                yield {
                    **head,
                    "flow": flow.name,
                    "start_s": round(series.start_s + interval * series.interval_s, 9),
                    "goodput_mbit_s": None if rates is None else rates[interval],
                    "latency_ms": latency,
                }


def _airtime(simulation: Simulation) -> Iterator[Row]:
    for head, run in _runs(simulation):
        series = run.series
        for number, station in enumerate(run.air.stations if run.air is not None else ()):
            for interval, share in enumerate(series.airtime_share[number]):
                start_s = round(series.start_s + interval * series.interval_s, 9)
                yield {**head, "station": station.name, "start_s": start_s, "airtime_share": share}


def _waterfall(simulation: Simulation) -> Iterator[Row]:
    for head, run in _runs(simulation):
        for fall in run.waterfalls or ():
            for step in fall.steps:
                yield {**head, "from": fall.ta, "to": fall.ra, **step.model_dump()}


def _summary(simulation: Simulation) -> Iterator[Row]:
    for point in simulation.points:
        for entry in point.summary:
            yield {**_swept(simulation, point), **entry.model_dump()}


def _figures(simulation: Simulation) -> Iterator[Row]:
    """Every number of `runs`, `flows` and `stations`, one in a row."""
    keys = {axis.key for axis in simulation.axes} | {"seed"}
    for table, of in ((_totals, None), (_flows, "flow"), (_stations, "station")):
        for row in table(simulation):
            head = {key: value for key, value in row.items() if key in keys}
            for name, value in row.items():
                if name not in keys and not isinstance(value, str):
                    number = None if value is None else float(value)
                    yield {**head, "figure": name, "of": None if of is None else row[of], "value": number}


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table("summary", "every figure over the seeds", _summary),
        Table("runs", "one row per run", _totals),
        Table("flows", "one row per flow and run", _flows),
        Table("stations", "one row per station and run", _stations),
        Table("aggregates", "data PPDUs by their number of MPDUs", _aggregates),
        Table("drops", "packets dropped, by flow and cause", _drops),
        Table("endpoints", "the bus, one row per endpoint and run", _endpoints),
        Table("latency", "points of the latency distributions", _cdf),
        Table("series", "flows over time", _series),
        Table("airtime", "stations over time", _airtime),
        Table("waterfall", "where the goodput went, of the first run", _waterfall),
        Table("figures", "every number of runs, flows and stations, one in a row", _figures),
    )
}
"""Every table."""


def write_csv(simulation: Simulation, name: str, out: IO[str]) -> None:
    """The table ``name`` as CSV, with its origin in the last column."""
    rows = TABLES[name].rows(simulation)
    first = next(rows, None)
    if first is None:
        write_table(out, ["origin"], [])
        return
    columns = [*first, "origin"]

    def lines() -> Iterator[list[Cell]]:
        yield [*first.values(), simulation.origin]
        for row in rows:
            yield [*row.values(), simulation.origin]

    write_table(out, columns, lines())


def frame(simulation: Simulation, name: str = "figures") -> polars.DataFrame:
    """The table ``name`` as a polars frame. Swept values that are not all numbers are text."""
    import polars

    rows: list[dict[str, Any]] = list(TABLES[name].rows(simulation))
    for axis in simulation.axes:
        if any(isinstance(row[axis.key], str) for row in rows):
            for row in rows:
                row[axis.key] = str(row[axis.key])
    frame = polars.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(polars.lit(simulation.origin).alias("origin"))


def write_parquet(simulation: Simulation, out: IO[bytes]) -> None:
    """The table ``figures`` as Parquet."""
    # Into memory first: polars reports a full disk as an error of its own kind.
    written = io.BytesIO()
    frame(simulation).write_parquet(written)
    out.write(written.getbuffer())
