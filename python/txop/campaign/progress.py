"""The current state of a campaign, read from its archive for another terminal. Nothing is written."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from txop.archive.journal import Event
from txop.archive.layout import lock_is_held
from txop.archive.reader import Archive, ArchiveReader
from txop.archive.run_file import RunFile
from txop.campaign.state import State
from txop.plan.guest_time import guests_at_once
from txop.plan_check.count import run_seconds

Doing = Literal["not begun", "running", "stopped", "killed", "finished", "imported", "not determined"]


class CurrentRun(BaseModel):
    """A run that was begun and has not ended."""

    run: str
    arm: str
    test: str
    seconds: float | None
    """For how long; ``None``: the clocks do not show it."""


class FaultSeen(BaseModel):
    """A fault of the kernel log, over all runs so far."""

    key: str
    title: str
    severity: str
    count: int
    runs: int
    """In how many runs."""


class Progress(BaseModel):
    """Where a campaign stands."""

    format: Literal["txop-watch"] = "txop-watch"
    version: Literal[1] = 1
    archive: str
    title: str
    doing: Doing
    """``killed``: no process holds the archive, and none wrote down that it stopped. ``imported``: no campaign,
    only files of other tools. ``not determined``: the archive is in a store, and its journal has no end."""
    reason: str | None
    """Why it stopped, or what it left undone."""
    block: int | None
    """The last that was begun."""
    blocks: int
    """Blocks that the design asks for; those beyond are repeats."""
    replaces: int | None
    under_way: list[CurrentRun]
    valid: int
    void: int
    runs_to_come: int
    """As far as is known, those under way included."""
    seconds_to_come: float | None
    """``None`` when nothing is being done."""
    last: str | None
    """Name of the run that ended last."""
    faults: list[FaultSeen]
    damage: list[str]


def progress(archive: Archive, *, held: bool | None) -> Progress:
    """Where the campaign of an archive stands.

    Args:
        archive: As just read.
        held: Whether a process writes to it (:func:`txop.archive.layout.lock_is_held`); ``None``: not known.
    """
    events, plan = archive.events, archive.plan
    state = State.of(plan, events)
    doing, reason = ("imported", None) if archive.imported else _doing(events, held)
    if archive.layout.in_store and doing in ("running", "killed", "not begun"):
        doing = "not determined"
    block = max(state.blocks.values(), key=lambda each: each.block.number, default=None)
    under_way = _under_way(events) if doing == "running" else []
    to_come = 0 if doing in ("finished", "imported") else state.runs_to_come()
    return Progress(
        archive=archive.layout.named,
        title=plan.title,
        doing=doing,
        reason=reason or None,
        block=block.block.number if block is not None else None,
        blocks=plan.design.blocks,
        replaces=block.block.replaces if block is not None else None,
        under_way=under_way,
        valid=sum(run.state == "valid" for run in archive.runs),
        void=sum(run.state == "void" for run in archive.runs),
        runs_to_come=to_come,
        seconds_to_come=_seconds_to_come(archive, to_come, under_way) if doing == "running" else None,
        last=next((str(e.get("run")) for e in reversed(events) if e.event in ("run-finished", "run-voided")), None),
        faults=_faults(archive.runs),
        damage=archive.damage,
    )


def read_progress(reader: ArchiveReader) -> tuple[Archive, Progress]:
    """Read an archive, also while it is written. Raises :class:`~txop.archive.layout.ArchiveError`.

    Args:
        reader: The same one each time, so that only what is new is read.
    """
    # Before the journal is read: who ends meanwhile has written why.
    held = None if reader.layout.in_store else lock_is_held(reader.layout)
    archive = reader.read()
    return archive, progress(archive, held=held)


def _doing(events: list[Event], held: bool | None) -> tuple[Doing, str | None]:
    last = next((e for e in reversed(events) if e.event.startswith("campaign-") or e.event == "resumed"), None)
    if any(event.event == "campaign-finished" for event in events):
        finished = next(event for event in reversed(events) if event.event == "campaign-finished")
        return "finished", str(finished.get("reason") or "")
    if last is not None and last.event == "campaign-stopped" and not held:
        return "stopped", str(last.get("reason") or "")
    if held is False:
        return ("killed", None) if events else ("not begun", None)
    return "running", None


def _under_way(events: list[Event]) -> list[CurrentRun]:
    begun: dict[str, Event] = {}
    for event in events:
        if event.event in ("campaign-started", "resumed"):
            begun.clear()
        elif event.event == "run-started":
            begun[str(event.get("run"))] = event
        elif event.event in ("run-finished", "run-voided"):
            begun.pop(str(event.get("run")), None)
    return [
        CurrentRun(run=run, arm=str(event.get("arm")), test=str(event.get("test")), seconds=_since(event))
        for run, event in begun.items()
    ]


def _since(event: Event) -> float | None:
    """Seconds since an event: by the clock since boot where it is the same boot, else by the wall clock."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        if event.boot and event.boot == boot:
            return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - event.monotonic_s)
        seconds = (datetime.now(UTC) - datetime.fromisoformat(event.at)).total_seconds()
    except (OSError, ValueError, TypeError):
        return None
    return seconds if seconds >= 0 else None


def _seconds_to_come(archive: Archive, runs: int, under_way: list[CurrentRun]) -> float:
    """By the mean of the runs so far, or what the plan adds up to; less what those under way have had."""
    plan = archive.plan
    known = [e.get("seconds") for e in archive.events if e.event in ("run-finished", "run-voided")]
    seconds = [float(value) for value in known if isinstance(value, int | float) and not isinstance(value, bool)]
    each = sum(seconds) / len(seconds) + plan.design.gap_s if seconds else run_seconds(plan)
    at_once = guests_at_once(plan) if plan.guest is not None else 1
    spent = min((min(each, run.seconds) for run in under_way if run.seconds is not None), default=0.0)
    return max(0.0, math.ceil(runs / at_once) * each - spent)


def _faults(runs: list[RunFile]) -> list[FaultSeen]:
    found: dict[str, FaultSeen] = {}
    for run in runs:
        for fault in run.faults:
            known = found.setdefault(
                fault.key, FaultSeen(key=fault.key, title=fault.title, severity=fault.severity, count=0, runs=0)
            )
            known.count += fault.count
        for key in {fault.key for fault in run.faults}:
            found[key].runs += 1
    return sorted(found.values(), key=lambda fault: -fault.count)
