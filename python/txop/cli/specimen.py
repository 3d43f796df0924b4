"""``txop specimen``: a capture made by rule, with a known truth, and what txop makes of it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from txop.cli import console, name_completion
from txop.cli.browser import show
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.shared_options import OpenOrNotFlag, folder_option
from txop.core.errors import UserError
from txop.core.nearest import did_you_mean
from txop.core.whole_file import replacement

Output = Annotated[
    Path,
    folder_option("Folder for the capture and the page; made if needed.", "FOLDER"),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        max=2**64 - 1,
        help="The same seed gives the same capture, byte for byte.",
    ),
]
Scene = Annotated[
    str,
    typer.Option(
        "--scene",
        metavar="NAME",
        help="What happens on the air; see --list-scenes.",
        autocompletion=name_completion.scenes,
    ),
]
ListScenes = Annotated[bool, typer.Option("--list-scenes", help="List the scenes and exit.")]
Seconds = Annotated[
    float,
    typer.Option(
        "--seconds",
        metavar="SECONDS",
        min=0.1,
        max=600.0,
        help="Length of the capture, in seconds.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add ``txop specimen``."""
    app.command(
        name="specimen",
        epilog=epilog(
            [
                ("txop specimen", "make a capture, analyse it, show the tables and the page"),
                ("txop specimen --list-scenes", "what else can be made, each with what it shows"),
                ("txop specimen --scene ghosts --no-open", "damaged frames, and the addresses they invent"),
                ("txop specimen --seed 7 --seconds 60 --no-open", "another one, longer, tables only"),
            ]
        ),
    )(specimen)


def specimen(
    output: Output = Path("build/specimen"),
    scene: Scene = "late-block-ack",
    seed: Seed = 1,
    seconds: Seconds = 20.0,
    open_page: OpenOrNotFlag = True,
    list_scenes: ListScenes = False,
    json: JsonFlag = False,
) -> None:
    """Make an 802.11 capture without hardware, analyse it with `txop air`, and show the page."""
    from txop import _native

    scenes = dict(_native.specimen_scenes())
    if list_scenes:
        _list(scenes, as_json=json)
        return
    if scene not in scenes:
        raise UserError(f"unknown scene {scene!r}", what_to_do=did_you_mean(scene, list(scenes)))

    output.mkdir(parents=True, exist_ok=True)
    capture = output / "air.pcapng"
    page = output / "air.html"
    truth = output / "truth.json"

    notes = console.stderr()
    with replacement(capture) as written, replacement(truth) as written_truth:
        written_truth.write_bytes(_native.write_specimen(os.fspath(written), seed=seed, seconds=seconds, scene=scene))
    notes.print(safe_text(f"Made {capture} ({seconds:g} s of {scene!r}: {scenes[scene]}; seed {seed})."))
    notes.print(safe_text(f"What is really in it, to compare with: {truth}"))

    arguments = ["air", os.fspath(capture), "--html", os.fspath(page)]
    if json:
        arguments.append("--json")
    notes.print(safe_text(f"$ txop {shlex.join(arguments)}"))
    _run_txop(arguments)

    notes.print(safe_text(f"Report: {page.resolve()}"))
    if open_page:
        show(page)


def _list(scenes: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        console.write_json(
            {
                "format": "txop-scenes",
                "version": 1,
                "scenes": [{"name": name, "shows": shows} for name, shows in scenes.items()],
            }
        )
        return
    rows = Table("Scene", "What it shows")
    for name, shows in scenes.items():
        rows.add_row(safe_text(name), safe_text(shows))
    console.stdout().print(rows)


def _run_txop(arguments: list[str]) -> None:
    """Run another command of txop in this process, the very code that the user would run."""
    from txop.cli.app import build  # the list of commands includes this module

    code = typer.main.get_command(build())(args=arguments, prog_name="txop", standalone_mode=False)
    if isinstance(code, int) and code != 0:
        raise typer.Exit(code)
