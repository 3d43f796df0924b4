"""The measured window of the run that a capture in an archive belongs to: what its figures in ``run.json`` are of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from txop.archive.layout import ArchiveError, Layout
from txop.archive.reader import read_plan
from txop.archive.regular import read_regular
from txop.archive.run_file import RunFile
from txop.core.moment import check_order, end_of
from txop.measure.instrument import Marks, RunFacts
from txop.measure.probes.air_analysis import AIR_FILES, sniffer_of
from txop.measure.probes.bus_capture import BUS_FILES
from txop.measure.probes.windowed import capture_window

_MAX_FILE_BYTES = 64 * 1024 * 1024

Kind = Literal["air", "bus"]


@dataclass(frozen=True)
class RunWindow:
    """The run of a capture, and its window in the time stamps of the capture."""

    run: str
    from_: str | None
    """As ``--from`` takes it; ``None``: see ``why_not``."""
    to: str | None
    why_not: str = ""
    """Why the window cannot be determined."""


def run_window(capture: Path, kind: Kind) -> RunWindow | None:
    """The window of the run that has a capture in its folder; ``None`` where it lies in no archive, or its run has no
    window: it was interrupted, or void before its window ended."""
    capture = capture.absolute()
    folder = capture.parent
    layout = Layout(folder.parent.parent)
    if folder.parent != layout.runs:
        return None
    try:
        layout.check()
        run = RunFile.model_validate_json(read_regular(folder / "run.json", _MAX_FILE_BYTES), strict=True)
    except (ArchiveError, OSError, ValidationError):
        return None
    if run.window_s is None or run.run != folder.name:
        return None
    digest, names = (run.air, AIR_FILES) if kind == "air" else (run.bus, BUS_FILES)
    recorded = (digest or {}).get("window") if capture.name in names else None
    start, end = (recorded.get(key) if isinstance(recorded, dict) else None for key in ("from", "to"))
    try:
        ends = (start, end) if isinstance(start, str) and isinstance(end, str) else _ends(layout, run, kind)
        check_order(end_of(ends[0]), end_of(ends[1]))
    except (ArchiveError, KeyError, OSError, TypeError, ValueError) as error:
        return RunWindow(run.run, None, None, str(error))
    return RunWindow(run.run, ends[0], ends[1])


def _ends(layout: Layout, run: RunFile, kind: Kind) -> tuple[str, str]:
    """The window by the marks of the run, as its figures were made. Raises :class:`ValueError`."""
    plan, folder = read_plan(layout), layout.run(run.run)
    facts = RunFacts(plan, plan.find_arm(run.arm), plan.find_test(run.test), folder, Marks.of(folder))
    window = capture_window(facts, sniffer_of(plan) if kind == "air" else "dut")
    return window.start, window.end
