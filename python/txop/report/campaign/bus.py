"""The chapter about the bus: what the USB captures of the runs say, arm by arm."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from txop.archive.reader import Archive
from txop.archive.run_file import RunFile
from txop.compare import words
from txop.compare.result import CompareResult
from txop.present import format as fmt
from txop.present.blocks import Cell, Column, Grid
from txop.present.cells import missing
from txop.report.answer.air_digest import finite_number
from txop.report.answer.wording import listed
from txop.report.campaign.pieces import Paragraph, Piece
from txop.report.campaign.quoted import quoted

COLUMNS = {
    "usb_out_urbs_per_s": "URBs out /s",
    "usb_in_urbs_per_s": "URBs in /s",
    "usb_interrupt_urbs_per_s": "interrupt URBs /s",
    "usb_out_datagrams_per_urb": "datagrams per OUT URB",
    "usb_in_datagrams_per_urb": "datagrams per IN URB",
    "usb_out_turnaround_us": "OUT URB completion time (median)",
}


def chapter(archive: Archive, result: CompareResult) -> list[Piece]:
    """What the USB captures explain; nothing where the plan asked for none."""
    if not archive.plan.collect.usbmon:
        return []
    pieces: list[Piece] = []
    for test in result.tests:
        counted = {point.run for f in result.figures if f.test == test.name for v in f.arms for point in v.points}
        runs = [run for run in archive.runs if run.run in counted]
        if not any(run.bus for run in runs):
            continue
        arms = [(arm.name, [run for run in runs if run.arm == arm.name]) for arm in result.arms]
        pieces.append(_table(test.name, arms))
        quotes = quoted(f"What the USB captures of {test.name} show", arms, "bus", ("verdicts",))
        if quotes is not None:
            pieces.append(quotes)
    if not pieces:
        return [Paragraph(f"No USB capture: {_why_not(archive.runs)}.")]
    return pieces


def _table(test: str, arms: Sequence[tuple[str, list[RunFile]]]) -> Grid:
    columns = [Column("arm", right=False), Column("runs with a capture"), *map(Column, COLUMNS.values())]
    columns.append(Column("errors"))
    rows = []
    for name, runs in arms:
        with_capture = [run for run in runs if run.bus]
        cells = [Cell(name), Cell(f"{len(with_capture)} of {len(runs)}", len(with_capture))]
        for key in COLUMNS:
            value = _median(run.metrics[key].value for run in with_capture if key in run.metrics)
            text = fmt.duration_us(value) if key.endswith("_us") else fmt.number(value)
            bound = next((v.bound for run in with_capture if (v := run.metrics.get(key)) and v.bound), None)
            cells.append(missing() if value is None else Cell(words.bounded(bound) + text, value))
        errors = _median(finite_number(run.bus.get("errors")) for run in with_capture if run.bus)
        cells.append(missing() if errors is None else Cell(fmt.number(errors), errors))
        rows.append(cells)
    note = "Medians over runs, of the device under test; errors: transfers that neither succeeded nor were cancelled."
    return Grid(test, columns, rows, note=note, unit_of_rows="arms")


def _why_not(runs: Iterable[RunFile]) -> str:
    reasons = {run.metrics[key].reason for run in runs for key in list(COLUMNS)[:1] if key in run.metrics}
    return listed(sorted(reason for reason in reasons if reason)) or "no valid run has a digest of one"


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
