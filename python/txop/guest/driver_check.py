"""Whether a guest's driver is there, knows the device, and takes its parameters: found out before a guest boots.

A driver that is not there costs a boot and a wait for an interface. A parameter that a module lacks costs nothing:
the kernel notes it in its log and goes on, and the figures are of something else than was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from txop.arms.module_file import OF_EVERY_MODULE, modinfo_entries
from txop.core.nearest import nearest
from txop.guest.chips import Chip
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.modules import KernelModule, ModuleFolder, read_module
from txop.guest_image.overlay import given_modules
from txop.plan.devices import ROWS


def check_driver(chip: Chip, image: Image, modules: Sequence[Path] = ()) -> None:
    """Check a chip's driver against the modules of a guest.

    Args:
        chip: The device and its driver.
        image: What boots.
        modules: Module files that take the place of the kernel's own.

    Raises:
        GuestError: There is no such driver, it does not know the device, or it has no such parameter.
    """
    module = _find(chip.driver, image, modules)
    if module is None:  # built in: it does not say in a file what it knows
        return
    name = ROWS[chip.device].modalias
    if name is not None and not any(fnmatchcase(name, alias) for alias in module.aliases):
        raise GuestError(
            f"{chip.driver} of Linux {image.release} does not know the {chip.device}",
            what_to_do="choose another --driver, or give a module that does with --module",
        )
    known = sorted({entry.partition(":")[0] for entry in modinfo_entries(module.data).get("parmtype", [])})
    for parameter in chip.parameters:
        asked, equals, _ = parameter.partition("=")
        if not equals or asked.replace("-", "_") not in (*known, *OF_EVERY_MODULE):
            near = nearest(asked, known)
            advice = f"did you mean {near}? " if near else ""
            raise GuestError(
                f"{chip.driver} has no parameter {asked!r}" if equals else f"{parameter!r} is not NAME=VALUE",
                what_to_do=f"{advice}It has {', '.join(known) or 'none'}",
            )


def _find(driver: str, image: Image, modules: Sequence[Path]) -> KernelModule | None:
    given = given_modules(modules)
    name = driver.replace("-", "_")
    if name in given:
        return given[name][1]
    folder = ModuleFolder(image.modules_folder)
    if name in folder.builtin:
        return None
    data = folder.find(name) if name in image.modules else None
    if data is None:
        near = nearest(name, image.modules)
        raise GuestError(
            f"the guest has no driver {driver!r}",
            what_to_do=(f"did you mean {near}? " if near else "")
            + "Build it with `txop guest module --driver NAME`, and give it with --module",
        )
    return read_module(data, f"{name}.ko")
