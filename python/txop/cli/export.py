"""``txop export ARCHIVE --format flent -o DIR``: runs as files of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from txop.cli import console, name_completion
from txop.cli.archive_place import ARCHIVE_HELP
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.shared_options import folder_option
from txop.core.errors import ExitCode, UserError
from txop.core.nearest import did_you_mean
from txop.present.format import plural

_FORMATS = ("flent",)
_MOST_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add ``txop export``."""
    app.command(
        name="export",
        epilog=epilog(
            [
                ("txop export campaign --format flent -o flent", "a data file of flent for each run"),
                (
                    "txop export campaign -o flent && flent flent/*.flent.gz -f summary",
                    "and what flent reports about them",
                ),
            ],
            [
                "Written: version 4 of flent's format. The title of each file has the origin of its figures. Runs "
                "that flent has no test for are named and left out. docs/exchange.md",
                "For tables, CSV, Parquet and pages see txop report --format.",
                "Exit codes: 0 every valid run exported; 4 some, or parts of the archive are damaged; 5 none.",
            ],
        ),
    )(export)


def export(
    archive: Annotated[str, typer.Argument(metavar="ARCHIVE", help=ARCHIVE_HELP)],
    output: Annotated[
        Path,
        folder_option("Folder for the files."),
    ],
    format_name: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"One of {', '.join(_FORMATS)}.",
            autocompletion=name_completion.one_of(_FORMATS),
        ),
    ] = "flent",
    json: JsonFlag = False,
) -> int:
    """Write the runs of an archive as data files of other tools."""
    if format_name not in _FORMATS:
        to_do = did_you_mean(format_name, _FORMATS)
        raise UserError(f"unknown format {format_name}", where="--format", what_to_do=to_do)
    if output.exists() and not output.is_dir():
        raise UserError("not a folder", where=str(output), what_to_do="give --output the name of a folder")
    from txop.archive.fetched import archive_at
    from txop.archive.reader import read_archive
    from txop.exchange.flent_export import export as export_flent

    with archive_at(archive) as layout:
        read = read_archive(layout)
        done = export_flent(read, output)
    if json:
        console.write_json(
            {
                "format": "txop-export",
                "version": 1,
                "to": format_name,
                "written": [str(path) for path in done.files],
                "left_out": done.left_out,
                "damage": read.damage,
            }
        )
    else:
        console.stdout().print(safe_text(f"Written: {plural(len(done.files), 'file')} in {output}"), soft_wrap=True)
        err = console.stderr()
        for sentence in [*done.left_out, *read.damage][:_MOST_SHOWN]:
            err.print(safe_text(f"Left out: {sentence}", style="yellow"), soft_wrap=True)
    void = sum(run.state != "valid" for run in read.runs)
    if not done.files:
        return ExitCode.UNDECIDED
    return ExitCode.PARTIAL if read.damage or len(done.left_out) > void else ExitCode.OK
