"""Finds the evidence of a board. A file that is not there, or does not have what is named, is not evidence."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from txop.air.report import AirReport
from txop.archive.counting import counting, figure_value
from txop.archive.layout import Layout
from txop.archive.reader import Archive, read_archive
from txop.archive.regular import read_regular
from txop.archive.run_file import RunFile
from txop.board import checks
from txop.board.model import (
    HERE,
    CaptureEvidence,
    CheckName,
    Evidence,
    FaultEvidence,
    LogEvidence,
    NoEvidence,
    RunEvidence,
    TextEvidence,
)
from txop.board.outcome import Outcome, decided, undecided
from txop.core.errors import UserError
from txop.core.visible import visible
from txop.formats.error import FormatError
from txop.log.naming import read_log
from txop.present.format import plural

_MOST_TEXT = 64 << 20
_MOST_DOCUMENT = 1 << 30
_SHOWN = 160
"""How many characters of a line are quoted."""

Analyze = Callable[[str], AirReport]
"""Makes the report of a capture."""


class Evidences:
    """Everything that a board may name; each file is read once."""

    def __init__(self, folder: Path | None, analyze: Analyze, archive: Layout | None = None) -> None:
        """``folder`` has the files; ``None``: there are none. ``archive`` is what :data:`~txop.board.model.HERE` stands
        for, where one was named in place of a board."""
        self._folder = folder
        self._named = archive
        self._analyze = analyze
        self._reports: dict[Path, AirReport | Outcome] = {}
        self._archives: dict[Path, Archive | Outcome] = {}

    def look_up(self, evidence: Evidence, check: CheckName | None, station: str | None) -> Outcome:
        """What ``evidence`` shows; ``check`` and ``station`` are those of its task and board."""
        if isinstance(evidence, NoEvidence):
            return undecided(evidence.because)
        name = evidence.archive if isinstance(evidence, RunEvidence | FaultEvidence) else evidence.file
        if self._named is not None and isinstance(evidence, RunEvidence | FaultEvidence) and name == HERE:
            return replace(self._of_runs(self._named, evidence), source=self._named.named)
        path = self._inside(name)
        if isinstance(path, Outcome):
            return path
        if isinstance(evidence, LogEvidence):
            found = _log(path, evidence)
        elif isinstance(evidence, TextEvidence):
            found = _text(path, evidence)
        elif isinstance(evidence, CaptureEvidence):
            found = self._capture(path, evidence.check or check, evidence.station or station)
        else:
            found = self._of_runs(Layout(path), evidence)
        return replace(found, source=name)

    def _of_runs(self, layout: Layout, evidence: RunEvidence | FaultEvidence) -> Outcome:
        archive = self._archive(layout)
        if isinstance(archive, Outcome):
            return archive
        if isinstance(evidence, RunEvidence):
            return _runs(archive, evidence)
        return faults(archive, evidence.arm, evidence.fault)

    def _inside(self, name: str) -> Path | Outcome:
        """The file of that name, which lies in the board's folder or below it."""
        if self._folder is None:
            return Outcome("not there", "the board has no folder that evidence could be in", name)
        try:
            root = self._folder.resolve()
            path = (root / name).resolve()
        except (OSError, ValueError, RuntimeError):
            return Outcome("not there", "it is not a file name", name)
        if Path(name).is_absolute() or not path.is_relative_to(root):
            return Outcome("not there", "it is outside of the board's folder, where evidence is not looked for", name)
        if not path.exists():
            return Outcome("not there", "there is no such file", name)
        return path

    def _capture(self, path: Path, check: CheckName | None, station: str | None) -> Outcome:
        if check is None:
            return Outcome("not there", "neither the task nor the evidence names a check")
        report = self.report(path)
        return report if isinstance(report, Outcome) else checked(report, check, station)

    def report(self, path: Path) -> AirReport | Outcome:
        """The report of a capture, or of a document of ``txop air --json``."""
        if path not in self._reports:
            self._reports[path] = self._read(path)
        return self._reports[path]

    def forget(self, path: Path) -> None:
        """Keep the report of a capture no longer."""
        self._reports.pop(path, None)

    def _read(self, path: Path) -> AirReport | Outcome:
        try:
            if path.suffix == ".json":
                return AirReport.parse(read_regular(path, _MOST_DOCUMENT))
            return self._analyze(str(path))
        except (OSError, ValueError, FormatError, UserError) as error:
            return Outcome("not there", f"it cannot be read: {_reason(error)}")

    def _archive(self, layout: Layout) -> Archive | Outcome:
        path = layout.root
        if path not in self._archives:
            try:
                self._archives[path] = read_archive(layout)
            except (OSError, UserError) as error:
                self._archives[path] = Outcome("not there", f"it cannot be read: {_reason(error)}")
        return self._archives[path]


def checked(report: AirReport, check: CheckName, station: str | None) -> Outcome:
    """A capture put to a check, with where its figures come from."""
    found = checks.run(check, report, station)
    cut = report.summary.damage
    more = "; the capture is damaged, and this is of what came before" if cut is not None else ""
    return replace(found, origin=report.origin, sentence=found.sentence + more)


def faults(archive: Archive, arm: str, key: str) -> Outcome:
    """Whether runs of an arm have a fault. Runs without a kernel log do not count."""
    runs = [run for run in archive.runs if run.arm == arm]
    logged = [run for run in runs if any(name.startswith("kernel-log") for name in run.files)]
    having = [run for run in runs if any(fault.key == key for fault in run.faults)]
    origin = runs[0].origin.value if runs else None
    if not runs:
        return Outcome("not there", f"the archive has no run of {arm}")
    if having:
        text = f"{len(having)} of {plural(len(runs), 'run')} of {arm} have {key}, {having[0].run} first"
        disagreeing = sum(run not in having for run in logged)
        return replace(decided(False, text, len(runs)), origin=origin, disagreeing=disagreeing)
    if not logged:
        return replace(undecided(f"no run of {arm} has a kernel log"), origin=origin)
    return replace(
        decided(True, f"none of {plural(len(logged), 'run')} of {arm} has {key}", len(logged)), origin=origin
    )


def _runs(archive: Archive, evidence: RunEvidence) -> Outcome:
    runs: list[RunFile] = counting(archive, evidence.test).of(evidence.arm)
    if not runs:
        return Outcome("not there", f"no run of {evidence.arm} counts in {evidence.test}")
    values = [value for run in runs if (value := figure_value(run, evidence.metric)) is not None]
    if not values:
        return Outcome("not there", f"no run of {evidence.arm} has a figure {evidence.metric}")
    low = -math.inf if evidence.at_least is None else evidence.at_least
    high = math.inf if evidence.at_most is None else evidence.at_most
    met = sum(low <= value <= high for value in values)
    asked = " and ".join(
        f"at {word} {bound:g}"
        for word, bound in (("least", evidence.at_least), ("most", evidence.at_most))
        if bound is not None
    )
    spread = f"{min(values):g} to {max(values):g}, median {statistics.median(values):g}" if len(values) > 1 else ""
    text = f"{evidence.metric} of {evidence.arm} in {evidence.test}: {spread or f'{values[0]:g}'} (n = {len(values)})"
    if 0 < met < len(values):
        found = undecided(f"{met} of {len(values)} runs are {asked} ({text})", len(values))
        found = replace(found, disagreeing=len(values) - met)
    else:
        word = "each is" if met else "none is"
        found = decided(bool(met), f"{text}: {word} {asked}", len(values))
    return replace(found, origin=runs[0].origin.value)


def _log(path: Path, evidence: LogEvidence) -> Outcome:
    try:
        report = read_log(path, source=evidence.file)
    except OSError as error:
        return Outcome("not there", f"it cannot be read: {_reason(error)}")
    counts = {fault.key: 0 for fault in report.faults}
    for fault in report.faults:
        counts[fault.key] += fault.count
    if counts.get(evidence.fails):
        n = counts[evidence.fails]
        return decided(False, f"the log has {evidence.fails} ({plural(n, 'time')})", n)
    if counts.get(evidence.works):
        n = counts[evidence.works]
        text = f"the log has {evidence.works} ({plural(n, 'time')}), and no {evidence.fails}"
        return decided(True, text, n)
    return undecided(f"the log has neither {evidence.fails} nor {evidence.works}", 0)


def _text(path: Path, evidence: TextEvidence) -> Outcome:
    try:
        text = read_regular(path, _MOST_TEXT).decode("utf-8", "replace")
    except OSError as error:
        return Outcome("not there", f"it cannot be read: {_reason(error)}")
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if evidence.fails in line:
            return decided(False, f"line {number}: {_quoted(line)}", 1)
    for number, line in enumerate(lines, start=1):
        if evidence.works in line:
            return decided(True, f'line {number}: {_quoted(line)}, and no line has "{evidence.fails}"', 1)
    return undecided(f'no line has "{evidence.fails}" or "{evidence.works}"', 0)


def _quoted(line: str) -> str:
    shown = visible(line.strip())
    return f'"{shown[:_SHOWN]}{"..." if len(shown) > _SHOWN else ""}"'


def _reason(error: Exception) -> str:
    if isinstance(error, UserError):
        return error.what
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
