"""``txop demo``: the main job, from plan to report, without hardware and without root."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from txop.cli import console
from txop.cli.browser import show
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.plan_problems import read_plan
from txop.cli.run import RunOptions, carry_on
from txop.cli.shared_options import OpenOrNotFlag, QuietFlag, folder_option
from txop.core.errors import UserError
from txop.core.whole_file import whole_file

TEMPLATE = "emulated-driver-patches"
"""The plan it carries out."""

Output = Annotated[
    Path,
    folder_option("Folder for the plan and the archive; made if needed.", "FOLDER"),
]
Blocks = Annotated[
    int | None, typer.Option("--blocks", metavar="N", min=1, max=100, help="Override the number of blocks.")
]


def register(app: typer.Typer) -> None:
    """Add ``txop demo``."""
    app.command(
        name="demo",
        epilog=epilog(
            [
                ("txop demo", "compare three driver variants on an emulated 802.11n link; under five minutes"),
                ("txop demo --blocks 1", "only to see how it works; one block proves nothing"),
            ],
            notes=(
                "Real iperf3 and ping, through a modelled radio link between two network namespaces. A real campaign "
                "is the same with other targets: `txop plan new --list-templates`.",
            ),
        ),
    )(demo)


def demo(
    output: Output = Path("build/demo"),
    blocks: Blocks = None,
    open_page: OpenOrNotFlag = True,
    quiet: QuietFlag = False,
    json: JsonFlag = False,
) -> int:
    """Carry out a plan on an emulated link: measure, capture, analyse, compare, report."""
    from txop.campaign import session
    from txop.plan.overrides import Overrides
    from txop.plan.templates import templates

    plan, archive = output / "plan.toml", output / "archive"
    output.mkdir(parents=True, exist_ok=True)
    _clear(archive)
    with whole_file(plan) as out:
        out.write(templates()[TEMPLATE].text)
    if not quiet:
        console.stderr().print(safe_text(f"$ txop run {plan} -o {archive}"), soft_wrap=True)
    loaded, _ = read_plan(plan)
    prepared = session.begin(loaded, archive, Overrides(blocks=blocks))
    code = carry_on(prepared, RunOptions(no_cache=True, quiet=quiet, as_json=json))
    if open_page:
        show(archive / "report.html")
    return code


def _clear(archive: Path) -> None:
    """Remove the archive of an earlier demo, and nothing else."""
    from txop.archive.layout import ArchiveLock, Layout

    if not archive.exists():
        return
    if archive.is_symlink() or not (archive / "archive.json").is_file():
        raise UserError(
            "is there, and no archive of an earlier demo", where=str(archive), what_to_do="choose another --output"
        )
    with ArchiveLock(Layout(archive)):
        for path in sorted(archive.iterdir(), key=lambda path: path.name == "archive.json"):  # it goes last
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        archive.rmdir()
