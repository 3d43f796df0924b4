"""Tables of throughput by driver, as the linux-wireless wiki has them: a row per device, access point, driver and run.

The column ``Throughput [Mbits/sec]; retries [%]`` holds both figures (``17 Mbits/s; 12.1%``), each of them a number
or a range. Which way the data went is in the heading above (``TCP TX Throughput``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote

from txop.core.visible import visible
from txop.formats.dokuwiki import WikiRow, WikiTable, tables
from txop.formats.error import FormatError
from txop.formats.written_number import NotANumberError, Written, written

_WHAT = "tables of throughput by driver"
_FIGURES = re.compile("throughput", re.IGNORECASE)
_WAY = re.compile(r"\b(TX|RX)\b")
_BITS = frozenset({"mbits/s", "mbit/s", "mbits/sec", "mbit/sec", "mbps"})
_IN_NAME = re.compile(
    r"-iperf-(?P<way>tx|rx)-(?P<protocol>tcp|udp)-(?P<retries>[0-9.]+)%-retries-at-(?P<rate>[0-9.]+)(?P<unit>[A-Za-z]+)"
)

Way = Literal["tx", "rx"]


@dataclass(frozen=True, slots=True)
class NamedFigures:
    """What a capture's file name says of the run."""

    way: Way
    retries_percent: float
    rate: float
    unit: str


@dataclass(frozen=True, slots=True)
class DriverRow:
    """One row."""

    line: int
    headings: tuple[str, ...]
    way: Way
    device: str
    access_point: str
    driver: str
    distance: str
    notes: str
    capture: str
    """Address of the capture."""
    throughput_mbit_s: Written | None
    retries_percent: Written | None

    @property
    def named(self) -> NamedFigures | None:
        """What the name of the capture says."""
        return named_figures(self.capture)


@dataclass
class DriverTables:
    """Every such table of a page."""

    rows: list[DriverRow] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    """What could not be read: line and clause."""


def parse(data: str | bytes) -> DriverTables:
    """The rows of every table of throughput by driver. Raises FormatError where there is none."""
    found, seen = DriverTables(), False
    for table in tables(data):
        column = {name.lower(): index for index, name in enumerate(table.columns)}
        figures = next((index for name, index in column.items() if _FIGURES.search(name)), None)
        if figures is None or "driver" not in column:
            continue
        seen = True
        way = next((match[1].lower() for name in reversed(table.headings) if (match := _WAY.search(name))), None)
        if way is None:
            found.problems.append((table.line, "the headings above the table do not name TX or RX"))
            continue
        for row in table.rows:
            _take(found, table, row, column, figures, "tx" if way == "tx" else "rx")
    if not seen:
        raise FormatError(f"{_WHAT} expected: there is no table with the columns Driver and Throughput")
    return found


def _take(found: DriverTables, table: WikiTable, row: WikiRow, column: dict[str, int], figures: int, way: Way) -> None:
    def cell(name: str) -> str:
        at = column.get(name)
        return visible(row.cells[at]) if at is not None and at < len(row.cells) else ""

    if len(row.cells) != len(table.columns):
        found.problems.append((row.line, f"{len(row.cells)} of {len(table.columns)} cells"))
    if not cell("driver") or figures >= len(row.cells) or not row.cells[figures]:
        lacking = "driver" if not cell("driver") else "throughput"
        found.problems.append((row.line, f"the cell of the {lacking} is empty"))
        return
    throughput, retries = _both(found, row.line, row.cells[figures])
    if throughput is None and retries is None:
        return
    found.rows.append(
        DriverRow(
            line=row.line,
            headings=table.headings,
            way=way,
            device=cell("dut"),
            access_point=cell("ap"),
            driver=" ".join(cell("driver").split()),
            distance=cell("ap <-> dut"),
            notes=cell("notes"),
            capture=cell("pcap"),
            throughput_mbit_s=throughput,
            retries_percent=retries,
        )
    )


def _both(found: DriverTables, line: int, text: str) -> tuple[Written | None, Written | None]:
    rate, _, share = text.partition(";")
    throughput = _figure(found, line, "throughput", rate, _BITS)
    retries = _figure(found, line, "retries", share, frozenset({"%"})) if share.strip() else None
    if not share.strip():
        found.problems.append((line, "no retries beside the throughput"))
    return throughput, retries


def _figure(found: DriverTables, line: int, name: str, text: str, units: frozenset[str]) -> Written | None:
    try:
        figure = written(text)
    except NotANumberError as error:
        found.problems.append((line, f"{name}: {error}"))
        return None
    if figure.unit.lower() not in units:
        found.problems.append((line, f'{name}: the unit "{figure.unit}" is not one of {", ".join(sorted(units))}'))
        return None
    if figure.low < 0:
        found.problems.append((line, f"{name}: negative"))
        return None
    return figure


def named_figures(address: str) -> NamedFigures | None:
    """What the name of a capture says: ``...-iperf-tx-tcp-16%25-retries-at-4.02MBps.pcapng.gz``.

    >>> named_figures("x-iperf-tx-tcp-16%25-retries-at-4.02MBps.pcapng.gz")
    NamedFigures(way='tx', retries_percent=16.0, rate=4.02, unit='MBps')
    """
    found = _IN_NAME.search(unquote(address[:2000]))
    if found is None:
        return None
    try:
        retries, rate = float(found["retries"]), float(found["rate"])
    except ValueError:
        return None
    return NamedFigures("tx" if found["way"] == "tx" else "rx", retries, rate, found["unit"])
