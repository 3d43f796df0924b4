"""``txop guest explore``: faults that no script has, found by mutation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.guest_completion import fault_scripts
from txop.cli.guest_options import ImageOptions, errors_reported, note
from txop.cli.guest_survey import TrialOptions, WallLimit
from txop.cli.option_groups import as_written, grouped
from txop.cli.shared_options import folder_option
from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from txop.guest.coverage.instrument import Covered
    from txop.guest_exploration.exploration import Request
    from txop.guest_exploration.explore import ExploredDriver
    from txop.guest_exploration.slow.explore import SearchedDriver
    from txop.guest_trials.trial import Place
    from txop.present.csv_cells import Cell

Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--faults",
        metavar="FILE|NAME",
        help="Fault script to begin with: a file, or a shipped one; may be repeated. Default: all shipped ones; with"
        " --slow none.",
        autocompletion=fault_scripts,
    ),
]
Tries = Annotated[int, typer.Option("--tries", "-n", metavar="N", min=0, max=1_000_000, help="Mutated scripts.")]
Time = Annotated[
    float | None,
    typer.Option(
        "--time", metavar="MINUTES", min=0.0, max=1e6, help="Begin no script after that long, for all drivers together."
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, max=2**63 - 1, help="Of the mutations.")]
Reductions = Annotated[
    int,
    typer.Option("--reductions", metavar="N", min=0, max=10_000, help="Most trials for making one finding smaller."),
]
Failing = Annotated[
    bool, typer.Option("--also-failing", help="That a driver fails cleanly is a finding, too, once for each way back.")
]
Coverage = Annotated[
    bool,
    typer.Option("--coverage", help="Count the blocks of the driver's code that a script reaches; builds the driver."),
]
BuildDir = Annotated[
    Path | None,
    typer.Option(
        "--build-dir",
        metavar="DIR",
        help="For --coverage with --kernel-file: the folder in which that kernel was built.",
    ),
]
SlowFlag = Annotated[
    bool,
    typer.Option("--slow", help="Search for traffic and faults that make a driver slow, not for those that break it."),
]
Times = Annotated[
    float,
    typer.Option("--times", metavar="N", min=1.1, max=1000.0, help="With --slow: that many times the usual is slow."),
]
Output = Annotated[
    Path | None,
    folder_option("Folder for journal, findings and their logs; default: guest-explore-TIME."),
]


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command(
        name="explore",
        epilog=epilog(
            [
                ("txop guest explore --driver rtl8xxxu -o found", "every shipped script, then 100 mutated ones"),
                ("txop guest explore --driver rtl8192cu --time 480 --tries 100000 -o found", "a night"),
                ("txop guest explore --faults cut-rx --faults mine.toml -n 50 -o found", "begin with these"),
                ("txop guest explore --driver rtl8xxxu --coverage -o found", "guided by the code that scripts reach"),
                ("txop guest explore --slow --driver rtl8xxxu -o slow", "what makes packets expensive or late"),
            ],
            [
                "A finding is a script in DRIVER/findings that `txop guest survey --faults` replays. The same command "
                "with the same folder goes on. What is kept, and why: docs/guest-faults.md. "
                "Exit codes: 1 a finding with a replay that is not exact; 5 trouble without any fault."
            ],
        ),
    )(grouped(explore))


def explore(
    *,
    faults: Faults = None,
    trials: TrialOptions,
    tries: Tries = 100,
    time_minutes: Time = None,
    seed: Seed = 1,
    reductions: Reductions = 16,
    also_failing: Failing = False,
    coverage: Coverage = False,
    build_dir: BuildDir = None,
    slow: SlowFlag = False,
    times: Times = 3.0,
    output: Output = None,
    wall_limit: WallLimit = 1800.0,
    image: ImageOptions,
    json: JsonFlag = False,
) -> None:
    """Mutate fault scripts, keep those that show something new of a driver, and replay what crashes, hangs or warns."""
    from txop.guest.fault_check import check_faults
    from txop.guest.shipped_faults import find_faults, shipped_faults
    from txop.guest_exploration.exploration import Request
    from txop.guest_exploration.explore import ExplorationRequest
    from txop.guest_exploration.explore import explore as carry_out
    from txop.guest_exploration.report import document
    from txop.guest_trials.survey import LIMIT_S
    from txop.plan.devices import ON_PCI, SDIO_CARDS

    folder = output or Path(f"guest-explore-{time.strftime('%Y%m%d-%H%M%S')}")
    if trials.mode != "exact":
        raise UserError("a replay is exact in exact guests only", where="--mode", what_to_do="take --mode out")
    if slow:
        others = {"--coverage": coverage, "--also-failing": also_failing, "--build-dir": build_dir is not None}
        if option := next((name for name, is_given in others.items() if is_given), None):
            raise UserError(f"{option} and --slow do not go together", what_to_do="leave one of them out")
        limit_s = None if time_minutes is None else time_minutes * 60
        _search(faults or [], trials, Request(seed, tries, reductions), times, limit_s, folder, wall_limit, image, json)
        return
    if trials.device in (*SDIO_CARDS, *ON_PCI):
        raise UserError(
            f"faults of {'SDIO commands' if trials.device in SDIO_CARDS else 'registers on PCI'} are not mutated",
            where="--device",
            what_to_do="txop guest survey tries the shipped ones",
        )
    with errors_reported() as ending, ExitStack() as stack:
        named = [find_faults(name) for name in faults] if faults else list(shipped_faults().values())
        scripts = tuple({script.text: script for script in named}.values())
        check_faults(scripts, "hostapd")
        options = _survey_options(trials, image)
        seconds = None if time_minutes is None else time_minutes * 60
        if build_dir is not None and not coverage:
            raise UserError("it is for --coverage", where="--build-dir")
        if coverage and (image.kernel_file is None) != (build_dir is None):
            raise UserError(
                "--coverage builds the driver: with your own kernel it takes both --kernel-file and --build-dir",
                what_to_do="give the folder in which the kernel was built, or neither of them",
            )
        place = stack.enter_context(trials.place(image, LIMIT_S, wall_limit, ending))
        at_once = trials.at_once(place)
        request = Request(seed=seed, tries=tries, reductions=reductions, ahead=at_once)
        covered = ending.run(_covered(trials, image, place, build_dir), at_once=True) if coverage else {}
        what = ExplorationRequest(
            trials.drivers, scripts, request, trials.security, also_failing, seconds, covered, options
        )
        folder.mkdir(parents=True, exist_ok=True)
        note(f"Folder: {folder}")
        try:
            explored = ending.run(carry_out(what, place, folder, jobs=at_once, progress=note))
        except KeyboardInterrupt:
            note(f"Stopped. The same command with --output {folder} goes on.")
            raise
    if json:
        console.write_json(document(explored, place, options))
    else:
        _print(explored, place, options)
    for one in explored:
        for words in one.damage:
            note(f"{one.folder}: {words}")
    _end(explored)


def _search(
    faults: list[str],
    trials: TrialOptions,
    request: Request,
    times: float,
    seconds: float | None,
    folder: Path,
    wall_limit: float,
    image: ImageOptions,
    json: bool,
) -> None:
    """The command with --slow."""
    from dataclasses import replace

    from txop.guest.shipped_faults import find_faults
    from txop.guest_exploration.slow.entry import read_input
    from txop.guest_exploration.slow.explore import SlowRequest, search
    from txop.guest_exploration.slow.report import document
    from txop.guest_exploration.slow.trial import LIMIT_S

    with errors_reported() as ending, ExitStack() as stack:
        scripts = tuple({script.text: script for script in map(find_faults, faults)}.values())
        for script in scripts:
            read_input(script)  # what is wrong with it is reported before anything slow is made
        options = _survey_options(trials, image)
        place = stack.enter_context(trials.place(image, LIMIT_S, wall_limit, ending))
        at_once = trials.at_once(place)
        what = SlowRequest(
            trials.drivers, scripts, replace(request, ahead=at_once), trials.security, times, seconds, options
        )
        folder.mkdir(parents=True, exist_ok=True)
        note(f"Folder: {folder}")
        try:
            searched = ending.run(search(what, place, folder, jobs=at_once, progress=note))
        except KeyboardInterrupt:
            note(f"Stopped. The same command with --output {folder} goes on.")
            raise
    if json:
        console.write_json(document(searched, place))
    else:
        _print_slow(searched, place)
    for one in searched:
        for words in one.damage:
            note(f"{one.folder}: {words}")
    if any(finding.exact is False for one in searched for finding in one.findings):
        raise typer.Exit(ExitCode.VERDICT_NO)
    if any(one.damage for one in searched):
        raise typer.Exit(ExitCode.PARTIAL)


def _print_table(place: Place, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """The findings; nothing where there are none."""
    from rich.table import Table

    title = f"{place.device}, guest-{place.computer.mode.value}, Linux {place.image.release}"
    table = Table(title=safe_text(title), title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(safe_text("–" if value is None else str(value)) for value in row))
    if rows:
        console.stdout().print(table)


def _print_slow(searched: list[SearchedDriver], place: Place) -> None:
    from txop.core.origin import NOT_RADIO
    from txop.guest_exploration.slow.report import COLUMNS, cells, summary

    out = console.stdout()
    rows = [(one, finding) for one in searched for finding in one.findings]
    _print_table(place, COLUMNS, [cells(one, finding) for one, finding in rows])
    for one in searched:
        out.print(safe_text(summary(one)), soft_wrap=True)
    for one, finding in rows:
        out.print(safe_text(one.command(finding)), soft_wrap=True)
    out.print(safe_text(NOT_RADIO))


async def _covered(
    trials: TrialOptions, image: ImageOptions, place: Place, build_dir: Path | None
) -> dict[str, Covered]:
    """The drivers with counters in their blocks."""
    from txop.guest.coverage.instrument import instrument, kernel_build
    from txop.guest_image.overlay import given_modules

    kernel = kernel_build(image.pinned(), build_dir, image.kernel_file, progress=note)
    covered = {driver: await instrument(driver, place.image, kernel, note) for driver in trials.drivers}
    for path, module in given_modules(trials.module or []).values():
        if any(module.name in one.blocks for one in covered.values()):
            raise UserError(
                f"{path} has no counters in its blocks", what_to_do="build it into a kernel, and give --build-dir"
            )
    return covered


def _survey_options(trials: TrialOptions, image: ImageOptions) -> str:
    """What the survey has to be given for the same guests."""
    import shlex
    from dataclasses import replace

    return shlex.join(as_written(replace(trials, driver=None, jobs=None, cluster=None), image))


def _print(explored: list[ExploredDriver], place: Place, options: str) -> None:
    from txop.core.origin import NOT_RADIO
    from txop.guest_exploration.report import COLUMNS, cells, summary

    out = console.stdout()
    rows = [(one, finding) for one in explored for finding in one.findings]
    _print_table(place, COLUMNS, [cells(one, finding) for one, finding in rows])
    for one in explored:
        out.print(safe_text(summary(one)), soft_wrap=True)
    for one, finding in rows:
        if (command := one.command(finding, options)) is not None:
            out.print(safe_text(command), soft_wrap=True)
    out.print(safe_text(NOT_RADIO))


def _end(explored: list[ExploredDriver]) -> None:
    from txop.guest_exploration.exploration import EXACT

    if problems := [
        f"{one.driver} without any fault: {one.control.problem}" for one in explored if one.control.problem
    ]:
        raise UserError(
            f"nothing can be explored: {'; '.join(problems)}",
            what_to_do="look at the logs (--output)",
            exit_code=ExitCode.UNDECIDED,
        )
    if any(finding.replay not in (None, EXACT) for one in explored for finding in one.findings):
        raise typer.Exit(ExitCode.VERDICT_NO)
    if any(one.damage for one in explored):
        raise typer.Exit(ExitCode.PARTIAL)
