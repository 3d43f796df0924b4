"""One trial of a driver in a guest: what it runs, and what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from txop.guest.chips import IN_GUEST, NEEDS_BUILD, Chip, find_chips
from txop.guest.driver import DriverBuild, build_driver
from txop.guest.facts import Facts, Sample, read_facts, read_samples
from txop.guest.image import Image
from txop.guest.judgement import Observed
from txop.guest.kernel_lines import KernelLine, read_kernel_lines
from txop.guest.overlay import Overlay
from txop.guest.packages.lock import Lock
from txop.guest.qemu import Computer
from txop.guest.running import FILES, GuestFailed, Listener, run_guest

FAULTS_IN_GUEST = "/txop/faults.toml"
_SCRIPTS = "/txop/trials"
_TURNED_OFF = "turned itself off"


@dataclass(frozen=True)
class Place:
    """Where trials run."""

    image: Image
    computer: Computer
    wall_limit_s: float
    modules: Mapping[str, tuple[Path, ...]]
    """By driver: modules that take the place of the kernel's own."""


async def driver_modules(
    device: str, drivers: tuple[str, ...], lock: Lock, progress: Callable[[str], None]
) -> dict[str, tuple[Path, ...]]:
    """The modules that have to be built so that these drivers know the chip. Raises :class:`GuestError`."""
    modules: dict[str, tuple[Path, ...]] = {}
    for driver in drivers:
        modules[driver] = ()
        if (device, driver) in NEEDS_BUILD:
            modules[driver] = ((await build_driver(DriverBuild(driver), lock, progress=progress)).module,)
    return modules


def trial_overlay(script: str, chip: Chip, settings: Mapping[str, str], place: Place, faults: str = "") -> Overlay:
    """What a trial's guest runs. ``script``: a file of ``trials``; ``faults``: text of a fault script."""
    folder = resources.files("txop.guest") / "trials"
    texts = {f"{_SCRIPTS}/{name}": (folder / name).read_bytes() for name in ("lib.sh", script)}
    if faults:
        texts[FAULTS_IN_GUEST] = faults.encode()
    return Overlay(
        script=f"exec dash {_SCRIPTS}/{script}",
        environment={**chip.variables(), **settings},
        files={IN_GUEST: find_chips()},
        texts=texts,
        modules=tuple(place.modules.get(chip.driver, ())),
    )


@dataclass(frozen=True)
class Trial:
    """What came back of a trial."""

    seen: Observed
    seconds: float | None
    """By this machine's clock; ``None``: it failed."""
    guest_seconds: float | None


async def run_trial(overlay: Overlay, place: Place, results: Path, listener: Listener | None = None) -> Trial:
    """Run a trial to its end. A guest that fails is a result. Raises :class:`GuestError` when none can be started."""
    failure: str | None = None
    turned_off = False
    seconds = guest_seconds = None
    try:
        ended = await run_guest(
            place.image, overlay, place.computer, results=results, wall_limit_s=place.wall_limit_s, listener=listener
        )
        seconds, guest_seconds = ended.seconds, ended.guest_seconds
        if ended.status:
            failure = f"the trial ended with {ended.status}"
    except GuestFailed as error:
        failure, turned_off = error.what, _TURNED_OFF in error.what
    facts, lines, samples = await asyncio.to_thread(_read, results, failure is not None)
    return Trial(Observed(facts, lines, samples, failure, turned_off), seconds, guest_seconds)


def _read(results: Path, failed: bool) -> tuple[Facts, list[KernelLine], list[Sample]]:
    files = results / FILES
    log = next((path for path in (files / "log", files / "kernel.log") if path.is_file()), results / "console")
    if failed and not (files / "log").is_file() and not (files / "kernel.log").is_file():
        log = results / "console"
    return (
        read_facts(_bytes(files / "facts")),
        read_kernel_lines(_bytes(log)),
        read_samples(_bytes(files / "carried")),
    )


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
