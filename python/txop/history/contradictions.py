"""Where the figures of a document disagree with each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from txop.history.judge import cells
from txop.history.model import Document, Run
from txop.present.format import plural

_ROUNDING = (0.0051, 1.0, 0.0051, 1.0)
"""Printed averages are rounded (rates to two decimals) or cut (context switches to whole ones)."""

_COLUMNS = ("sender's rate", "sender's context switches", "receiver's rate", "receiver's context switches")
_BITS = "Mbit/s"


@dataclass(frozen=True)
class Contradiction:
    """Two figures that cannot both be right, or a unit that is not."""

    lines: tuple[int, ...]
    sentence: str


def contradictions(document: Document) -> list[Contradiction]:
    """All of them, in the order of lines."""
    found = [*_averages(document), *_names(document), *_borrowed(document), *_units(document)]
    return sorted(found, key=lambda each: each.lines)


def remarks(document: Document) -> list[str]:
    """What else must be known of the document's figures, with n."""
    made = []
    single = [runs for runs in cells(document).values() if len(runs) == 1]
    several = [runs for runs in cells(document).values() if len(runs) > 1]
    for device in dict.fromkeys(run.device for run in document.run):
        of_device = [runs for runs in (*single, *several) if runs[0].device == device]
        alone = sum(len(runs) == 1 for runs in of_device)
        text = "every cell is n = 1" if alone == len(of_device) else f"{alone} of {len(of_device)} cells are n = 1"
        repeats = [f"{runs[0].shown}, {runs[0].way}: {_values(runs)}" for runs in of_device if len(runs) > 1]
        made.append(
            f"{device}: {text}" + (f"; more than once: {'; '.join(repeats)}" if repeats else "")
            + " (a cell: same tester, device, access point, place, driver, patches, direction)."
        )  # fmt: skip
    ranges = [run.line for run in document.run if isinstance(run.mbit_s, list)]
    if ranges:
        rows = plural(len(ranges), "row gives", "rows give")
        made.append(f"{rows} a range in place of a figure (lines {_lines(ranges)}).")
    if document.transfers:
        counts = sorted({len(table.sender_1000b_s) for table in document.transfers})
        text = " or ".join(map(str, counts))
        made.append(
            f"{len(document.transfers)} tables of n = {text} transfers, one after the other and not interleaved."
        )
    said = [figure for figure in document.figure if figure.kind == "said"]
    if said and not document.transfers and not document.run:
        made.append(f"{plural(len(said), 'figure')} of the text, none with its n.")
    return made


def _values(runs: list[Run]) -> str:
    shown = " and ".join(f"{run.mbit_s:g}" if isinstance(run.mbit_s, float) else "a range" for run in runs)
    return f"{shown} Mbit/s (n = {len(runs)}, lines {_lines([run.line for run in runs])})"


def _lines(lines: list[int]) -> str:
    return ", ".join(map(str, lines))


def _averages(document: Document) -> Iterator[Contradiction]:
    for table in document.transfers:
        for name, column, printed, most in zip(_COLUMNS, table.columns, table.average, _ROUNDING, strict=True):
            if abs(fmean(column) - printed) > most:
                yield Contradiction(
                    (table.average_line,),
                    f"Line {table.average_line}: the average of the {name} is given as {printed:g}, its {len(column)} "
                    f"rows give {fmean(column):.2f}.",
                )


def _names(document: Document) -> Iterator[Contradiction]:
    for run in document.run:
        named = run.capture
        if named is None:
            continue
        parts = []
        if isinstance(run.mbit_s, float) and run.mbit_s != named.rate:
            parts.append(f"{run.mbit_s:g} Mbit/s in the table, {named.rate:g} in the name of its capture")
        if isinstance(run.retries_percent, float) and run.retries_percent != named.retries_percent:
            retries = f"{run.retries_percent:g} % retries in the table"
            parts.append(f"{retries}, {named.retries_percent:g} % in the name of its capture")
        if run.way != named.way:
            parts.append(f"{run.way} in the table, {named.way} in the name of its capture")
        if parts:
            yield Contradiction((run.line,), f"Line {run.line}: {'; '.join(parts)} ({named.name}).")


def _borrowed(document: Document) -> Iterator[Contradiction]:
    """Rows with a capture that is named after the figures of another row."""
    for run in document.run:
        named = run.capture
        if named is None or (run.mbit_s, run.retries_percent) == (named.rate, named.retries_percent):
            continue
        for other in document.run:
            if other.line != run.line and (other.mbit_s, other.retries_percent) == (named.rate, named.retries_percent):
                yield Contradiction(
                    (run.line, other.line),
                    f"Line {run.line} ({run.way}) is linked to a capture named after the figures of line {other.line} "
                    f"({other.way}: {named.rate:g} Mbit/s, {named.retries_percent:g} %): another row's file, or a "
                    "wrong name.",
                )


def _units(document: Document) -> Iterator[Contradiction]:
    wrong: dict[str, list[int]] = {}
    for run in document.run:
        if run.capture is not None and run.capture.unit == "MBps":
            wrong.setdefault(run.capture.unit, []).append(run.line)
    for unit, lines in wrong.items():
        yield Contradiction(
            tuple(lines),
            f'The names of {plural(len(lines), "capture")} say "{unit}" (megabytes a second) of figures that the table '
            f"gives in {_BITS}: eight times as much, if the names were right (lines {lines[0]} to {lines[-1]}).",
        )
