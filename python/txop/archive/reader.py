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

from txop.archive.journal import Event, read_journal
from txop.archive.layout import ArchiveError, Layout
from txop.archive.regular import read_regular
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


def read_archive(root: Path) -> Archive:
    """Read an archive.

    Raises:
        ArchiveError: when it is not an archive, is of a newer version, or its plan cannot be read.
    """
    layout = Layout(root)
    layout.check()
    try:
        plan = as_now(Plan.model_validate(tomllib.loads(_bounded(layout.plan).decode("utf-8"))))
    except OSError as error:
        raise ArchiveError(f"its plan.toml cannot be read: {error.strerror or error}", where=root) from None
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"its plan.toml cannot be read: {_first(error)}", where=root) from None
    try:
        plan = Overrides.model_validate(layout.facts().get("overrides") or {}).apply(plan)
    except (ValueError, KeyError) as error:
        raise ArchiveError(f"its archive.json does not fit its plan.toml: {_first(error)}", where=root) from None
    damage: list[str] = []
    try:
        journal = read_journal(layout.journal)
        events = journal.events
        damage += [f"journal.jsonl, {sentence}" for sentence in journal.damage]
    except OSError as error:
        events = []
        damage.append(f"journal.jsonl: {error.strerror}")
    kept = read_runs(layout, events)
    damage += kept.damage
    if kept.untold:
        names = ", ".join(run.run for run in kept.untold[:5]) + (", ..." if len(kept.untold) > 5 else "")
        damage.append(
            f"journal.jsonl does not have the end of {names} ({len(kept.untold)} in all); "
            "the run.json of each is whole, so they count"
        )
    runs = kept.runs
    return Archive(layout=layout, plan=plan, events=events, runs=runs, damage=damage)


@dataclass
class KeptRuns:
    """What the folder of runs holds."""

    runs: list[RunFile] = field(default_factory=list)
    """Those whose ``run.json`` is whole, in the order of their folders' names: each came to its end, as that file is
    written last and at once, whatever the journal has of it."""
    untold: list[RunFile] = field(default_factory=list)
    """Those of them whose end the journal does not have, nor can be about to have."""
    damage: list[str] = field(default_factory=list)


def read_runs(layout: Layout, events: Sequence[Event]) -> KeptRuns:
    """The runs of an archive as their folders have them, beside what the journal's ``events`` say."""
    ended = {str(event.get("run")) for event in events if event.event in ("run-finished", "run-voided")}
    was_run = any(event.event.startswith("run-") for event in events)  # not of figures that were imported
    blocks = [event.get("block") for event in events if event.event == "block-started"]
    under_way = {str(e.get("run")) for e in events if e.event == "run-started" and [e.get("block")] == blocks[-1:]}
    reported = ended | under_way
    kept = KeptRuns()
    names = sorted(os.listdir(layout.runs)) if layout.runs.is_dir() else []  # noqa: PTH208 - a path for each is slow
    root, beside = str(layout.runs), layout.runs.relative_to(layout.root)  # a Path for each is slow
    for name in names:
        if ".interrupted-" in name:
            continue
        try:
            run = RunFile.model_validate_json(read_regular(f"{root}/{name}/run.json", _MAX_FILE_BYTES))
        except FileNotFoundError as error:
            if name in ended or not was_run:
                kept.damage.append(f"{beside}/{name}/run.json: {error.strerror}")
            continue  # still running, or interrupted
        except (OSError, ValidationError) as error:
            what = error.strerror if isinstance(error, OSError) else f"{error.error_count()} fields are wrong"
            kept.damage.append(f"{beside}/{name}/run.json: {what}")
            continue
        if not run.run == name == layout.run_name(run.block, run.arm, run.test):
            kept.damage.append(f"{beside}/{name}/run.json: belongs to another folder")
            continue
        kept.runs.append(run)
        if was_run and name not in reported:
            kept.untold.append(run)
    return kept


def _first(error: Exception) -> str:
    """What is wrong, in a sentence; of many things the first."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"{where}: {first['msg']}" if where else str(first["msg"])
    return str(error)


def _bounded(path: Path) -> bytes:
    return read_regular(path, _MAX_FILE_BYTES)
