"""Options and arguments that several commands have, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from txop.cli import name_completion
from txop.cli.archive_place import ARCHIVE_HELP
from txop.cli.page_output import a_folder


def folder_option(words: str, metavar: str = "DIR") -> Any:
    """``--output`` of a command that makes a folder; ``words``: its help."""
    return typer.Option("--output", "-o", callback=a_folder, metavar=metavar, help=words)


DriverFolderOption = Annotated[
    str | None,
    typer.Option("--folder", metavar="PATH", help="The driver's folder in it; default: where a Makefile makes it."),
]
"""Where in a tree a driver is."""

BlocksOption = Annotated[
    int | None,
    typer.Option(
        "--blocks",
        metavar="N",
        min=1,
        max=1000,
        help="Override the number of blocks.",
    ),
]
"""How many blocks there are."""

GuestsAtOnceOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        max=256,
        help="Guests at once; default: one for each processor.",
    ),
]
"""How many guests run side by side."""

QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors and the result only.")]
"""No progress."""

OpenFlag = Annotated[bool, typer.Option("--open", help="Open the page when there is a display.")]
"""A page is opened."""

OpenOrNotFlag = Annotated[bool, typer.Option("--open/--no-open", help="Open the page when there is a display.")]
"""A page is opened, or is not."""

HtmlOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write one self-contained page with plots; - for stdout.",
    ),
]
"""Where a page goes."""

CsvOption = Annotated[str | None, typer.Option(metavar="DIR", help="Write a CSV file per table; - for stdout.")]
"""Where tables go."""

TableOption = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only this table for --csv; may be repeated.")
]
"""Which tables go there."""

SectionOption = Annotated[str | None, typer.Option(metavar="NAME,...", help="Show only these sections.")]
"""Which sections are shown."""

EverySectionFlag = Annotated[bool, typer.Option("--all", help="Show all sections, and each finding with its evidence.")]
"""Whether more than one screen is shown."""

TopOption = Annotated[int, typer.Option(min=0, metavar="N", help="Rows shown of each table; 0 for all.")]
"""How much of each table is shown."""

ArchiveFolderArgument = Annotated[Path, typer.Argument(metavar="ARCHIVE", help="The folder that `txop run` made.")]
"""An archive that is written."""

ArchiveArgument = Annotated[str, typer.Argument(metavar="ARCHIVE", help=ARCHIVE_HELP)]
"""An archive that is read. It is text: a :class:`~pathlib.Path` would make one stroke of the two of ``s3://``."""

ScenarioArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="SCENARIO",
        help="A scenario file (TOML), or the name of a shipped one.",
        autocompletion=name_completion.scenarios,
    ),
]
"""A scenario."""

SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Set a key over the scenario; repeatable.")
]
"""Keys over those of a scenario."""
