"""A campaign from its first block to its last, or from wherever an earlier process left it.

The journal decides what comes next (:mod:`txop.campaign.state`); this module does it and writes down what happened.
"""

from __future__ import annotations

import asyncio
import errno
import math
import os
import shutil
import time
from collections.abc import Sequence
from itertools import groupby

from txop.archive.damage_words import sentence
from txop.archive.journal import Event, JournalWriter, read_journal
from txop.archive.layout import ArchiveLock, Layout, sync_folder
from txop.archive.looks import EVENT as LOOK
from txop.archive.plan_record import plan_record
from txop.archive.reader import read_runs
from txop.campaign.active_run import RunLabel
from txop.campaign.ending import Cause, End, Outcome, finished, stopped
from txop.campaign.reporter import Reporter
from txop.campaign.run import RunOutcome, carry_out
from txop.campaign.schedule import Block
from txop.campaign.state import KeptRun, State, gap_s
from txop.campaign.testbed import CarryOut, Looks, Prepared, Testbed
from txop.core.origin import Origin
from txop.plan.model import Plan
from txop.plan_check.count import run_seconds
from txop.targets.contract import TargetError

MAX_VOID_IN_A_ROW = 6
"""This many void runs in a row stop the campaign: going on would only fill the archive with the same cause."""

SPARE_BYTES = 64 * 1024 * 1024
"""Free space below which no run is begun, beside what its captures may take."""

_REPAIR_NOTICES = {
    "run-finished": "the journal lacked the end of these runs; their files are whole, so they are kept",
    "run-voided": "the journal lacked the end of these runs, which are void",
    "run-lost": "these runs had come to their ends, and their files are gone or damaged: lost, to be repeated",
    "block-abandoned": "not continued, as the journal lacks their ends and later blocks were run",
}
"""The words for events that the journal lacked (:meth:`txop.campaign.state.State.repairs`)."""


class Campaign:
    """Carries out a plan in an archive."""

    def __init__(
        self, layout: Layout, plan: Plan, testbed: Testbed, reporter: Reporter, looks: Looks | None = None
    ) -> None:
        """``looks``: may end it before all blocks are done."""
        self._looks = looks
        self._layout = layout
        self._plan = plan
        self._testbed = testbed
        self._reporter = reporter
        self._state = State(plan)
        self._durations: list[float] = []
        self._void_in_a_row = 0
        self._arm_failures = 0

    async def go(self) -> Outcome:
        """Run what is left. Cancelling it stops cleanly: the run in progress is not counted, all else is kept.

        Raises:
            ArchiveError: another process writes to the archive.
            TargetError: a target cannot be reached to begin with.
            OSError: the archive cannot be written to (the journal says so if it still can).
        """
        with ArchiveLock(self._layout), JournalWriter(self._layout.journal) as journal:
            events = read_journal(self._layout.journal).events
            self._state = State.of(self._plan, events)
            if self._state.finished:
                return finished(Cause.NOTHING_LEFT)
            self._reconcile(journal, events)
            self._set_aside_interrupted()
            begun = time.monotonic()
            try:
                provenance = await self._testbed.open()
                now = self._note(
                    journal,
                    "resumed" if events else "campaign-started",
                    seed=self._plan.design.seed,
                    plan=plan_record(self._layout),
                )
                for target, facts in provenance.items():
                    self._note(journal, "connected", target=target, provenance=facts)
                if isinstance(self._testbed, Prepared):
                    self._note(journal, "prepared", **{name: round(s, 3) for name, s in self._testbed.spent.items()})
                self._forget_stale_block(journal, now)
                to_come = self._state.runs_to_come()
                self._reporter.campaign(self._plan.title, to_come, self._seconds_to_come(to_come))
                outcome = await self._blocks(journal, begun)
            except asyncio.CancelledError:
                self._try_note(journal, stopped(Cause.INTERRUPTED))
                raise
            except (TargetError, OSError) as error:
                self._try_note(journal, stopped(Cause.FAILED, error=str(error)))
                raise
            except Exception as error:
                self._try_note(journal, stopped(Cause.DEFECT, error=f"{type(error).__name__}: {error}"))
                raise
            finally:
                await self._testbed.close()
            event = "campaign-finished" if outcome.end is End.FINISHED else "campaign-stopped"
            self._note(journal, event, **outcome.fields)
            return outcome

    def _note(self, journal: JournalWriter, event: str, **fields: object) -> Event:
        journal.write(event, **fields)
        noted = Event.model_validate_json(journal.last)
        self._state.apply(noted)
        return noted

    @staticmethod
    def _try_note(journal: JournalWriter, outcome: Outcome) -> None:
        try:
            journal.write("campaign-stopped", **outcome.fields)
        except OSError:
            return  # the disk that is full is the reason

    async def _blocks(self, journal: JournalWriter, begun: float) -> Outcome:
        while True:
            open_block = self._state.open_block
            if open_block is not None:
                block = open_block.block
            else:
                budget_s = self._plan.design.time_budget_s
                if budget_s is not None and time.monotonic() - begun >= budget_s and self._state.blocks:
                    return stopped(Cause.TIME_BUDGET, budget_s=budget_s)
                following = self._state.next_block()
                if following is None:
                    return self._complete()
                block = following
                self._note(
                    journal,
                    "block-started",
                    block=block.number,
                    arms=list(block.arms),
                    tests=list(block.tests),
                    replaces=block.replaces,
                )
            self._reporter.block(block, self._plan.design.blocks)
            stop = await self._block(journal, block)
            if stop is not None:
                return stop
            self._note(journal, "block-finished", block=block.number)
            if block.replaces is None and self._look(journal, block.number):
                return finished(Cause.DECIDED, blocks=block.number)

    def _look(self, journal: JournalWriter, blocks: int) -> bool:
        """Take the look after so many blocks; whether it decides the campaign."""
        if self._looks is None:
            return False
        registered = self._looks.registered(blocks)
        if registered is not None:
            self._note(journal, LOOK, **registered)
        return self._looks.decided(blocks)

    def _complete(self) -> Outcome:
        left = sum(len(tests) for _, tests in self._state.unreplaced())
        if left:
            return finished(Cause.VOID_RUNS_LEFT, blocks=left)
        return finished()

    async def _block(self, journal: JournalWriter, block: Block) -> Outcome | None:
        done = self._state.blocks[block.number].ended
        labels = [
            RunLabel(self._layout.run_name(block.number, arm, test), block.number, position, arm, test, block.replaces)
            for position, arm in enumerate(block.arms, start=1)
            for test in block.tests
            if (arm, test) not in done
        ]
        groups = self._groups(labels)
        if self._testbed.at_once > 1:
            return await self._side_by_side(journal, groups)
        for group in groups:
            stop = await self._group(journal, group)
            if stop is not None:
                return stop
        return None

    def _groups(self, labels: Sequence[RunLabel]) -> list[list[RunLabel]]:
        """Runs for which an arm is put in place once: those of an arm that follow one another, where arms stay."""
        if self._plan.design.reload == "run" or self._testbed.machine_per_run:
            return [[label] for label in labels]
        return [list(group) for _, group in groupby(labels, key=lambda label: label.arm)]

    async def _side_by_side(self, journal: JournalWriter, groups: Sequence[Sequence[RunLabel]]) -> Outcome | None:
        """Runs that do not disturb each other. After one that ends the campaign no other is begun, and those on their
        way come to their ends."""
        waiting = list(reversed(groups))
        stop: Outcome | None = None

        async def work() -> None:
            nonlocal stop
            while waiting and stop is None:
                stop = await self._group(journal, waiting.pop()) or stop

        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(self._testbed.at_once, len(groups))):
                    workers.create_task(work())
        except BaseExceptionGroup as errors:
            raise _first(errors) from None
        return stop

    async def _group(self, journal: JournalWriter, labels: Sequence[RunLabel]) -> Outcome | None:
        """Runs of one arm, one after the other."""
        waiting = list(reversed(labels))
        while waiting:
            arm = self._plan.find_arm(waiting[-1].arm)
            async with self._testbed.group(arm, len(waiting)) as in_group:
                fresh = True
                while waiting:
                    self._check_space()
                    again, stop = await self._reach()
                    if stop is not None:
                        return stop
                    if again and not fresh:
                        break  # the arm that was to stay may have gone with the connection: it is put in place afresh
                    fresh = False
                    stop = await self._after(await self._one(journal, waiting.pop(), in_group))
                    if stop is not None:
                        return stop
        return None

    async def _reach(self) -> tuple[bool, Outcome | None]:
        """Make sure that every target answers, so that no run is spent on finding out. Whether one had to be connected
        again, and why the campaign cannot go on."""
        reached = await self._testbed.reach()
        for target in reached.again:
            self._reporter.notice(f"{target} was lost, and answers again")
        for target in reached.lost:
            stop = await self._find_again(target)
            if stop is not None:
                return True, stop
        return bool(reached.again or reached.lost), None

    async def _find_again(self, target: str) -> Outcome | None:
        self._reporter.notice(f"{target} is lost; trying to reach it again")
        if not await self._testbed.recover(target):
            return stopped(Cause.TARGET_LOST, target=target)
        self._reporter.notice(f"{target} answers again")
        return None

    async def _one(self, journal: JournalWriter, label: RunLabel, in_group: CarryOut) -> RunOutcome:
        fields = {"run": label.run, "block": label.block, "arm": label.arm, "test": label.test}
        to_come = self._state.runs_to_come()
        self._reporter.run_started(label.run, label.arm, label.test, to_come, self._seconds_to_come(to_come))
        self._note(journal, "run-started", **fields)
        begun = time.monotonic()
        folder = self._layout.run(label.run)
        outcome = await carry_out(self._testbed, in_group, self._plan, label, folder, self._reporter)
        sync_folder(self._layout.runs)
        sync_folder(folder)
        file, seconds = outcome.file, round(time.monotonic() - begun, 3)
        if file.state == "valid":
            self._note(journal, "run-finished", **fields, seconds=seconds)
        else:
            causes = [void.model_dump() for void in file.void]
            self._note(journal, "run-voided", **fields, seconds=seconds, causes=causes)
        self._durations.append(seconds)
        to_come = self._state.runs_to_come()
        self._reporter.run_ended(file, to_come, self._seconds_to_come(to_come))
        return outcome

    async def _after(self, outcome: RunOutcome) -> Outcome | None:
        """What a run's end means for the next one."""
        file = outcome.file
        self._void_in_a_row = 0 if file.state == "valid" else self._void_in_a_row + 1
        self._arm_failures = self._arm_failures + 1 if outcome.arm_failed else 0
        if outcome.lost is not None:
            stop = await self._find_again(outcome.lost)
            if stop is not None:
                return stop
        elif self._arm_failures:
            await self._testbed.reset("dut", cold=self._arm_failures > 1)
        if self._void_in_a_row >= MAX_VOID_IN_A_ROW:
            cause = file.void[0].cause if file.void else ""
            return stopped(Cause.VOID_IN_A_ROW, runs=self._void_in_a_row, last=cause)
        if self._plan.design.gap_s > 0 and not self._testbed.machine_per_run:
            self._reporter.phase("pause", self._plan.design.gap_s)
            await asyncio.sleep(self._plan.design.gap_s)
        return None

    def _reconcile(self, journal: JournalWriter, events: Sequence[Event]) -> None:
        """Bring the journal together with the runs that are kept, write down what it lacked, and say it."""
        kept = read_runs(self._layout, self._plan, events)
        runs = [KeptRun(run.block, run.arm, run.test, run.state == "valid", run.replaces) for run in kept.runs]
        repaired: dict[str, list[str]] = {}
        for repair in self._state.repairs(runs):
            fields = dict(repair.fields)
            name = f"block {fields['block']}"
            if "arm" in fields:
                name = self._layout.run_name(int(str(fields["block"])), str(fields["arm"]), str(fields["test"]))
                fields["run"] = name
            self._note(journal, repair.event, **fields, mended=True)
            repaired.setdefault(repair.event, []).append(name)
        for event, names in repaired.items():
            if event in _REPAIR_NOTICES:
                shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
                self._reporter.notice(f"{_REPAIR_NOTICES[event]}: {shown}")
        for finding in [*read_journal(self._layout.journal).findings, *kept.findings] if repaired else []:
            self._reporter.notice(f"damaged: {sentence(finding)}")

    def _set_aside_interrupted(self) -> None:
        """Runs that were begun and never ended: their folders stay, under another name."""
        ended = {
            self._layout.run_name(number, arm, test)
            for number, state in self._state.blocks.items()
            for arm, test in state.ended
        }
        if not self._layout.runs.is_dir():
            return
        for folder in sorted(self._layout.runs.iterdir()):
            if folder.name in ended or ".interrupted-" in folder.name or not folder.is_dir():
                continue
            for n in range(1, 10_000):
                aside = folder.with_name(f"{folder.name}.interrupted-{n}")
                if not aside.exists():
                    folder.rename(aside)
                    break
        sync_folder(self._layout.runs)

    def _forget_stale_block(self, journal: JournalWriter, now: Event) -> None:
        """A block interrupted for long is not one block any more: its arms ran at different times. Guests that
        count time in instructions know no other time."""
        if self._plan.origin is Origin.GUEST_EXACT:
            return
        state = self._state.open_block
        if state is None or not state.ended or len(state.ended) == len(state.block.runs()):
            return
        gap = None if state.last is None else gap_s(state.last, now)
        if gap is not None and gap <= self._plan.design.max_gap_s:
            return
        length = "an unknown time" if gap is None else f"{gap:.0f} s"
        cause = f"interrupted for {length}, more than the {self._plan.design.max_gap_s:.0f} s the plan allows"
        self._reporter.notice(f"block {state.block.number} is given up: {cause}")
        self._note(journal, "block-abandoned", block=state.block.number, cause=cause)

    def _check_space(self) -> None:
        collect = self._plan.collect
        captures = sum((collect.air, collect.usbmon)) * collect.max_capture_mb * 1e6
        free = shutil.disk_usage(self._layout.root).free
        if free < SPARE_BYTES + captures:
            raise OSError(
                errno.ENOSPC,
                f"{os.strerror(errno.ENOSPC)}: {free / 1e6:.1f} MB free, "
                f"{(SPARE_BYTES + captures) / 1e6:.1f} MB needed before a run",
                str(self._layout.root),
            )

    def _seconds_to_come(self, runs: int) -> float:
        return math.ceil(runs / self._testbed.at_once) * self._run_seconds()

    def _run_seconds(self) -> float:
        """Expected length of one run with the pause after it."""
        if self._durations:
            return sum(self._durations) / len(self._durations) + self._plan.design.gap_s
        return run_seconds(self._plan)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first, of errors that came together."""
    found = errors.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found
