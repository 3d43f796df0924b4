"""Endurance: a driver, or the dongle under it, removed under traffic again and again, and what that leaves."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import NamedTuple

from txop.guest.chips import Chip
from txop.guest.results import MAX_EVENTS_BYTES, Event, read_events
from txop.guest.running import FILES
from txop.guest_trials.facts import Facts
from txop.guest_trials.growth import Growth, read_growth
from txop.guest_trials.kernel_lines import CRASHES, HANGS, WARNS, deadlocks, named, read_kernel_lines
from txop.guest_trials.trial import Place, Trial, run_trial, trial_overlay
from txop.log.boots import SEQUENCE_GAP
from txop.log.naming import read_log
from txop.log.report import LogReport
from txop.present.format import plural

MAX_NAMED = 4
"""Crashes, hangs and warnings of the kernel log that are listed."""
SCRIPT = "cycle.sh"
"""A script of ``trials``."""
_CYCLE_LIMIT_S = 400
_CYCLE = re.compile(r"cycle (\d{1,9}) of (\d{1,9})")


def cycles_limit_s(cycles: int) -> int:
    """What this number of cycles may take at most, by the guest's clock."""
    return min(_CYCLE_LIMIT_S * cycles + 300, 10_000_000)


class Removal(StrEnum):
    """What is removed."""

    RELOAD = "reload"
    """The driver: unloaded and loaded again, which removes and probes the device."""
    REPLUG = "replug"
    """The dongle: pulled out and plugged in again."""


class Spread(NamedTuple):
    """How some values are spread."""

    n: int
    least: float
    median: float
    most: float


@dataclass(frozen=True)
class EnduranceResult:
    """The outcome."""

    driver: str
    way: Removal
    asked: int
    """Cycles."""
    trial: Trial
    done: int
    """Cycles that were completed: associated again. Of a guest that went down: those that it had reported."""
    with_traffic: int | None
    """Cycles in which packets went in the half second before; ``None``: the guest went down and left no facts."""
    recoveries_s: dict[int, float]
    """By cycle: from giving back until the access point's host answered. The driver is given back when its loading
    begins, the dongle as soon as it is gone: it is plugged in a second later."""
    log: LogReport
    growth: Growth
    leaked_objects: int | None
    """Reports of kmemleak; ``None``: this kernel has none."""

    @property
    def recovery_s(self) -> Spread | None:
        """How long its recoveries took; ``None``: it never recovered, or left no facts."""
        times = list(self.recoveries_s.values())
        return Spread(len(times), min(times), median(times), max(times)) if times else None

    @property
    def failed(self) -> int:
        """Cycles that went wrong: no way to the access point's host afterwards, or no end."""
        facts = self.trial.seen.facts
        silent = {fact.words for fact in facts.all("cycle-silent")}
        # the silence at the begin of a cycle is what the one before has left
        last = facts.find("done") is not None and facts.find("ends-well") is None and not facts.all("stuck-at")
        return len(silent) + last + (self.begun - self.done)

    @property
    def begun(self) -> int:
        """Cycles that were begun: those done, and the one that came to no end."""
        return min(self.asked, self.done + (self.done < self.asked and self._broken))

    @property
    def lost_messages(self) -> int:
        """Messages of the kernel that came faster than they were read, by their numbers."""
        return sum(gap.lost or 1 for gap in self.log.gaps if gap.kind == SEQUENCE_GAP)

    @property
    def _broken(self) -> bool:
        return bool(self.trial.seen.facts.all("stuck-at")) or self.trial.seen.failure is not None

    @property
    def problems(self) -> list[str]:
        """What went wrong; empty: nothing."""
        facts = self.trial.seen.facts
        found = [self.trial.seen.failure] if self.trial.seen.failure else []
        found += [f"the virtual chip has ended: {gone.words}" for gone in facts.all("no-chip")]
        found += [f"cycle {stuck.words}" for stuck in facts.all("stuck-at")]
        found += [f"does not end: {stuck.words}" for stuck in facts.all("stuck")]
        silent = len(facts.all("cycle-silent"))
        found += [f"no answer over the air at the begin of {silent} cycles"] if silent else []
        if facts.find("done") is not None and facts.find("ends-well") is None:
            found.append("no answer over the air after the last cycle")
        if self.done < self.asked and not found:
            found.append(f"only {self.done} of {self.asked} cycles were completed")
        idle = 0 if self.with_traffic is None else self.done - self.with_traffic
        found += [f"no traffic just before {idle} of {self.done} cycles"] if idle > 0 else []
        kernel = [fault for fault in self.log.faults if fault.key in CRASHES | HANGS | WARNS]
        # tasks that hang may be many, and must not push out what follows
        kernel.sort(key=lambda fault: fault.key in HANGS)
        for fault in [*deadlocks(self.log), *kernel[:MAX_NAMED]]:
            shown = fault.examples[0].strip() if fault.examples else ""
            found.append(f"{fault.title}, reported {plural(fault.count, 'time')}: {shown}")
        if len(kernel) > MAX_NAMED:
            found.append(f"{len(kernel) - MAX_NAMED} more faults in the kernel log")
        if self.lost_messages:
            found.append(f"{self.lost_messages} messages are missing in the kernel log")
        found += [f"memory grows with every cycle: {name}" for name in self.growth.leaks]
        if self.leaked_objects:
            found.append(f"kmemleak reports {self.leaked_objects} objects")
        return found


class _ShownProgress:
    """Passes the stages of a guest on."""

    def __init__(self, head: str, progress: Callable[[str], None]) -> None:
        self._head = head
        self._progress = progress

    def event(self, event: Event) -> None:
        cycle = reported_cycle(event)
        if cycle is not None and (cycle[0] % 10 == 0 or cycle[0] == cycle[1]):
            self._progress(f"{self._head}: {event.words}")

    def output(self, stream: str, data: bytes) -> None:
        del stream, data


def reported_cycle(event: Event) -> tuple[int, int] | None:
    """Which cycle was completed, and of how many; ``None`` unless the event is a stage that says so."""
    match = _CYCLE.fullmatch(event.words) if event.kind == "stage" else None
    return None if match is None else (int(match[1]), int(match[2]))


@dataclass(frozen=True)
class Endurance:
    """What is to be done."""

    drivers: tuple[str, ...]
    ways: tuple[Removal, ...] = tuple(Removal)
    cycles: int = 200
    security: str = "wpa2"


def cycle_settings(way: Removal, cycles: int, pause_s: float = 0.0, recover_s: float = 120.0) -> dict[str, str]:
    """What :data:`SCRIPT` reads. ``pause_s``: without the driver; ``recover_s``: what joining the network may take."""
    return {
        "CYCLE": way.value,
        "CYCLES": str(cycles),
        "PAUSE_S": f"{pause_s:g}",
        "RECOVER_S": str(max(1, math.ceil(recover_s))),
    }


async def run_endurance(
    what: Endurance, place: Place, folder: Path, *, jobs: int = 1, progress: Callable[[str], None] = lambda _: None
) -> list[EnduranceResult]:
    """Run it, with this many guests at a time. ``folder``: for what the guests output. Raises :class:`GuestError`."""
    slots = asyncio.Semaphore(jobs)

    async def one(driver: str, way: Removal) -> EnduranceResult:
        async with slots:
            results = folder / driver / way.value
            chip = Chip(place.device, driver, security=what.security)
            overlay = trial_overlay(SCRIPT, chip, cycle_settings(way, what.cycles), place)
            shown = _ShownProgress(f"{driver}, {way.value}", progress)
            trial = await run_trial(overlay, place, results, shown)
            return await asyncio.to_thread(read_endured, driver, way, what.cycles, trial, results)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(driver, way)) for driver in what.drivers for way in what.ways]
    except ExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]


def read_endured(driver: str, way: Removal, asked: int, trial: Trial, results: Path) -> EnduranceResult:
    """What a guest's files say."""
    files = results / FILES
    kmsg = files / "kmsg"
    report = read_log(kmsg) if kmsg.is_file() else named(read_kernel_lines(_bytes(results / "console")))
    kmemleak = files / "kmemleak"
    leaked = kmemleak.read_bytes().count(b"unreferenced object") if kmemleak.is_file() else None
    facts = trial.seen.facts
    carried = [fact.words.split() for fact in facts.all("cycle")]
    done = len(carried)
    with_traffic: int | None = sum(len(words) == 2 and words[1].isdecimal() and int(words[1]) > 0 for words in carried)
    if trial.seen.failure is not None and not list(facts):
        cycles = [reported_cycle(event) for event in read_events(_bytes(results / "events", MAX_EVENTS_BYTES))]
        done, with_traffic = max((cycle[0] for cycle in cycles if cycle is not None), default=0), None
    growth = read_growth(_bytes(files / "slab"), _bytes(files / "memory"))
    return EnduranceResult(
        driver, way, asked, trial, min(done, asked), with_traffic, _recoveries_s(facts), report, growth, leaked
    )


def _recoveries_s(facts: Facts) -> dict[int, float]:
    given = {fact.words: fact.uptime_s for fact in facts.all("given")}
    return {
        int(fact.words): round(fact.uptime_s - given[fact.words], 3)
        for fact in facts.all("back")
        if fact.words in given and fact.words.isdecimal() and fact.uptime_s >= given[fact.words]
    }


def _bytes(path: Path, limit: int = -1) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as source:
        return source.read(limit)
