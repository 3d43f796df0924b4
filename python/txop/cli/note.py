"""``txop note``: a remark for the archive, while the campaign runs or afterwards."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from txop.cli import console, name_completion
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.shared_options import ArchiveFolderArgument
from txop.core.errors import ExitCode, UserError


def register(app: typer.Typer) -> None:
    """Add ``txop note``."""
    app.command(
        name="note",
        epilog=epilog(
            [
                ('txop note campaign "microwave oven was on from 14:02"', "on the campaign"),
                ('txop note campaign --run 003-vanilla-tx "door opened"', "on one run"),
                ('txop note campaign --arm vanilla "dongle felt hot"', "on an arm"),
            ],
            ["A remark changes no figure and voids no run. Reports show it."],
        ),
    )(note)


def note(
    archive: ArchiveFolderArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The remark.")],
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="The run it is about.")] = None,
    arm: Annotated[
        str | None,
        typer.Option("--arm", metavar="ARM", help="The arm it is about.", autocompletion=name_completion.arms),
    ] = None,
    as_json: JsonFlag = False,
) -> int:
    """Add a remark to a campaign: what was going on that no probe records."""
    from txop.archive.journal import read_journal
    from txop.archive.reader import read_archive
    from txop.archive.remarks import add_remark, remarks_of

    if not text.strip():
        raise UserError("the remark is empty")
    read = read_archive(archive)
    add_remark(read, text.strip(), arm=arm, run=run)
    if as_json:
        remarks = [asdict(remark) for remark in remarks_of(read_journal(read.layout.journal).events)]
        console.write_json({"format": "txop-remarks", "version": 1, "remarks": remarks})
    else:
        console.stderr().print(safe_text("Noted."))
    return ExitCode.OK
