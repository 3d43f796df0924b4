"""An archive, read: the plan, the runs that are complete, what happened, and what could not be read.

Damage never hides the rest: each unreadable file, and each run that contradicts the rest, becomes a finding in
:attr:`Archive.findings`. Only runs that nothing contradicts are in :attr:`Archive.runs`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from txop.archive import journal_check
from txop.archive.contradictions import check, is_drawable
from txop.archive.damage import Code, Finding
from txop.archive.damage_words import sentence
from txop.archive.journal import Event, JournalReader
from txop.archive.layout import ArchiveError, Layout
from txop.archive.plan_record import fingerprints, plan_record
from txop.archive.regular import FileState, file_state, read_regular
from txop.archive.run_file import RUN_VERSION, RunFile, SeriesFile
from txop.core.origin import Origin
from txop.plan.model import Plan
from txop.plan.old_links import with_current_links
from txop.plan.overrides import Overrides

_MAX_FILE_BYTES = 256 * 1024 * 1024


@dataclass
class Archive:
    """What is in an archive."""

    layout: Layout
    plan: Plan
    events: list[Event]
    runs: list[RunFile]
    """Complete runs, valid and void, in the order of their folders' names."""
    findings: list[Finding] = field(default_factory=list)
    """What is wrong with it."""

    @property
    def damage(self) -> list[str]:
        """The findings in words."""
        return list(dict.fromkeys(sentence(finding) for finding in self.findings))

    @property
    def primary_is_known(self) -> bool:
        """Whether the plan says which figures were primary when the campaign began."""
        return not any(each.code is Code.PLAN_EDITED and each.facts["primary_unknown"] for each in self.findings)

    @property
    def finished(self) -> bool:
        """Whether the campaign came to its planned end."""
        return any(event.event == "campaign-finished" for event in self.events)

    @property
    def imported(self) -> bool:
        """Whether ``txop import`` made it of the files of other tools: no campaign was carried out."""
        return bool(self.runs) and not self.events and all(run.origin is Origin.IMPORTED for run in self.runs)

    @property
    def provenance(self) -> dict[str, dict[str, object]]:
        """Facts of each target, as found when it was last connected."""
        found = ((str(e.get("target")), e.get("provenance")) for e in self.events if e.event == "connected")
        return {target: facts for target, facts in found if isinstance(facts, dict)}

    def series(self, run: RunFile) -> SeriesFile:
        """The series of a run; empty when there are none or they cannot be read."""
        path = self.layout.run(run.run) / "series.json"
        try:
            found = SeriesFile.model_validate_json(_bounded(path), strict=True)
            if all(map(is_drawable, found.series.values())):
                return found
            raise ValueError("it has a value that no run can have")
        except FileNotFoundError:
            return SeriesFile()
        except (OSError, ValueError):
            finding = Finding(Code.SERIES_UNREADABLE, run.run)
            if finding not in self.findings:
                self.findings.append(finding)
            return SeriesFile()


def read_archive(root: Path | Layout) -> Archive:
    """Read an archive.

    Raises:
        ArchiveError: when it is not an archive, is of a newer version, or its plan cannot be read.
    """
    return ArchiveReader(root).read()


class ArchiveReader:
    """Reads an archive as it grows: plan and runs that were read are not read again, of the journal only what was
    appended. A ``run.json`` is written once; one that is changed in its folder later is not noticed."""

    def __init__(self, root: Path | Layout) -> None:
        self.layout = root if isinstance(root, Layout) else Layout(root)
        self._plan: Plan | None = None
        self._record: dict[str, str] = {}
        self._plan_state: tuple[FileState, FileState] | None = None
        self._journal = JournalReader(self.layout.journal)
        self._runs = RunsReader(self.layout)

    def read(self) -> Archive:
        """The archive as it is now. Raises as :func:`read_archive` does."""
        plan = self._plan_now()
        findings: list[Finding] = []
        try:
            journal = self._journal.read()
            events = journal.events
            findings += journal.findings
        except OSError as error:
            events = []
            findings.append(Finding(Code.JOURNAL_UNREADABLE, facts={"reason": error.strerror}))
        kept = self._runs.read(events)
        checked = check(plan, self._record, events, kept.runs)
        unreadable = any(each.code is Code.JOURNAL_UNREADABLE for each in findings)
        findings += kept.findings
        findings += [each for each in checked.findings if not (unreadable and each.code is Code.JOURNAL_EMPTY)]
        if lacking := journal_check.lacking_ends(events, checked.runs):
            findings.append(Finding(Code.JOURNAL_LACKS_END, facts={"runs": lacking}))
        return Archive(layout=self.layout, plan=plan, events=events, runs=checked.runs, findings=findings)

    def _plan_now(self) -> Plan:
        try:
            state = file_state(self.layout.identity), file_state(self.layout.plan)
        except OSError:
            state = None  # says below what is missing
        if self._plan is None or state != self._plan_state:
            self._plan, self._record = _read_plan(self.layout)
            self._plan_state = state
        return self._plan


def read_plan(layout: Layout) -> Plan:
    """The plan of an archive. Raises :class:`ArchiveError` as :func:`read_archive` does."""
    return _read_plan(layout)[0]


def _read_plan(layout: Layout) -> tuple[Plan, dict[str, str]]:
    """The plan with what the command line changed, and the fingerprints of its tables."""
    root = layout.root
    layout.check()
    try:
        document = tomllib.loads(_bounded(layout.plan).decode("utf-8"))
        plan = with_current_links(Plan.model_validate(document))
    except OSError as error:
        raise ArchiveError(f"its plan.toml cannot be read: {error.strerror or error}", where=root) from None
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"its plan.toml cannot be read: {_first(error)}", where=root) from None
    overrides = layout.facts().get("overrides") or {}
    try:
        return Overrides.model_validate(overrides).apply(plan), fingerprints(document, overrides)
    except (ValueError, KeyError) as error:
        raise ArchiveError(f"its archive.json does not fit its plan.toml: {_first(error)}", where=root) from None


@dataclass
class KeptRuns:
    """What the folder of runs holds."""

    runs: list[RunFile] = field(default_factory=list)
    """Those with a complete ``run.json``, in the order of their folders' names: each was completed, as that file is
    written last and at once, whatever the journal has of it."""
    findings: list[Finding] = field(default_factory=list)


def read_runs(layout: Layout, plan: Plan, events: Sequence[Event]) -> KeptRuns:
    """The runs of an archive as their folders have them, without those that the journal's ``events``, the plan or each
    other contradict."""
    kept = RunsReader(layout).read(events)
    checked = check(plan, plan_record(layout), events, kept.runs)
    return KeptRuns(checked.runs, [*kept.findings, *checked.findings])


class RunsReader:
    """Reads the runs of an archive as they come: one read whole is not read again while its folder is there."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._whole: dict[str, tuple[int, RunFile]] = {}
        """By name of the folder: its inode, and the run."""

    def read(self, events: Sequence[Event]) -> KeptRuns:
        """The runs as they are now, beside what the journal's ``events`` say."""
        ended = {name: end for name, end in journal_check.ends(events).items() if end != "lost"}
        was_run = any(event.event.startswith("run-") for event in events)  # not of figures that were imported
        kept = KeptRuns()
        there = set()
        for name, inode in self._folders():
            there.add(name)
            known = self._whole.get(name)
            try:
                run = known[1] if known is not None and known[0] == inode else self._run(name, inode)
            except FileNotFoundError as error:
                if name in ended or not was_run:
                    kept.findings.append(Finding(Code.RUN_UNREADABLE, name, {"reason": error.strerror}))
                continue  # still running, or interrupted
            except OSError as error:
                kept.findings.append(Finding(Code.RUN_UNREADABLE, name, {"reason": error.strerror}))
                continue
            if isinstance(run, Finding):
                kept.findings.append(run)
            else:
                kept.runs.append(run)
        for name in sorted(ended.keys() - there):
            kept.findings.append(Finding(Code.RUN_MISSING, name, {"reason": "No such file or directory"}))
        return kept

    def _folders(self) -> list[tuple[str, int]]:
        """Name and inode of the folders that may have a run, in the order of their names."""
        if not self._layout.runs.is_dir():
            return []
        with os.scandir(self._layout.runs) as entries:  # neither opens nor asks for anything of a folder in it
            return sorted((entry.name, entry.inode()) for entry in entries if ".interrupted-" not in entry.name)

    def _run(self, name: str, inode: int) -> RunFile | Finding:
        """The run of a folder, or what is wrong with its file. Raises :class:`OSError` when that cannot be opened."""
        path = f"{self._layout.runs}/{name}/run.json"  # a Path for each is slow
        data = read_regular(path, _MAX_FILE_BYTES)
        try:
            run = RunFile.model_validate_json(data, strict=True)
        except ValidationError as error:
            return _not_a_run(name, data, error)
        try:
            own = self._layout.run_name(run.block, run.arm, run.test)
        except ValueError:  # a number of thousands of digits
            own = ""
        if not run.run == name == own:
            return Finding(Code.RUN_MISPLACED, name, {"run": run.run[:200]})
        self._whole[name] = inode, run
        return run


def _not_a_run(name: str, data: bytes, error: ValidationError) -> Finding:
    """What is wrong with a ``run.json``."""
    if not data:
        return Finding(Code.RUN_MALFORMED, name, {"reason": "is empty"})
    first = error.errors(include_input=False, include_url=False)[0]
    if first["type"] == "json_invalid":
        return Finding(Code.RUN_MALFORMED, name, {"reason": f"is not JSON ({first['ctx']['error']})"})
    version = next((each["input"] for each in error.errors() if each["loc"] == ("version",)), None)
    if isinstance(version, int) and version > RUN_VERSION:
        return Finding(Code.RUN_NEWER, name, {"version": version})
    count, where = error.error_count(), ".".join(str(part) for part in first["loc"])
    said = f"{where}: {first['msg']}" if count == 1 else f"{count} fields are wrong ({where}: {first['msg']})"
    return Finding(Code.RUN_MALFORMED, name, {"reason": said})


def _first(error: Exception) -> str:
    """What is wrong, in a sentence; of many things the first."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"{where}: {first['msg']}" if where else str(first["msg"])
    return str(error)


def _bounded(path: Path) -> bytes:
    return read_regular(path, _MAX_FILE_BYTES)
