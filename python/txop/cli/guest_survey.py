"""``txop guest survey`` and ``txop guest cycle``: drivers under faults, and removed again and again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.ending import Ending
from txop.cli.examples import epilog
from txop.cli.guest_completion import drivers, fault_scripts, wireless_chips
from txop.cli.guest_options import ImageOptions, Module, errors_reported, note
from txop.cli.option_groups import grouped
from txop.cli.run_cache import ClusterOption
from txop.cli.shared_options import folder_option
from txop.core.errors import ExitCode, UserError
from txop.present.format import plural

if TYPE_CHECKING:
    from txop.guest.cluster import GuestCluster
    from txop.guest.qemu import Computer
    from txop.guest_trials.trial import Place
    from txop.present.csv_cells import Cell

Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--faults",
        metavar="FILE|NAME",
        help="Fault script: a file, or a shipped one; may be repeated. Default: all.",
        autocompletion=fault_scripts,
    ),
]
Samples = Annotated[
    int,
    typer.Option(
        "--samples",
        metavar="N",
        min=1,
        max=1000,
        help="Trials of each, with seeds from 1 on.",
    ),
]
Output = Annotated[
    Path | None,
    folder_option("Folder for what the guests output: logs, facts."),
]
Csv = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the table as CSV, too.")]
Markdown = Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Write the table as Markdown, too.")]
ListFlag = Annotated[bool, typer.Option("--list", help="List the shipped fault scripts and exit.")]
WallLimit = Annotated[
    float,
    typer.Option(
        "--wall-limit",
        metavar="SECONDS",
        min=1.0,
        max=604_800.0,
        help="Seconds, by this machine's clock, for each guest.",
    ),
]
Ways = Annotated[
    list[str] | None,
    typer.Option(
        "--way", metavar="reload|replug", help="Reload the driver or replug the chip; default: both, in turn."
    ),
]
Cycles = Annotated[int, typer.Option("--cycles", "-n", min=1, max=100_000, help="How often.")]


@dataclass(frozen=True)
class TrialOptions:
    """Which drivers are tried, in which guests."""

    device: Annotated[
        str,
        typer.Option(
            "--device",
            metavar="DEVICE",
            help="The virtual chip; txop guest run --help lists them.",
            autocompletion=wireless_chips,
        ),
    ] = "rtl8188cus"
    driver: Annotated[
        list[str] | None,
        typer.Option(
            "--driver",
            metavar="NAME",
            help="Driver; may be repeated. Default: all that know the chip.",
            autocompletion=drivers,
        ),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            min=1,
            max=64,
            help="Guests at a time; default: one for each processor.",
        ),
    ] = None
    mode: Annotated[
        str, typer.Option("--mode", metavar="exact|fast", help="Time by instructions, or as the host's.")
    ] = "exact"
    mips: Annotated[
        int,
        typer.Option(
            "--mips",
            metavar="N",
            help="In exact mode: million instructions a second.",
        ),
    ] = 500
    security: Annotated[
        str, typer.Option("--security", metavar="NAME", help="Security of the access point, as in txop guest run.")
    ] = "wpa2"
    module: Module = None
    cluster: ClusterOption = None

    @property
    def drivers(self) -> tuple[str, ...]:
        """Each once."""
        from txop.plan.devices import STOCK_DRIVERS

        if self.device not in STOCK_DRIVERS:
            raise UserError(f"unknown virtual chip {self.device!r}: {', '.join(STOCK_DRIVERS)}", where="--device")
        names = tuple(dict.fromkeys(self.driver or STOCK_DRIVERS[self.device]))
        others = {name for known in STOCK_DRIVERS.values() for name in known} - set(STOCK_DRIVERS[self.device])
        if odd := others.intersection(names):
            raise UserError(
                f"{min(odd)} does not know a {self.device}",
                where="--driver",
                what_to_do=f"{' and '.join(STOCK_DRIVERS[self.device])} does",
            )
        return names

    def at_once(self, place: Place) -> int:
        """How many guests."""
        if self.jobs is not None:
            return self.jobs
        return max(1, min(8, os.cpu_count() or 1)) if place.workers is None else place.workers.threads

    @contextmanager
    def place(self, image: ImageOptions, limit_s: int, wall_limit_s: float, ending: Ending) -> Iterator[Place]:
        """Where the trials take place; makes the image and the drivers that have to be built."""
        workers = None if self.cluster is None else self._workers(self.cluster)
        try:
            yield self._place(image, limit_s, wall_limit_s, ending, workers)
        finally:
            if workers is not None:
                workers.close()

    def _place(
        self, image: ImageOptions, limit_s: int, wall_limit_s: float, ending: Ending, workers: GuestCluster | None
    ) -> Place:
        from txop.guest.rebuilt import modules_of_each
        from txop.guest_image.overlay import given_modules
        from txop.guest_trials.trial import Place

        computer = self._computer(limit_s)
        tried = self.drivers
        given = self.module or []
        given_modules(given)  # errors in them are reported before anything slow is made
        made, built_for = image.image()
        if workers is not None and built_for is None:
            raise UserError("a cluster runs guests of a lock", where="--cluster", what_to_do="leave it out")
        modules = ending.run(modules_of_each(self.device, tried, given, made, built_for, note), at_once=True)
        return Place(made, computer, wall_limit_s, modules, self.device, built_for, workers)

    def _workers(self, address: str) -> GuestCluster:
        from txop.guest.cluster import GuestCluster

        if self.mode != "exact":
            raise UserError("a cluster runs exact guests", where="--cluster", what_to_do="leave it or --mode out")
        return GuestCluster(address)

    def _computer(self, limit_s: int) -> Computer:
        from txop.guest.qemu import Computer, Mode, kvm_works, shift_of

        if self.mode not in set(Mode):
            raise UserError(f"unknown mode {self.mode!r}", what_to_do="give exact or fast")
        exact = self.mode == Mode.EXACT
        return Computer(mode=Mode(self.mode), shift=shift_of(self.mips), kvm=not exact and kvm_works(), limit_s=limit_s)


def register(group: typer.Typer) -> None:
    """Add the two commands."""
    group.command(
        name="survey",
        epilog=epilog(
            [
                ("txop guest survey", "every shipped fault script against both drivers of the RTL8188CUS"),
                ("txop guest survey --faults unplug --driver rtl8xxxu", "one of them"),
                ("txop guest survey --device ar6003", "every script for an SDIO card, against its driver"),
                ("txop guest survey --faults mine.toml --samples 5 --markdown table.md", "your own, five times"),
            ],
            [
                "Verdicts: unaffected, recovers, fails cleanly, not reached, not determined, warns, hangs, crashes. "
                "Their rules are in docs/guest-faults.md. A guest that hangs is a result. "
                "Exit code 5: trouble without any fault."
            ],
        ),
    )(grouped(survey))
    group.command(
        name="cycle",
        epilog=epilog(
            [
                ("txop guest cycle", "200 times the driver, 200 times the dongle, of both drivers, under traffic"),
                ("txop guest cycle --driver rtl8192cu --way replug -n 20", "one of them, short"),
                ("txop guest cycle --device mt7601u -n 50", "another chip and its driver"),
            ],
            ["Exit code 1: something failed; the table shows what."],
        ),
    )(grouped(cycle))


def survey(
    *,
    faults: Faults = None,
    trials: TrialOptions,
    samples: Samples = 1,
    output: Output = None,
    csv: Csv = None,
    markdown: Markdown = None,
    list_faults: ListFlag = False,
    wall_limit: WallLimit = 1800.0,
    image: ImageOptions,
    json: JsonFlag = False,
) -> None:
    """Run fault scripts against drivers, each in a guest of its own, and classify the outcome."""
    from txop.core.whole_file import whole_file
    from txop.guest.fault_check import check_faults
    from txop.guest.shipped_faults import find_faults, shipped_faults
    from txop.guest_trials.survey import LIMIT_S, Survey, control_problems, run_survey
    from txop.guest_trials.survey_report import COLUMNS, cells, survey_markdown, surveyed, write_survey_csv

    if list_faults:
        _ = trials.drivers  # an unknown chip is refused
        for script in shipped_faults(trials.device).values():
            console.stdout().print(safe_text(f"{script.name}: {script.title}"), soft_wrap=True)
        return
    with ExitStack() as tables, errors_reported() as ending, ExitStack() as stack:
        scripts = (
            tuple(find_faults(name) for name in faults) if faults else tuple(shipped_faults(trials.device).values())
        )
        check_faults(scripts, "hostapd")
        what = Survey(scripts, trials.drivers, samples, trials.security)
        place = stack.enter_context(trials.place(image, LIMIT_S, wall_limit, ending))
        at_once = trials.at_once(place)
        note(f"{plural(len(what.cases()), 'guest')}, {at_once} at a time.")
        folder = _folder(output, stack)
        # opened before the first guest: after the last one it would be late to find that they cannot be written
        outs = {path: tables.enter_context(whole_file(path)) for path in (csv, markdown) if path is not None}
        rows = ending.run(run_survey(what, place, folder, jobs=at_once, progress=note))
        if csv is not None:
            write_survey_csv(rows, place, outs[csv])
        if markdown is not None:
            outs[markdown].write(survey_markdown(rows, place))
    if json:
        console.write_json(surveyed(rows, place))
    else:
        _print(COLUMNS, [cells(row) for row in rows], place)
    problems = control_problems(rows)
    if problems:
        raise UserError(
            f"the survey is of little use: {'; '.join(problems)}",
            what_to_do="look at the logs (--output)",
            exit_code=ExitCode.UNDECIDED,
        )


def cycle(
    *,
    trials: TrialOptions,
    way: Ways = None,
    cycles: Cycles = 200,
    output: Output = None,
    markdown: Markdown = None,
    wall_limit: WallLimit = 86_400.0,
    image: ImageOptions,
    json: JsonFlag = False,
) -> None:
    """Unload the driver, or unplug the chip, under traffic again and again, and look for faults and leaks."""
    from txop.core.whole_file import whole_file
    from txop.guest_trials.endurance import Endurance, Removal, cycles_limit_s, run_endurance
    from txop.guest_trials.survey_report import CYCLE_COLUMNS, cycle_cells, cycle_markdown, cycled

    ways = tuple(dict.fromkeys(way or [each.value for each in Removal]))
    if odd := [each for each in ways if each not in set(Removal)]:
        raise UserError(f"{odd[0]!r} is not reload or replug", where="--way")
    with ExitStack() as tables, errors_reported() as ending, ExitStack() as stack:
        what = Endurance(trials.drivers, tuple(Removal(each) for each in ways), cycles, trials.security)
        place = stack.enter_context(trials.place(image, cycles_limit_s(cycles), wall_limit, ending))
        at_once = trials.at_once(place)
        guests = plural(len(what.drivers) * len(ways), "guest")
        note(f"{guests} of {plural(cycles, 'cycle')}, {at_once} at a time.")
        folder = _folder(output, stack)
        out = None if markdown is None else tables.enter_context(whole_file(markdown))
        runs = ending.run(run_endurance(what, place, folder, jobs=at_once, progress=note))
        if out is not None:
            out.write(cycle_markdown(runs, place))
    if json:
        console.write_json(cycled(runs, place))
    else:
        _print(CYCLE_COLUMNS, [cycle_cells(done) for done in runs], place)
    if any(done.problems for done in runs):
        raise typer.Exit(ExitCode.VERDICT_NO)


def _folder(output: Path | None, stack: ExitStack) -> Path:
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        return output
    from txop.guest.scratch import scratch_folder

    return stack.enter_context(scratch_folder("results"))


def _print(columns: Sequence[str], rows: Sequence[Sequence[Cell]], place: Place) -> None:
    from rich.table import Table

    from txop.core.origin import NOT_RADIO

    table = Table(
        title=safe_text(f"guest-{place.computer.mode.value}, Linux {place.image.release}"), title_justify="left"
    )
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(safe_text("–" if value is None else str(value)) for value in row))
    console.stdout().print(table)
    console.stdout().print(safe_text(NOT_RADIO))
