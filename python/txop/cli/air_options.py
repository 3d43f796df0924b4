"""Options of ``txop air``: where the report goes, what is shown, and of which part of a capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from txop.cli.capture_output import check_output, chosen_sections
from txop.cli.console import JsonFlag
from txop.cli.key_file import KeyFileOption
from txop.cli.mac_address import is_group, mac_address
from txop.cli.shared_options import CsvOption, EverySectionFlag, HtmlOption, SectionOption, TableOption
from txop.cli.window_options import FromOption, ToOption, WholeFlag
from txop.core.errors import UserError
from txop.core.stores import is_address

Pair = tuple[str, str] | None


@dataclass(frozen=True)
class OutputOptions:
    """Where the report goes."""

    json: JsonFlag = False
    html: HtmlOption = None
    open_page: Annotated[bool, typer.Option("--open", help="Show the page of --html in the browser.")] = False
    csv: CsvOption = None
    table: TableOption = None

    def check(self, files: Sequence[str], *, follow: bool) -> None:
        """Refuse what cannot go together, before minutes of reading."""
        if follow and len(files) != 1:
            raise UserError("--follow reads one capture")
        if follow and is_address(files[0]):
            what_to_do = "leave --follow out: what is there now is read"
            raise UserError(
                "a capture at an address is copied whole, not followed", where=files[0], what_to_do=what_to_do
            )
        check_output(files, json=self.json, html=self.html, csv=self.csv, table=self.table, open_page=self.open_page)


@dataclass(frozen=True)
class ShownOptions:
    """What of the report is shown."""

    section: SectionOption = None
    everything: EverySectionFlag = False
    top: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Rows shown of each table, 10 if not given; 0, and --list: all. Includes --all."
        ),
    ] = None
    pair: Annotated[str | None, typer.Option(metavar="TA,RA", help="Explain this pair instead of the busiest.")] = None
    station: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Show only rows about this station.")] = None
    list_: Annotated[
        bool, typer.Option("--list", help="List the access points with their security, and nothing else.")
    ] = False
    events: Annotated[
        bool, typer.Option("--events", help="List who joined, exchanged keys and left when, with reasons.")
    ] = False
    rates: Annotated[bool, typer.Option("--rates", help="Show which station sent at which rate when.")] = False
    block_acks: Annotated[
        bool, typer.Option("--block-acks", help="List every Block Ack, up to 50,000; also in --json and --csv.")
    ] = False
    ghosts: Annotated[bool, typer.Option("--ghosts", help="List ghost addresses as stations of their own.")] = False

    @property
    def addresses(self) -> Pair:
        """Transmitter and receiver of ``--pair``."""
        if self.pair is None:
            return None
        parts = [mac_address(part) for part in self.pair.split(",")]
        if len(parts) != 2:
            raise UserError("--pair takes two addresses", what_to_do="write the transmitter, a comma, the receiver")
        if group := next(filter(is_group, parts), None):
            raise UserError(
                f"--pair: {group} is a group address",
                what_to_do="name two stations: frames to a group get no responses, and are not explained",
            )
        return parts[0], parts[1]

    @property
    def address(self) -> str | None:
        """That of ``--station``."""
        return None if self.station is None else mac_address(self.station)

    @property
    def sections(self) -> tuple[str, ...]:
        """The names of ``--section``."""
        if self.section is None:
            return ()
        from txop.air.view import SECTION_NAMES

        return chosen_sections(self.section, SECTION_NAMES)

    @property
    def beside(self) -> tuple[str, ...]:
        """The sections that are shown only on demand."""
        asked = (("events", self.events), ("rates", self.rates), ("block_acks", self.block_acks))
        return tuple(name for name, wanted in asked if wanted)


@dataclass(frozen=True)
class PartOptions:
    """The part of a capture that is looked at."""

    bssid: Annotated[
        str | None,
        typer.Option(
            metavar="MAC",
            help="Report the stations, waterfall, airtime and steadiness of this network; busy stays of all.",
        ),
    ] = None
    channel: Annotated[
        int | None,
        typer.Option(min=1, max=0xFFFF, metavar="N", help="Count only frames on this channel: its number, or its MHz."),
    ] = None
    capture_interface: Annotated[
        int | None,
        typer.Option(
            min=0, max=0xFFFF_FFFF, metavar="N", help="Count only records of this interface of the capture, from 0."
        ),
    ] = None
    from_: FromOption = None
    to: ToOption = None
    whole: WholeFlag = False
    key_file: KeyFileOption = None
    packets: Annotated[
        bool, typer.Option("--packets", help="Join packets with 802.11 attempts; --key-file does so, too.")
    ] = False


@dataclass(frozen=True)
class DataSetOptions:
    """Where a data set of many captures goes, and who reads them."""

    to_parquet: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Read all captures (files, folders, fsspec addresses) into one Parquet data set."
        ),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=1024, metavar="N", help="Processes of --to-parquet; default: one per core."),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="--to-parquet with the workers of this Dask scheduler, tcp://HOST:8786."),
    ] = None
