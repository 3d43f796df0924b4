"""Remarks that people add to a campaign, while it runs or afterwards: "a person walked through the line of sight"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from txop.archive.journal import Event, JournalWriter
from txop.archive.layout import ArchiveError
from txop.archive.reader import Archive
from txop.core.nearest import did_you_mean

MAX_TEXT = 10_000


@dataclass(frozen=True)
class Remark:
    """A remark on the campaign, an arm or a run."""

    at: str
    text: str
    arm: str | None = None
    run: str | None = None


def remarks_of(events: Iterable[Event]) -> list[Remark]:
    """The remarks in a journal, oldest first."""
    found = []
    for event in events:
        if event.event == "note" and isinstance(text := event.get("text"), str):
            arm, run = (value if isinstance(value := event.get(key), str) else None for key in ("arm", "run"))
            found.append(Remark(event.at, text[:MAX_TEXT], arm, run))
    return found


def add_remark(archive: Archive, text: str, *, arm: str | None = None, run: str | None = None) -> None:
    """Append a remark to the journal; safe while a campaign writes to it, because each line is one write.

    Raises:
        ArchiveError: no such arm or run, or the text is too long.
        OSError: the journal cannot be written.
    """
    root = archive.layout.root
    arms = [each.name for each in archive.plan.arm]
    if arm is not None and arm not in arms:
        raise ArchiveError(f"unknown arm {arm!r}", where=root, what_to_do=did_you_mean(arm, arms))
    if run is not None and run not in (runs := sorted(folder.name for folder in archive.layout.runs.iterdir())):
        raise ArchiveError(f"there is no run {run!r}", where=root, what_to_do=did_you_mean(run, runs))
    if len(text) > MAX_TEXT:
        raise ArchiveError(f"a remark has at most {MAX_TEXT:,} characters", where=root)
    if not archive.layout.journal.is_file():
        raise ArchiveError("its journal.jsonl is missing, so nothing can be added", where=root)
    with JournalWriter(archive.layout.journal) as journal:
        journal.write("note", text=text, arm=arm, run=run)
