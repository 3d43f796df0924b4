"""Modules that a guest gets in place of its kernel's own, so that a driver knows the chip: given ones, or one built."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from txop.guest.driver import SWITCHES, DriverBuild, build_driver
from txop.guest.mmc_host import with_mmc_host
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.modules import ModuleFolder, read_module
from txop.guest_image.overlay import given_modules
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.lock import Lock
from txop.plan.devices import NEEDS_BUILD


async def modules_for(
    device: str,
    driver: str,
    given: Sequence[Path],
    image: Image,
    lock: Lock | None,
    progress: Progress,
    *,
    host: str = "ushc",
) -> tuple[Path, ...]:
    """The modules to put into a guest with this device and driver.

    Args:
        device: The virtual device.
        driver: Name of its driver.
        given: Module files of the user's: all of them are taken, and one of the driver's name is the driver.
        image: with a kernel that it is.
        lock: What a driver that the kernel lacks is built for; ``None``: the kernel is your own, and nothing is built.
        progress: Receives the progress of a build.
        host: Host controller of an SDIO card, one of :data:`txop.guest.chips.SDIO_HOSTS`.

    Raises:
        GuestError: The driver cannot be built, or your own kernel has none that knows the device.
    """
    modules = await with_mmc_host(given, host, lock, progress)
    if (device, driver) not in NEEDS_BUILD or driver in given_modules(modules):
        return modules
    if lock is None:
        _check_own(device, driver, image)
        return modules
    return (*modules, (await build_driver(DriverBuild(driver), lock, progress=progress)).module)


async def modules_of_each(
    device: str, drivers: Sequence[str], given: Sequence[Path], image: Image, lock: Lock | None, progress: Progress
) -> dict[str, tuple[Path, ...]]:
    """:func:`modules_for` of several drivers: a given module that is one of them goes to its own guests only."""
    names = {path: name for name, (path, _) in given_modules(given).items()}
    modules = {}
    for driver in drivers:
        mine = [path for path in given if names[path] == driver or names[path] not in drivers]
        modules[driver] = await modules_for(device, driver, mine, image, lock, progress)
    return modules


def _check_own(device: str, driver: str, image: Image) -> None:
    """Raise :class:`GuestError` when the driver among the modules of your own kernel does not know the device."""
    folder = ModuleFolder(image.modules_folder)
    if driver in folder.builtin:  # it does not say in a file what it knows
        return
    data = folder.find(driver)
    advice = f"or give one that is built for it with --module{_switches(driver)}"
    if data is None:
        raise GuestError(f"{folder.folder} has no {driver}", what_to_do=f"build the kernel with it, {advice}")
    alias = NEEDS_BUILD[device, driver]
    if not any(known.startswith(alias) for known in read_module(data, f"{driver}.ko").aliases):
        raise GuestError(
            f"{driver} in {folder.folder} does not know the {device} ({alias})",
            what_to_do=f"rebuild the kernel's modules, {advice}",
        )


def _switches(driver: str) -> str:
    names = SWITCHES.get(driver, ())
    return f"; it takes {', '.join(names)}" if names else ""
