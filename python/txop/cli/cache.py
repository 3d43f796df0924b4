"""``txop cache``: exact runs that are kept, and reused where nothing that they are a function of has changed."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import Application, epilog
from txop.cli.run_cache import CacheOption
from txop.cli.shared_options import QuietFlag
from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from txop.guest.run_store import Entry
    from txop.plan.model import Plan

FORMAT, FORMAT_VERSION = "txop-cache", 1
DAY_S = 86_400.0

Unused = Annotated[
    float | None,
    typer.Option("--unused", metavar="DAYS", min=0, help="Remove runs that were not used for so many days."),
]
Keep = Annotated[
    float | None,
    typer.Option("--keep", metavar="GB", min=0, help="Remove the runs not used for longest until so much is left."),
]
Sample = Annotated[int, typer.Option("--sample", "-n", metavar="N", min=1, max=10_000, help="How many are run again.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Draws the sample.")]
What = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan of exact guests, or the archive of a campaign.")]


def register(app: typer.Typer) -> None:
    """Add ``txop cache`` with its commands."""
    group = Application(
        no_args_is_help=True,
        epilog=epilog(
            [
                ("txop cache show", "where it is, how many runs, their size and age"),
                ("txop cache list --json | jq -r '.runs[].key'", "each run"),
                ("txop cache prune --unused 30 --keep 10", "remove what was not used for a month, then all but 10 GB"),
                ("txop cache verify plan.toml --sample 3", "run three of a plan's kept runs again, compare bytes"),
            ],
            [
                "Only exact guests are kept: they are a function of image, kernel, modules, virtual device, QEMU, "
                "script and seed, and the key is the hash of all of these. docs/ci.md explains it."
            ],
        ),
    )
    group.command(name="show", epilog=epilog([("txop cache show", "how much there is")]))(show)
    group.command(name="list", epilog=epilog([("txop cache list", "the runs not used for longest first")]))(list_runs)
    group.command(
        name="prune",
        epilog=epilog(
            [("txop cache prune --unused 30", "what was not used for a month"), ("txop cache prune --keep 0", "all")],
            ["A folder of this machine keeps the last 20 GB by itself; an address keeps everything."],
        ),
    )(prune)
    group.command(
        name="verify",
        epilog=epilog(
            [
                ("txop cache verify plan.toml", "runs of a plan"),
                ("txop cache verify txop-ci/archive", "those of a patch series"),
            ],
            ["Exit codes: 1 when a run differs (it is removed), 5 when none of the plan's runs is kept."],
        ),
    )(verify)
    app.add_typer(group, name="cache", help="Show, remove and verify the exact runs that are kept to be reused.")


def show(cache: CacheOption = None, as_json: JsonFlag = False) -> None:
    """Show where the cache is, how many runs it has, and their size and age."""
    from txop.guest.run_store import RunStore
    from txop.present.format import plural, size_bytes

    store = RunStore.at(cache)
    entries = store.entries()
    ages = _ages(entries)
    size = sum(each.size for each in entries)
    if as_json:
        facts = {"runs": len(entries), "size_bytes": size, "oldest_days": max(ages, default=None)}
        console.write_json({**_document(store.where), **facts, "newest_days": min(ages, default=None)})
        return
    used = f", used {min(ages):.1f} to {max(ages):.1f} days ago" if ages else ""
    line = f"{store.where}: {plural(len(entries), 'run')}, {size_bytes(size)}{used}"
    console.stdout().print(safe_text(line), soft_wrap=True)


def list_runs(cache: CacheOption = None, as_json: JsonFlag = False) -> None:
    """List the runs, those that were not used for longest first."""
    from txop.guest.run_store import RunStore
    from txop.present.format import size_bytes

    store = RunStore.at(cache)
    entries = store.entries()
    if as_json:
        console.write_json({**_document(store.where), "runs": [_as_json(each) for each in entries]})
        return
    out = console.stdout()
    for each in entries:
        age = "unknown age" if each.used is None else f"{(time.time() - each.used) / DAY_S:.1f} days"
        out.print(safe_text(f"{each.key}  {size_bytes(each.size)}  {age}"), soft_wrap=True)


def prune(unused: Unused = None, keep: Keep = None, cache: CacheOption = None, as_json: JsonFlag = False) -> None:
    """Remove runs by age, by size, or both."""
    from txop.guest.run_store import RunStore
    from txop.present.format import plural, size_bytes

    if not all(map(math.isfinite, (unused or 0.0, keep or 0.0))):
        raise UserError("--unused and --keep take finite numbers")
    if unused is None and keep is None:
        raise UserError("nothing says what to remove", what_to_do="give --unused DAYS, --keep GB, or both")
    store = RunStore.at(cache)
    gone = store.prune(
        keep_bytes=None if keep is None else round(keep * 1e9), unused_s=None if unused is None else unused * DAY_S
    )
    size = sum(each.size for each in gone)
    if as_json:
        console.write_json({**_document(store.where), "removed": len(gone), "removed_bytes": size})
        return
    console.stdout().print(safe_text(f"Removed {plural(len(gone), 'run')}, {size_bytes(size)}."), soft_wrap=True)


def verify(
    what: What,
    sample: Sample = 1,
    seed: Seed = 1,
    cache: CacheOption = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
) -> int:
    """Run some of a plan's kept runs again, and compare every byte that they leave."""
    from txop.campaign.kept_check import Compared, KeptCheck
    from txop.campaign.placed_arm import ArmError
    from txop.cli.campaign_live import LiveReporter
    from txop.cli.ending import Ending
    from txop.guest.run_store import RunStore
    from txop.plan_check.exact_guest import exact_guest
    from txop.present.format import plural
    from txop.targets.contract import TargetError

    plan, folder = _plan(what)
    exact_guest(plan)
    store = RunStore.at(cache)
    compared: list[Compared] = []

    async def work() -> tuple[int, int]:
        with LiveReporter(console.stderr(), plan, quiet=quiet) as reporter:
            check = KeptCheck(plan, folder, reporter, store)
            found, runs = await check.find()
            async for each in check.compare(found, sample, seed):
                compared.append(each)
                words = "the same bytes" if each.differs is None else f"differs: {each.differs}"
                reporter.notice(f"block {each.run.block}, {each.run.arm}, {each.run.test}: {words}")
            return len(found), runs

    try:
        with Ending() as ending:
            kept, runs = ending.run(work())
    except (ArmError, TargetError) as error:
        raise UserError(str(error), where=str(what), exit_code=ExitCode.MISSING) from None
    differing = sum(each.differs is not None for each in compared)
    if as_json:
        rows = [
            {
                "block": each.run.block,
                "arm": each.run.arm,
                "test": each.run.test,
                "key": each.run.inputs.key,
                "differs": each.differs,
            }
            for each in compared
        ]
        console.write_json({**_document(store.where), "plan_runs": runs, "kept": kept, "compared": rows})
    else:
        line = f"{kept} of {plural(runs, 'run')} kept; {len(compared)} run again, {differing} of them differ"
        console.stdout().print(safe_text(line), soft_wrap=True)
    if not compared:
        return ExitCode.UNDECIDED
    return ExitCode.VERDICT_NO if differing else ExitCode.OK


def _plan(what: Path) -> tuple[Plan, Path]:
    """The plan, and what file names in it are relative to."""
    from txop.cli.plan_problems import read_plan

    if what.is_dir():
        from txop.archive.reader import read_archive

        archive = read_archive(what)
        folder = archive.layout.facts().get("plan_folder")
        if not isinstance(folder, str):
            raise UserError("its archive.json does not name the place of its plan", where=str(what))
        return archive.plan, Path(folder)
    loaded, _ = read_plan(what)
    return loaded.plan, loaded.folder


def _document(where: str) -> dict[str, Any]:
    return {"format": FORMAT, "version": FORMAT_VERSION, "place": where}


def _as_json(each: Entry) -> dict[str, Any]:
    return {"key": each.key, "size_bytes": each.size, "used_days_ago": _days(each)}


def _days(each: Entry) -> float | None:
    return None if each.used is None else round(max(0.0, time.time() - each.used) / DAY_S, 3)


def _ages(entries: list[Entry]) -> list[float]:
    return [days for each in entries if (days := _days(each)) is not None]
