"""A campaign as the command line handles it: a plan and its archive, begun or taken up again."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from txop.archive.journal import JournalWriter, read_journal
from txop.archive.layout import ArchiveError, ArchiveLock, Layout
from txop.archive.plan_record import plan_record
from txop.archive.reader import Archive, read_archive
from txop.campaign.command_log import CommandLog
from txop.campaign.ending import Outcome
from txop.campaign.engine import Campaign
from txop.campaign.reporter import Reporter
from txop.campaign.testbed import Looks, Testbed
from txop.core.errors import UserError
from txop.core.origin import Origin
from txop.core.whole_file import whole_file
from txop.plan.access import changes
from txop.plan.load import LoadedPlan, parse_plan
from txop.plan.model import Plan
from txop.plan.old_links import with_current_links
from txop.plan.overrides import Overrides
from txop.plan.problem import PlanError
from txop.plan_check.check import ensure
from txop.targets.contract import Listener

if TYPE_CHECKING:
    from txop.guest.cluster import GuestCluster
    from txop.guest.run_store import RunStore


@dataclass(frozen=True)
class Session:
    """A plan that has an archive."""

    layout: Layout
    plan: Plan
    folder: Path
    """File names in the plan are relative to it."""

    async def carry_out(
        self,
        reporter: Reporter,
        jobs: int | None = None,
        store: RunStore | None = None,
        looks: Looks | None = None,
        cluster: str | None = None,
    ) -> Outcome:
        """Run what is left of it; see :meth:`txop.campaign.engine.Campaign.go`. ``jobs``: guests at once; ``store``:
        exact runs that were done before, which are not done again; ``looks``: may end it before all blocks are done;
        ``cluster``: address of the scheduler of machines that run the guests."""
        workers = None if cluster is None else _workers(cluster, self.plan)
        log = CommandLog(self.layout.commands)
        try:
            testbed = make_testbed(self.plan, self.folder, self.layout, log, reporter, jobs, store, workers)
            return await Campaign(self.layout, self.plan, testbed, reporter, looks).go()
        finally:
            log.close()
            if workers is not None:
                workers.close()


def _workers(address: str, plan: Plan) -> GuestCluster:
    if plan.origin is not Origin.GUEST_EXACT:
        raise UserError("--cluster runs exact guests, and this plan has none", what_to_do="leave it out")
    from txop.guest.cluster import GuestCluster

    return GuestCluster(address)


def begin(loaded: LoadedPlan, output: Path | None, overrides: Overrides) -> Session:
    """Make the archive of a plan that was checked. Raises :class:`ArchiveError` when its folder is not empty."""
    plan = overrides.apply(loaded.plan)
    name = f"{loaded.path.stem}{'-aa' if overrides.aa else ''}-{time.strftime('%Y%m%d-%H%M%S')}"
    layout = Layout(output or Path(name))
    layout.create(loaded.text, loaded.folder, overrides.model_dump(exclude_defaults=True))
    return Session(layout, plan, loaded.folder)


def reopen(root: Path, plan: LoadedPlan | None = None) -> Session:
    """An archive with a campaign to continue. Raises :class:`ArchiveError`, also when its plan can no longer be carried
    out: a file that it names is gone.

    ``plan``: takes the place of the archive's, when nothing but the way to its machines differs
    (:mod:`txop.plan.access`); it was checked.
    """
    archive = read_archive(root)
    if plan is not None and _take(archive, plan):
        archive = read_archive(root)
    folder = archive.layout.facts().get("plan_folder")
    if not isinstance(folder, str):
        raise ArchiveError("its archive.json does not name the place of its plan", where=root)
    if not archive.finished:
        try:
            loaded = parse_plan(archive.layout.plan.read_bytes(), archive.layout.plan)
            ensure(replace(loaded, plan=with_current_links(loaded.plan), path=Path(folder) / archive.layout.plan.name))
        except PlanError as error:
            raise ArchiveError(
                f"its plan cannot be carried out: {error.problems[0].text(archive.layout.plan.name)}",
                where=root,
                what_to_do=f"its files are looked for in {folder}",
            ) from None
    return Session(archive.layout, archive.plan, Path(folder))


def _take(archive: Archive, loaded: LoadedPlan) -> bool:
    """Put a plan in the place of the archive's, which is kept beside it. Whether there is a difference."""
    layout = archive.layout
    if archive.finished:
        raise ArchiveError("its campaign is finished: no plan can change it", where=layout.root)
    try:
        old = parse_plan(layout.plan.read_bytes(), layout.plan)
    except PlanError as error:
        raise ArchiveError(error.problems[0].text(layout.plan.name), where=layout.plan) from None
    found = changes(old.plan, loaded.plan)
    if found.refused:
        raise ArchiveError(
            f"{loaded.path} measures something else than this campaign: {', '.join(found.refused[:8])} may not change",
            where=layout.root,
            what_to_do="only the way to the machines may (addresses, keys, hooks); for another plan begin another "
            "archive with txop run",
        )
    facts = layout.facts()
    if not found.allowed and facts.get("plan_folder") == str(loaded.folder):
        return False
    with ArchiveLock(layout), JournalWriter(layout.journal) as journal:
        record = plan_record(layout)
        aside = next(path for n in range(1, 10_000) if not (path := layout.root / f"plan-{n}.toml").exists())
        with whole_file(aside) as out:
            out.write(old.text)
        with whole_file(layout.plan) as out:
            out.write(loaded.text)
        layout.identify(loaded.folder, facts.get("overrides"))
        now = {"plan_before": record, "plan": plan_record(layout)}
        journal.write("plan-changed", keys=list(found.allowed), before=aside.name, **now)
    return True


def _begun(layout: Layout) -> str | None:
    """Where the runs of guests begin that an archive has; ``None``: it has none."""
    start, found = None, None
    with suppress(OSError):
        for event in read_journal(layout.journal).events:
            if event.event == "connected" and event.get("target") == "dut":
                facts = event.get("provenance")
                start = facts.get("start") if isinstance(facts, dict) else None
            elif event.event in ("run-finished", "run-voided") and found is None and isinstance(start, str):
                found = start
    return found


def make_testbed(
    plan: Plan,
    folder: Path,
    layout: Layout,
    listener: Listener,
    reporter: Reporter,
    jobs: int | None = None,
    store: RunStore | None = None,
    workers: GuestCluster | None = None,
) -> Testbed:
    """The testbed that a plan's targets call for. ``jobs``: guests at once; only guests can be several. ``store`` and
    ``workers``: see :class:`~txop.campaign.guests.GuestTestbed`."""
    if any(target.kind == "emulated" for target in plan.target.values()):
        from txop.campaign.emulated import EmulatedTestbed

        return EmulatedTestbed(plan, folder, listener)
    if any(target.kind == "guest" for target in plan.target.values()):
        from txop.campaign.guests import GuestTestbed

        return GuestTestbed(plan, folder, reporter, jobs, store, workers, _begun(layout))
    from txop.campaign.machines import FOUND, MachineTestbed
    from txop.campaign.state import left_in_place
    from txop.plan_check.files import with_absolute_files

    found = left = None
    with suppress(OSError):
        events = read_journal(layout.journal).events
        left = left_in_place(events)
        for event in events:
            if event.event == "connected" and event.get("target") == "dut" and found is None:
                facts = event.get("provenance")
                modules = facts.get(FOUND) if isinstance(facts, dict) else None
                found = [name for name in modules if isinstance(name, str)] if isinstance(modules, list) else None
    return MachineTestbed(with_absolute_files(plan, folder), folder, layout, listener, reporter, found, left)
