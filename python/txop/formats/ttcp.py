"""Tables of ttcp transfers as people post them: rate and context switches of both ends, a line per transfer.

::

    ===== Performance data: Linux SDIO =====
    ---- host => --------    => neo ---------
        *1000B/s ctx_sw     *1000B/s ctx_sw
     1:   734.23     425      730.08    5334
    AVG:   743.98     418      741.07    5170

Rates are in 1000 bytes per second, context switches are counted over the whole transfer. Lines of ping statistics
(``host => neo: min /avg /max stddev (100 samples)``, figures on the next line) are read, too. A mail's quoting (``>``)
is passed over. A row that lacks a cell is named with its line, and the rest is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from statistics import fmean

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of
from txop.formats.written_number import NotANumberError, number

_WHAT = "a table of ttcp transfers"
_LONGEST_LINE = 500
_QUOTED = re.compile(r"(?:> ?)*")
_SECTION = re.compile(r"=+ *([^=].{0,200}?) *=+")
_DIRECTION = re.compile(r"-{2,} *(?P<sender>[^\s=>-][^\s=>]{0,60}) *=> *-{2,} +=> *(?P<receiver>[^\s=>]{1,60}) *-{2,}")
_COLUMNS = re.compile(r"(?:\*1000B/s +ctx_sw *){2}")
_OTHER_COLUMNS = re.compile(r"\S*[Bb](?:yte|it)?s?/s")
_ROW = re.compile(r"(?P<name>[0-9]{1,6}|AVG) *: *(?P<cells>.*)")
_PING = re.compile(
    r"(?P<sender>[^\s=>]{1,60}) *=> *(?P<receiver>[^\s:]{1,60}) *: *min */ *avg */ *max +stddev"
    r"(?: *\((?P<samples>[0-9]{1,9}) samples\))?"
)
_PING_FIGURES = re.compile(r"([0-9.,]+) */ *([0-9.,]+) */ *([0-9.,]+) +([0-9.,]+) *ms")
_ROUNDING = 0.0051
"""Half a unit of the second decimal, and a little: so far an average may be from the rows it is of."""

_MOST_PROBLEMS = 1000


@dataclass(frozen=True, slots=True)
class Transfer:
    """One ttcp transfer."""

    number: int
    line: int
    sender_1000b_s: float
    sender_switches: float
    receiver_1000b_s: float
    receiver_switches: float


@dataclass
class Transfers:
    """A table: transfers one way."""

    section: str
    """The heading above it; empty where there is none."""
    sender: str
    receiver: str
    line: int
    rows: list[Transfer] = field(default_factory=list)
    average: Transfer | None = None
    """As printed, number 0."""


@dataclass(frozen=True, slots=True)
class PingLine:
    """Round trips as ping reported them."""

    section: str
    sender: str
    receiver: str
    line: int
    min_ms: float
    mean_ms: float
    max_ms: float
    stddev_ms: float
    samples: int | None


@dataclass
class TtcpTables:
    """Every table of a document."""

    tables: list[Transfers] = field(default_factory=list)
    pings: list[PingLine] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    """What could not be read, or contradicts itself: line and clause."""

    def wrong(self, line: int, what: str) -> None:
        """Keep a problem."""
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append((line, what))


def parse(data: str | bytes) -> TtcpTables:
    """The tables in ``data``. Raises FormatError where there is none."""
    text = text_of(data, _WHAT)
    found = TtcpTables()
    section, table, known_unit, ping = "", None, False, None
    for line_number, whole_line in lines_of(text):
        line = _QUOTED.sub("", whole_line[:_LONGEST_LINE], count=1).strip()
        if ping is not None and line:
            _take_ping(found, ping, section, line_number, line)
            ping = None
        elif (heading := _SECTION.fullmatch(line)) is not None:
            section, table = visible(heading[1]), None
        elif (direction := _DIRECTION.fullmatch(line)) is not None:
            table = Transfers(section, visible(direction["sender"]), visible(direction["receiver"]), line_number)
            known_unit = False
            found.tables.append(table)
        elif (lead := _PING.fullmatch(line)) is not None:
            ping = lead
        elif table is None:
            continue
        elif _COLUMNS.fullmatch(line) is not None:
            known_unit = True
        elif (row := _ROW.fullmatch(line)) is not None:
            if known_unit:
                _take_row(found, table, line_number, row)
            else:
                found.wrong(line_number, "a row without a line of units (*1000B/s ctx_sw) above it")
        elif _OTHER_COLUMNS.search(line) is not None and not table.rows:
            found.wrong(line_number, "units other than *1000B/s; the table is not read")
            table = None
    if not found.tables and not found.pings:
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")
    for table in found.tables:
        _check_average(found, table)
    return found


def _take_row(found: TtcpTables, table: Transfers, line: int, row: re.Match[str]) -> None:
    cells = row["cells"].split()
    if len(cells) != 4:
        found.wrong(line, f"{len(cells)} of 4 cells")
        return
    try:
        figures = [number(cell) for cell in cells]
    except NotANumberError as error:
        found.wrong(line, str(error))
        return
    if min(figures) < 0:
        found.wrong(line, "a negative figure")
        return
    is_average = row["name"] == "AVG"
    transfer = Transfer(0 if is_average else int(row["name"]), line, *figures)
    if is_average:
        table.average = transfer
    else:
        table.rows.append(transfer)


def _take_ping(found: TtcpTables, lead: re.Match[str], section: str, line: int, text: str) -> None:
    figures = _PING_FIGURES.fullmatch(text)
    if figures is None:
        found.wrong(line, "four figures of ping (min/avg/max stddev ms) expected")
        return
    try:
        low, mean, high, spread = (number(part) for part in figures.groups())
    except NotANumberError as error:
        found.wrong(line, str(error))
        return
    samples = None if lead["samples"] is None else int(lead["samples"])
    found.pings.append(
        PingLine(section, visible(lead["sender"]), visible(lead["receiver"]), line, low, mean, high, spread, samples)
    )


def _check_average(found: TtcpTables, table: Transfers) -> None:
    average = table.average
    if average is None or not table.rows:
        return
    for name, most in (
        ("sender_1000b_s", _ROUNDING),
        ("sender_switches", 1.0),
        ("receiver_1000b_s", _ROUNDING),
        ("receiver_switches", 1.0),
    ):
        printed, computed = getattr(average, name), fmean(getattr(row, name) for row in table.rows)
        if abs(printed - computed) > most:
            found.wrong(average.line, f"the average {printed:g} is not that of the rows, {computed:.2f}")
