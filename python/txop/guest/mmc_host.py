"""The virtual SD host controller: a kernel module of txop's own (GPL-2.0) for what `ushc` decides on itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from txop.guest.driver import DriverBuild, build_driver
from txop.guest_image.error import GuestError
from txop.guest_image.overlay import given_modules
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.lock import Lock

MODULE = "virtual_mmc_host"
SOURCE = Path(__file__).parent.parent / "guest_image" / MODULE
"""Folder of its source."""


async def with_mmc_host(modules: Sequence[Path], host: str, lock: Lock | None, progress: Progress) -> tuple[Path, ...]:
    """The modules of a guest, with this one where its SDIO card is in a slot of it.

    Args:
        modules: Those that the guest gets. One of them may be the host already.
        host: Host controller of the card, one of :data:`txop.guest.chips.SDIO_HOSTS`.
        lock: What it is built for; ``None``: the kernel is your own, and nothing is built.
        progress: Receives a note when it is built.

    Raises:
        GuestError: It cannot be built.
    """
    if host != "virtual" or MODULE in given_modules(modules):
        return tuple(modules)
    if lock is None:
        raise GuestError(
            f"the virtual SD host controller is a module ({MODULE}), which is not built for a kernel of your own",
            what_to_do=f"build {SOURCE} for that kernel, and give it with --module",
        )
    built = await build_driver(DriverBuild(MODULE, source=SOURCE), lock, progress=progress)
    return (*modules, built.module)
