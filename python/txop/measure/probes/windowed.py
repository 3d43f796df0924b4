"""The measured window of a run by the clock of its captures: the one place that cuts them.

A capture of a run is of all of it: the association, the idle phase, the warm-up, and what the tools take to end.
Figures of a run are of its window, so the analyzers are given the window (``txop air --from --to``) and the whole
capture stays in the run's folder. What is known of the clocks:

* targets on this machine, and the emulated link: time stamps are this machine's time of day;
* another machine: its time of day; its distance to this machine's monotonic clock was measured in the run;
* a guest: the virtual chip gives the moment that its captures count from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from txop.core.visible import visible
from txop.measure.instrument import RunFacts
from txop.measure.probes.emulated_link import STATUS_FILE
from txop.measure.probes.packet_capture import ABOUT
from txop.present.report_parts import Window
from txop.present.window import records

MAX_COUNTERS_BYTES = 1 << 20
"""Largest file of a chip's counters."""
CLOCK_FILE = "chip.json"
"""Counters of the chip; they show its clock."""
WORST_CLOCK_SHARE = 0.05
"""A window is not used when its ends are less certain than this share of its length."""
_UNKNOWN = ", so it is not known what of the capture lies in the window"
ON_THIS_MACHINE = frozenset({"local", "namespace", "emulated"})


@dataclass(frozen=True)
class CaptureWindow:
    """The window in the time stamps of a capture."""

    from_ns: int
    """First moment inside, nanoseconds since 1970."""
    to_ns: int
    """First moment after it."""
    clock: str
    """The target that stamps the capture."""
    uncertainty_s: float = 0.0
    """How far both ends may be off together."""

    @property
    def start(self) -> str:
        """As ``--from`` takes it."""
        return _moment(self.from_ns)

    @property
    def end(self) -> str:
        """As ``--to`` takes it."""
        return _moment(self.to_ns)

    def digest(self, window: Window | None, command: str, file: str) -> dict[str, object]:
        """What the run's record says of it: the ends, what lay outside, and the command that gives the same figures."""
        return {
            "from": self.start,
            "to": self.end,
            "clock": self.clock,
            "uncertainty_s": self.uncertainty_s,
            "records_inside": window.records_inside if window is not None else None,
            "records": records(window) if window is not None else None,
            "command": f"txop {command} {file} --from {self.start} --to {self.end}",
        }


def capture_window(facts: RunFacts, target: str) -> CaptureWindow:
    """The window of a run in a capture that was made on ``target``.

    Raises :class:`ValueError` with the reason when it cannot be determined.
    """
    marks = facts.marks
    if marks.window is None or marks.end is None:
        raise ValueError("the run did not reach the end of its window")
    machine = facts.plan.target.get(target)
    if machine is not None and machine.kind == "guest":
        return _window(epoch_ns(facts.folder / CLOCK_FILE), marks.window, marks.end, "the virtual chip")
    if machine is None or machine.kind in ON_THIS_MACHINE:
        return _window(round(marks.wall_minus_monotonic_s * 1e9), marks.window, marks.end, "this machine")
    clock = marks.clocks.get(target)
    if clock is None:
        raise ValueError(f"the clock of {target} could not be compared with this machine's{_UNKNOWN}")
    if clock.problem is not None:
        raise ValueError(f"the clock of {target} {clock.problem}{_UNKNOWN}")
    length_s = marks.end - marks.window
    if clock.uncertainty_s > WORST_CLOCK_SHARE * length_s:
        known = f"the clock of {target} is known to {clock.uncertainty_s:.3f} s only"
        raise ValueError(f"{known}, too little for a window of {length_s:g} s")
    offset_ns = round(clock.wall_minus_monotonic_s * 1e9)
    return _window(offset_ns, marks.window, marks.end, target, clock.uncertainty_s)


def not_of_window(facts: RunFacts, name: str, window: Window, where: CaptureWindow) -> str | None:
    """The reason for having no figures of the window from the capture ``name`` (``air``, ``usb``), else ``None``: no
    record lies in the window, or the capture was over before it."""
    if records(window) and not window.records_inside:
        n = records(window)
        which = "its one record does not lie" if n == 1 else f"none of its {n} records lies"
        return f"{which} in the measured window (by the clock of {where.clock})"
    last_s, end_s = window.capture_last_unix_s, where.to_ns / 1e9
    if last_s is None or last_s >= end_s:
        return None
    # A channel may be silent at the end of a window; only a capture that was over does not show the silence.
    over = _over(facts, name)
    return None if over is None else f"the capture ends {end_s - last_s:.3g} s before the window: {over}"


def _over(facts: RunFacts, name: str) -> str | None:
    """Why a capture ended before it was stopped, else ``None``."""
    full = f"it reached its limit of {facts.plan.collect.max_capture_mb:g} MB (collect.max_capture_mb)"
    if (about := _table(facts.folder / ABOUT.format(name))) is not None:
        if about.get("full") is True:
            return full
        return visible(str(about["problem"])[:200]) if about.get("problem") else None
    file = (_table(facts.folder / STATUS_FILE) or {}).get(name)
    return full if isinstance(file, dict) and file.get("dropped") else None


def _table(path: Path) -> dict[str, object] | None:
    try:
        document = bounded_json(path)
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def bounded_json(path: Path) -> object:
    """What a JSON file of a guest holds. Raises :class:`OSError`, and :class:`ValueError` for one that is too large."""
    with path.open("rb") as source:
        data = source.read(MAX_COUNTERS_BYTES + 1)
    if len(data) > MAX_COUNTERS_BYTES:
        raise ValueError(f"it is larger than {MAX_COUNTERS_BYTES >> 20} MB")
    return json.loads(data)


def epoch_ns(path: Path) -> int:
    """What is added to a guest's monotonic clock for the time stamps of its captures, by its chip's counters. Raises
    :class:`ValueError`."""
    found = (_table(path) or {}).get("epoch_ns")
    if not isinstance(found, int) or isinstance(found, bool):
        raise ValueError("the chip did not report its clock, so it is not known what of it is in the window")
    return found


def _window(offset_ns: int, start_s: float, end_s: float, clock: str, uncertainty_s: float = 0.0) -> CaptureWindow:
    start_ns, end_ns = round(start_s * 1e9), round(end_s * 1e9)
    return CaptureWindow(offset_ns + start_ns, offset_ns + end_ns, clock, uncertainty_s)


def _moment(ns: int) -> str:
    return f"@{ns // 10**9}.{ns % 10**9:09d}"
