"""``txop import FILE... [-o ARCHIVE]``: other people's figures, shown at once, and as an archive."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console, name_completion
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.shared_options import folder_option
from txop.core.errors import ExitCode, UserError
from txop.core.nearest import did_you_mean
from txop.core.stores import is_address

if TYPE_CHECKING:
    from txop.cli.import_paths import Named
    from txop.exchange.imported import Direction
    from txop.exchange.write import Source, Written

_ENDS = ("client", "server")
_WAYS = ("tx", "rx")
_MOST_BYTES = 256 * 1024 * 1024
_MOST_TOGETHER = 1024 * 1024 * 1024
_MOST_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add ``txop import``."""
    app.command(
        name="import",
        epilog=epilog(
            [
                ("txop import result.json", "the figures in a file, without an archive"),
                ("txop import vanilla=before.json patched=after.json -o theirs", "iperf3 JSON of two builds"),
                ("txop import vanilla=before/ 'patched=after/*.txt' -o theirs", "folders, and a pattern"),
                ("txop import rrul-2016.flent.gz ping.txt -o theirs", "flent and ping: each becomes a run"),
                ("txop import wiki.txt -o wiki && txop compare wiki", "every row of a wiki's tables"),
                ("txop import pasted.txt --direction tx -o theirs", "text that does not show which end sent"),
                ("txop import ttcp.txt --device neo -o theirs", "a table of transfers between host and neo"),
                ("txop import patched=after-2.json --add -o theirs", "one more run for an archive of imported ones"),
            ],
            [
                "Read: flent data (versions 1 to 4), iperf3 JSON and text, iperf 2 text and CSV, nuttcp, netperf, "
                "irtt JSON and text, ping (Linux, BusyBox, macOS, BSD, Windows, fping), speedtest, betterspeedtest, "
                "crusader, tables of ttcp, DokuWiki tables of throughput by driver. The kind of a file is "
                "recognised by its content. Several tests in one file are several runs.",
                "Without --output the figures are shown and nothing is written.",
                "The archive is written beside its place and renamed: it is written atomically; with --add it "
                "changes at one moment, and only when every file is read whole. Its figures "
                "have the origin imported, and are never compared with measured ones. docs/exchange.md",
                "Exit codes: 0 imported; 2 nothing could be imported; 4 imported, but not all could be read.",
            ],
        ),
    )(import_files)


def import_files(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="[ARM=]FILE...",
            help="Files of other tools, also at addresses; folders, patterns. ARM= names the build.",
        ),
    ],
    output: Annotated[
        Path | None,
        folder_option("The archive to make: a new folder; with --add, that it is added to.", "ARCHIVE"),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the archive.", show_default=False)] = None,
    dut: Annotated[
        str,
        typer.Option(
            "--dut",
            metavar="END",
            help="End of iperf or crusader that is the device under test: client or server.",
            autocompletion=name_completion.one_of(_ENDS),
        ),
    ] = "client",
    direction: Annotated[
        str | None,
        typer.Option(
            "--direction",
            metavar="WAY",
            help="Direction, where pasted text does not show it: tx or rx, seen from the device.",
            autocompletion=name_completion.one_of(_WAYS),
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option("--device", metavar="NAME", help="Machine of a ttcp table that is the device under test."),
    ] = None,
    add: Annotated[
        bool, typer.Option("--add", help="Add the files to the imported archive --output, which changes as a whole.")
    ] = False,
    json: JsonFlag = False,
) -> int:
    """Show the figures in other tools' files, and make an archive of them: compared and exported as imported."""
    from txop.exchange.imported import DataImportError
    from txop.exchange.write import looked_at, write_archive

    if add and output is None:
        raise UserError("--add needs the archive to add to", where="--add", what_to_do="give it with --output ARCHIVE")
    given = _given(dut, direction, device)
    sources: list[Source] = []
    from txop.cli.import_paths import files_of

    named, problems = files_of(files)
    _read_all(named, given, sources, problems)
    if not sources:
        raise DataImportError(
            "; ".join(problems[:3]) + (f"; and {len(problems) - 3} more" if len(problems) > 3 else ""),
            what_to_do="see txop help import for what can be read",
        )
    if add:
        from txop.exchange.add import add as add_files

        if problems:
            to_do = "nothing was added; leave that file out, or import it into an archive of its own"
            raise DataImportError(f"not all of it can be read: {problems[0]}", what_to_do=to_do)
        assert output is not None
        made = add_files(output, sources, title)
    elif output is None:
        made = looked_at(sources)
    else:
        made = write_archive(output, title or _title(sources), sources, problems)
    problems += made.left_out
    _say(output, made, sources, problems, json=json)
    return ExitCode.PARTIAL if problems else ExitCode.OK


def _given(dut: str, direction: str | None, device: str | None) -> Direction:
    from txop.exchange.imported import Direction

    if dut not in _ENDS:
        raise UserError(f"unknown end {dut}", where="--dut", what_to_do=did_you_mean(dut, _ENDS))
    if direction is not None and direction not in _WAYS:
        raise UserError(
            f"unknown direction {direction}", where="--direction", what_to_do=did_you_mean(direction, _WAYS)
        )
    way = None if direction is None else "tx" if direction == "tx" else "rx"
    return Direction("client" if dut == "client" else "server", way, device)  # type: ignore[arg-type]


def _read_all(named: list[Named], direction: Direction, sources: list[Source], problems: list[str]) -> None:
    """Every file: what could be read, and sentences on what could not. What the same bytes say twice counts once."""
    seen: dict[tuple[str | None, bytes], str] = {}
    together = 0
    for each in named:
        before = len(sources)
        _read(each, direction, sources, problems)
        if len(sources) == before:
            continue
        made = sources[-1]
        digest = (made.arm, hashlib.sha256(made.data).digest())
        if digest in seen:
            problems.append(f"{each.path}: the same as {seen[digest]}, so it is left out")
            sources.pop()
            continue
        seen[digest] = each.path
        together += len(made.data)
        if together > _MOST_TOGETHER:
            raise UserError(
                f"more than {_MOST_TOGETHER // 2**20} MiB of files", where=each.path, what_to_do="import them in parts"
            )


def _read(named: Named, direction: Direction, sources: list[Source], problems: list[str]) -> None:
    from txop.archive.regular import read_regular
    from txop.core.stores import read_file as read_stored
    from txop.exchange.recognise import read_file
    from txop.exchange.write import Source
    from txop.formats.error import FormatError

    arm, path = named.arm, named.path
    try:
        data = read_stored(path, _MOST_BYTES) if is_address(path) else read_regular(path, _MOST_BYTES)
        reading = read_file(data, direction)
    except OSError as error:
        problems.append(f"{path}: {error.strerror or error}")
        return
    except FormatError as error:
        problems.append(f"{path}{f', line {error.line}' if error.line else ''}: {error.what}")
        return
    problems += [f"{path}{f', line {line}' if line else ''}: {what}" for line, what in reading.problems]
    if arm is not None and len({run.arm for run in reading.runs if run.arm is not None}) > 1:
        problems.append(f"{path}: it names its arms itself, so {arm}= is not used")
        arm = None
    sources.append(Source(PurePosixPath(path).name, data, arm, reading, direction))


def _title(sources: list[Source]) -> str:
    names = ", ".join(source.name for source in sources[:3])
    return f"Imported: {names}" + (f" and {len(sources) - 3} more" if len(sources) > 3 else "")


def _warnings(made: Written) -> list[str]:
    """What must be known to read the figures, each once, with the test it is about."""
    found: dict[str, dict[str, None]] = {}
    for _, test, run in made.placed:
        for warning in run.warnings:
            found.setdefault(warning, {})[test] = None
    return [f"{', '.join(tests)}: {warning}" for warning, tests in found.items()]


def _say(output: Path | None, made: Written, sources: list[Source], problems: list[str], *, json: bool) -> None:
    from txop.exchange.figures import figures_of

    figures, warnings = figures_of(made.placed), _warnings(made)
    if json:
        console.write_json(
            {
                "format": "txop-import",
                "version": 1,
                "archive": None if output is None else str(output),
                "origin": "imported",
                "files": [{"name": source.name, "format": source.reading.format} for source in sources],
                "runs": made.runs,
                "arms": made.arms,
                "tests": made.tests,
                "figures": [
                    {
                        "test": each.test,
                        "arm": each.arm,
                        "metric": each.metric,
                        "unit": each.unit,
                        "n": each.n,
                        "median": each.median,
                        "infinite": each.infinite,
                        "values": each.values,
                        "sources": list(each.sources),
                        "not_available": list(each.reasons),
                    }
                    for each in figures
                ],
                "warnings": warnings,
                "not_read": problems,
            }
        )
        return
    from txop.cli.import_table import show
    from txop.present.format import plural

    out = console.stdout()
    formats = ", ".join(dict.fromkeys(source.reading.format for source in sources))
    counts = f"{plural(made.runs, 'run')} of {plural(len(sources), 'file')}"
    begin = "Read" if output is None else "Imported"
    out.print(safe_text(f"{begin}: {counts} ({formats})", style="bold"), soft_wrap=True)
    show(figures, out)
    out.print()
    for warning in warnings[:_MOST_SHOWN]:
        out.print(safe_text(f"Note: {warning}", style="yellow"), soft_wrap=True)
    if len(warnings) > _MOST_SHOWN:
        out.print(safe_text(f"and {len(warnings) - _MOST_SHOWN} more (--json has all)"), soft_wrap=True)
    out.print(safe_text(f"Arms: {', '.join(made.arms)}"), soft_wrap=True)
    out.print(safe_text(f"Tests: {', '.join(made.tests)}"), soft_wrap=True)
    if output is not None:
        note = "origin: imported, never compared with measured figures"
        out.print(safe_text(f"Archive: {output} ({note})"), soft_wrap=True)
    err = console.stderr()
    for problem in problems[:_MOST_SHOWN]:
        err.print(safe_text(f"Not read: {problem}", style="yellow"), soft_wrap=True)
    if len(problems) > _MOST_SHOWN:
        err.print(safe_text(f"and {len(problems) - _MOST_SHOWN} more (--json names all)"), soft_wrap=True)
