"""``txop board``: a board of tasks, each state beside its evidence."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console, name_completion
from txop.cli.browser import show
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.mac_address import mac_address
from txop.cli.shared_options import OpenFlag
from txop.core.errors import ExitCode, UserError
from txop.core.nearest import did_you_mean
from txop.core.stores import is_address, local_file, matching

if TYPE_CHECKING:
    from txop.board.boards import LocatedBoard
    from txop.board.judge import JudgedBoard
    from txop.board.weigh import GivenCapture

_FORMATS = ("html", "markdown", "dokuwiki", "json")
_STDOUT = Path("-")


def register(app: typer.Typer) -> None:
    """Add ``txop board``."""
    app.command(
        name="board",
        epilog=epilog(
            [
                ("txop board rtl8xxxu-gardena", "a board that comes with txop: what of it has evidence"),
                ("txop board rtl8xxxu-gardena --capture air.pcapng", "and what a capture of your device shows"),
                ("txop board board.toml --format html -o board.html", "a board of your own, as a page"),
                ("txop board board.toml --format dokuwiki -o -", "as a table for a wiki"),
                ("txop board campaign --board board.toml --arm patched", "check a campaign's captures"),
                ("txop board campaign --board board.toml --certificate wiki.txt", "and a certificate to its captures"),
                ("txop board board.toml --json | jq '.tasks[] | {task, state, standing}'", "for scripts"),
            ],
            [
                "A state is a claim. Evidence is looked up: a fault in a log, a line that iw printed, a check of a"
                " capture, a figure of runs. A state without it is shown as claimed, without evidence.",
                "Exit codes: 1 when evidence contradicts a state or is not there; 4 when a capture or an archive is"
                " damaged. docs/board.md explains the files.",
            ],
        ),
    )(board)


def board(
    what: Annotated[
        str,
        typer.Argument(
            metavar="BOARD|PLAN|ARCHIVE",
            help="A board (TOML, or a name that txop knows), or an archive (also s3://...) or plan that has one.",
            autocompletion=name_completion.boards,
        ),
    ],
    captures: Annotated[
        list[str] | None,
        typer.Option(
            "--capture",
            metavar="FILE",
            help="Check this capture (or `txop air --json` of it), a file or at an address; repeatable.",
        ),
    ] = None,
    station: Annotated[
        str | None,
        typer.Option(metavar="MAC", help="The device in captures; default: the board's, else the one with most data."),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Check these certificates, too: a wiki table with a column Certified, or TOML with [[certificate]].",
        ),
    ] = None,
    board_file: Annotated[
        Path | None,
        typer.Option(
            "--board",
            metavar="BOARD",
            help="The board of an archive or plan without one: a file, or a name.",
            autocompletion=name_completion.boards,
        ),
    ] = None,
    arm: Annotated[
        str | None, typer.Option(metavar="ARM", help="Use only this arm's runs of an archive; default: the board's.")
    ] = None,
    evidence: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder of the files that the board names; default: the board's own."),
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"Write a file: {', '.join(_FORMATS)}.",
            autocompletion=name_completion.one_of(_FORMATS),
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it; - for stdout.")
    ] = None,
    open_page: OpenFlag = False,
    json: JsonFlag = False,
) -> int:
    """Show a board of tasks: each state beside what its evidence shows."""
    _check(format_name, output, json=json, open_page=open_page)
    named = [each for word in captures or () for each in (matching(word) if is_address(word) else [word])]
    for each in named:
        if not is_address(each) and not Path(each).exists():
            raise UserError("no such capture", where=each)
    if evidence is not None and not evidence.is_dir():
        raise UserError("no such folder", where=str(evidence))
    device = None if station is None else mac_address(station)
    from txop.board.boards import find, of_archive
    from txop.board.weigh import GivenCapture

    with ExitStack() as opened:
        if is_address(what):
            from txop.archive.fetched import archive_at

            placed = of_archive(opened.enter_context(archive_at(what, captures=True)), board_file)
        else:
            placed = find(what, board_file)
        given = [GivenCapture(Path(opened.enter_context(local_file(each))), each) for each in named]
        judged = _judged(placed, given, certificate, device, arm or "", evidence)
    if format_name is not None and output is not None:
        _write(judged, format_name, output)
    if json:
        from txop.board.exports import document

        console.write_json(document(judged))
    elif output != _STDOUT:
        _show(judged)
    if open_page and output is not None:
        show(output)
    return _code(judged)


def _judged(
    placed: LocatedBoard,
    captures: list[GivenCapture],
    certificate: Path | None,
    device: str | None,
    arm: str,
    folder: Path | None,
) -> JudgedBoard:
    from txop.board.weigh import weigh
    from txop.cli.reading_bar import analyzed

    damage: list[str] = []
    if certificate is not None:
        from txop.board.certificate_file import read_certificates

        given = read_certificates(certificate)
        damage = given.damage
        certificates = [*placed.board.certificate, *given.certificates]
        placed = replace(placed, board=placed.board.model_copy(update={"certificate": certificates}))
    judged = weigh(placed, captures, analyzed, station=device, arm=arm, folder=folder)
    return replace(judged, damage=[*damage, *judged.damage])


def _check(format_name: str | None, output: Path | None, *, json: bool, open_page: bool) -> None:
    if format_name is not None and format_name not in _FORMATS:
        to_do = did_you_mean(format_name, _FORMATS)
        raise UserError(f"unknown format {format_name}", where="--format", what_to_do=to_do)
    if (format_name is None) != (output is None):
        raise UserError("--format and --output go together", what_to_do="give both: --format html -o board.html")
    if json and output == _STDOUT:
        raise UserError("--json and --output - both write to stdout", what_to_do="give --output a file")
    if open_page and (format_name != "html" or output == _STDOUT):
        raise UserError("--open needs a page", what_to_do="add --format html -o FILE")
    if output is not None and output != _STDOUT and not output.parent.is_dir():
        raise UserError("no such folder", where=str(output.parent), what_to_do="make it, or name another file")


def _write(judged: JudgedBoard, format_name: str, target: Path) -> None:
    import json

    from txop.board import exports
    from txop.core.version import program_version
    from txop.core.whole_file import whole_file
    from txop.report.exports.markup import MARKUPS

    if format_name == "html":
        text = exports.page(judged, f"txop {program_version()}")
    elif format_name == "json":
        text = json.dumps(exports.document(judged), indent=2) + "\n"
    else:
        text = "\n".join(exports.lines(judged, MARKUPS[format_name])) + "\n"
    if target == _STDOUT:
        sys.stdout.write(text)
        return
    with whole_file(target) as out:
        out.write(text)
    console.stderr().print(safe_text(f"Wrote {target}"), soft_wrap=True)


def _show(judged: JudgedBoard) -> None:
    from txop.board.view import headline, sections
    from txop.cli.terminal_report import print_sections

    out = console.stdout()
    out.print(safe_text(judged.board.title, "bold"), soft_wrap=True)
    out.print(safe_text(headline(judged)), soft_wrap=True)
    print_sections(out, sections(judged), 0)


def _code(judged: JudgedBoard) -> ExitCode:
    for sentence in judged.damage:
        console.warn(f"{sentence}.")
    from txop.board.judge import BAD

    if judged.damage:
        return ExitCode.PARTIAL
    return ExitCode.VERDICT_NO if any(row.standing in BAD for row in judged.rows) else ExitCode.OK
