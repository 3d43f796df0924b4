"""``txop guest debug``, and ``--record`` of ``txop guest run``."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from txop.cli.examples import epilog
from txop.cli.guest_options import ImageOptions, errors_reported, note
from txop.cli.option_groups import grouped
from txop.core.errors import UserError

if TYPE_CHECKING:
    from txop.guest.chips import Chip
    from txop.guest.debugging.kernel_symbols import KernelSymbols
    from txop.guest.debugging.places import Symbols
    from txop.guest.debugging.remote import Remote
    from txop.guest.qemu import Computer
    from txop.guest.recorded import Record
    from txop.guest.replayed import Replay
    from txop.guest.running import Ended, Listener
    from txop.guest_image.image import Image
    from txop.guest_image.overlay import Overlay

DESCRIPTION = "record.json"
TIMELINE = "timeline.json.gz"
"""In the folder of a record."""
PACKET = "packet:"


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command(
        name="debug",
        epilog=epilog(
            [
                (
                    "txop guest run --mode exact --device mt7610u --record run -- /root/test.sh",
                    "record a run; --timeline FILE with it for packets",
                ),
                ("txop guest debug run --at BUG:", "gdb at the instruction that the first such message names"),
                ("txop guest debug run --at 13.25", "at this second of the guest's clock"),
                ("txop guest debug run --at packet:421/bus", "where this packet enters this stage of `txop why`"),
                ("txop guest debug run --at WARN -c 'x/8i $pc' -c reverse-stepi --batch", "for scripts"),
            ],
            [
                "reverse-stepi, reverse-continue and watchpoints go back in time; kstack prints the stack. The stages "
                "of `txop why` are breakpoints that are disabled: enable NUMBER.",
                "Functions of the kernel and its modules have names, no lines and types: docs/why.md.",
            ],
        ),
    )(grouped(debug))


def debug(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of `txop guest run --record`.")],
    *,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TEXT|SECONDS|packet:N[/STAGE]",
            help="Where to stop: text of a message of the kernel's log, guest time, or a packet of the timeline; "
            "default: where the record begins.",
        ),
    ] = None,
    command: Annotated[
        list[str] | None, typer.Option("--command", "-c", metavar="COMMAND", help="Command of gdb; may be repeated.")
    ] = None,
    script: Annotated[Path | None, typer.Option("--script", metavar="FILE", help="File with commands of gdb.")] = None,
    batch: Annotated[bool, typer.Option("--batch", help="End after the commands.")] = False,
    wall_limit: Annotated[
        float,
        typer.Option(
            "--wall-limit",
            metavar="SECONDS",
            min=1.0,
            max=86_400.0,
            help="Seconds, by this machine's clock, to come to the place.",
        ),
    ] = 600.0,
    image: ImageOptions,
) -> None:
    """Replay a recorded run under gdb, which goes backwards too."""
    from txop.guest.debugging.kernel_symbols import kernel_symbols
    from txop.guest.debugging.places import where
    from txop.guest.debugging.remote import Remote
    from txop.guest.debugging.session import check_debugger, prepare, stages_of
    from txop.guest.debugging.session import debug as with_gdb
    from txop.guest.recorded import KERNEL, read_record
    from txop.guest.replayed import replay

    if not batch and not sys.stdin.isatty():
        raise UserError("gdb needs a terminal", what_to_do="add --batch")
    if script is not None and not script.is_file():
        raise UserError("no such file", where=str(script))
    begun = time.monotonic()
    with errors_reported():
        gdb = check_debugger()
        record = read_record(run)
        made, _ = image.image()
        known = kernel_symbols(made, record.folder / KERNEL, progress=note)
        with replay(record) as replayed:
            with Remote(replayed.debugger, wall_limit) as remote:
                symbols = _go(at, record, replayed, known, remote, wall_limit)
            here = where(replayed)
            begin = prepare(replayed, symbols)
            note(
                f"At {here.guest_ns / 1e9:.6f} s, instruction {here.instructions:,}, after "
                f"{time.monotonic() - begun:.1f} s."
            )
            if not batch:
                note("Breakpoints that are disabled: " + ", ".join(stages_of(symbols)) + ".")
            status = with_gdb(gdb, begin, command or (), script, batch=batch)
    if status:
        raise typer.Exit(status)


def saving(overlay: Overlay) -> Overlay:
    """A guest that is saved before its device is plugged in."""
    from txop.guest.recorded import SAVE

    script = overlay.script if overlay.script is not None else f"exec {shlex.join(overlay.command)}"
    return replace(overlay, command=(), script=SAVE + script)


async def recorded(
    folder: Path,
    image: Image,
    overlay: Overlay,
    computer: Computer,
    chip: Chip | None,
    wall_limit_s: float,
    listener: Listener,
) -> Ended:
    """Run a guest, and record it. Raises :class:`GuestError`."""
    from txop.guest.recorded import record_guest
    from txop.guest.running import GuestFailedError

    device, driver = (None, None) if chip is None else (chip.device, chip.driver)
    begun = f"`txop guest debug {shlex.quote(str(folder))} --at TEXT` replays it."
    try:
        ended = await record_guest(
            image, overlay, computer, folder, device=device, driver=driver, wall_limit_s=wall_limit_s, listener=listener
        )
    except GuestFailedError:
        if (folder / DESCRIPTION).is_file():
            note(f"The run is recorded up to there: {begun}")
        raise
    note(f"The run is recorded: {begun}")
    return ended


def keep_timeline(timeline: Path, record: Path) -> None:
    """Puts a run's timeline into its record."""
    shutil.copyfile(timeline, record / TIMELINE)


def _go(
    at: str | None, record: Record, replayed: Replay, known: KernelSymbols, remote: Remote, limit_s: float
) -> Symbols:
    """Continue to the place; the symbols there. Raises :class:`UserError`."""
    from txop.guest.debugging.places import add_modules, go_to_message, go_to_time, kernel_in

    symbols = kernel_in(replayed, known, remote)
    seconds = None if at is None else _seconds(at, record)
    if seconds is not None:
        go_to_time(replayed, record, seconds, limit_s)
    elif at is not None:
        found = go_to_message(at, symbols, known, remote)
        note(f"{found.message}")
        note(f"The replay is where {found.what}{f': {found.function}' if found.function else ''}.")
    add_modules(symbols, known, remote)
    return symbols


def _seconds(at: str, record: Record) -> float | None:
    """The time that is meant; ``None``: a message. Raises :class:`UserError`."""
    from txop.timeline.packet import spans
    from txop.timeline.trace_file import read_recorded

    if not at.startswith(PACKET):
        try:
            return float(at)
        except ValueError:
            return None
    place = record.folder / TIMELINE
    if not place.is_file():
        raise UserError(
            "the record has no timeline", where=str(record.folder), what_to_do="record it with --timeline FILE"
        )
    number, _, stage = at.removeprefix(PACKET).partition("/")
    found = read_recorded(place)
    if not number.isdecimal() or int(number) >= len(found.packets):
        raise UserError(f"there is no packet {number}", where="--at", what_to_do="`txop why` prints them")
    packet = found.packets[int(number)]
    if not stage:
        return packet.points[packet.begins] / 1e9
    begins = {
        span.stage.name: span.begin_ns for span in spans(packet, found.path(by_device=packet.by_device)) if span.stage
    }
    if stage not in begins:
        raise UserError(
            f"packet {number} has no stage {stage!r}", where="--at", what_to_do=f"it has {', '.join(begins)}"
        )
    return begins[stage] / 1e9
