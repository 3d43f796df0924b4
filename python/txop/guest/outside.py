"""The devices that a guest's QEMU has of txop, outside of the guest: arguments, configuration, where their files go.

The device itself is plugged in by the guest, which asks for it (``lab.sh``, ``txop-vusb control``).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from txop.core.origin import Bench
from txop.guest.results import safe_name
from txop.guest_image.emulator.qemu import emulator
from txop.guest_image.emulator.shim import build_shim
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.packages.apt import Progress


@dataclass(frozen=True)
class GivenRun:
    """What a guest that was saved does where it is restored."""

    seed: int
    """Seeds what its device draws from then on."""
    loss: float | None
    """The probability with which frames get lost on top of the noise; ``None``: as when it was saved."""
    script: str
    """Shell text that it asks for (``txop-vusb control run``)."""
    faults: str | None = None
    """Text of a fault script that begins then; ``None``: none does."""


BENCH = Bench.OUTSIDE
"""Where the virtual device is."""

LIBRARY = "libtxop_qemu.so"
VARIABLE = "TXOP_QEMU"
"""Environment variable: a program in place of the pinned QEMU. It gets the same arguments, and no devices of txop."""
LIBRARY_VARIABLE = "TXOP_QEMU_DEVICES"
"""Environment variable: a library in place of the one that txop has."""
CONTROL_PORT = "control"
"""The port on which the guest asks."""
FOLDER = "devices"
"""Folder beside the guest's own output that the devices write to; it becomes part of what the guest outputs."""
GIVEN = "given"
"""Folder for contents that the guest gets as files, and that its device reads."""
CONFIG = "devices.json"
FAR_END = "02:74:78:6f:70:01"
"""Hardware address of the guest's interface at the far end of a network function (crates/vusb, machine.rs)."""
PCI_FUNCTIONS = 8
"""Slots on PCI for the functions of a device (crates/vusb, pci.rs); they are empty where it is on another bus."""
GUEST_FOLDER = "/txop/out"
"""What that folder is called in the options that the guest gives."""
CAPTURE_LIMIT_BYTES = 2 << 30
"""Of each capture: what a guest outputs beside them is less."""
MAX_DEVICE_FILES = 64
"""A guest names the files of its counters itself; of each other kind there is one."""
MAX_DEVICE_BYTES = 8 << 30
"""Limit of all files of the devices."""


def find_library() -> Path:
    """The library with the devices, for QEMU. Raises :class:`MissingGuestToolError`."""
    named = os.environ.get(LIBRARY_VARIABLE)
    path = Path(named) if named else Path(__file__).parent / "bin" / LIBRARY
    if not path.is_file() and named:
        raise MissingGuestToolError(f"{LIBRARY_VARIABLE} names {path}, and that is no file")
    if not path.is_file():
        raise MissingGuestToolError(
            f"there is no {LIBRARY}, which has the virtual devices", what_to_do="in a clone: make setup"
        )
    return path


def qemu_command(cache: Path | None = None, progress: Progress = lambda _: None) -> tuple[str, ...]:
    """The program QEMU with the devices in it, as the beginning of a command line. Raises :class:`GuestError`."""
    if named := os.environ.get(VARIABLE):
        return (named,)
    library = find_library()
    shim = build_shim(cache=cache, progress=progress)
    return emulator(cache=cache, progress=progress).argv([library, shim])


def device_arguments(config: Path, *, restored: bool = False) -> list[str]:
    """Arguments of QEMU for the devices. The controller of virtio-serial is there already.

    Args:
        config: The file that :func:`write_config` wrote.
        restored: The guest may be saved and restored. It does not tell its network then that it has moved
            (VIRTIO_NET_F_GUEST_ANNOUNCE), as it would after it was restored only.
    """
    announce = ",guest_announce=off" if restored else ""
    argv = ["-device", f"txop-control,config={config.as_posix().replace(',', ',,')},name=txop.{CONTROL_PORT}"]
    argv += ["-device", "qemu-xhci", "-device", "txop-usb"]
    for number in range(PCI_FUNCTIONS):
        argv += ["-device", f"txop-pci,number={number}"]
    argv += ["-device", "txop-hwsim-pci,disable-legacy=on", "-device", "txop-mmc-pci,disable-legacy=on"]
    # by a timer of the guest's clock: another thread would send at a time of its own
    return [
        *argv,
        "-device",
        f"virtio-net-pci,disable-legacy=on,netdev=wired,mac={FAR_END},tx=timer,x-txtimer=1000,ioeventfd=off,romfile={announce}",
    ]


def write_config(
    work: Path,
    files: Mapping[str, Path],
    texts: Mapping[str, bytes],
    *,
    exact: bool,
    checkpoints: bool = False,
    run: GivenRun | None = None,
) -> Path:
    """Write the configuration for a guest, and make the folder of the devices.

    Args:
        work: The guest's folder.
        files: By name in the guest: the files of this machine that its options may name.
        texts: The same, as contents.
        exact: The guest's time goes with its instructions.
        checkpoints: The guest may ask to be stopped and saved: a process waits for it.
        run: What it does where it is restored.
    """
    folder, given = work / FOLDER, work / GIVEN
    folder.mkdir()
    given.mkdir()
    places = {name: path.absolute() for name, path in files.items()}
    for number, (name, data) in enumerate(texts.items()):
        place = given / str(number)
        place.write_bytes(data)
        places[name] = place.absolute()
    config = config_of(work, places, exact=exact, checkpoints=checkpoints, run=run)
    path = work / CONFIG
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def config_of(
    work: Path,
    places: Mapping[str, Path],
    *,
    exact: bool,
    checkpoints: bool = False,
    run: GivenRun | None = None,
) -> dict[str, Any]:
    """What the configuration for a guest says. ``places``: by name in the guest, where its files are."""
    return {
        "folder": str((work / FOLDER).absolute()),
        "guest_folder": GUEST_FOLDER,
        "files": {name: str(path) for name, path in places.items()},
        "exact": exact,
        "capture_limit": CAPTURE_LIMIT_BYTES,
        "checkpoints": checkpoints,
        "run": None if run is None else asdict(run),
    }


def too_much(work: Path) -> str | None:
    """What the devices have written more of than is taken; ``None``: nothing."""
    files = _written(work)
    if len(files) > MAX_DEVICE_FILES:
        return f"its devices wrote more than {MAX_DEVICE_FILES} files"
    if sum(path.stat().st_size for path in files) > MAX_DEVICE_BYTES:
        return f"its devices wrote more than {MAX_DEVICE_BYTES >> 20} MB"
    return None


def take_files(work: Path, results: Path) -> list[str]:
    """Move the files of the devices to those that the guest output; their names.

    Files with a name that leads out of the folder, or cannot be shown, are left out. Raises :class:`GuestError` when
    there are too many, or they are too large.
    """
    if (trouble := too_much(work)) is not None:
        raise GuestError(trouble)
    names = []
    for path in _written(work):
        if not is_plain(path.name):
            continue
        results.mkdir(parents=True, exist_ok=True)
        place = results / path.name
        if place.is_dir() and not place.is_symlink():  # the guest's, which named it so
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
        shutil.move(path, place)
        names.append(path.name)
    return names


def is_plain(name: str) -> bool:
    """Whether it is the name of a file directly in a folder, in characters that can be shown.

    >>> [is_plain(name) for name in ("air.pcapng", "a/b", "..", "/x", "", "a\\x1bb")]
    [True, False, False, False, False, False]
    """
    return "/" not in name and safe_name(name) == name


def _written(work: Path) -> list[Path]:
    """The files of the devices that are whole, in order of name."""
    folder = work / FOLDER
    found = (path for path in folder.iterdir()) if folder.is_dir() else ()
    return sorted(p for p in found if p.is_file() and not p.is_symlink() and not p.name.endswith(".part"))
