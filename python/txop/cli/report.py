"""``txop report ARCHIVE``: a campaign as a page, as text, as data, as pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console, name_completion
from txop.cli.browser import show
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.shared_options import ArchiveArgument, OpenFlag
from txop.core.errors import ExitCode, UserError
from txop.core.nearest import did_you_mean
from txop.core.stores import is_address
from txop.present.format import plural

if TYPE_CHECKING:
    from txop.archive.layout import Layout
    from txop.archive.reader import Archive
    from txop.compare.result import CompareResult

HTML = "html"
_STDOUT = Path("-")
_NAMES = (HTML, "mail", "mail-ascii", "markdown", "dokuwiki", "csv", "json", "parquet")


def register(app: typer.Typer) -> None:
    """Add ``txop report``."""
    app.command(
        name="report",
        epilog=epilog(
            [
                ("txop report campaign", "writes campaign/report.html: one file, to be mailed or opened anywhere"),
                ("txop report campaign --format mail -o -", "some forty lines for a mail, on stdout"),
                ("txop report campaign --format markdown -o mail.txt", "plain text of 78 columns for a mailing list"),
                ("txop report campaign --format dokuwiki", "tables for a wiki page"),
                ("txop report campaign --plots pictures", "and every plot as PNG and SVG"),
                ("txop report campaign --baseline vendor", "against another arm"),
            ],
            [
                "Works while the campaign runs, and shows its progress.",
                "Exit codes: 0 written; 2 not an archive; 4 written, but parts of the archive are damaged.",
                "docs/report.md explains the page.",
            ],
        ),
    )(report)


def report(
    archive: ArchiveArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write; - for stdout; default: report.html (or report.md, ...) in the archive.",
            show_default=False,
        ),
    ] = None,
    format_name: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"One of {', '.join(_NAMES)}; parquet is a folder.",
            autocompletion=name_completion.one_of(_NAMES),
        ),
    ] = HTML,
    plots: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write every plot as PNG and SVG into this folder.", show_default=False),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="ARM",
            help="Compare with this arm; default: the plan's baseline.",
            autocompletion=name_completion.arms,
        ),
    ] = None,
    open_page: OpenFlag = False,
    json: JsonFlag = False,
) -> int:
    """Write a campaign as one HTML page, or as text, tables, data and pictures."""
    if format_name not in _NAMES:
        to_do = did_you_mean(format_name, _NAMES)
        raise UserError(f"unknown format {format_name}", where="--format", what_to_do=to_do)
    if format_name == HTML:
        from txop.present.plot import start_converter

        start_converter()
    to_stdout = output == _STDOUT
    if to_stdout:
        _check_stdout(format_name, json=json, open_page=open_page)
    if output is None and is_address(archive):
        to_do = "name the file to write with --output"
        raise UserError("an archive at an address is only read", where=archive, what_to_do=to_do)
    from txop.archive.fetched import archive_at

    with archive_at(archive) as layout:
        return _report(layout, output, format_name, plots, baseline, open_page=open_page, json=json)


def _report(
    layout: Layout,
    output: Path | None,
    format_name: str,
    plots: Path | None,
    baseline: str | None,
    *,
    open_page: bool,
    json: bool,
) -> int:
    to_stdout = output == _STDOUT
    read, result = _compared(layout, baseline)
    target = output or layout.root / _default_name(format_name)
    if not to_stdout and format_name != "parquet" and target.is_dir():
        raise UserError("is a folder", where=str(target), what_to_do="give --output the name of a file")
    if to_stdout:
        _print(read, result, format_name)
    else:
        _write(read, result, target, format_name)
    pictures = _plots(read, result, plots)
    result = result.model_copy(update={"damage": list(dict.fromkeys([*result.damage, *read.damage]))})  # of series
    if json:
        console.write_json(
            {
                "format": format_name,
                "written": str(target),
                "plots": [str(path) for path in pictures],
                "headline": result.headline,
                "origin": result.origin.value,
                "finished": result.design.finished,
                "state": result.design.state,
                "damage": result.damage,
            }
        )
    elif to_stdout:
        _say_damage(result)
    else:
        _say(result, target, plots, len(pictures))
    if open_page and format_name == HTML:
        show(target)
    if result.damage:
        return ExitCode.PARTIAL
    return ExitCode.OK if any(figure.rows for figure in result.figures) else ExitCode.UNDECIDED


def _compared(layout: Layout, baseline: str | None) -> tuple[Archive, CompareResult]:
    from txop.archive.reader import read_archive
    from txop.compare.archive import compare

    archive = read_archive(layout)
    return archive, compare(archive, baseline)


def _default_name(format_name: str) -> str:
    if format_name == HTML:
        from txop.report.campaign import PAGE_NAME

        return PAGE_NAME
    from txop.report.exports import FORMATS

    chosen = FORMATS[format_name]
    return "report-parquet" if chosen.folder else f"report{chosen.suffix}"


def _write(archive: Archive, result: CompareResult, target: Path, format_name: str) -> None:
    if format_name == HTML:
        from txop.report.campaign import write_page

        write_page(archive, result, target)
    else:
        from txop.report.exports import FORMATS

        FORMATS[format_name].write(archive, result, target)


def _check_stdout(format_name: str, *, json: bool, open_page: bool) -> None:
    """Refuse what cannot go together with ``--output -``."""
    if format_name == "parquet":
        raise UserError("parquet is a folder", where="--output -", what_to_do="give --output the name of a folder")
    if json:
        raise UserError("--json and --output - both write to stdout", what_to_do="give --output a file")
    if open_page:
        raise UserError(
            "a page written to stdout cannot be opened in a browser", where="--open", what_to_do="give --output a file"
        )


def _print(archive: Archive, result: CompareResult, format_name: str) -> None:
    """Write a report to stdout; links of the page are relative to the current folder."""
    import tempfile

    if format_name == HTML:
        from txop.report.campaign import PAGE_NAME, page

        content = page(archive, result, Path.cwd() / PAGE_NAME).encode("utf-8")
    else:
        with tempfile.TemporaryDirectory(prefix="txop-report-") as folder:
            target = Path(folder) / "report"
            _write(archive, result, target, format_name)
            content = target.read_bytes()
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _plots(archive: Archive, result: CompareResult, folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    from txop.report.campaign.files import write_plots

    return write_plots(archive, result, folder)


def _say(result: CompareResult, target: Path, folder: Path | None, pictures: int) -> None:
    out = console.stdout()
    for sentence in result.headline:
        out.print(safe_text(sentence, style="bold"))
    out.print(safe_text(f"Written: {target}"), soft_wrap=True)
    if folder is not None:
        out.print(safe_text(f"Plots: {pictures // 2}, each as PNG and SVG, in {folder}"), soft_wrap=True)
    _say_damage(result)


def _say_damage(result: CompareResult) -> None:
    if result.damage:
        more = ", ..." if len(result.damage) > 1 else ""
        text = f"txop: the archive is damaged in {plural(len(result.damage), 'place')}: {result.damage[0]}{more}"
        console.stderr().print(safe_text(text), soft_wrap=True)
