"""``txop man FOLDER`` and ``txop completion SHELL``: for packagers, made from the same definition as ``--help``."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from txop.cli import console
from txop.cli.examples import Epilog, epilog

if TYPE_CHECKING:
    from typer.core import TyperCommand


class Shell(StrEnum):
    """Shells that completion is written for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def register(app: typer.Typer) -> None:
    """Add ``txop man`` and ``txop completion``."""
    app.command(
        name="man",
        epilog=epilog([("txop man build/man", "txop.1, txop-air.1, ...; for `man -l`, or a package's man1 folder")]),
    )(man)
    app.command(
        name="completion",
        epilog=epilog(
            [
                ("txop completion bash > txop", "for /usr/share/bash-completion/completions"),
                ("txop completion zsh > _txop", "for a folder in fpath, /usr/share/zsh/vendor-completions in Debian"),
                ("txop completion fish > txop.fish", "for /usr/share/fish/vendor_completions.d"),
            ],
            ["For yourself: `txop --install-completion`."],
        ),
    )(completion)


def man(folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the pages go; made if needed.")]) -> None:
    """Write the man pages of all commands."""
    from txop.cli.app import build
    from txop.core.version import program_version
    from txop.core.whole_file import whole_file

    folder.mkdir(parents=True, exist_ok=True)
    pages = dict(_pages(cast("TyperCommand", typer.main.get_command(build())), ["txop"]))
    for name, command in pages.items():
        with whole_file(folder / f"{name}.1") as out:
            out.write(page(name, command, sorted(pages.keys() - {name}), program_version()))
    console.stderr().print(console.safe_text(f"Wrote {len(pages)} man pages to {folder}"))


def completion(shell: Annotated[Shell, typer.Argument(help="bash, zsh or fish.")]) -> None:
    """Write the completion script of a shell to standard output."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    typer.echo(get_completion_script(prog_name="txop", complete_var="_TXOP_COMPLETE", shell=shell.value))


def _pages(command: TyperCommand, words: list[str]) -> Iterator[tuple[str, TyperCommand]]:
    """The command and those below it, by the names of their pages."""
    yield "-".join(words), command
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from _pages(below, [*words, name])


def page(name: str, command: TyperCommand, others: list[str], version: str) -> str:
    """The man page of a command, as roff for the macros of man(7)."""
    words = name.replace("-", " ")
    context = typer.Context(command, info_name=words, resilient_parsing=True)
    about, *more = (command.help or "").split("\n\n")
    lines = [
        f'.TH "{name.upper()}" "1" "" "txop {_roff(version)}" "txop"',
        ".SH NAME",
        f"{_roff(name)} \\- {_roff(_line(about).rstrip('.'))}",
        ".SH SYNOPSIS",
        _bold(words),
        _roff(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
    ]
    for paragraph in (about, *more):
        lines += [".PP", _roff(_line(paragraph))]
    for title, kind in (("ARGUMENTS", "argument"), ("OPTIONS", "option")):
        shown = [each for each in command.get_params(context) if each.param_type_name == kind]
        records = [record for each in shown if (record := each.get_help_record(context)) is not None]
        lines += [f".SH {title}"] if records else []
        for term, text in records:
            lines += [".TP", _bold(term.partition(" <")[0] if kind == "argument" else term), _roff(_line(text))]
    below = getattr(command, "commands", {})
    lines += [".SH COMMANDS"] if below else []
    for each, inner in below.items():
        if not inner.hidden:
            lines += [".TP", f"{_bold(f'{name}-{each}')}(1)", _roff(inner.get_short_help_str(200))]
    lines += _epilog(command.epilog)
    related = [other for other in others if other == name.rpartition("-")[0] or other.startswith(f"{name}-")]
    if related:
        lines += [".SH SEE ALSO", ",\n".join(f"{_bold(other)}(1)" for other in related)]
    return "\n".join(lines) + "\n"


def _epilog(text: str | None) -> Iterator[str]:
    """Examples with what they are for, then notes."""
    if not isinstance(text, Epilog):
        return
    yield ".SH EXAMPLES"
    for call, purpose in text.examples:
        yield from (".TP", _bold(call), _roff(purpose))
    for note in text.notes:
        yield from (".PP", _roff(note))


def _bold(text: str) -> str:
    return rf"\fB{_roff(text)}\fR"


def _line(text: str) -> str:
    return " ".join(text.split())


def _roff(text: str) -> str:
    """Text that roff takes as it is.

    >>> _roff("'--a' C:\\\\x")
    "\\\\&'\\\\-\\\\-a' C:\\\\ex"
    """
    safe = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe
