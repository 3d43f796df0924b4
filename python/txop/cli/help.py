"""``txop help COMMAND``: the same as ``txop COMMAND --help``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli.examples import epilog
from txop.cli.name_completion import beginning
from txop.core.errors import UserError
from txop.core.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typer.core import TyperCommand


def register(app: typer.Typer) -> None:
    """Add ``txop help``."""
    app.command(
        name="help",
        epilog=epilog(
            [
                ("txop help", "all commands"),
                ("txop help air", "one of them"),
                ("txop help guest run", "one of a group"),
            ]
        ),
    )(show_help)


def _commands(incomplete: str) -> list[str]:
    from txop.cli.app import COMMANDS

    return beginning((each.name for each in COMMANDS), incomplete)


def show_help(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND]", help="A command; all, if not given.", autocompletion=_commands),
    ] = None,
) -> None:
    """Show what a command does and takes, with examples."""
    from txop.cli.app import build

    command = typer.main.get_command(build())
    context = typer.Context(command, info_name="txop", **command.context_settings)
    for word in words or ():
        below: Mapping[str, TyperCommand] = getattr(command, "commands", {})
        if word not in below:
            near = nearest(word, below)
            what_to_do = f'did you mean "{near}"?' if near else f"see `{context.command_path} --help`"
            raise UserError(f"{context.command_path} has no command {word!r}", what_to_do=what_to_do)
        command = below[word]
        context = typer.Context(command, info_name=word, parent=context)
    typer.echo(command.get_help(context))
