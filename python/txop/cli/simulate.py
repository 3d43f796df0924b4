"""``txop simulate SCENARIO``: a link in virtual time."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.page_output import check_page, is_stdout, write_page
from txop.cli.scenario_name import check_name
from txop.cli.shared_options import CsvOption, HtmlOption, ScenarioArgument, SetOption, TableOption, TopOption
from txop.core.errors import UserError
from txop.core.nearest import did_you_mean

if TYPE_CHECKING:
    from rich.progress import Progress

    from txop.simulate import Simulation, SimulationOptions

_PROGRESS_AFTER_S = 1.0


def register(app: typer.Typer) -> None:
    """Add ``txop simulate``."""
    app.command(
        name="simulate",
        epilog=epilog(
            [
                ("txop simulate --list", "the scenarios that come with txop"),
                ("txop simulate two-stations", "one of them"),
                ("txop simulate link.toml --seeds 20", "a file, with twenty seeds"),
                ("txop simulate two-stations --sweep mcs=0..7", "every MCS; a key without dots means all of that name"),
                ("txop simulate two-stations --set wlan.ap.tx_ampdu=false", "with a setting changed"),
                ("txop simulate two-stations --html simulated.html", "one page with plots"),
            ],
            ["The same scenario and seed give the same figures. Their origin is `simulated`: see docs/simulate.md."],
        ),
    )(simulate)


def simulate(
    scenario: ScenarioArgument = None,
    seeds: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="Runs with seeds that count up.")] = 1,
    sweep: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUES", help="a..b, a..b:step or v1,v2; repeated: every combination."),
    ] = None,
    settings: SetOption = None,
    duration: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Simulated time that counts: sets run.duration_s.")
    ] = None,
    threads: Annotated[int, typer.Option(min=0, metavar="N", help="Runs at the same time; 0: one per processor.")] = 0,
    json: JsonFlag = False,
    csv: CsvOption = None,
    table: TableOption = None,
    parquet: Annotated[Path | None, typer.Option(metavar="FILE", help="Write every figure, one in a row.")] = None,
    html: HtmlOption = None,
    air: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what a perfect monitor would have captured.")
    ] = None,
    usb: Annotated[Path | None, typer.Option(metavar="FILE", help="Write what usbmon would have captured.")] = None,
    waterfall: Annotated[
        bool | None,
        typer.Option(
            "--waterfall/--no-waterfall",
            help="Show where the goodput of the first run went; the default for a single run.",
        ),
    ] = None,
    top: TopOption = 40,
    list_scenarios: Annotated[bool, typer.Option("--list", help="List the shipped scenarios.")] = False,
) -> None:
    """Run a link in virtual time: goodput, latency, retries, airtime, bus.

    The figures come from a model (origin: simulated), never from hardware.
    """
    if list_scenarios:
        _list(as_json=json)
        return
    from contextlib import ExitStack

    from txop.core.whole_file import replacement

    if scenario is None:
        raise UserError("no scenario was given", what_to_do="name one, or see what there is with --list")
    _check_outputs(json=json, csv=csv, table=table)
    check_page(html, json=json, csv=csv)
    changed = [_setting(text) for text in settings or ()]
    if duration is not None:
        changed.append(("run.duration_s", repr(duration)))
    _check_captures(scenario, changed, air, usb)
    if waterfall is None:
        waterfall = seeds == 1 and not sweep
    with ExitStack() as files:
        air_file = None if air is None else files.enter_context(replacement(air))
        usb_file = None if usb is None else files.enter_context(replacement(usb))
        options: SimulationOptions = {
            "settings": changed,
            "sweeps": sweep or [],
            "seeds": seeds,
            "threads": threads,
            "air": air_file,
            "usb": usb_file,
            "waterfall": waterfall,
        }
        document = _run(scenario, options)
    for written in (air, usb):
        if written is not None:
            console.stderr().print(safe_text(f"Wrote {written}"))
    if json:
        console.write_json(document)
        if csv is None and parquet is None and html is None:
            return
    from txop.simulate import Simulation

    done = Simulation.parse(document)
    if csv is not None:
        _write_csv(done, csv, table)
    if parquet is not None:
        _write_parquet(done, parquet)
    if html is not None:
        _write_page(done, html)
    if not json and csv != "-" and not is_stdout(html):
        _show(done, top)


def _run(name: str, options: SimulationOptions) -> bytes:
    from txop.simulate import run_json

    check_name(name)
    with _ProgressBar() as bar:
        options["progress"] = bar.advance
        return run_json(name, **options)


def _check_captures(scenario: str, settings: list[tuple[str, str]], air: Path | None, usb: Path | None) -> None:
    """Refuse a capture of something that the link does not have, rather than write an empty file."""
    if air is None and usb is None:
        return
    from txop.simulate import check

    check_name(scenario)
    found = check(scenario, settings=settings)
    if air is not None and "wlan" not in found:
        raise UserError("--air captures the air, and this link has none", what_to_do="leave it out, or use --usb")
    wlan = found.get("wlan", {})
    radios = [wlan.get("ap", {}), wlan.get("dut", {}), *wlan.get("stations", [])]
    if usb is not None and "modem" not in found and not any(radio.get("usb") for radio in radios):
        raise UserError("--usb captures a USB, and no host of this link has one", what_to_do="leave it out")


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UserError(f'"{text}" is not a setting', what_to_do="write it as --set wlan.ap.mcs=3")
    return key.strip(), value.strip()


def _check_outputs(*, json: bool, csv: str | None, table: list[str] | None) -> None:
    from txop.simulate.tables import TABLES

    for name in table or ():
        if name not in TABLES:
            raise UserError(f'unknown table "{name}"', what_to_do=did_you_mean(name, list(TABLES)))
    if table and csv is None:
        raise UserError("--table goes with --csv")
    if csv == "-" and json:
        raise UserError("--json and --csv - both write to stdout", what_to_do="give --csv a folder")
    if csv == "-" and (not table or len(table) != 1):
        raise UserError("--csv - writes one table", what_to_do="name it with --table, for example --table flows")


def _list(*, as_json: bool) -> None:
    from rich.table import Table

    from txop.simulate import shipped

    known = shipped()
    if as_json:
        console.write_json([{"name": entry.name, "title": entry.title} for entry in known.values()])
        return
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for entry in known.values():
        shown.add_row(safe_text(entry.name, "bold"), safe_text(entry.title))
    console.stdout().print(shown)


def _show(done: Simulation, top: int) -> None:
    from txop.cli.terminal_report import print_sections
    from txop.simulate.view import sections

    out = console.stdout()
    print_sections(out, sections(done), top)
    out.print()
    out.print(safe_text("– means not available, never zero. Origin: simulated; docs/simulate.md explains it.", "dim"))


def _write_csv(done: Simulation, target: str, names: list[str] | None) -> None:
    from txop.core.whole_file import whole_file
    from txop.simulate.tables import TABLES, write_csv

    if target == "-":
        write_csv(done, (names or [""])[0], sys.stdout)
        return
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = names or list(TABLES)
    for name in wanted:
        with whole_file(folder / f"{name}.csv", newline="") as out:
            write_csv(done, name, out)
    console.stderr().print(safe_text(f"Wrote {len(wanted)} tables to {folder}"))


def _write_parquet(done: Simulation, target: Path) -> None:
    from txop.core.whole_file import replacement
    from txop.simulate.tables import write_parquet

    with replacement(target) as written, written.open("wb") as out:
        write_parquet(done, out)
    console.stderr().print(safe_text(f"Wrote {target}"))


def _write_page(done: Simulation, target: Path) -> None:
    from txop.simulate.page import page

    write_page(page(done), target)


class _ProgressBar:
    """A bar on stderr, once it takes noticeably long and a terminal is there to show it."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._progress: Progress | None = None
        self._wanted = sys.stderr.isatty()

    def __enter__(self) -> _ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def advance(self, done: int, total: int) -> None:
        """Called after runs."""
        if not self._wanted or time.monotonic() - self._started < _PROGRESS_AFTER_S:
            return
        if self._progress is None:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
                console=console.stderr(), transient=True,
            )  # fmt: skip
            self._task = self._progress.add_task("Simulating", total=total)
            self._progress.start()
        self._progress.update(self._task, completed=done, total=total)
