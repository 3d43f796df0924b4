"""``--timeline`` of ``txop guest run``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from txop.cli.guest_device import TRACE_FILE, CaptureOptions
from txop.cli.guest_options import note
from txop.core.errors import UserError
from txop.present.format import plural

if TYPE_CHECKING:
    from txop.guest.chips import Chip
    from txop.guest_image.overlay import Overlay


def check_timeline(captures: CaptureOptions, device: str | None, mode: str) -> None:
    """Raise :class:`UserError` where there can be no timeline."""
    from txop.plan.devices import CHIPS

    if captures.timeline is None or device is None:
        return
    if mode != "exact":
        raise UserError(
            "a timeline has one clock: that of the instructions of an exact guest",
            where="--timeline",
            what_to_do="add --mode exact",
        )
    if device not in CHIPS:
        raise UserError(f"{device} has no air", where="--timeline", what_to_do=f"{', '.join(CHIPS)} have")
    if captures.timeline.is_dir():
        raise UserError("it is a folder", where=str(captures.timeline), what_to_do="name a file")
    if not captures.timeline.parent.is_dir():
        raise UserError("no such folder", where=str(captures.timeline.parent))


def recorded_command(command: list[str]) -> list[str]:
    """The command, traced."""
    from txop.timeline.recording import BUFFER_KB, PROGRAM

    return [PROGRAM, str(BUFFER_KB), *command]


def with_recorder(overlay: Overlay) -> Overlay:
    """With the program that traces."""
    from txop.timeline.recording import recorder_files

    return replace(overlay, texts={**overlay.texts, **recorder_files()})


def write_timeline(path: Path, results: Path, chip: Chip, status: int) -> None:
    """Make the timeline of a guest that has ended. Raises :class:`UserError`."""
    from txop.core.errors import ExitCode
    from txop.guest.chips import COMMAND_LOG
    from txop.guest.running import FILES
    from txop.measure.probes.air_analysis import CAPTURE_FILE
    from txop.plan.devices import ON_PCI, SDIO_CARDS
    from txop.timeline.timeline import read_timeline
    from txop.timeline.trace_file import recorded, write_trace

    if status == ExitCode.NO_TESTBED:
        return
    interrupt = chip.driver if chip.device in ON_PCI else None
    on_card = chip.device in SDIO_CARDS
    timeline = read_timeline(
        results / FILES,
        air=CAPTURE_FILE,
        trace=None if on_card else TRACE_FILE,
        commands=COMMAND_LOG if on_card else None,
        interrupt=interrupt,
    )
    write_trace(path, timeline, recorded(timeline, chip.device, chip.driver))
    packets = plural(len(timeline.seen.packets), "packet")
    note(f"In {path}: {packets} of the device. `txop why {path}`; ui.perfetto.dev opens it.")
