"""Endurance: a driver, or the dongle under it, taken away under traffic again and again, and what that leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from txop.guest.chips import Chip
from txop.guest.growth import Growth, read_growth
from txop.guest.kernel_lines import CRASHES, HANGS, WARNS, read_kernel_lines
from txop.guest.results import Event
from txop.guest.running import FILES
from txop.guest.survey import DEVICE
from txop.guest.trial import Place, Trial, run_trial, trial_overlay
from txop.klog import name_faults, read_log
from txop.klog.report import LogReport


class Way(StrEnum):
    """What is taken away."""

    RELOAD = "reload"
    """The driver: unloaded and loaded again, which removes and probes the device."""
    REPLUG = "replug"
    """The dongle: pulled out and plugged in again."""


@dataclass(frozen=True)
class Endured:
    """What came of it."""

    driver: str
    way: Way
    asked: int
    """Cycles."""
    trial: Trial
    with_traffic: int
    """Cycles in which packets went in the half second before."""
    log: LogReport
    growth: Growth
    leaked_objects: int | None
    """Reports of kmemleak; ``None``: this kernel has none."""

    @property
    def done(self) -> int:
        """Cycles that came to their end: associated again."""
        return len(self.trial.seen.facts.all("cycle"))

    @property
    def problems(self) -> list[str]:
        """What went wrong; empty: nothing."""
        facts = self.trial.seen.facts
        found = [self.trial.seen.failure] if self.trial.seen.failure else []
        found += [f"cycle {stuck.words}" for stuck in facts.all("stuck-at")]
        found += [f"does not end: {stuck.words}" for stuck in facts.all("stuck")]
        silent = len(facts.all("cycle-silent"))
        found += [f"no answer over the air at the begin of {silent} cycles"] if silent else []
        if facts.find("done") is not None and facts.find("ends-well") is None:
            found.append("no answer over the air after the last cycle")
        if self.done < self.asked and not found:
            found.append(f"only {self.done} of {self.asked} cycles came to their end")
        idle = self.done - self.with_traffic
        found += [f"no traffic just before {idle} of {self.done} cycles"] if idle > 0 else []
        for fault in self.log.faults:
            if fault.key in CRASHES | HANGS | WARNS:
                found.append(
                    f"{fault.title}, {fault.count} times: {fault.examples[0].strip() if fault.examples else ''}"
                )
        found += [f"memory grows with every cycle: {name}" for name in self.growth.leaks]
        if self.leaked_objects:
            found.append(f"kmemleak reports {self.leaked_objects} objects")
        return found


class _Told:
    """Passes the stages of a guest on."""

    def __init__(self, head: str, progress: Callable[[str], None]) -> None:
        self._head = head
        self._progress = progress

    def event(self, event: Event) -> None:
        if event.kind == "stage" and event.words.startswith("cycle "):
            self._progress(f"{self._head}: {event.words}")

    def output(self, stream: str, data: bytes) -> None:
        del stream, data


@dataclass(frozen=True)
class Endurance:
    """What is to be done."""

    drivers: tuple[str, ...]
    ways: tuple[Way, ...] = tuple(Way)
    cycles: int = 200
    security: str = "wpa2"


async def run_endurance(
    what: Endurance, place: Place, folder: Path, *, jobs: int = 1, progress: Callable[[str], None] = lambda _: None
) -> list[Endured]:
    """Do it, so many guests at a time. ``folder``: for what the guests hand out. Raises :class:`GuestError`."""
    slots = asyncio.Semaphore(jobs)

    async def one(driver: str, way: Way) -> Endured:
        async with slots:
            results = folder / driver / way.value
            chip = Chip(DEVICE, driver, security=what.security)
            settings = {"CYCLE": way.value, "CYCLES": str(what.cycles)}
            overlay = trial_overlay("cycle.sh", chip, settings, place)
            told = _Told(f"{driver}, {way.value}", progress)
            trial = await run_trial(overlay, place, results, told)
            return await asyncio.to_thread(read_endured, driver, way, what.cycles, trial, results)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(driver, way)) for driver in what.drivers for way in what.ways]
    except ExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]


def read_endured(driver: str, way: Way, asked: int, trial: Trial, results: Path) -> Endured:
    """What a guest's files say."""
    files = results / FILES
    kmsg = files / "kmsg"
    report = (
        read_log(kmsg)
        if kmsg.is_file()
        else name_faults(f"[{row.time_s:12.6f}] {row.text}" for row in read_kernel_lines(_bytes(results / "console")))
    )
    kmemleak = files / "kmemleak"
    leaked = kmemleak.read_bytes().count(b"unreferenced object") if kmemleak.is_file() else None
    carried = [fact.words.split() for fact in trial.seen.facts.all("cycle")]
    with_traffic = sum(len(words) == 2 and words[1].isdecimal() and int(words[1]) > 0 for words in carried)
    growth = read_growth(_bytes(files / "slab"), _bytes(files / "memory"))
    return Endured(driver, way, asked, trial, with_traffic, report, growth, leaked)


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
