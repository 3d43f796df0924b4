"""``txop air FILE...``: an 802.11 capture analysed, and where the throughput went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console, name_completion
from txop.cli.air_list import check_list, print_list
from txop.cli.capture_output import STDIN, check_output, chosen_sections, own_document, renamed, write_tables
from txop.cli.console import JsonFlag
from txop.cli.examples import epilog
from txop.cli.key_file import DOCUMENTED, KeyFileOption, check_key_file
from txop.cli.mac_address import mac_address
from txop.cli.reading_bar import ReadingBar
from txop.cli.window_options import FromOption, ToOption, check_window, nothing_inside
from txop.core.errors import ExitCode, UserError
from txop.core.nearest import nearest
from txop.core.stores import is_address, local_file

if TYPE_CHECKING:
    from txop.air import AirReport
    from txop.air.outline import Outline

Pair = tuple[str, str] | None


@dataclass(frozen=True)
class Part:
    """The part of a capture that is looked at, as written."""

    from_: str | None = None
    to: str | None = None
    bssid: str | None = None
    channel: int | None = None
    interface: int | None = None
    key_file: Path | None = None
    packets: bool = False
    block_acks: bool = False


def register(app: typer.Typer) -> None:
    """Add ``txop air``."""
    app.command(
        name="air",
        epilog=epilog(
            [
                ("txop air capture.pcapng", "where the throughput went, then nine sections of tables"),
                ("txop air before.pcapng after.pcapng", "side by side, what differs most first"),
                (
                    "txop air capture.pcapng --list",
                    "only the access points: channel, width, security, signal, stations",
                ),
                ("txop air capture.pcapng --html report.html --open", "one page with plots"),
                ("txop air capture.pcapng --table stations --csv -", "one table as CSV"),
                ("txop air capture.pcapng --from +2.5 --to +4.5", "only the window of the measurement"),
                (
                    "txop air capture.pcapng --bssid 08:be:ac:0b:14:c4",
                    "one network, beside the others on its channel",
                ),
                ("txop air capture.pcapng --capture-interface 1", "one of several interfaces that captured"),
                ("txop air capture.pcapng --events", "also who joined, roamed and left when, and why"),
                ("txop air -i mon0", "what a monitor interface receives, live; Ctrl-C ends it with the whole report"),
                ("ssh sniffer tcpdump -i mon0 -U -w - | txop air --follow -", "the same from another machine"),
                ("txop air a.pcapng b.pcapng c.pcapng", "more than two side by side"),
                ("txop air capture.pcapng --key-file keys.txt", "TCP losses beside 802.11 attempts, decrypted"),
                ("txop air open.pcapng --packets", "the same in a network without encryption"),
                ("txop air captures --to-parquet air", "every capture of a folder into one data set, on all cores"),
            ],
            [
                "Sections: summary, stations, ghosts, exchanges, aggregation, airtime, waterfall, capabilities,"
                " steadiness; on demand, or by name: events, rates, block_acks; with --packets or --key-file, packets.",
                "A key file has one key in a line: psk SSID PASSPHRASE, or pmk DIGITS; what holds blanks goes in double"
                " quotes. No key is ever part of a report. docs/air-decryption.md",
                "With --from and --to, claims, the use of capabilities and the calibration of the time stamps are still"
                " taken from the whole capture; every other figure is of the window.",
                "With --bssid, the figures of the channel (busy, frames, floods) still cover everybody on it; the"
                " network's share is given beside them. With --channel, frames on other channels are left out, and time"
                " there does not count as observed. With --capture-interface, records of other interfaces are not looked"
                " at; where two receivers heard the same, every frame counts twice without it.",
                "A damaged or cut capture is reported as far as it was readable, with exit code 4; one without 802.11"
                " frames gives exit code 1.",
            ],
        ),
    )(air)


def air(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="802.11 monitor captures: pcap or pcapng, also gzip or zstd, at an address, too (s3://...); "
            "- for stdin.",
        ),
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option(
            "--interface",
            "-i",
            metavar="NAME",
            help="Capture on this monitor interface, with dumpcap; the report comes after Ctrl-C.",
            autocompletion=name_completion.interfaces,
        ),
    ] = None,
    json: JsonFlag = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write one self-contained page with plots.")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page of --html in the browser.")] = False,
    csv: Annotated[str | None, typer.Option(metavar="DIR", help="Write a CSV file per table; - for stdout.")] = None,
    table: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this table for --csv; may be repeated.")
    ] = None,
    section: Annotated[str | None, typer.Option(metavar="NAME,...", help="Show only these sections.")] = None,
    top: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Rows shown of each table, 10 if not given; 0, and --list: all."),
    ] = None,
    pair: Annotated[str | None, typer.Option(metavar="TA,RA", help="Explain this pair instead of the busiest.")] = None,
    station: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Show only rows about this station.")] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the access points with their security, and nothing else.")
    ] = False,
    events: Annotated[
        bool, typer.Option("--events", help="List who joined, exchanged keys and left when, with reasons.")
    ] = False,
    rates: Annotated[bool, typer.Option("--rates", help="Show which station sent at which rate when.")] = False,
    block_acks: Annotated[
        bool, typer.Option("--block-acks", help="List every Block Ack, up to 50,000; also in --json and --csv.")
    ] = False,
    ghosts: Annotated[bool, typer.Option("--ghosts", help="List ghost addresses as stations of their own.")] = False,
    bssid: Annotated[
        str | None,
        typer.Option(
            metavar="MAC",
            help="Report the stations, waterfall, airtime and steadiness of this network; busy stays of all.",
        ),
    ] = None,
    channel: Annotated[
        int | None,
        typer.Option(min=1, max=0xFFFF, metavar="N", help="Count only frames on this channel: its number, or its MHz."),
    ] = None,
    capture_interface: Annotated[
        int | None,
        typer.Option(
            min=0, max=0xFFFF_FFFF, metavar="N", help="Count only records of this interface of the capture, from 0."
        ),
    ] = None,
    from_: FromOption = None,
    to: ToOption = None,
    key_file: KeyFileOption = None,
    packets: Annotated[
        bool, typer.Option("--packets", help="Join packets with 802.11 attempts; --key-file does so, too.")
    ] = False,
    to_parquet: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Read all captures (files, folders, fsspec addresses) into one Parquet data set."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=1024, metavar="N", help="Processes of --to-parquet; default: one per core."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="--to-parquet with the workers of this Dask scheduler, tcp://HOST:8786."),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Keep reading a growing capture; the report comes after Ctrl-C.")
    ] = False,
) -> int:
    """Explain an 802.11 capture: retries, acknowledgements, airtime, and where the throughput went.

    Several captures are put side by side.
    """
    if to_parquet is not None:
        from txop.cli.air_dataset import write_dataset

        others = {"--interface": interface, "--html": html, "--csv": csv, "--section": section, "--pair": pair,
                  "--station": station, "--list": list_, "--events": events, "--rates": rates, "--bssid": bssid,
                  "--block-acks": block_acks, "--channel": channel, "--capture-interface": capture_interface,
                  "--from": from_, "--to": to, "--top": top,
                  "--key-file": key_file, "--packets": packets, "--follow": follow, "--ghosts": ghosts}  # fmt: skip
        given = next((name for name, value in others.items() if value is not None and value is not False), None)
        if given is not None:
            raise UserError(f"--to-parquet does not go with {given}", what_to_do="leave one of them out")
        return write_dataset(files or [], to_parquet, jobs=jobs, cluster=cluster, json=json)
    if jobs is not None or cluster is not None:
        raise UserError("--jobs and --cluster go with --to-parquet", what_to_do="add --to-parquet FOLDER")
    chosen, only, address = _pair(pair), _sections(section), _address(station)
    check_window(from_, to)
    files = _sources(files or [], interface)
    follow = follow or interface is not None
    _check_output(files, json=json, html=html, open_page=open_page, csv=csv, table=table, follow=follow)
    if list_:
        check_list(files, html=html, csv=csv, section=section, follow=follow)
    reports: list[AirReport] = []
    check_key_file(key_file)
    block_acks = block_acks or "block_acks" in only
    part = Part(from_, to, _address(bssid), channel, capture_interface, key_file, packets, block_acks)
    documents = (
        iter([_follow(files[0], chosen, part, live=interface is not None)]) if follow else _analyze(files, chosen, part)
    )
    for document in documents:  # one at a time: a document takes as much memory as its report
        passed_on = json and len(files) == 1 and not list_
        if passed_on and csv is None and html is None and chosen is None:
            outline = _outline(document)
            console.write_json(document)
            return _warn([outline], following=follow)
        reports.append(_read(document))
        _check_pair(reports[-1], chosen)
        if passed_on:
            console.write_json(document)
        del document
    if list_:
        print_list(reports[0], json=json, top=top or 0)
        return _warn(reports, following=follow)
    if address is not None and len(reports) == 1:
        _check_station(reports[0], address)
    if json and len(files) > 1:
        console.write_json(_comparison_json(reports))
    if csv is not None:
        _write_csv(reports, csv, table)
    if html is not None:
        _write_page(reports, html, list_ghosts=ghosts, station=address, open_page=open_page)
    if not json and csv != STDIN:
        brief = html is not None or csv is not None
        _show(
            reports,
            only=only,
            top=10 if top is None else top,
            list_ghosts=ghosts,
            beside=_beside(events, rates, block_acks),
            station=address,
            brief=brief,
        )
    return _warn(reports, following=follow)


def _analyze(files: Sequence[str], pair: Pair, part: Part = Part()) -> Iterator[bytes]:
    from txop.air import analyze_json

    for name in files:
        with local_file(name) as path:
            try:
                with ReadingBar(name) as bar:
                    document = analyze_json(path, pair=pair, **asdict(part), progress=bar.advance)
            except ValueError as error:
                raise _unreadable(name, error, path) from error
        document = renamed(document, path, name)
        yield document
        del document


def _sources(files: list[str], interface: str | None) -> list[str]:
    if interface is None:
        if not files:
            raise UserError("no capture given", what_to_do="name a file, - for stdin, or an interface with -i")
        return files
    if files:
        raise UserError("-i captures, and there are files to read, too", what_to_do="leave one of them out")
    return [interface]


def _follow(name: str, pair: Pair, part: Part, *, live: bool) -> bytes:
    """Read a growing capture, or what an interface receives, until Ctrl-C or the end of the pipe, with a live summary
    on stderr."""
    from rich.live import Live

    from txop.air import analyze_json
    from txop.cli.air_interface import capturing
    from txop.cli.air_live import LatestSummary

    latest = LatestSummary(name)
    try:
        with capturing(name) if live else nullcontext(name) as source:
            with Live(latest, console=console.stderr(), refresh_per_second=4, transient=True):
                document = analyze_json(source, pair=pair, **asdict(part), follow=True, snapshot=latest.put)
            return renamed(document, source, name)
    except ValueError as error:
        raise _unreadable(name, error) from error


def _sections(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    from txop.air.view import SECTION_NAMES

    return chosen_sections(text, SECTION_NAMES)


def _read(document: bytes) -> AirReport:
    from txop.air.report import AirReport

    with own_document():
        return AirReport.parse(document)


def _outline(document: bytes) -> Outline:
    from txop.air.outline import Outline

    with own_document():
        return Outline.parse(document)


_NAMED = 3
"""How many alternatives an error names."""


def _check_pair(report: AirReport, pair: Pair) -> None:
    """Say so when the pair to explain is not in the capture, rather than explain nothing."""
    if pair is None or any({link.ta, link.ra} == set(pair) for link in report.links):
        return
    busiest: dict[frozenset[str], str] = {}
    for link in sorted(report.links, key=lambda link: -link.data_frames):
        if link.data_frames and not int(link.ra[:2], 16) & 1:
            busiest.setdefault(frozenset((link.ta, link.ra)), f"{link.ta},{link.ra}")
    named = list(busiest.values())[:_NAMED]
    raise UserError(
        f"no frame between {pair[0]} and {pair[1]}",
        where=report.path,
        what_to_do=f"the busiest pairs: {' '.join(named)}" if named else "it has no data between two stations",
    )


def _check_station(report: AirReport, address: str) -> None:
    known = {s.address for s in report.stations} | {ghost.address for ghost in report.ghosts}
    if address in known or any(address in (link.ta, link.ra) for link in report.links):
        return
    everybody = [s.address for s in report.stations if s.kind in ("ap", "station")]
    near = nearest(address, everybody)
    named = [near] if near is not None else everybody[:_NAMED]
    said = "did you mean" if near is not None else "the busiest stations:"
    raise UserError(
        f"no station {address} in the report",
        where=report.path,
        what_to_do=f"{said} {' '.join(named)}{'?' if near else ''}" if named else "it has no stations",
    )


def _unreadable(name: str, error: ValueError, path: str | None = None) -> UserError:
    """``path`` is where the capture was read, where that is a copy."""
    from txop._native import KeyFileError

    if isinstance(error, KeyFileError):
        return UserError(str(error), what_to_do=DOCUMENTED)
    said = str(error).replace(path or name, name)
    return UserError(said, where=None if said.startswith(f"{name}:") else name)


def _show(
    reports: Sequence[AirReport],
    *,
    only: tuple[str, ...],
    top: int,
    list_ghosts: bool,
    beside: tuple[str, ...],
    station: str | None,
    brief: bool,
) -> None:
    from txop.air.view import headline, sections
    from txop.air.view.selection import chosen
    from txop.cli.air_headline import print_headline
    from txop.cli.terminal_report import draw, print_sections
    from txop.present.window import described

    out = console.stdout()
    if len(reports) > 1:
        from txop.air.compare import compare, different_pairs, letter
        from txop.air.view.side_by_side import grid

        comparison = compare(reports)
        if warning := different_pairs(reports):
            out.print(console.safe_text(warning, "yellow"))
            out.print()
        for index, report in enumerate(reports):
            out.print(console.safe_text(f"{letter(index)}  {report.path}", "bold"))
            if report.summary.window is not None:
                out.print(console.safe_text(f"   Window: {described(report.summary.window)}"))
            if (what := chosen(report)) is not None:
                out.print(console.safe_text(f"   Chosen: {what}"))
            first = headline(report)
            for flow in first.flows[:1]:
                out.print(console.safe_text(f"   {flow.title}: {flow.sentence}", "dim"))
            if first.unavailable:
                out.print(console.safe_text(f"   {first.unavailable}", "dim"))
        out.print(draw(grid(comparison), out.width, top))
        return
    report = reports[0]
    if report.summary.window is not None:
        out.print(console.safe_text(f"Window: {described(report.summary.window)}", "bold"))
        out.print()
    if (what := chosen(report)) is not None:
        out.print(console.safe_text(f"Chosen: {what}", "bold"))
        out.print()
    if not only or "waterfall" in only:
        print_headline(out, headline(report, station))
    if not brief:
        parts = sections(
            report,
            list_ghosts=list_ghosts,
            station=station,
            only=only,
            beside=beside,
            list_events="events" in (*only, *beside),
        )
        print_sections(out, parts, top)
        out.print()
        out.print(
            console.safe_text(
                "– means not available, never zero. What each figure counts: docs/air-json.md, --html.", "dim"
            )
        )


def _beside(events: bool, rates: bool, block_acks: bool) -> tuple[str, ...]:
    """The sections that are shown only on demand."""
    asked = (("events", events), ("rates", rates), ("block_acks", block_acks))
    return tuple(name for name, wanted in asked if wanted)


def _comparison_json(reports: Sequence[AirReport]) -> str:
    from txop.air.compare import compare

    return compare(reports).model_dump_json(indent=2)


def _write_csv(reports: Sequence[AirReport], target: str, names: Sequence[str] | None) -> None:
    from txop.air.tables import TABLES, write_csv

    write_tables(lambda name, out: write_csv(reports, name, out), list(TABLES), target, names, "stations")


def _write_page(
    reports: Sequence[AirReport], target: Path, *, list_ghosts: bool, station: str | None, open_page: bool
) -> None:
    from txop.air.page import comparison_page, page
    from txop.core.whole_file import whole_file

    text = page(reports[0], list_ghosts=list_ghosts, station=station) if len(reports) == 1 else comparison_page(reports)
    with whole_file(target) as out:
        out.write(text)
    console.stderr().print(console.safe_text(f"Wrote {target}"))
    if open_page:
        import webbrowser

        if not webbrowser.open(target.resolve().as_uri()):
            console.stderr().print(console.safe_text(f"No browser found; open {target} yourself."))


def _warn(reports: Sequence[AirReport | Outline], *, following: bool) -> ExitCode:
    """Say what was empty or damaged; a file still being written may well end inside a record."""
    code = ExitCode.OK
    for report in reports:
        if report.frames == 0:
            why = nothing_inside(report.path, report.summary.window)
            why = why or f"{report.path} has no 802.11 frames, so there is nothing to report."
            text = f"Warning: {why}"
            console.stderr().print(console.safe_text(text, "yellow"), soft_wrap=True)
            code = max(code, ExitCode.VERDICT_NO)
        elif report.summary.unreadable == report.frames:
            first = next(iter(report.summary.unreadable_examples), "")
            text = f"Warning: none of the {report.frames:,} records of {report.path} can be read. The first: {first}"
            console.stderr().print(console.safe_text(text, "yellow"), soft_wrap=True)
            code = max(code, ExitCode.VERDICT_NO)
        damage = report.summary.damage
        if damage is None or following:
            continue
        place = f"{report.path} is damaged at byte {damage.offset:,}: {damage.message}"
        text = f"Warning: {place}. The report covers what came before."
        console.stderr().print(console.safe_text(text, "yellow"), soft_wrap=True)
        code = ExitCode.PARTIAL
    return code


def _check_output(
    files: Sequence[str],
    *,
    json: bool,
    html: Path | None,
    open_page: bool,
    csv: str | None,
    table: Sequence[str] | None,
    follow: bool,
) -> None:
    if open_page and html is None:
        raise UserError("--open needs a page", what_to_do="add --html FILE")
    if follow and len(files) != 1:
        raise UserError("--follow reads one capture")
    if follow and is_address(files[0]):
        what_to_do = "leave --follow out: what is there now is read"
        raise UserError("a capture at an address is copied whole, not followed", where=files[0], what_to_do=what_to_do)
    check_output(files, json=json, html=html, csv=csv, table=table)


def _address(text: str | None) -> str | None:
    return None if text is None else mac_address(text)


def _pair(text: str | None) -> Pair:
    if text is None:
        return None
    parts = [_address(part) for part in text.split(",")]
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        raise UserError("--pair takes two addresses", what_to_do="write the transmitter, a comma, the receiver")
    if group := next((part for part in parts if part is not None and int(part[:2], 16) & 1), None):
        raise UserError(
            f"--pair: {group} is a group address",
            what_to_do="name two stations: frames to a group get no responses, and are not explained",
        )
    return parts[0], parts[1]
