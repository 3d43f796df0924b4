"""``txop emulate SCENARIO -- COMMAND``: programs over a link in real time."""

from __future__ import annotations

import json as json_format
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.scenario_name import check_name
from txop.cli.shared_options import ScenarioArgument, SetOption
from txop.core.errors import ExitCode, MissingToolError, UserError

if TYPE_CHECKING:
    from txop.emulate.network import EmulatedNetwork
    from txop.emulate.session import SessionResult

_WHOLE = 1 << 16
"""Bytes of a frame that are kept with ``--whole``: more than any has."""


def register(app: typer.Typer) -> None:
    """Add ``txop emulate``."""
    app.command(
        name="emulate",
        epilog=epilog(
            [
                ("txop emulate two-stations -- ping -c 5 {server}", "a program at the first station"),
                (
                    'txop emulate two-stations -b server="iperf3 -s" -- iperf3 -c {server}',
                    "with another one at the server, which is started first",
                ),
                ("txop emulate link.toml --in server --shell", "a shell at the server"),
                (
                    "txop emulate link.toml --air air.pcapng -- ping -c 5 {server}",
                    "and what a monitor would have captured",
                ),
                ("txop emulate two-stations", "only the link, until Ctrl-C"),
                ("txop emulate --cleanup", "end what is left of emulations that were killed"),
            ],
            [
                "{NAME} in an argument becomes the address of that host; programs also find it in the variable "
                "TXOP_NAME, and in TXOP_AT_NAME what to put in front of a command to run it there.",
                "The exit code is that of the program. The summary at the end has the origin `emulated`: see "
                "docs/emulate.md.",
            ],
        ),
    )(emulate)


def emulate(
    scenario: ScenarioArgument = None,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND...]", help="A program to run at a host.")
    ] = None,
    at: Annotated[str | None, typer.Option("--in", metavar="HOST", help="Where it runs: a name or number.")] = None,
    background: Annotated[
        list[str] | None,
        typer.Option("--background", "-b", metavar="HOST=COMMAND", help="A program beside it; repeatable."),
    ] = None,
    shell: Annotated[bool, typer.Option("--shell", help="Run a shell.")] = False,
    settings: SetOption = None,
    air: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what a monitor would have captured of the air.")
    ] = None,
    usb: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what usbmon would have captured of the bus.")
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Keep full frames, not 128 bytes.")] = False,
    max_capture_mb: Annotated[
        int | None, typer.Option(min=1, metavar="MB", help="Each capture ends before it gets larger.")
    ] = None,
    json: JsonFlag = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No summary at the end.")] = False,
    cleanup: Annotated[
        bool, typer.Option("--cleanup", help="End what is left of emulations that were killed.")
    ] = False,
) -> int:
    """Run programs over a modelled link in real time: the host's own TCP, real packets.

    Namespaces, devices and programs go with this command, however it ends.
    """
    if cleanup:
        return _cleanup()
    if scenario is None:
        raise UserError(
            "no scenario was given", what_to_do="name one; `txop simulate --list` shows those that come along"
        )
    if shell and command:
        raise UserError("--shell runs a shell, and there is a command too", what_to_do="leave one of them out")
    from txop.emulate import Captures, load_scenario
    from txop.emulate.command import shell as of_user
    from txop.emulate.session import SessionRequest, carry_out

    check_name(scenario)
    argv = of_user() if shell else list(command or ())
    captures = Captures(
        air=air,
        usb=usb,
        snap_bytes=_WHOLE if whole else 128,
        limit_bytes=None if max_capture_mb is None else max_capture_mb * 1_000_000,
    )
    wanted = SessionRequest(
        load_scenario(scenario, [_assigned(text, "--set wlan.ap.mcs=3") for text in settings or ()]),
        captures,
        argv=argv,
        at=at or "1",
        background=[_beside(text) for text in background or ()],
        stdout_to_stderr=json,
    )
    done = carry_out(wanted, lambda network: _ready(network, argv, at or "1", quiet=quiet))
    if json:
        console.write_json(_document(done, argv))
    elif not quiet:
        _show(done)
    return done.exit_code


def _cleanup() -> int:
    from txop.emulate.leftovers import end_orphans

    ended = end_orphans()
    console.stderr().print(f"Ended {ended} processes." if ended else "Nothing was left.")
    return ExitCode.OK


def _assigned(text: str, example: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise UserError(f'"{text}" has no value', what_to_do=f"write it as {example}")
    return key.strip(), value.strip()


def _beside(text: str) -> tuple[str, list[str]]:
    host, line = _assigned(text, '--background server="iperf3 -s"')
    try:
        argv = shlex.split(line)
    except ValueError as error:
        raise UserError(f'"{line}" is not a command: {error}') from None
    if shutil.which(argv[0]) is None:
        raise MissingToolError(f"program not found: {argv[0]}")
    return host, argv


def _ready(network: EmulatedNetwork, argv: list[str], at: str, *, quiet: bool) -> None:
    """Say what is there, where it is of use: in a shell, and when there is only the link."""
    from txop.emulate.hosts import find_host

    where = find_host(network.hosts, at)
    if argv and shutil.which(argv[0]) is None:
        raise MissingToolError(f"program not found: {argv[0]}")
    if quiet or (argv and len(argv) > 1):
        return
    out = console.stderr()
    for host in network.hosts:
        line = f"{host.name}: {host.address}"
        if argv:
            line += " (here)" if host == where else f"   $TXOP_AT_{host.variable} COMMAND runs one there"
        else:
            line += f"   {shlex.join(network.prefix_forever(host))}"
        out.print(safe_text(line), soft_wrap=True)
    if not argv:
        out.print("The link is up. Ctrl-C ends it.")


def _document(done: SessionResult, argv: list[str]) -> dict[str, object]:
    document: dict[str, object] = json_format.loads(done.status.model_dump_json(by_alias=True))
    document["command"] = {"argv": argv, "exit_code": done.exit_code} if argv else None
    return document


def _show(done: SessionResult) -> None:
    """The account; on stderr, for stdout is the program's."""
    from txop.cli.terminal_report import print_sections
    from txop.emulate.view import sections

    out = console.stderr()
    if out.is_terminal:
        out.print()  # the terminal shows Ctrl-C where the last line ended
    print_sections(out, sections(done.status, done.hosts), 40)
    out.print()
    out.print(safe_text("– means not available, never zero. Origin: emulated; docs/emulate.md explains it.", "dim"))
