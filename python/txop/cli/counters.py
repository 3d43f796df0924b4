"""``txop counters``: what the counters of a driver and of the kernel say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console, name_completion
from txop.cli.console import JsonFlag
from txop.cli.examples import epilog
from txop.core.errors import ExitCode, UserError

if TYPE_CHECKING:
    from txop.counters import CountersReport, Paste

_STDIN = "-"


def register(app: typer.Typer) -> None:
    """Add ``txop counters``."""
    app.command(
        name="counters",
        epilog=epilog(
            [
                ("txop counters before.txt after.txt", "what happened between two readings"),
                ("iw dev wlan0 station dump | txop counters -", "since the peers connected"),
                ("txop counters paste.txt --all", "every figure, and what each means"),
                ("txop counters before.txt after.txt --json | jq '.conclusions[].text'", "for scripts"),
                ("txop counters --target root@router --interface wlan0 --every 5s", "of another machine, over SSH"),
                ("txop counters --target local --interface wlan0 --every 1s --count 30", "of this one, for 30 s"),
            ],
            [
                "A file is the output of iw dev X station dump, iw dev X survey dump, ethtool -S X, ethtool -i X, "
                "/proc/net/wireless, rc_stats of minstrel, airtime, aqm and aql of mac80211, xmit of ath9k, fw_stats "
                "of ath10k or tx_stats of mt76, or several of them with prompts and remarks between. docs/counters.md",
                "Exit codes: 0 done; 2 an unusable file; 3 the machine or the interface "
                "is not there; 4 the text was cut; 5 it has no counters.",
            ],
        ),
    )(counters)


def counters(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BEFORE] [AFTER]", help="Pasted output; - for stdin.", show_default=False),
    ] = None,
    json: JsonFlag = False,
    show_all: Annotated[bool, typer.Option("--all", help="Also show every other figure, and what each means.")] = False,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="MACHINE", help="Read this machine: local, user@host:port, or see --plan."),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="PLAN", help="--target is the name of a target of this plan.")
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option(
            "--interface",
            metavar="NAME",
            help="The interface of --target.",
            autocompletion=name_completion.interfaces,
        ),
    ] = None,
    every: Annotated[
        str, typer.Option("--every", metavar="SECONDS", help="From one reading of --target to the next, such as 5s.")
    ] = "5s",
    count: Annotated[
        int | None,
        typer.Option("--count", metavar="N", min=1, max=100_000, help="End after N intervals; default: with Ctrl-C."),
    ] = None,
) -> int:
    """Explain counters of drivers and kernel: retries, rates, airtime, signal, drops; without a monitor."""
    if target is None:
        for name, value in (("--plan", plan), ("--interface", interface), ("--count", count)):
            if value is not None:
                raise UserError(f"{name} goes with --target", what_to_do="name a machine: --target root@router")
        report = _of_files(files or [])
    else:
        if files:
            raise UserError("--target reads no file", what_to_do="leave the files out")
        from txop.cli.counters_live import follow

        report = follow(target, plan, interface, every, count, quiet=json)
    if json:
        console.write_json(report.model_dump_json(indent=2))
    else:
        from txop.cli.counters_view import show

        show(console.stdout(), report, show_all=show_all)
    return _code(report)


def _of_files(files: list[str]) -> CountersReport:
    from txop.counters import analyse

    if not files:
        to_do = "name one or two, or pipe one in: iw dev wlan0 station dump | txop counters -"
        raise UserError("no file given", what_to_do=to_do)
    if len(files) > 2:
        raise UserError(f"{len(files)} files given", what_to_do="give the reading before and the one after")
    if files.count(_STDIN) > 1:
        raise UserError("stdin (-) can be read only once")
    pastes = [_read(name) for name in files]
    return analyse(pastes[0] if len(pastes) == 2 else None, pastes[-1])


_CAPTURES = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x0a\x0d\x0d\x0a")
"""How pcap (either byte order, either resolution) and pcapng begin."""


def _read(name: str) -> Paste:
    from txop.counters import split
    from txop.log.lines import Damage, read_lines

    damage = Damage()
    if name == _STDIN:
        return split(name, read_lines(sys.stdin.buffer, damage))
    with Path(name).open("rb") as stream:
        if stream.peek(4)[:4] in _CAPTURES:
            to_do = f"read it with txop air {name} or txop bus {name}"
            raise UserError("a capture, not text", where=name, what_to_do=to_do)
        paste = split(name, read_lines(stream, damage))
    paste.cut = paste.cut or damage.text is not None
    return paste


def _code(report: CountersReport) -> ExitCode:
    if not report.readable:
        console.warn(f"{report.after} has no counters of a tool that is known here.")
        return ExitCode.UNDECIDED
    return ExitCode.PARTIAL if report.cut else ExitCode.OK
