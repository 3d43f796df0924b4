"""``txop bisect``: which commit made a figure worse."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.ending import Ending
from txop.cli.examples import epilog
from txop.cli.run_cache import CacheOption, ClusterOption, NoCacheFlag, store_of, words_of
from txop.cli.shared_options import DriverFolderOption, GuestsAtOnceOption, QuietFlag, folder_option
from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from txop.bisect.engine import Bisection
    from txop.bisect.result import BisectResult
    from txop.guest.run_store import RunStore

PlanOption = Annotated[
    Path | None, typer.Option("--plan", "-p", metavar="PLAN", help="The plan, of exact guests: test, figure, margin.")
]
Good = Annotated[str | None, typer.Option("--good", metavar="COMMIT", help="A commit that is good.")]
Bad = Annotated[str | None, typer.Option("--bad", metavar="COMMIT", help="A later commit that is bad.")]
Source = Annotated[
    Path | None,
    typer.Option(
        "--source", metavar="DIR", help="A clone: a kernel tree, or a repository that holds the driver; default: here."
    ),
]
Series = Annotated[
    list[Path] | None,
    typer.Option(
        "--series",
        metavar="FILE",
        help="A patch series in place of commits: mbox, patches, edit scripts (.toml), folders; may be repeated.",
    ),
]
FirstParent = Annotated[
    bool,
    typer.Option("--first-parent", help="Follow only the first parent of merges: what was merged, not every commit."),
]
Figure = Annotated[
    str | None,
    typer.Option(
        "--figure", metavar="TEST.METRIC", help="The figure that decides; default: the plan's first primary one."
    ),
]
ArmOption = Annotated[
    str | None, typer.Option("--arm", metavar="NAME", help="The plan's arm that is built; default: the baseline.")
]
Runs = Annotated[
    int | None,
    typer.Option("--runs", metavar="N", min=1, max=999, help="Most runs of one commit; default: the plan's blocks."),
]
Better = Annotated[
    bool, typer.Option("--better", help="Look for the first commit that is better: --bad then names a better one.")
]
Output = Annotated[
    Path | None,
    folder_option("Folder for it; default: PLAN-bisect-TIME."),
]
Resume = Annotated[
    Path | None, typer.Option("--resume", metavar="DIR", help="Continue a bisection, or show a finished one again.")
]
Html = Annotated[bool, typer.Option("--html/--no-html", help="Write DIR/bisect.html.")]


def register(app: typer.Typer) -> None:
    """Add ``txop bisect``."""
    app.command(
        name="bisect",
        epilog=epilog(
            [
                ("txop bisect --good v6.9 --bad v6.12 --plan plan.toml --source ~/linux", "in a kernel tree"),
                (
                    "txop bisect --good HEAD~20 --bad HEAD --plan plan.toml",
                    "in the driver's repository, from within it",
                ),
                ("txop bisect --series series.mbox --plan plan.toml", "which patch of a series"),
                ("txop bisect --good v6.6 --bad v6.12 --better --plan plan.toml", "what made it better"),
                ("txop bisect --resume plan-bisect-20260301-101500", "go on, or show the result again"),
            ],
            notes=(
                "Only the module is built, for the kernel of the plan's guest. A commit that does not build or run is "
                "skipped, never called bad.",
                "Exit code 5: it can't be determined, or more than one commit is left. docs/bisect.md explains it.",
            ),
        ),
    )(bisect)


def bisect(
    plan: PlanOption = None,
    good: Good = None,
    bad: Bad = None,
    source: Source = None,
    folder: DriverFolderOption = None,
    series: Series = None,
    first_parent: FirstParent = False,
    figure: Figure = None,
    arm: ArmOption = None,
    runs: Runs = None,
    better: Better = False,
    output: Output = None,
    resume: Resume = None,
    jobs: GuestsAtOnceOption = None,
    cluster: ClusterOption = None,
    no_cache: NoCacheFlag = False,
    cache: CacheOption = None,
    html: Html = True,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
) -> int:
    """Find the commit, or the patch of a series, that made a figure worse: builds and runs in exact guests."""
    from txop.bisect import start
    from txop.bisect.request import Place
    from txop.cli.plan_problems import print_problems, read_plan

    store = store_of(no_cache, cache)
    if resume is not None:
        if plan or good or bad or series or output:
            raise UserError("--resume takes everything from its folder", what_to_do="leave the other options out")
        bisection = start.reopen(resume)
    else:
        if plan is None:
            raise UserError("a bisection needs a plan", what_to_do="give --plan PLAN, or --resume DIR")
        loaded, checked = read_plan(plan)
        if not quiet:
            print_problems(console.stderr(), str(plan), checked.warnings, style="yellow")
        place = Place(output or Path(f"{plan.stem}-bisect-{time.strftime('%Y%m%d-%H%M%S')}"))
        what = start.Range(good, bad, source, folder, first_parent, tuple(series or ()))
        bisection = start.begin(
            loaded, what, start.JudgementOptions(arm, figure, runs, "better" if better else "worse"), place
        )
    _carry_out(bisection, jobs, store, cluster, quiet=quiet)
    return _show(bisection, html=html, quiet=quiet, as_json=as_json)


def _carry_out(
    bisection: Bisection, jobs: int | None, store: RunStore | None, cluster: str | None, *, quiet: bool
) -> None:
    from txop.bisect.engine import Engine
    from txop.cli.campaign_live import LiveReporter
    from txop.guest.cluster import GuestCluster

    screen, root = console.stderr(), bisection.place.root
    if not quiet:
        screen.print(safe_text(f"{len(bisection.request.candidates)} candidates. Folder: {root}"), soft_wrap=True)
    workers = None if cluster is None else GuestCluster(cluster)
    try:
        with LiveReporter(screen, bisection.plan, quiet=quiet) as reporter, Ending() as ending:
            ending.run(Engine(bisection, reporter, jobs, store, workers).go())
    except KeyboardInterrupt:
        with suppress(OSError):
            screen.print(safe_text(f"Stopped. To continue: txop bisect --resume {root}"), soft_wrap=True)
        raise
    finally:
        if workers is not None:
            workers.close()
    account = bisection.account()
    if not quiet and account.reused:
        screen.print(safe_text(f"{words_of(account.reused, account.runs)}."), soft_wrap=True)


def _show(bisection: Bisection, *, html: bool, quiet: bool, as_json: bool) -> int:
    from txop.bisect.result import result_of
    from txop.core.whole_file import whole_file

    result = result_of(bisection, bisection.account())
    if html:
        from txop.bisect.page import page

        written = page(result)
        with whole_file(bisection.place.page) as out:
            out.write(written)
        if not quiet:
            console.stderr().print(safe_text(f"Report: {bisection.place.page.resolve()}"), soft_wrap=True)
    if as_json:
        console.write_json(result.model_dump_json())
    else:
        _print(result)
    if result.damage:
        return ExitCode.PARTIAL
    return ExitCode.OK if result.state == "found" else ExitCode.UNDECIDED


def _print(result: BisectResult) -> None:
    from txop.bisect.view import sections
    from txop.cli.terminal_report import print_sections

    out = console.stdout()
    out.print(safe_text(result.headline, "bold"), soft_wrap=True)
    first, *others = sections(result)
    print_sections(out, [type(first)(first.name, 1, "How sure", first.blocks[1:]), *others], 0)
