"""A recorded run: everything with which QEMU executes a run of an exact guest again, instruction for instruction.

A record begins where the guest's script asks for it (:data:`SAVE`), before the device is plugged in: QEMU is stopped
there and saves the guest, and its record of all that it does beside the instructions continues to the guest's end
(QEMU, docs/system/replay.rst). In the folder are ``machine`` (QEMU's snapshot), ``events`` (its record), ``initramfs``,
``kernel``, the files of the devices, ``record.json`` and ``results`` (what the guest output)."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from txop.core.visible import visible
from txop.guest.checkpoint import SNAPSHOT, empty_disk, save_snapshot, snapshot_file
from txop.guest.outside import CONFIG, GIVEN, GivenRun, find_library
from txop.guest.qemu import Computer, Mode
from txop.guest.qmp import Qmp, QmpClosedError, QmpError
from txop.guest.running import INITRAMFS, Ended, Listener, attended_guest
from txop.guest_image.cache import room, sha256_of
from txop.guest_image.emulator.lock import find_emulator_lock
from txop.guest_image.emulator.shim import shim_sha256
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay

FORMAT = "txop-guest-record"
VERSION = 1

DESCRIPTION = "record.json"
MACHINE = "machine"
EVENTS = "events"
RESULTS = "results"
MAX_SNAPSHOTS = 8
KERNEL = "kernel"

SAVE = "txop-vusb control checkpoint || exit\n"
"""What a guest's script does where the record begins, and where one may go back to."""


def machine_parts() -> dict[str, str]:
    """What a replay takes from this machine; all else is in its folder. Raises :class:`GuestError`, OSError."""
    return {
        "qemu_sha256": find_emulator_lock().program_sha256,
        "chips_sha256": sha256_of(find_library()),
        "shim_sha256": shim_sha256(),
    }


class RecordError(GuestError):
    """A folder that is no record, or one that this txop cannot replay."""


@dataclass(frozen=True)
class Place:
    """Where a guest is."""

    virtual_ns: int
    """By QEMU's clock."""
    guest_ns: int
    """By the guest's CLOCK_MONOTONIC."""
    instructions: int


@dataclass(frozen=True)
class Record:
    """A recorded run, read."""

    folder: Path
    release: str
    """Of its kernel."""
    shift: int
    """One instruction takes 2^shift ns."""
    places: tuple[Place, ...]
    """Where it was saved; where one goes back, the nearest of these is loaded."""
    status: int | None
    """Exit status of its command; ``None``: the guest ended otherwise."""
    device: str | None
    driver: str | None
    modules: tuple[str, ...]
    """Files in the folder: modules that took the place of the kernel's own."""
    parts: Mapping[str, Any]
    computer: Mapping[str, Any]

    @property
    def results(self) -> Path:
        """Folder of what the guest output."""
        return self.folder / RESULTS


def check_record_folder(folder: Path) -> None:
    """Raise :class:`RecordError` where no record can be made."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RecordError(f"{folder} exists", what_to_do="give another folder to --record")


async def record_guest(
    image: Image,
    overlay: Overlay,
    computer: Computer,
    folder: Path,
    *,
    device: str | None,
    driver: str | None,
    wall_limit_s: float,
    listener: Listener | None = None,
    cache: Path | None = None,
) -> Ended:
    """Run a guest to its end, and record it.

    Args:
        image: What it boots.
        overlay: What it runs; its script begins the record.
        computer: Where; exact.
        folder: For the record, with the results. It is made; what an interrupted run left is removed.
        device: What is plugged in, for those who read it.
        driver: The same.
        wall_limit_s: As in :func:`txop.guest.running.run_guest`.
        listener: As there.
        cache: As there.

    Raises:
        RecordError: The folder is there.
        GuestFailedError: The guest ended otherwise than it should; its record is whole, for that is what one debugs.
    """
    check_record_folder(folder)
    if computer.mode is not Mode.EXACT:
        raise RecordError("only an exact guest is recorded", what_to_do="add --mode exact")
    recorded = replace(computer, record=folder / EVENTS)
    description = {
        "format": FORMAT,
        "version": VERSION,
        "release": image.release,
        "key": image.key,
        "shift": computer.shift,
        "device": device,
        "driver": driver,
        "modules": [f"modules/{path.name}" for path in overlay.modules],
        "computer": {
            "memory_mb": computer.memory_mb,
            "seed": computer.seed,
            "limit_s": computer.limit_s,
            "append": list(computer.append),
        },
        "parts": machine_parts(),
    }
    with room(folder, advice="give another folder to --record"):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(image.kernel, folder / KERNEL)
        for path in overlay.modules:
            (folder / "modules").mkdir(exist_ok=True)
            shutil.copyfile(path, folder / "modules" / path.name)
    recording = _Recording(folder)
    status: int | None = None
    try:
        ended = await attended_guest(
            image,
            overlay,
            recorded,
            recording,
            results=folder / RESULTS,
            wall_limit_s=wall_limit_s,
            listener=listener,
            cache=cache,
        )
        if ended is None:
            raise AssertionError("a recorded guest ends by itself")
        status = ended.status
        return ended
    finally:
        if recording.places:
            places = [asdict(place) for place in recording.places]
            text = json.dumps({**description, "status": status, "places": places}, indent=1) + "\n"
            (folder / DESCRIPTION).write_text(text, encoding="utf-8")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def read_record(folder: Path) -> Record:
    """A recorded run. Raises :class:`RecordError`."""
    try:
        found = json.loads((folder / DESCRIPTION).read_bytes())
        if (found["format"], found["version"]) != (FORMAT, VERSION):
            raise RecordError(f"{folder} is no record of this version", what_to_do="record the run again")
        return Record(
            folder.absolute(),
            str(found["release"]),
            int(found["shift"]),
            tuple(Place(**place) for place in found["places"]),
            found["status"],
            found["device"],
            found["driver"],
            tuple(map(str, found["modules"])),
            dict(found["parts"]),
            dict(found["computer"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(
            f"{visible(str(folder))} is no recorded run: {error}",
            what_to_do="txop guest run --mode exact --record DIR makes one",
        ) from None


class _Recording:
    """Saves the guest wherever its script asks for it, and has it continue."""

    continues = False
    run: GivenRun | None = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self.places: list[Place] = []

    def prepare(self, work: Path) -> None:
        """The file for the snapshots is in the record's folder, beside what the guest boots and its devices read."""
        (self._folder / MACHINE).write_bytes(empty_disk())
        (work / MACHINE).symlink_to(self._folder / MACHINE)
        shutil.copyfile(work / INITRAMFS, self._folder / INITRAMFS)
        given = self._folder / GIVEN
        given.mkdir()
        config = json.loads((work / CONFIG).read_bytes())
        for number, (name, path) in enumerate(config["files"].items()):
            shutil.copyfile(path, given / str(number))
            config["files"][name] = str(number)
        (self._folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")

    def arguments(self) -> list[str]:
        """The file of the snapshots."""
        return snapshot_file()

    async def attend(self, monitor: Path, work: Path) -> bool:
        """See :class:`txop.guest.running.Attendant`."""
        del work
        async with Qmp(monitor) as qmp:
            with contextlib.suppress(QmpClosedError):
                while len(self.places) < MAX_SNAPSHOTS:
                    await qmp.event("STOP")
                    name = f"{SNAPSHOT}{len(self.places)}"
                    await save_snapshot(qmp, name, close=False)
                    self.places.append(await place_of(qmp))
                    await qmp.execute("cont")
        return False


async def place_of(qmp: Qmp) -> Place:
    """Where a guest is that is stopped. Raises :class:`~txop.guest.qmp.QmpError`."""
    path = await control_path(qmp)
    return Place(*map(int, str(await qmp.execute("qom-get", path=path, property="position")).split()))


async def control_path(qmp: Qmp) -> str:
    """Where txop's device is among QEMU's objects. Raises :class:`~txop.guest.qmp.QmpError`."""
    for each in await qmp.execute("qom-list", path="/machine/peripheral-anon"):
        if each["type"] == "child<txop-control>":
            return f"/machine/peripheral-anon/{each['name']}"
    raise QmpError("QEMU has no device of txop")
