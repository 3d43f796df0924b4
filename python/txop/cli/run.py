"""``txop run`` and ``txop resume``: a plan carried out, and the outcome."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.ending import Ending
from txop.cli.examples import epilog
from txop.cli.option_groups import grouped
from txop.cli.plan_problems import print_problems, read_plan
from txop.cli.run_cache import CacheOption, ClusterOption, NoCacheFlag, reused_words, store_of
from txop.cli.shared_options import ArchiveFolderArgument, BlocksOption, QuietFlag, folder_option
from txop.cli.timing import TimingFlag
from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from txop.archive.reader import Archive
    from txop.campaign.notify import Notifier
    from txop.campaign.session import Session
    from txop.compare.result import CompareResult

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file; `txop plan new` writes one.")]
Output = Annotated[
    Path | None,
    folder_option("Folder for the archive; default: PLAN's name and the time.", "ARCHIVE"),
]
Aa = Annotated[
    bool,
    typer.Option(
        "--aa", help="Compare the baseline with itself: the noise of this testbed, kept for `txop plan check`."
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        max=256,
        help="Guests at once; default: the plan's, else one for each processor (exact).",
    ),
]
Notify = Annotated[
    str | None,
    typer.Option(
        "--notify",
        metavar="COMMAND",
        help="Run this when a run is void, a target is lost or found, and at the end; $TXOP_TEXT says what happened.",
    ),
]
_IMPATIENT = "clearing up the targets; Ctrl-C once more leaves them as they are"
Report = Annotated[bool, typer.Option("--report/--no-report", help="Write ARCHIVE/report.html at the end.")]


@dataclass(frozen=True)
class RunOptions:
    """How a campaign is carried out."""

    jobs: Jobs = None
    no_cache: NoCacheFlag = False
    cache: CacheOption = None
    cluster: ClusterOption = None
    notify: Notify = None
    report: Report = True
    timing: TimingFlag = False
    quiet: QuietFlag = False
    as_json: JsonFlag = False

    def check(self) -> None:
        """Refuse what cannot work, before anything is made. Raises :class:`UserError`."""
        notify_command(self.notify)
        store_of(self.no_cache, self.cache)


def register(app: typer.Typer) -> None:
    """Add ``txop run`` and ``txop resume``."""
    notes = (
        "Ctrl-C stops cleanly: the run in progress is not counted, the rest is kept, and `txop resume` continues.",
        "Every command that is sent to a target is in ARCHIVE/commands.log.",
    )
    app.command(
        name="run",
        epilog=epilog(
            [
                ("txop run plan.toml", "carry out the plan, then compare and write the report"),
                ("txop run plan.toml --blocks 2 -o try", "a quick look, archived in the folder try"),
                ("txop run plan.toml --aa", "measure the noise of this testbed: the baseline against itself"),
            ],
            notes=notes,
        ),
    )(grouped(run))
    app.command(
        name="resume",
        epilog=epilog(
            [
                ("txop resume plan-20260301-101500", "continue a campaign where it stopped"),
                ("txop resume plan-20260301-101500 --plan plan.toml", "the same, with an address or a key corrected"),
            ],
            notes=notes,
        ),
    )(grouped(resume))


def run(
    *,
    plan: PlanFile,
    output: Output = None,
    blocks: BlocksOption = None,
    aa: Aa = False,
    options: RunOptions,
) -> int:
    """Carry out a plan: every arm in every block, in random order, each run checked; then compare and report."""
    from txop.campaign import session
    from txop.plan.overrides import Overrides
    from txop.plan_check.files import left_out

    options.check()
    loaded, checked = read_plan(plan)
    if not options.quiet:
        print_problems(console.stderr(), str(plan), checked.warnings, style="yellow")
    prepared = session.begin(loaded, output, Overrides(blocks=blocks, aa=aa, left_out=left_out(loaded)))
    return carry_on(prepared, options)


def notify_command(text: str | None) -> list[str] | None:
    """The command of ``--notify`` as a list of arguments. Raises :class:`UserError`."""
    if text is None:
        return None
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise UserError(f"not a command: {error}", where="--notify") from None
    if not argv or shutil.which(argv[0]) is None:
        raise UserError(
            f"there is no program {argv[0] if argv else ''}".rstrip(),
            where="--notify",
            what_to_do="give a command without shell syntax, or a script",
        )
    return argv


def resume(
    *,
    archive: ArchiveFolderArgument,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan", metavar="PLAN", help="The corrected plan: addresses, keys and hooks of its targets may differ."
        ),
    ] = None,
    options: RunOptions,
) -> int:
    """Continue a campaign that was stopped: by Ctrl-C, a crash, a lost target, a full disk."""
    from txop.campaign import session

    options.check()
    prepared = session.reopen(archive, read_plan(plan)[0] if plan is not None else None)
    return carry_on(prepared, options)


def carry_on(prepared: Session, options: RunOptions) -> int:
    """Run what is left of a campaign, show it as it goes, and conclude. The exit code."""
    from txop.campaign.notify import notifications

    def complain(words: str) -> None:
        console.stderr().print(safe_text(words, "yellow"), soft_wrap=True)

    command = notify_command(options.notify)
    with notifications(command, prepared.layout.root, prepared.plan.title, complain) as notifier:
        begun = time.monotonic()
        code = _carry_on(prepared, options, notifier)
        if options.timing:
            _print_timing(prepared.layout.root, time.monotonic() - begun)
        return code


def _print_timing(root: Path, wall_s: float) -> None:
    from txop.archive.reader import read_archive
    from txop.archive.timing import timing_of
    from txop.cli.timing import print_timing

    archive = read_archive(root)
    print_timing(timing_of(archive.runs, archive.events, wall_s=wall_s))


def _carry_on(prepared: Session, options: RunOptions, notifier: Notifier | None) -> int:
    from txop.campaign.ending import End
    from txop.campaign.notify import Notifying
    from txop.cli.campaign_live import LiveReporter
    from txop.targets.contract import TargetError

    screen, store = console.stderr(), store_of(options.no_cache, options.cache)
    if not options.quiet:
        screen.print(safe_text(f"Archive: {prepared.layout.root}"), soft_wrap=True)
    try:
        with (
            LiveReporter(screen, prepared.plan, quiet=options.quiet) as reporter,
            Ending(lambda: reporter.notice(_IMPATIENT)) as ending,
        ):
            listener = reporter if notifier is None else Notifying(reporter, notifier)
            outcome = ending.run(prepared.carry_out(listener, options.jobs, store, cluster=options.cluster))
    except TargetError as error:
        raise UserError(
            error.what,
            where=error.target,
            what_to_do=f"fix it, then: txop resume {prepared.layout.root}; where the plan has to be "
            f"corrected (an address, a key, a hook): txop resume {prepared.layout.root} --plan PLAN",
            exit_code=ExitCode.MISSING,
        ) from None
    except OSError as error:
        where = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else str(prepared.layout.root)
        raise UserError(
            error.strerror or str(error),
            where=where,
            what_to_do=f"what was measured is kept; fix it, then: txop resume {prepared.layout.root}",
            exit_code=ExitCode.MISSING,
        ) from None
    except KeyboardInterrupt:
        with suppress(OSError):  # the terminal that was closed
            screen.print(safe_text(f"Stopped. To continue: txop resume {prepared.layout.root}"), soft_wrap=True)
        return ExitCode.INTERRUPTED
    if notifier is not None:
        notifier.send(outcome.end.value, f"{outcome.end.value} {outcome.reason}".strip())
    code = conclude(prepared.layout.root, report=options.report, as_json=options.as_json, quiet=options.quiet)
    if outcome.end is not End.FINISHED:
        screen.print(
            safe_text(f"Stopped: {outcome.reason}. To continue: txop resume {prepared.layout.root}"), soft_wrap=True
        )
        return ExitCode.PARTIAL
    if outcome.reason and not options.quiet:
        screen.print(safe_text(f"Finished {outcome.reason}."), soft_wrap=True)
    return code


def conclude(root: Path, *, report: bool, as_json: bool, quiet: bool = False) -> int:
    """The outcome of a campaign: tables for later, the comparison on stdout, the page."""
    from txop.archive.derived import rebuild
    from txop.archive.reader import read_archive
    from txop.cli.compare import show, whys_of
    from txop.compare.archive import compare

    archive = read_archive(root)
    if not archive.runs:
        console.stderr().print(safe_text("No run was completed: there is nothing to compare."), soft_wrap=True)
        return ExitCode.UNDECIDED
    result = compare(archive)
    page = root / "report.html"
    try:  # the result is shown whatever happens to the files, and the files are there even when stdout is closed
        rebuild(archive)
        _remember_noise(archive, result)
        if report:
            from txop.report.campaign import write_page

            write_page(archive, result, page)
            if as_json:
                console.stderr().print(safe_text(f"Report: {page.resolve()}"), soft_wrap=True)
    finally:
        if as_json:
            console.write_json(result.model_dump_json())
        else:
            where = str(page.resolve()) if report and page.is_file() else f"txop report {root} makes it"
            whys, how = whys_of(archive, result), f"txop compare {root} --all"
            show(result, whys, console.stdout(), everything=False, how=how, report=where)
        if not quiet and (reused := reused_words(archive.runs)):
            console.stderr().print(safe_text(f"{reused}."), soft_wrap=True)
    return ExitCode.PARTIAL if archive.damage else ExitCode.OK


def _remember_noise(archive: Archive, result: CompareResult) -> None:
    """Keep what the campaign showed of the testbed's noise, for `txop plan check`. Losing it costs nothing else."""
    from txop.plan.noise import Noise, remember

    when = next((event.at[:10] for event in archive.events), "")
    aa = bool((archive.layout.facts().get("overrides") or {}).get("aa"))
    noise: dict[str, Noise] = {}
    for figure in result.figures:
        known = [(row.sd_d, row.n) for row in figure.rows if row.paired and row.sd_d is not None]
        if known:
            sd_d, n = max(known)
            noise[figure.name] = Noise(sd_d=sd_d, n=n, when=when, source=str(archive.layout.root.resolve()), aa=aa)
    try:
        remember(archive.plan, noise)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        console.stderr().print(safe_text(f"The noise of this testbed could not be kept: {error}"), soft_wrap=True)
