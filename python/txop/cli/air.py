"""``txop air FILE...``: an 802.11 capture analysed, and where the throughput went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from txop.cli import console, name_completion
from txop.cli.air_list import check_list, print_list
from txop.cli.air_options import DataSetOptions, OutputOptions, Pair, PartOptions, ShownOptions
from txop.cli.air_show import show, warn
from txop.cli.capture_output import STDIN, own_document, renamed, write_tables
from txop.cli.examples import epilog
from txop.cli.key_file import DOCUMENTED, check_key_file
from txop.cli.mac_address import is_group, mac_address
from txop.cli.option_groups import given, grouped
from txop.cli.page_output import is_stdout, write_page
from txop.cli.reading_bar import ReadingBar
from txop.cli.window_options import check_window, window_of
from txop.core.errors import UserError
from txop.core.nearest import nearest
from txop.core.stores import local_file

if TYPE_CHECKING:
    from txop.air import AirReport
    from txop.air.outline import Outline


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
                "A key file has one key in a line: psk SSID PASSPHRASE, or pmk, msk, tk or wep DIGITS; what holds"
                " blanks goes in double quotes. No key is ever part of a report. docs/air-decryption.md",
                "With --from and --to, claims, the use of capabilities and the calibration of the time stamps are still"
                " taken from the whole capture; every other figure is of the window.",
                "With --bssid, the figures of the channel (busy, frames, floods) still cover all stations on it; the"
                " network's share is given beside them. With --channel, frames on other channels are left out, and time"
                " there does not count as observed. With --capture-interface, records of other interfaces are not"
                " looked at; where two receivers captured the same, every frame counts twice without it.",
                "Of a capture in the folder of a run of an archive, the measured window of the run is counted, as in"
                " its run.json; --whole counts all of it.",
                "A damaged or cut capture is reported as far as it was readable, with exit code 4; one without 802.11"
                " frames gives exit code 5.",
            ],
        ),
    )(grouped(air))


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
    *,
    output: OutputOptions,
    shown: ShownOptions,
    part: PartOptions,
    data_set: DataSetOptions,
    follow: Annotated[
        bool, typer.Option("--follow", help="Keep reading a growing capture; the report comes after Ctrl-C.")
    ] = False,
) -> int:
    """Explain an 802.11 capture: retries, acknowledgements, airtime, and where the throughput went.

    Several captures are put side by side.
    """
    if data_set.to_parquet is not None:
        from txop.cli.air_dataset import write_dataset

        others = {"--interface": interface is not None, "--follow": follow}
        wrong = [name for name, is_given in others.items() if is_given]
        wrong += [name for name in given(output, shown, part) if name != "--json"]
        if wrong:
            raise UserError(f"--to-parquet does not go with {wrong[0]}", what_to_do="leave one of them out")
        jobs, cluster = data_set.jobs, data_set.cluster
        return write_dataset(files or [], data_set.to_parquet, jobs=jobs, cluster=cluster, json=output.json)
    if data_set != DataSetOptions():
        raise UserError("--jobs and --cluster go with --to-parquet", what_to_do="add --to-parquet FOLDER")
    pair, only, address = shown.addresses, shown.sections, shown.address
    check_window(part.from_, part.to, whole=part.whole)
    files = _sources(files or [], interface)
    follow = follow or interface is not None
    output.check(files, follow=follow)
    if shown.list_:
        check_list(files, html=output.html, csv=output.csv, section=shown.section, follow=follow)
    check_key_file(part.key_file)
    wants_block_acks = shown.block_acks or "block_acks" in only
    asked = AnalysisRequest(
        pair, replace(part, bssid=None if part.bssid is None else mac_address(part.bssid)), wants_block_acks
    )
    live = interface is not None
    documents = iter([_follow(files[0], asked, live=live)]) if follow else _analyze(files, asked)
    reports: list[AirReport] = []
    for document in documents:  # one at a time: a document takes as much memory as its report
        passed_on = output.json and len(files) == 1 and not shown.list_
        if passed_on and output.csv is None and output.html is None and pair is None:
            outline = _outline(document)
            console.write_json(document)
            return warn([outline], following=follow)
        reports.append(_read(document))
        _check_pair(reports[-1], pair)
        if passed_on:
            console.write_json(document)
        del document
    if shown.list_:
        print_list(reports[0], json=output.json, top=shown.top or 0)
        return warn(reports, following=follow)
    if address is not None and len(reports) == 1:
        _check_station(reports[0], address)
    if output.json and len(files) > 1:
        console.write_json(_comparison_json(reports))
    if output.csv is not None:
        _write_csv(reports, output.csv, output.table)
    if output.html is not None:
        _write_page(reports, output.html, list_ghosts=shown.ghosts, station=address, open_page=output.open_page)
    if not output.json and output.csv != STDIN and not is_stdout(output.html):
        brief = output.html is not None or output.csv is not None
        show(reports, shown, only=only, station=address, brief=brief)
    return warn(reports, following=follow)


@dataclass(frozen=True)
class AnalysisRequest:
    """What the analyzer is asked for."""

    pair: Pair = None
    part: PartOptions = field(default_factory=PartOptions)
    block_acks: bool = False

    def analyze(self, source: str, **how: Any) -> bytes:
        """The document about a capture."""
        from txop.air import analyze_json

        part = asdict(self.part)
        del part["whole"]
        interface = part.pop("capture_interface")
        return analyze_json(source, pair=self.pair, interface=interface, block_acks=self.block_acks, **part, **how)


def _analyze(files: Sequence[str], asked: AnalysisRequest) -> Iterator[bytes]:
    for name in files:
        from_, to = window_of(name, "air", asked.part.from_, asked.part.to, whole=asked.part.whole)
        of_window = replace(asked, part=replace(asked.part, from_=from_, to=to))
        with local_file(name) as path:
            try:
                with ReadingBar(name) as bar:
                    document = of_window.analyze(path, progress=bar.advance)
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


def _follow(name: str, asked: AnalysisRequest, *, live: bool) -> bytes:
    """Read a growing capture, or what an interface receives, until Ctrl-C or the end of the pipe, with a live summary
    on stderr."""
    from rich.live import Live

    from txop.cli.air_interface import capturing
    from txop.cli.air_live import LatestSummary

    latest = LatestSummary(name)
    try:
        with capturing(name) if live else nullcontext(name) as source:
            with Live(latest, console=console.stderr(), refresh_per_second=4, transient=True):
                document = asked.analyze(source, follow=True, snapshot=latest.put)
            return renamed(document, source, name)
    except ValueError as error:
        raise _unreadable(name, error) from error


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
        if link.data_frames and not is_group(link.ra):
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
    addresses = [s.address for s in report.stations if s.kind in ("ap", "station")]
    near = nearest(address, addresses)
    named = [near] if near is not None else addresses[:_NAMED]
    said = "did you mean" if near is not None else "the busiest stations:"
    raise UserError(
        f"no station {address} in the report",
        where=report.path,
        what_to_do=f"{said} {' '.join(named)}{'?' if near else ''}" if named else "it has no stations",
    )


def _unreadable(name: str, error: ValueError, path: str | None = None) -> UserError:
    """``path`` is where the capture was read, where that is a copy."""
    from txop.core.errors import KeyFileError

    if isinstance(error, KeyFileError):
        return UserError(str(error), what_to_do=DOCUMENTED)
    from txop.cli.counter_parts import readers_of_text

    said = str(error).replace(path or name, name)
    readers = readers_of_text(name) if path in (None, name) and name != "-" else []
    to_do = f"read it with {' and '.join(readers)}" if readers else None
    return UserError(said, where=None if said.startswith(f"{name}:") else name, what_to_do=to_do)


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

    text = page(reports[0], list_ghosts=list_ghosts, station=station) if len(reports) == 1 else comparison_page(reports)
    write_page(text, target)
    if open_page:
        import webbrowser

        if not webbrowser.open(target.resolve().as_uri()):
            console.stderr().print(console.safe_text(f"No browser found; open {target} yourself."))
