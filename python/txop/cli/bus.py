"""``txop bus FILE [FILE2]``: a USB capture analysed, and what differs between two."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.capture_output import STDIN, check_output, chosen_sections, damaged, own_document, renamed, write_tables
from txop.cli.console import JsonFlag
from txop.cli.examples import epilog
from txop.cli.page_output import is_stdout, write_page
from txop.cli.reading_bar import ReadingBar
from txop.cli.shared_options import CsvOption, EverySectionFlag, HtmlOption, SectionOption, TableOption
from txop.cli.window_options import FromOption, ToOption, WholeFlag, check_window, nothing_inside, window_of
from txop.core.errors import ExitCode, UserError
from txop.core.origin import Origin
from txop.core.stores import local_file
from txop.present.format import plural

if TYPE_CHECKING:
    from rich.console import Console

    from txop.bus import BusReport
    from txop.bus.outline import Outline

_ROWS = 6
"""Rows of the one table of a screen."""
_FINDING_LINES = 11
"""Lines of its findings."""


def register(app: typer.Typer) -> None:
    """Add ``txop bus``."""
    app.command(
        name="bus",
        epilog=epilog(
            [
                ("txop bus usbmon.pcap", "what the transfers carry and how well they are aggregated"),
                ("txop bus linux.pcap windows.pcapng", "side by side, what matters most first"),
                ("txop bus usbmon.pcap --html bus.html", "one page with plots"),
                ("txop bus usbmon.pcap --table endpoints --csv -", "one table as CSV"),
                ("txop bus usbmon.pcap --from +2.5 --to +4.5", "only the window of the measurement"),
                ("txop bus sdio.pcapng --from +2.5", "the commands of an SDIO card, logged by txop-vusb --command-log"),
                ("tcpdump -i usbmon1 -w - | txop bus -", "from a pipe, until it ends"),
            ],
            [
                "Sections: summary, devices, endpoints, traffic, requests, modem, sdio.",
                "With --from and --to, what a device is and how its transfers are framed is still taken from the whole"
                " capture; every other figure is of the window.",
                "Of a capture in the folder of a run of an archive, the measured window of the run is counted, as in"
                " its run.json; --whole counts all of it.",
                "A damaged or cut capture is reported as far as it was readable, with exit code 4; one that has"
                " records, but no USB requests, is refused with exit code 2. With nothing to report, it is 5.",
            ],
        ),
    )(bus)


def bus(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE [FILE2]",
            help="usbmon or USBPcap captures (pcap, pcapng, also gzip or zstd), usbmon text, or an SDIO command log; "
            "also at an address (s3://...); - for stdin.",
        ),
    ],
    json: JsonFlag = False,
    html: HtmlOption = None,
    csv: CsvOption = None,
    table: TableOption = None,
    section: SectionOption = None,
    everything: EverySectionFlag = False,
    top: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Rows shown of each table, 10 if not given; 0: all. Includes --all."),
    ] = None,
    from_: FromOption = None,
    to: ToOption = None,
    whole: WholeFlag = False,
) -> int:
    """Explain a USB capture (transfers, aggregation, turnarounds, errors, devices) or the command log of an SDIO card.

    Two captures are put side by side, also Linux against Windows.
    """
    only = _sections(section)
    if len(files) > 2:
        raise UserError("txop bus takes one capture, or two to compare")
    check_window(from_, to, whole=whole)
    check_output(files, json=json, html=html, csv=csv, table=table)
    documents = [_analyze(name, *window_of(name, "bus", from_, to, whole=whole)) for name in files]
    if json and len(files) == 1 and csv is None and html is None:
        outline = _outline(documents[0])
        console.write_json(documents[0])
        return _warn([outline])
    reports = [_read(document) for document in documents]
    if json and len(reports) == 1:
        console.write_json(documents[0])
    elif json:
        from txop.bus.compare import compare

        console.write_json(compare(reports).model_dump_json(indent=2))
    if csv is not None:
        _write_csv(reports, csv, table)
    if html is not None:
        _write_page(reports, html)
    if not json and csv != STDIN and not is_stdout(html):
        one_screen = not everything and top is None
        rows = 10 if top is None else top
        _show(reports, only=only, top=rows, brief=html is not None or csv is not None, one_screen=one_screen)
    return _warn(reports)


def _analyze(name: str, from_: str | None, to: str | None) -> bytes:
    from txop.bus import analyze_json

    with local_file(name) as path:
        try:
            with ReadingBar(name) as bar:
                return renamed(analyze_json(path, from_=from_, to=to, progress=bar.advance), path, name)
        except ValueError as error:
            said = str(error).replace(path, name)
            raise UserError(said, where=None if said.startswith(f"{name}:") else name) from error


def _sections(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    from txop.bus.view import SECTION_NAMES

    return chosen_sections(text, SECTION_NAMES)


def _read(document: bytes) -> BusReport:
    from txop.bus.report import BusReport

    with own_document():
        return BusReport.parse(document)


def _outline(document: bytes) -> Outline:
    from txop.bus.outline import Outline

    with own_document():
        return Outline.parse(document)


def _show(reports: Sequence[BusReport], *, only: tuple[str, ...], top: int, brief: bool, one_screen: bool) -> None:
    from txop.bus.view import sections
    from txop.cli.terminal_report import print_sections
    from txop.present.window import described

    out = console.stdout()
    if len(reports) > 1:
        _show_comparison(out, reports, top)
        return
    if (window := reports[0].summary.window) is not None:
        out.print(console.safe_text(f"Window: {described(window)}", "bold"))
        if only or not one_screen:
            out.print()
    if one_screen and not only:
        _show_screen(out, reports[0], table=not brief)
        return
    if not only:
        _show_verdicts(out, reports[0], len(reports[0].verdicts))
    if not brief:
        print_sections(out, sections(reports[0], only, whole=top == 0), top)
        out.print()
        out.print(
            console.safe_text(
                "– means not available, never zero. What each figure counts: docs/bus.md, docs/bus-json.md.", "dim"
            )
        )


def _show_screen(out: Console, report: BusReport, *, table: bool) -> None:
    """The findings that matter most, one table, and which sections there are."""
    from txop.bus.view import sections, tone
    from txop.cli.screen_lines import filled, print_lines, print_sections_named, print_whole
    from txop.cli.terminal_report import draw_short, first_table

    origin = "" if report.origin == Origin.IMPORTED else f" ({report.origin})"
    out.print(console.safe_text(f"What the bus shows{origin}", "bold underline"))
    if not report.verdicts:
        out.print(console.safe_text("No conclusion: the capture has too few transfers of each kind.", "dim"))
    styles = {"bad": "bold red", "good": "bold green"}
    findings = [
        (f"{each.text}{'' if each.device is None else f' - device {each.device}'}", styles.get(tone(each), "bold"))
        for each in sorted(report.verdicts, key=lambda each: tone(each) != "bad")
    ]
    print_whole(out, findings, lines=_FINDING_LINES)
    parts = sections(report)
    if not table:
        return
    found = first_table(sorted(parts, key=lambda part: part.name not in ("traffic", "sdio")))
    if found is not None:
        out.print(draw_short(found, out.width, _ROWS))
    summary = report.summary
    notes = [f"{plural(summary.unreadable, 'record')} cannot be read"] if summary.unreadable else []
    notes += [f"{plural(summary.dropped_by_capture, 'request')} dropped"] if summary.dropped_by_capture else []
    notes += [f"{plural(len(summary.limits), 'limit')} of what this capture can show"] if summary.limits else []
    if notes:
        print_lines(out, filled(f"{', '.join(notes)}: --section summary", out.width, "yellow", most=1))
    print_sections_named(out, (part.name for part in parts))


def _show_verdicts(out: Console, report: BusReport, shown: int) -> None:
    from rich.padding import Padding

    from txop.bus.view import tone
    from txop.cli.terminal_report import bullets

    out.print(console.safe_text("What the bus shows", "bold underline"))
    if not report.verdicts:
        out.print(console.safe_text("No conclusion: the capture has too few transfers of each kind.", "dim"))
    styles = {"bad": "bold red", "good": "bold green"}
    for verdict in report.verdicts[:shown]:
        out.print()
        line = console.safe_text(verdict.text, styles.get(tone(verdict), "bold"))
        if verdict.device is not None:
            line.append_text(console.safe_text(f" - device {verdict.device}", "not bold dim"))
        out.print(line)
        if verdict.evidence:
            out.print(Padding(bullets(verdict.evidence, "dim"), (0, 0, 0, 2)))
    if len(report.verdicts) > shown:
        out.print(console.safe_text(f"and {len(report.verdicts) - shown} more: --top 0 and --json have all.", "dim"))


def _show_comparison(out: Console, reports: Sequence[BusReport], top: int) -> None:
    from txop.bus.compare import compare
    from txop.bus.side_by_side import grid
    from txop.cli.terminal_report import bullets, draw
    from txop.present.window import described

    comparison = compare(reports)
    for letter, report, capture in zip("AB", reports, comparison.captures, strict=True):
        out.print(console.safe_text(f"{letter}  {report.path}", "bold"))
        if report.summary.window is not None:
            out.print(console.safe_text(f"   Window: {described(report.summary.window)}"))
        what = "no device" if capture.device is None else f"device {capture.device}: {capture.device_name}"
        if report.sdio is not None:
            what = f"SDIO card {report.sdio.card_name or report.sdio.card or 'unknown'}"
        out.print(console.safe_text(f"   {what}", "dim"))
        for verdict in report.verdicts[:3]:
            out.print(console.safe_text(f"   {verdict.text}", "red" if verdict.tone == "bad" else "dim"))
    out.print()
    for sentence in comparison.sentences:
        out.print(console.safe_text(sentence, "bold"))
    drawn = draw(grid(comparison), out.width, top and max(top, 20))
    if drawn is not None:
        out.print(drawn)
    out.print()
    out.print(console.safe_text("How far they compare", "bold"))
    out.print(bullets(comparison.notes))


def _write_csv(reports: Sequence[BusReport], target: str, names: Sequence[str] | None) -> None:
    from txop.bus.tables import TABLES, write_csv

    write_tables(lambda name, out: write_csv(reports, name, out), list(TABLES), target, names, "traffic")


def _write_page(reports: Sequence[BusReport], target: Path) -> None:
    from txop.bus.page import comparison_page, page

    written = page(reports[0]) if len(reports) == 1 else comparison_page(reports)
    write_page(written, target)


def _warn(reports: Sequence[BusReport | Outline]) -> ExitCode:
    """Say what was empty or damaged."""
    code = ExitCode.OK
    for report in reports:
        summary = report.summary
        warning = None
        if report.records == 0 and report.other_requests == 0:
            warning = nothing_inside(report.path, summary.window)
            warning = warning or f"{report.path} has no USB requests, so there is nothing to report."
            code = code or ExitCode.UNDECIDED
        if summary.damage is not None:
            warning = damaged(report.path, summary.damage.offset, summary.damage.message)
            code = ExitCode.PARTIAL
        elif summary.unreadable:
            records = plural(summary.unreadable, "record")
            warning = f"{report.path}: {records} could not be read ({summary.unreadable_examples[0]})."
            code = ExitCode.PARTIAL
        if warning is not None:
            console.warn(warning)
    return code
