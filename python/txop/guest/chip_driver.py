"""The module of a driver that a virtual chip needs beside those of the kernel."""

from __future__ import annotations

from pathlib import Path

from txop.guest.chips import NEEDS_BUILD
from txop.guest.driver import SWITCHES, DriverBuild, build_driver
from txop.guest.error import GuestError
from txop.guest.modules import ModuleFolder, read_module
from txop.guest.packages.apt import Progress
from txop.guest.packages.lock import Lock

_ALIASES = {"rtl8188cus": "usb:v0BDAp8176d"}
"""How the aliases of a driver begin that knows the chip (USB ids of the default efuse; MODULE_DEVICE_TABLE)."""


async def chip_driver(
    device: str, driver: str, lock: Lock, own_modules: Path | None, progress: Progress = lambda _: None
) -> tuple[Path, ...]:
    """The module that takes the place of the kernel's own, where that does not know the chip; none otherwise.

    Args:
        device: One of :data:`txop.guest.chips.DEVICES`.
        driver: Its driver.
        lock: Of the guest; the module is built for its kernel.
        own_modules: With a kernel of one's own, its modules: nothing is built for that, it has to know the chip.
        progress: Hears what is done.

    Raises:
        GuestError: The module cannot be built, or a kernel of one's own does not know the chip.
    """
    if (device, driver) not in NEEDS_BUILD:
        return ()
    if own_modules is None:
        return ((await build_driver(DriverBuild(driver), lock, progress=progress)).module,)
    folder = ModuleFolder(own_modules)
    data = folder.find(driver)
    if data is None and driver in folder.builtin:
        return ()
    aliases = () if data is None else read_module(data, f"{driver}.ko").aliases
    if not any(alias.startswith(_ALIASES[device]) for alias in aliases):
        switches = ", ".join(f"CONFIG_{name.removeprefix('CONFIG_')}" for name in SWITCHES.get(driver, ()))
        raise GuestError(
            f"{driver} in {own_modules} does not know an {device}" if data else f"{own_modules} has no {driver}",
            what_to_do=f"build that kernel with {switches}, or give a module for it with --module",
        )
    return ()
