"""Runs from tables that people posted: ttcp transfers, throughput by driver."""

from __future__ import annotations

import re

from txop.exchange.imported import Direction, FileReading, ImportedRun, TestKey
from txop.formats import driver_table, ttcp
from txop.formats.error import FormatError
from txop.formats.written_number import Written

_NOT_STATED_S = 20.0
"""Length of a test in the plan where no document gives it: figures do not depend on it, and runs have no window."""

_TAG = re.compile(r";[^()]*\)")
_ADDRESS = re.compile(r"\(+ *https?://[^)]*\)")
_IN_PARENTHESES = re.compile(r"\([^)]*\)")
_LEAD = re.compile(r"^performance data:\s*", re.IGNORECASE)


def read_ttcp(data: bytes, given: Direction) -> FileReading:
    """A run for each transfer. Raises FormatError where there is no table, or it is not known which machine is the
    device under test."""
    found = ttcp.parse(data)
    reading = FileReading("tables of ttcp", problems=[*found.problems])
    machines = sorted({name for table in found.tables for name in (table.sender, table.receiver)})
    device = (
        given.device or next((name for name in machines if name != "host"), None)
        if len(machines) == 2
        else given.device
    )
    if found.tables and (device not in machines or (given.device is None and "host" not in machines)):
        named = ", ".join(machines)
        raise FormatError(f"which machine is the device under test? Say it with --device (there are {named})")
    for table in found.tables:
        sends = table.sender == device
        for row in table.rows:
            rates = (row.sender_1000b_s, row.receiver_1000b_s)
            run = ImportedRun(
                TestKey("tcp-tx" if sends else "tcp-rx", _NOT_STATED_S), row.line, _LEAD.sub("", table.section)
            )
            source = f"ttcp table, line {row.line}"
            run.put("throughput_mbit_s", min(rates) * 8e-3, f"{source}, the lower of both ends")
            own, other = row.sender_switches, row.receiver_switches
            own, other = (own, other) if sends else (other, own)
            run.put("dut_context_switches", own, source)
            run.put("peer_context_switches", other, source)
            reading.runs.append(run)
    reading.notes.append("the length of a transfer is not given; context switches are those of a whole transfer")
    for line in found.pings:
        reading.problems.append(
            (line.line, "ping's minimum, mean, maximum and deviation have no place in a run: txop compares percentiles")
        )
    return reading


def read_driver_tables(data: bytes) -> FileReading:
    """A run for each row. Raises FormatError where there is no such table."""
    found = driver_table.parse(data)
    reading = FileReading("DokuWiki tables of throughput by driver", problems=[*found.problems])
    for row in found.rows:
        setup = ", ".join(part for part in (row.device, row.access_point, row.distance) if part)
        short = " ".join(
            _IN_PARENTHESES.sub("", part).split(",")[0] for part in (row.device, row.access_point, row.distance)
        )
        key = TestKey("tcp-tx" if row.way == "tx" else "tcp-rx", _NOT_STATED_S, setup=setup, short=short)
        run = ImportedRun(key, row.line, driver_name(row.driver))
        source = f"wiki table, line {row.line}"
        _put(run, "throughput_mbit_s", row.throughput_mbit_s, source)
        _put(run, "air_bss_retry_percent", row.retries_percent, f"{source}: retries by Wireshark's WLAN Traffic")
        if row.notes:
            run.warnings.append(f"noted beside it: {row.notes[:500]}")
        reading.runs.append(run)
    return reading


def driver_name(cell: str) -> str:
    """A driver without the tag or address of its source, which one table has and the next one lacks.

    >>> driver_name("Linux v5.10.52, rtl8xxxu (patch 10; tag gardena/rs/v5.10.52)")
    'Linux v5.10.52, rtl8xxxu (patch 10)'
    >>> driver_name("Linux v5.12, 8192cu ((https://example.org/x.git master)")
    'Linux v5.12, 8192cu'
    """
    return _ADDRESS.sub("", _TAG.sub(")", cell)).strip()


def _put(run: ImportedRun, key: str, figure: Written | None, source: str) -> None:
    if figure is None:
        run.put(key, None, source, "not readable in the table")
    elif figure.single is None:
        run.put(key, None, source, f"a range, {figure.low:g} to {figure.high:g}: no single figure")
    else:
        run.put(key, figure.single, source)
