"""``txop watch``: what a campaign does now, from another terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer
from rich.console import Group, RenderableType

from txop.cli import console
from txop.cli.console import JsonFlag, safe_text
from txop.cli.examples import epilog
from txop.cli.shared_options import ArchiveArgument
from txop.core.errors import ExitCode
from txop.core.stores import is_address

if TYPE_CHECKING:
    from txop.archive.reader import Archive, ArchiveReader
    from txop.campaign.progress import Progress

POLL_S = 1.0
PATIENCE = 3
"""How many looks in a row must find that no process holds the archive: one that was just started takes a moment."""
_FAULTS_SHOWN = 8


def register(app: typer.Typer) -> None:
    """Add ``txop watch``."""
    app.command(
        name="watch",
        epilog=epilog(
            [
                ("txop watch plan-20260301-101500", "until the campaign ends, or Ctrl-C"),
                ("txop watch plan-20260301-101500 --json | jq .seconds_to_come", "once, for programs"),
            ],
            [
                "Only the archive is read: the campaign does not notice. One in a store is looked at once: whether a"
                " process works on it can't be determined from there.",
                "Exit codes: 0 when it is finished, and with --json always; 4 when it stopped or was killed.",
            ],
        ),
    )(watch)


def watch(archive: ArchiveArgument, as_json: JsonFlag = False) -> int:
    """Show what a campaign does now, from another terminal: run, block, last result, faults, time left."""
    from txop.archive.fetched import archive_at
    from txop.archive.reader import ArchiveReader
    from txop.campaign.progress import read_progress

    with archive_at(archive) as layout:
        reader = ArchiveReader(layout)
        read, now = read_progress(reader)
        if as_json:
            console.write_json(now.model_dump_json())
            return ExitCode.OK
        if not layout.in_store:
            now = _follow(reader, read, now)
    for line in _end(now):
        console.stdout().print(safe_text(line), soft_wrap=True)
    return ExitCode.OK if now.doing in ("finished", "imported") else ExitCode.PARTIAL


def _follow(reader: ArchiveReader, read: Archive, now: Progress) -> Progress:
    """Show it until it ends; where it stands then. On a terminal a view, elsewhere a line for each run that ended."""
    from contextlib import nullcontext

    from rich.live import Live

    from txop.campaign.progress import read_progress

    out = console.stdout()
    gone, said = 0, now.last
    with Live(console=out, auto_refresh=False, transient=True) if out.is_terminal else nullcontext() as live:
        while True:
            gone = gone + 1 if now.doing in ("killed", "not begun") else 0
            if now.doing in ("finished", "stopped", "imported") or gone >= PATIENCE:
                return now
            if live is not None:
                live.update(view(read, now), refresh=True)
            elif now.last != said:
                said = now.last
                out.print(safe_text(f"{_place(now)}: {result(read, now)}{_left(now)}"), soft_wrap=True)
            time.sleep(POLL_S)
            read, now = read_progress(reader)


def view(read: Archive, now: Progress) -> RenderableType:
    """A screen of it."""
    from txop.cli.campaign_live import duration
    from txop.present.format import plural

    lines: list[RenderableType] = [safe_text(now.title, "bold")]
    doing = [
        f"{run.arm}, {run.test}" + (f" for {duration(run.seconds)}" if run.seconds is not None else "")
        for run in now.under_way
    ]
    lines.append(safe_text(f"{_place(now)}: {' | '.join(doing) or 'between two runs'}"))
    lines.append(safe_text(f"{now.valid} valid, {now.void} void, {now.runs_to_come} runs to come{_left(now)}"))
    if now.last is not None:
        lines.append(safe_text(f"last: {result(read, now)}"))
    for fault in now.faults[:_FAULTS_SHOWN]:
        style = "red" if fault.severity == "error" else "yellow"
        lines.append(
            safe_text(f"{fault.title}: {plural(fault.count, 'message')} in {plural(fault.runs, 'run')}", style)
        )
    lines += [safe_text(f"damaged: {sentence}", "yellow") for sentence in now.damage[:3]]
    return Group(*lines)


def result(read: Archive, now: Progress) -> str:
    """The run that ended last, and what it gave."""
    from txop.cli.campaign_live import headline

    run = next((run for run in read.runs if run.run == now.last), None)
    if run is None:
        return f"{now.last}: its file cannot be read"
    return f"{run.arm}, {run.test}: {headline(run) if run.state == 'valid' else f'void: {run.void[0].cause}'}"


def _place(now: Progress) -> str:
    if now.block is None:
        return "before the first block"
    return f"block {now.block}, repeats block {now.replaces}" if now.replaces else f"block {now.block} of {now.blocks}"


def _left(now: Progress) -> str:
    from txop.cli.campaign_live import duration

    if now.seconds_to_come is None or not now.runs_to_come:
        return ""
    return f" ({duration(now.seconds_to_come)} to go)" if now.seconds_to_come >= 1 else " (longer than expected)"


def _end(now: Progress) -> list[str]:
    from txop.present.format import plural

    counts = f"{now.valid} valid and {now.void} void runs, {plural(len(now.faults), 'kind')} of faults"
    if now.doing == "imported":
        return [
            f"Imported, not a campaign: {plural(now.valid, 'run')} of other tools.",
            f"Next: txop compare {now.archive}",
        ]
    if now.doing == "finished":
        return [f"Finished{' ' + now.reason if now.reason else ''}: {counts}.", f"Next: txop compare {now.archive}"]
    if now.doing == "stopped":
        said = f"Stopped: {now.reason}. {counts}"
    elif now.doing == "not determined":
        said = f"Its journal has no end, and whether a process works on it can't be determined from a store. {counts}"
    elif now.doing == "killed":
        said = f"No process works on it, and none wrote down why: it was killed. {counts}"
    else:
        return ["It has not begun, and no process works on it."]
    if now.doing == "not determined" or is_address(now.archive):
        return [f"{said}, {now.runs_to_come} to come.", "To continue: copy it to a folder, then txop resume"]
    return [f"{said}, {now.runs_to_come} to come.", f"To continue: txop resume {now.archive}"]
