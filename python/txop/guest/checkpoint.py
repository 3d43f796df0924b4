"""A running guest saved, and continued in other processes, with its chip, the air and the peers: a building block.

The guest decides when: its script asks with ``txop-vusb control checkpoint``, after the association for instance. QEMU
stops it there, at an instant that only its inputs decide, and its memory, processor and devices become a snapshot in a
file (QEMU, docs/system/images.rst, "VM snapshots"; its migration would read clocks in a thread of its own, which the
record of an exact guest does not allow: replay/replay-time.c). What is restored continues with the next instruction:
every restored run of an exact guest leaves the same bytes, and the same as the run that was saved and continued.

A checkpoint is a folder: ``machine`` (QEMU's), ``ports`` (what the guest had output), ``devices`` (captures and
counters so far, which are continued), ``checkpoint.json`` (of what it is, so that nothing else is restored).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from txop.core.visible import visible
from txop.guest.inputs import parts_of
from txop.guest.outside import FOLDER, GivenRun
from txop.guest.qemu import PORTS, Computer
from txop.guest.qmp import Qmp, QmpClosedError, QmpError
from txop.guest.running import Cause, Ended, GuestFailedError, Listener, attended_guest, monitor_arguments
from txop.guest_image.cache import new_folder, room, sha256_of
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay

FORMAT = "txop-checkpoint"
FORMAT_VERSION = 1

MACHINE = "machine"
DESCRIPTION = "checkpoint.json"
_PORTS = "ports"

SNAPSHOT = "checkpoint"
"""Name of the snapshot in its file."""
BUSY = "does not allow making snapshot right now"
"""What QEMU says while its record has events that wait (migration/savevm.c, save_snapshot)."""
TRIES = 200
_DRIVE = "snapshot"
POLL_S = 0.02


class CheckpointError(GuestError):
    """A checkpoint that cannot be made or taken."""


class EndedEarlyError(CheckpointError):
    """A guest that ended before it asked for a checkpoint. What it output is in the folder of results."""

    def __init__(self, ended: Ended | None) -> None:
        super().__init__("the guest ended before it asked for a checkpoint")
        self.ended = ended


async def save(
    image: Image,
    overlay: Overlay,
    computer: Computer,
    checkpoint: Path,
    *,
    results: Path,
    wall_limit_s: float,
    then_continue: bool = False,
    listener: Listener | None = None,
    cache: Path | None = None,
) -> Ended | None:
    """Run a guest until it asks for a checkpoint, and save it.

    Args:
        image: What it boots.
        overlay: What it runs; its script asks for the checkpoint.
        computer: Where.
        checkpoint: Folder for it, made here, completely or not at all.
        results: Folder for what the guest outputs, as in :func:`txop.guest.running.run_guest`.
        wall_limit_s: The guest is ended after that long by this machine's clock.
        then_continue: It continues to its end.
        listener: Receives progress and output.
        cache: Folder for its temporary files; default the user's.

    Returns:
        How it ended; ``None``: it did not continue.

    Raises:
        CheckpointError: The folder is there, or QEMU cannot save the guest.
        GuestFailedError: The guest ended otherwise than it should, or before it asked.
    """
    if checkpoint.exists():
        raise CheckpointError(f"{checkpoint} exists", what_to_do="give another folder")
    saving = _Saving(checkpoint, identity(image, overlay, computer), then_continue)
    try:
        ended = await attended_guest(
            image,
            overlay,
            computer,
            saving,
            results=results,
            wall_limit_s=wall_limit_s,
            listener=listener,
            cache=cache,
        )
    except GuestFailedError as error:
        if error.cause is not Cause.ATTENDANT:
            raise
        raise CheckpointError(error.what) from None
    if not checkpoint.is_dir():
        raise EndedEarlyError(ended)
    return ended


async def restore(
    image: Image,
    overlay: Overlay,
    computer: Computer,
    checkpoint: Path,
    *,
    results: Path,
    wall_limit_s: float,
    run: GivenRun | None = None,
    listener: Listener | None = None,
    cache: Path | None = None,
) -> Ended:
    """Continue a saved guest to its end. The checkpoint stays as it is.

    Args:
        image: The image that was saved.
        overlay: The same.
        computer: The same.
        checkpoint: The folder that :func:`save` made.
        results: As in :func:`save`; they begin with what the guest had output before.
        wall_limit_s: As in :func:`save`.
        run: What it does when its script asks for it, and the seed of what its device draws from then on.
        listener: As in :func:`save`.
        cache: As in :func:`save`.

    Raises:
        CheckpointError: It is of another guest, another QEMU or other devices, or it is damaged.
        GuestFailedError: The guest ended otherwise than it should.
    """
    _check(checkpoint, identity(image, overlay, computer))
    ended = await attended_guest(
        image,
        overlay,
        computer,
        _Restoring(checkpoint, run),
        results=results,
        wall_limit_s=wall_limit_s,
        listener=listener,
        cache=cache,
    )
    if ended is None:
        raise AssertionError("a restored guest ends by itself")
    return ended


def identity(image: Image, overlay: Overlay, computer: Computer) -> dict[str, Any]:
    """What has to be the same for a checkpoint to be restored: all that a run is a function of that begins there.

    Raises :class:`GuestError` or :class:`OSError`.
    """
    return {
        **parts_of(image, overlay, computer, is_saved=True),
        "attended": [*monitor_arguments(), *snapshot_file()],
        "checkpoint_version": FORMAT_VERSION,
    }


def is_whole(checkpoint: Path) -> bool:
    """Whether a checkpoint has the bytes that it was saved with."""
    try:
        sums = json.loads((checkpoint / DESCRIPTION).read_bytes())["sha256"]
        return isinstance(sums, dict) and {name: sha256_of(checkpoint / name) for name in _files_of(checkpoint)} == sums
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _files_of(folder: Path) -> list[str]:
    """Everything in a checkpoint beside its description."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if path != Path(DESCRIPTION))


def _check(checkpoint: Path, wanted: dict[str, Any]) -> None:
    try:
        found = json.loads((checkpoint / DESCRIPTION).read_bytes())
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{checkpoint} is no checkpoint: {error}") from None
    if not isinstance(found, dict) or (found.get("format"), found.get("version")) != (FORMAT, FORMAT_VERSION):
        raise CheckpointError(f"{checkpoint} is no checkpoint of this version", what_to_do="save the guest again")
    differing = sorted(key for key, value in wanted.items() if found.get("of", {}).get(key) != value)
    if differing:
        raise CheckpointError(
            f"{checkpoint} is of another guest: {', '.join(differing)}", what_to_do="save this guest, too"
        )


@dataclass(frozen=True)
class _Saving:
    """Waits until the guest asks, and saves it."""

    checkpoint: Path
    of: dict[str, Any]
    then_continue: bool
    continues: bool = False
    run: GivenRun | None = None

    def prepare(self, work: Path) -> None:
        """Makes a file for the snapshot."""
        (work / MACHINE).write_bytes(empty_disk())

    def arguments(self) -> list[str]:
        """The file, which the guest does not see."""
        return snapshot_file()

    async def attend(self, monitor: Path, work: Path) -> bool:
        """See :class:`txop.guest.running.Attendant`."""
        async with Qmp(monitor) as qmp:
            try:
                await qmp.event("STOP")
            except QmpClosedError:
                return False
            with room(self.checkpoint.absolute().parent), new_folder(self.checkpoint) as folder:
                await save_snapshot(qmp)
                shutil.move(work / MACHINE, folder / MACHINE)
                for name, place in ((_PORTS, work), (FOLDER, work / FOLDER)):
                    (folder / name).mkdir()
                    for path in sorted(place.iterdir()):
                        if path.is_file() and (place != work or path.name in ("console", *PORTS)):
                            shutil.copyfile(path, folder / name / path.name)
                sums = {name: sha256_of(folder / name) for name in _files_of(folder)}
                description = {"format": FORMAT, "version": FORMAT_VERSION, "of": self.of, "sha256": sums}
                (folder / DESCRIPTION).write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
            with contextlib.suppress(QmpClosedError):
                await qmp.execute("cont" if self.then_continue else "quit")
        return not self.then_continue


@dataclass(frozen=True)
class _Restoring:
    """Has QEMU take a checkpoint instead of a boot."""

    checkpoint: Path
    run: GivenRun | None = None
    continues: bool = True

    def prepare(self, work: Path) -> None:
        """Puts the files where they were. QEMU writes to the one with the snapshot, too."""
        shutil.copyfile(self.checkpoint / MACHINE, work / MACHINE)
        for name, place in ((_PORTS, work), (FOLDER, work / FOLDER)):
            for path in sorted((self.checkpoint / name).iterdir()):
                shutil.copyfile(path, place / path.name)

    def arguments(self) -> list[str]:
        """QEMU begins with the snapshot."""
        return [*snapshot_file(), "-loadvm", SNAPSHOT]

    async def attend(self, monitor: Path, work: Path) -> bool:
        """Nothing is left to do."""
        del monitor, work
        return False


def snapshot_file() -> list[str]:
    """Arguments of QEMU for the file of snapshots, in its working folder."""
    return ["-drive", f"if=none,id={_DRIVE},format=qcow2,file={MACHINE}"]


async def save_snapshot(qmp: Qmp, name: str = SNAPSHOT, *, close: bool = True) -> None:
    """Has QEMU save the guest, which is stopped. ``close``: QEMU does not need the file any more. Raises
    :class:`~txop.guest.qmp.QmpError`."""
    for _ in range(TRIES):
        said = await _command(qmp, f"savevm {name}")
        if BUSY not in said:
            break
        await asyncio.sleep(POLL_S)
    if close:
        said = said or await _command(qmp, f"drive_del {_DRIVE}")
    if said:
        raise QmpError(f"QEMU did not save the guest: {visible(said[:300])}")


async def _command(qmp: Qmp, words: str) -> str:
    """What the monitor for people says to a command; nothing: it was done."""
    return str(await qmp.execute("human-monitor-command", **{"command-line": words})).strip()


def empty_disk() -> bytes:
    """A disk image of one cluster in the format that has snapshots (QEMU, docs/interop/qcow2.rst), with nothing in it.

    Clusters of 64 KiB: the header; the table of blocks of reference counts; one such block; the table of tables of
    clusters, of one entry.
    """
    cluster = 1 << 16
    header = b"QFI\xfb" + struct.pack(">IQIIQI", 3, 0, 0, 16, cluster, 0)
    header += struct.pack(">IQQIIQ", 1, 3 * cluster, cluster, 1, 0, 0)
    header += struct.pack(">QQQII", 0, 0, 0, 4, 104)
    counts = struct.pack(">4H", 1, 1, 1, 1)
    parts = (header, struct.pack(">Q", 2 * cluster), counts, b"")
    return b"".join(part.ljust(cluster, b"\0") for part in parts)
