"""An archive, read: the plan, the runs that are complete, what happened, and what could not be read.

Damage never hides the rest: each unreadable file becomes a sentence in :attr:`Archive.damage`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from txop.archive.journal import Event, JournalReader
from txop.archive.layout import ArchiveError, Layout
from txop.archive.regular import FileState, file_state, read_regular
from txop.archive.run_file import RunFile, SeriesFile
from txop.core.origin import Origin
from txop.plan.model import Plan
from txop.plan.old_links import as_now
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
    damage: list[str] = field(default_factory=list)

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
            return SeriesFile.model_validate_json(_bounded(path))
        except FileNotFoundError:
            return SeriesFile()
        except (OSError, ValidationError):
            sentence = f"{path.relative_to(self.layout.root)}: cannot be read"
            if sentence not in self.damage:
                self.damage.append(sentence)
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
        self._plan_state: tuple[FileState, FileState] | None = None
        self._journal = JournalReader(self.layout.journal)
        self._runs = RunsReader(self.layout)

    def read(self) -> Archive:
        """The archive as it is now. Raises as :func:`read_archive` does."""
        plan = self._plan_now()
        damage: list[str] = []
        try:
            journal = self._journal.read()
            events = journal.events
            damage += [f"journal.jsonl, {sentence}" for sentence in journal.damage]
        except OSError as error:
            events = []
            damage.append(f"journal.jsonl: {error.strerror}")
        kept = self._runs.read(events)
        damage += kept.damage
        if kept.without_end:
            names = ", ".join(run.run for run in kept.without_end[:5]) + (", ..." if len(kept.without_end) > 5 else "")
            damage.append(
                f"journal.jsonl does not have the end of {names} ({len(kept.without_end)} in all); "
                "the run.json of each is whole, so they count"
            )
        return Archive(layout=self.layout, plan=plan, events=events, runs=kept.runs, damage=damage)

    def _plan_now(self) -> Plan:
        try:
            state = file_state(self.layout.identity), file_state(self.layout.plan)
        except OSError:
            state = None  # says below what is missing
        if self._plan is None or state != self._plan_state:
            self._plan = _read_plan(self.layout)
            self._plan_state = state
        return self._plan


def _read_plan(layout: Layout) -> Plan:
    root = layout.root
    layout.check()
    try:
        plan = as_now(Plan.model_validate(tomllib.loads(_bounded(layout.plan).decode("utf-8"))))
    except OSError as error:
        raise ArchiveError(f"its plan.toml cannot be read: {error.strerror or error}", where=root) from None
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"its plan.toml cannot be read: {_first(error)}", where=root) from None
    try:
        return Overrides.model_validate(layout.facts().get("overrides") or {}).apply(plan)
    except (ValueError, KeyError) as error:
        raise ArchiveError(f"its archive.json does not fit its plan.toml: {_first(error)}", where=root) from None


@dataclass
class KeptRuns:
    """What the folder of runs holds."""

    runs: list[RunFile] = field(default_factory=list)
    """Those whose ``run.json`` is whole, in the order of their folders' names: each came to its end, as that file is
    written last and at once, whatever the journal has of it."""
    without_end: list[RunFile] = field(default_factory=list)
    """Those of them whose end the journal does not have, nor can be about to have."""
    damage: list[str] = field(default_factory=list)


def read_runs(layout: Layout, events: Sequence[Event]) -> KeptRuns:
    """The runs of an archive as their folders have them, beside what the journal's ``events`` say."""
    return RunsReader(layout).read(events)


class RunsReader:
    """Reads the runs of an archive as they come: one read whole is not read again while its folder is there."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._whole: dict[str, tuple[int, RunFile]] = {}
        """By name of the folder: its inode, and the run."""

    def read(self, events: Sequence[Event]) -> KeptRuns:
        """The runs as they are now, beside what the journal's ``events`` say."""
        ended = {str(event.get("run")) for event in events if event.event in ("run-finished", "run-voided")}
        was_run = any(event.event.startswith("run-") for event in events)  # not of figures that were imported
        blocks = [event.get("block") for event in events if event.event == "block-started"]
        under_way = {str(e.get("run")) for e in events if e.event == "run-started" and [e.get("block")] == blocks[-1:]}
        reported = ended | under_way
        kept = KeptRuns()
        beside = self._layout.runs.relative_to(self._layout.root)
        for name, inode in self._folders():
            known = self._whole.get(name)
            try:
                run = known[1] if known is not None and known[0] == inode else self._run(name, inode)
            except FileNotFoundError as error:
                if name in ended or not was_run:
                    kept.damage.append(f"{beside}/{name}/run.json: {error.strerror}")
                continue  # still running, or interrupted
            except OSError as error:
                kept.damage.append(f"{beside}/{name}/run.json: {error.strerror}")
                continue
            if isinstance(run, str):
                kept.damage.append(f"{beside}/{name}/run.json: {run}")
                continue
            kept.runs.append(run)
            if was_run and name not in reported:
                kept.without_end.append(run)
        return kept

    def _folders(self) -> list[tuple[str, int]]:
        """Name and inode of the folders that may have a run, in the order of their names."""
        if not self._layout.runs.is_dir():
            return []
        with os.scandir(self._layout.runs) as entries:  # neither opens nor asks for anything of a folder in it
            return sorted((entry.name, entry.inode()) for entry in entries if ".interrupted-" not in entry.name)

    def _run(self, name: str, inode: int) -> RunFile | str:
        """The run of a folder, or what is wrong with its file. Raises :class:`OSError` when that cannot be opened."""
        path = f"{self._layout.runs}/{name}/run.json"  # a Path for each is slow
        try:
            run = RunFile.model_validate_json(read_regular(path, _MAX_FILE_BYTES))
        except ValidationError as error:
            return f"{error.error_count()} fields are wrong"
        if not run.run == name == self._layout.run_name(run.block, run.arm, run.test):
            return "belongs to another folder"
        self._whole[name] = inode, run
        return run


def _first(error: Exception) -> str:
    """What is wrong, in a sentence; of many things the first."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"{where}: {first['msg']}" if where else str(first["msg"])
    return str(error)


def _bounded(path: Path) -> bytes:
    return read_regular(path, _MAX_FILE_BYTES)
