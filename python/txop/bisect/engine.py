"""A bisection carried out: candidates built, guests booted, everything written to the journal first.

The journal decides what comes next (:mod:`txop.bisect.search`). A run is one of a campaign's, with the seed of its
block, so the runs of a block are pairs whatever the order in which they were done.
"""

from __future__ import annotations

import asyncio
import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.archive.journal import JournalWriter, read_journal
from txop.archive.layout import ArchiveLock, Layout, sync_folder
from txop.arms.module_code import code_digest
from txop.arms.repository import GitError, Repository
from txop.bisect.journal import BUILT, NOT_BUILT, RAN, VOIDED, Account, account_of
from txop.bisect.judge import judge_of
from txop.bisect.request import Place, Request
from txop.bisect.search import Found, Limits, NotDetermined, Search, Work
from txop.campaign.active_run import RunLabel
from txop.campaign.guests import GuestTestbed
from txop.campaign.reporter import Reporter
from txop.campaign.run import carry_out
from txop.compare.select import metric_of
from txop.core.metrics import Metric
from txop.guest.cluster import GuestCluster
from txop.guest.driver import DriverBuildError, build_driver
from txop.guest.driver_history import source_of
from txop.guest.run_store import RunStore
from txop.plan.arm import Arm, Patch
from txop.plan.guest import GuestVariant
from txop.plan.guest_time import expected, side_by_side
from txop.plan.model import Plan
from txop.plan_check.exact_guest import exact_guest
from txop.plan_check.guest_builds import driver_of, lock_of
from txop.targets.contract import TargetError

BUILD_S = 40.0
"""A first guess of what a build takes, until one was made."""


@dataclass(frozen=True)
class Bisection:
    """A bisection with its folder."""

    place: Place
    request: Request
    plan: Plan

    @property
    def metric(self) -> Metric:
        """The figure that judges."""
        test, _, key = self.request.figure.rpartition(".")
        return metric_of(self.plan, self.plan.find_test(test), key)

    @property
    def search(self) -> Search:
        """Its rules."""
        judge = judge_of(self.metric, self.plan.design.confidence, self.request.looking_for)
        return Search(Limits(self.request.least, self.request.most), judge)

    def account(self) -> Account:
        """What is known so far. Raises :class:`OSError`."""
        last = len(self.request.candidates) - 1
        if not self.place.journal.exists():
            return account_of((), last)
        reading = read_journal(self.place.journal)
        account = account_of(reading.events, last)
        account.damage += reading.damage
        return account

    def answer(self, account: Account) -> Found | NotDetermined | None:
        """The outcome; ``None``: it is not finished."""
        step = self.search.next(account.known)
        return step if isinstance(step, (Found, NotDetermined)) else None


class Engine:
    """Carries a bisection out."""

    def __init__(
        self,
        bisection: Bisection,
        reporter: Reporter,
        jobs: int | None = None,
        store: RunStore | None = None,
        workers: GuestCluster | None = None,
    ) -> None:
        """``jobs``: guests at once; default: one for each processor that there is memory for. ``store``: exact runs
        that were done before, which are not done again. ``workers``: what runs the guests; ``None``: this machine."""
        self._bisection = bisection
        self._reporter = reporter
        self._store = store
        self._workers = workers
        threads = None if workers is None else workers.threads
        self._at_once = side_by_side(exact_guest(bisection.plan), jobs if jobs is not None else threads)
        self._plans: dict[int, Plan] = {}
        self._testbeds: dict[int, GuestTestbed] = {}
        self._preparing: dict[int, asyncio.Lock] = {}
        self._build_s = BUILD_S

    async def go(self) -> Found | NotDetermined:
        """Do what is left. Cancelling it stops cleanly: what was under way is done again later.

        Raises:
            ArchiveError: Another process works on it.
            UserError: What every candidate needs is missing.
            OSError: The folder cannot be written to.
        """
        bisection, place = self._bisection, self._bisection.place
        with ArchiveLock(Layout(place.root)), JournalWriter(place.journal) as journal:
            account = bisection.account()
            self._set_aside(account)
            journal.write("resumed" if account.known.modules else "bisection-started")
            shown = False
            while True:
                account = bisection.account()
                step = bisection.search.next(account.known, self._at_once)
                if isinstance(step, (Found, NotDetermined)):
                    journal.write("bisection-finished")
                    return step
                if not shown:
                    shown = True
                    runs, seconds = self._to_come(account)
                    self._reporter.campaign(bisection.plan.title, runs, seconds)
                await self._carry_out(journal, step, account)

    async def _carry_out(self, journal: JournalWriter, step: Sequence[Work], account: Account) -> None:
        for work in step:
            if work.at not in account.known.modules:
                await self._build(journal, work.at)
        waiting = [(work.at, block) for work in step for block in work.blocks][::-1]
        runs, seconds = self._to_come(account)

        async def work_on() -> None:
            nonlocal runs
            while waiting:
                at, block = waiting.pop()
                runs = max(len(waiting), runs - 1)
                await self._run(journal, at, block, runs, seconds)

        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(self._at_once, len(waiting))):
                    workers.create_task(work_on())
        except BaseExceptionGroup as errors:
            raise _first(errors) from None

    async def _build(self, journal: JournalWriter, at: int) -> None:
        candidate = self._bisection.request.candidates[at]
        self._reporter.notice(f"building {candidate.name}: {candidate.title}")
        begun = time.monotonic()
        try:
            built = await self._built(at)
        except (DriverBuildError, GitError) as error:
            cause, log = (error.cause, error.log) if isinstance(error, DriverBuildError) else (error.what, None)
            kept = None if log is None else self._keep_log(at, log)
            journal.write(NOT_BUILT, at_candidate=at, name=candidate.name, cause=cause, log=kept)
            self._reporter.notice(f"{candidate.name} does not build, so it is skipped: {cause}")
            return
        self._build_s = time.monotonic() - begun
        digest = code_digest(built.read_bytes())
        journal.write(BUILT, at_candidate=at, name=candidate.name, module=digest, seconds=round(self._build_s, 3))

    async def _built(self, at: int) -> Path:
        plan = self._plan(at)
        arm = plan.arm[0]
        spec, folder = exact_guest(plan).varied(arm.guest), Path(self._bisection.request.plan_folder)
        what = driver_of(arm, spec, folder)
        return (await build_driver(what, lock_of(spec, folder), progress=self._reporter.notice)).module

    def _plan(self, at: int) -> Plan:
        if at not in self._plans:
            self._plans[at] = plan_of(self._bisection, at)
        return self._plans[at]

    def _keep_log(self, at: int, log: Path) -> str | None:
        place = self._bisection.place
        target = place.logs / f"{at:04d}-{arm_name(at)}.log"
        try:
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(log, target)
        except OSError:
            return None
        return str(target.relative_to(place.root))

    async def _testbed(self, at: int) -> GuestTestbed | str:
        """Where a candidate runs; or why it cannot."""
        async with self._preparing.setdefault(at, asyncio.Lock()):
            if at not in self._testbeds:
                plan = self._plan(at)
                folder = Path(self._bisection.request.plan_folder)
                testbed = GuestTestbed(plan, folder, self._reporter, 1, self._store, self._workers)
                try:
                    await testbed.open()
                except TargetError as error:
                    return error.what
                self._testbeds[at] = testbed
            return self._testbeds[at]

    async def _run(self, journal: JournalWriter, at: int, block: int, left: int, seconds: float) -> None:
        bisection = self._bisection
        candidate = bisection.request.candidates[at]
        testbed = await self._testbed(at)
        fields = {"at_candidate": at, "name": candidate.name, "block": block}
        if isinstance(testbed, str):
            journal.write(VOIDED, **fields, cause=testbed)
            return
        plan = self._plan(at)
        test, _, key = bisection.request.figure.rpartition(".")
        label = RunLabel(Layout.run_name(block, arm_name(at), test), block, 1, arm_name(at), test)
        self._reporter.run_started(label.run, candidate.name, test, left, seconds)
        journal.write("run-started", **fields, run=label.run)
        begun = time.monotonic()
        folder = bisection.place.runs / label.run
        async with testbed.group(plan.arm[0], 1) as in_group:
            outcome = await carry_out(testbed, in_group, plan, label, folder, self._reporter)
        sync_folder(bisection.place.runs)
        sync_folder(folder)
        file, took = outcome.file, round(time.monotonic() - begun, 3)
        value = file.metrics.get(key)
        bound = value is not None and value.bound is not None
        known = value is not None and value.value is not None and math.isfinite(value.value) and not bound
        if file.state == "valid" and value is not None and known:
            reused = file.reused is not None
            journal.write(RAN, **fields, run=label.run, value=value.value, seconds=took, reused=reused)
        elif file.state == "valid":
            why = value.reason if value is not None and value.reason else "it has no such figure"
            why = "the capture gives a bound of it" if bound else why
            journal.write(VOIDED, **fields, run=label.run, cause=f"{key} is not available: {why}", seconds=took)
        else:
            cause = file.void[0].cause if file.void else "no cause given"
            journal.write(VOIDED, **fields, run=label.run, cause=cause, seconds=took)
        self._reporter.run_ended(file.model_copy(update={"arm": candidate.name}), left, seconds)

    def _set_aside(self, account: Account) -> None:
        """Folders of runs that did not come to their ends."""
        done = {
            Layout.run_name(block, arm_name(at), self._bisection.request.figure.rpartition(".")[0])
            for at in account.known.modules
            for block in account.known.runs(at).tried
        }
        for folder in self._bisection.place.runs.iterdir():
            if folder.is_dir() and folder.name not in done and ".interrupted-" not in folder.name:
                aside = next(
                    each for n in range(1, 10_000)
                    if not (each := folder.with_name(f"{folder.name}.interrupted-{n}")).exists()
                )  # fmt: skip
                folder.rename(aside)

    def _to_come(self, account: Account) -> tuple[int, float]:
        """Runs still to come as a rule, and the seconds that they take."""
        request, plan = self._bisection.request, self._bisection.plan
        halvings = max(0, math.ceil(math.log2(max(1, len(request.candidates) - 1))))
        left = max(0, (2 + halvings) * request.least - account.runs)
        test = plan.find_test(request.figure.rpartition(".")[0])
        builds = max(0, 2 + halvings - len(account.known.modules))
        return left, left * expected(plan, test)[1] / self._at_once + builds * self._build_s


def plan_of(bisection: Bisection, at: int) -> Plan:
    """The plan with one candidate as its only arm, and one test."""
    request, plan = bisection.request, bisection.plan
    candidate = request.candidates[at]
    arm = plan.find_arm(request.arm)
    given = {key: getattr(arm.guest, key) for key in arm.guest.model_fields_set} if arm.guest is not None else {}
    if candidate.commit is not None and request.repository is not None:
        source = source_of(Repository.at(Path(request.repository)), candidate.commit, tuple(request.folders))
        given["source"] = str(source)
    patches = [*arm.patches, *(Patch(file=file) for file in candidate.patches)]
    variant = Arm(
        name=arm_name(at),
        title=f"{candidate.name}: {candidate.title}"[:500],
        patches=patches,
        guest=GuestVariant(**given),
    )
    test = plan.find_test(request.figure.rpartition(".")[0])
    guest = exact_guest(plan)
    if at != 0 and guest.check_exact == "first":  # one candidate is enough to see that guests are exact here
        guest = guest.model_copy(update={"check_exact": "none"})
    design = plan.design.model_copy(update={"baseline": None, "primary": [], "margins": {}, "blocks": 1000})
    return plan.model_copy(update={"arm": [variant], "test": [test], "guest": guest, "design": design})


def arm_name(at: int) -> str:
    """Name of a candidate in names of runs."""
    return f"c{at}"


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = errors
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
