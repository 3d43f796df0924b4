"""``txop ci``: a verdict for a patch series, for a person and for a machine."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console, name_completion
from txop.cli.console import JsonFlag, safe_text
from txop.cli.ending import Ending
from txop.cli.examples import epilog
from txop.cli.run_cache import CacheOption, ClusterOption, NoCacheFlag, reused_words, store_of
from txop.cli.shared_options import BlocksOption, DriverFolderOption, GuestsAtOnceOption, QuietFlag, folder_option
from txop.cli.timing import TimingFlag, print_timing
from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from txop.archive.reader import Archive
    from txop.board.boards import LocatedBoard
    from txop.campaign.session import Session
    from txop.ci.board_rows import BoardRows
    from txop.ci.judge import SeriesJudgement
    from txop.ci.result import CiResult
    from txop.ci.sources import SeriesRequest
    from txop.ci.verdict import State
    from txop.guest.run_store import RunStore
    from txop.plan.load import LoadedPlan
    from txop.plan.model import Plan

PlanOption = Annotated[
    Path, typer.Option("--plan", "-p", metavar="PLAN", help="The plan, of exact guests: tests, figures, margins.")
]
Series = Annotated[
    list[Path] | None,
    typer.Option(
        "--series", metavar="FILE", help="The series: mbox, patches, edit scripts (.toml), folders; may be repeated."
    ),
]
Branch = Annotated[
    str | None, typer.Option("--branch", metavar="NAME", help="A branch of the clone, in place of files.")
]
Source = Annotated[
    Path | None,
    typer.Option(
        "--source",
        metavar="DIR",
        help="A clone with the driver: a kernel tree, or its own; default: the source of the guest's kernel.",
    ),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="COMMIT",
        help="The commit that the series applies to; default with --branch: where it left HEAD.",
    ),
]
ArmOption = Annotated[
    str | None,
    typer.Option("--arm", metavar="NAME", help="The plan's arm as which both are built; default: the baseline."),
]
Output = Annotated[
    Path,
    folder_option("Folder for mail, page and archive; work that is there is continued."),
]
BoardOption = Annotated[
    str | None,
    typer.Option(
        "--board",
        metavar="BOARD",
        help="Put the runs of both builds to this board (a file, or a name): a row that works with the base has to "
        "work with the series.",
        autocompletion=name_completion.boards,
    ),
]
InconclusiveFlag = Annotated[
    bool, typer.Option("--fail-on-inconclusive", help="Exit with 5 when chance is not ruled out, instead of 0.")
]

QuickFlag = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="Stop at the first of the looks, registered before, that decides; their levels keep the error rate.",
    ),
]

WatchOption = Annotated[
    Path | None,
    typer.Option(
        "--watch",
        metavar="DIR",
        help="Judge what is saved in this git work tree against --base (default HEAD), at each save, until Ctrl-C.",
    ),
]

MAIL, RESULT, ARCHIVE = "mail.txt", "ci.json", "archive"
"""What is in the folder."""


def register(app: typer.Typer) -> None:
    """Add ``txop ci``."""
    app.command(
        name="ci",
        epilog=epilog(
            [
                ("txop ci --series series.mbox --plan plan.toml", "patches for the kernel of the plan's guest"),
                ("txop ci --source ~/linux --base v6.12 --series series.mbox --plan plan.toml", "for a kernel tree"),
                ("txop ci --source . --base main --branch fix --plan plan.toml --json", "a branch, for a machine"),
                (
                    "txop ci --watch ~/linux --folder drivers/net/wireless/realtek/rtl8xxxu --plan plan.toml",
                    "each save",
                ),
                ("txop ci --series series.mbox --plan plan.toml --board board.toml", "and the rows of a board"),
            ],
            notes=(
                "Exit codes: 0 nothing counts against it (better, equivalent, inconclusive, same module); 1 worse, new "
                "faults in the kernel log, a row of the board lost, new compiler warnings, or it does not apply, build "
                "or run; 2 wrong usage or "
                "a base that does not build; 3 something is missing; 4 stopped before its end; 5 not measured, or "
                "inconclusive with --fail-on-inconclusive. docs/ci.md explains it.",
            ),
        ),
    )(ci)


def ci(
    plan: PlanOption,
    series: Series = None,
    branch: Branch = None,
    source: Source = None,
    base: Base = None,
    folder: DriverFolderOption = None,
    arm: ArmOption = None,
    blocks: BlocksOption = None,
    board: BoardOption = None,
    quick: QuickFlag = False,
    watch: WatchOption = None,
    output: Output = Path("txop-ci"),
    jobs: GuestsAtOnceOption = None,
    no_cache: NoCacheFlag = False,
    cache: CacheOption = None,
    cluster: ClusterOption = None,
    fail_on_inconclusive: InconclusiveFlag = False,
    timing: TimingFlag = False,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
) -> int:
    """Build a patch series and its base, run both in exact guests, and write the verdict as a mail."""
    from txop.ci.judge import SeriesJudgement
    from txop.ci.plan import two_arms
    from txop.ci.sources import SeriesDoesNotApplyError, SeriesRequest, Sources, sources
    from txop.ci.verdict import State
    from txop.cli.plan_problems import read_plan
    from txop.plan_check.exact_guest import exact_guest

    loaded, _ = read_plan(plan)
    store = store_of(no_cache, cache)
    placed = None if board is None else _board(board, loaded.plan)
    spec = exact_guest(loaded.plan)
    user = next((each for each in loaded.plan.arm if each.name == (arm or loaded.plan.baseline)), None)
    driver = spec.varied(user.guest if user is not None else None).builds

    def judge(asked: SeriesRequest, place: Path) -> tuple[CiResult, bool]:
        """One series, in a folder: the result, and whether its campaign was completed."""
        again = _command(plan, asked, arm, blocks, board, quick=quick)
        try:
            found = sources(asked, driver)
        except SeriesDoesNotApplyError as error:
            names = ", ".join(path.name for path in asked.series)
            shown = Sources(asked.base or "the base", names, (), None, None)
            judged = SeriesJudgement(two_arms(loaded, shown, arm, blocks), shown, again)
            judged.state, judged.reason = State.DOES_NOT_APPLY, error.what
        else:
            judged = SeriesJudgement(two_arms(loaded, found, arm, blocks), found, again)
            _build(judged, quiet=quiet)
        finished = True
        place.mkdir(parents=True, exist_ok=True)
        if judged.state is None:
            finished = _measure(judged, place / ARCHIVE, jobs, placed, store, cluster, quick=quick, quiet=quiet)
        result = _written(judged, place)
        if timing and result.timing is not None:
            print_timing(result.timing)
        return result, finished

    if watch is not None:
        if series or branch or source or as_json:
            raise UserError("--watch takes what is saved in its folder", what_to_do="leave --series and the like out")
        from txop.cli.ci_watch import watch as watch_tree

        def line(patch: Path, place: Path, commit: str) -> str:
            return judge(SeriesRequest(watch, commit, folder, (patch,)), place)[0].headline

        watch_tree(watch, base, folder, output, line)
        return ExitCode.OK
    result, finished = judge(SeriesRequest(source, base, folder, tuple(series or ()), branch), output)
    if as_json:
        console.write_json(result.model_dump_json())
    else:
        out = console.stdout()
        for row in (output / MAIL).read_text(encoding="utf-8").splitlines():
            out.print(safe_text(row), soft_wrap=True)
    return _exit_code(result.state, finished=finished, fail_on_inconclusive=fail_on_inconclusive)


def _exit_code(state: State, *, finished: bool, fail_on_inconclusive: bool) -> ExitCode:
    """The exit code of a state; of a campaign that stopped early, harm that it showed goes before that."""
    from txop.ci.verdict import State

    if not state.is_fine and state is not State.NOT_MEASURED:
        return ExitCode.VERDICT_NO
    if not finished:
        return ExitCode.PARTIAL
    undecided = state is State.NOT_MEASURED or (fail_on_inconclusive and state is State.INCONCLUSIVE)
    return ExitCode.UNDECIDED if undecided else ExitCode.OK


def _build(judged: SeriesJudgement, *, quiet: bool) -> None:
    from txop.cli.guest_options import errors_reported, note

    with errors_reported() as ending:
        ending.run(judged.build(lambda words: None if quiet else note(words)), at_once=True)


def _board(named: str, plan: Plan) -> LocatedBoard:
    """The board that rows are of, before anything is built."""
    from txop.board.boards import find
    from txop.ci.board_rows import can_show

    placed = find(named)
    if placed.archive is not None:
        raise UserError("an archive is no board", where=named, what_to_do="name its board.toml")
    if not can_show(placed.board, air=plan.collect.air):
        raise UserError(
            "runs of this plan can show no row of the board",
            where=named,
            what_to_do="set air = true in [collect], for rows with a check; or give rows evidence of runs or faults",
        )
    return placed


def _measure(
    judged: SeriesJudgement,
    root: Path,
    jobs: int | None,
    placed: LocatedBoard | None,
    store: RunStore | None,
    cluster: str | None,
    *,
    quick: bool,
    quiet: bool,
) -> bool:
    """Carry out the campaign, or what is left of it, and take in what it gave. Whether it was completed."""
    from txop.archive.reader import read_archive
    from txop.campaign.ending import End
    from txop.ci.looks import QuickLooks
    from txop.cli.campaign_live import LiveReporter
    from txop.compare.archive import compare
    from txop.report.campaign import write_page

    session = _session(judged.loaded, root)
    looks = QuickLooks(judged.loaded, session.layout) if quick else None
    screen = console.stderr()
    with LiveReporter(screen, session.plan, quiet=quiet) as reporter, Ending() as ending:
        outcome = ending.run(session.carry_out(reporter, jobs, store, looks, cluster))
    begun = time.monotonic()
    archive = read_archive(root)
    comparison = compare(archive)
    board = None if placed is None else _rows(placed, archive)
    judged.measured(archive, comparison, board)
    write_page(archive, comparison, root / "report.html")
    judged.report_s = time.monotonic() - begun
    if not quiet and (reused := reused_words(archive.runs)):
        screen.print(safe_text(f"{reused}."), soft_wrap=True)
    if outcome.end is not End.FINISHED:
        screen.print(safe_text(f"Stopped: {outcome.reason}. The same command continues."), soft_wrap=True)
    return outcome.end is End.FINISHED


def _rows(placed: LocatedBoard, archive: Archive) -> BoardRows:
    from txop.ci.board_rows import board_rows
    from txop.cli.reading_bar import analyzed

    return board_rows(placed, archive.layout, analyzed)


def _session(loaded: LoadedPlan, root: Path) -> Session:
    """The campaign: the one in the folder where it is of the same plan, or a new one."""
    from txop.campaign import session
    from txop.plan.overrides import Overrides

    if root.exists():
        found = session.reopen(root)
        if found.layout.plan.read_text(encoding="utf-8") != loaded.text:
            raise UserError(
                "has the runs of another series, base or plan", where=str(root), what_to_do="give another --output"
            )
        return found
    return session.begin(loaded, root, Overrides())


def _written(judged: SeriesJudgement, output: Path) -> CiResult:
    """The result, with its mail and its JSON in the folder."""
    from txop.ci.mail import mail
    from txop.core.whole_file import whole_file

    result = judged.result()
    with whole_file(output / MAIL) as out:
        out.write("\n".join(mail(judged, result)) + "\n")
    with whole_file(output / RESULT) as out:
        out.write(result.model_dump_json(indent=1) + "\n")
    return result


def _command(
    plan: Path, asked: SeriesRequest, arm: str | None, blocks: int | None, board: str | None, *, quick: bool
) -> str:
    """The command that repeats it, with the names of files as they were given."""
    words = ["txop", "ci", "--plan", str(plan)]
    for path in asked.series:
        words += ["--series", str(path)]
    given = (
        ("--branch", asked.branch), ("--source", asked.repository), ("--base", asked.base), ("--folder", asked.folder),
        ("--arm", arm), ("--blocks", blocks), ("--board", board),
    )  # fmt: skip
    for option, value in given:
        if value is not None:
            words += [option, str(value)]
    return shlex.join([*words, "--quick"] if quick else words)
