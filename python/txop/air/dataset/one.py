"""One capture into a data set. It runs in a process of its own, here or on another machine."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass

from txop.air.analysis import analyze
from txop.air.dataset.places import Source, Target
from txop.air.dataset.tables import OF_REPORTS, parquet, report_rows
from txop.air.report import AirReport
from txop.core.errors import UserError
from txop.core.stores import local_file

LAYOUT = 1
"""Raised when the tables or their columns change: captures are then read again."""


@dataclass(frozen=True)
class Done:
    """What happened to a capture."""

    address: str
    kind: str
    """``read``, ``damaged`` (read as far as possible), ``unreadable``, ``worker-died``."""
    error: str = ""
    frames: int = 0
    bytes: int = 0
    reading_s: float = 0.0


def place_of(address: str) -> str:
    """Names of files of a capture begin so."""
    return hashlib.sha256(address.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def file_of(source: Source) -> str:
    """The name of a capture's file in every table: another one when the capture or the layout is another."""
    from txop.core.version import program_version

    state = f"{source.bytes}|{source.changed}|{LAYOUT}|{program_version()}"
    return f"{place_of(source.address)}-{hashlib.sha256(state.encode()).hexdigest()[:12]}.parquet"


def read_into(source: Source, out: str) -> Done:
    """Read the capture and write its rows. Whatever is wrong with it becomes a row of ``errors``.

    Raises:
        OSError: the data set cannot be written.
    """
    target, begun = Target(out), time.monotonic()
    try:
        with local_file(source.address) as path:
            report = analyze(path)
    except (OSError, ValueError, UserError, MemoryError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        done = Done(source.address, "unreadable", why, bytes=source.bytes or 0)
        write_error(target, source, done)
        return done
    reading_s = time.monotonic() - begun
    name = file_of(source)
    for table in OF_REPORTS:
        target.write(table, name, parquet(table, report_rows(report, table, source.address)))
    damage = report.summary.damage
    cut = "" if damage is None else f"damaged at byte {damage.offset}: {damage.message}"
    done = Done(source.address, "damaged" if cut else "read", cut, report.frames, source.bytes or 0, reading_s)
    if cut:
        write_error(target, source, done)
    else:
        target.remove("errors", name)
    # last: a capture whose row is there is done
    target.write("captures", name, parquet("captures", [_facts(source, report, reading_s)]))
    return done


def write_error(target: Target, source: Source, done: Done) -> None:
    """The row of a capture that could not be read, or not whole."""
    row = {"capture": source.address, "bytes": source.bytes, "changed": source.changed}
    target.write("errors", file_of(source), parquet("errors", [{**row, "kind": done.kind, "error": done.error}]))


def _facts(source: Source, report: AirReport, reading_s: float) -> dict[str, str | int | float | bool | None]:
    damage = report.summary.damage
    return {
        "capture": source.address,
        "origin": report.origin,
        "bytes": source.bytes,
        "changed": source.changed,
        "tool": report.tool,
        "frames": report.frames,
        "bad_fcs": report.bad_fcs,
        "unreadable": report.summary.unreadable,
        "stations": len(report.stations),
        "links": len(report.links),
        "first_time_unix_s": report.summary.first_time_unix_s,
        "span_us": report.summary.span_us,
        "channels": "; ".join(f"{channel.frequency_mhz}" for channel in report.summary.channels),
        "busy_share": report.airtime.busy_share,
        "damage_offset": None if damage is None else damage.offset,
        "damage": None if damage is None else damage.message,
        "reading_s": reading_s,
    }
