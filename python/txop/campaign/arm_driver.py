"""What an arm in a guest has built: its driver or another module, from which source, with which patches."""

from __future__ import annotations

from pathlib import Path

from txop.guest.driver import DriverBuild, patch_files
from txop.guest_image.locks import find_lock
from txop.guest_image.packages.lock import Lock
from txop.plan.arm import Arm
from txop.plan.guest import GuestSpec
from txop.plan.named_file import named_file


def lock_of(spec: GuestSpec, folder: Path) -> Lock:
    """The lock of a guest; ``folder``: what file names in the plan are relative to. Raises :class:`GuestError`."""
    return find_lock(spec.kernel, named_file(folder, spec.lock) if spec.lock is not None else None)


def driver_of(arm: Arm, spec: GuestSpec, folder: Path) -> DriverBuild:
    """The driver of an arm, or the module that takes its place, as it is built.

    Args:
        arm: With its patches.
        spec: Its guest.
        folder: What file names in the plan are relative to.

    Raises:
        GuestError: A patch is not there.
    """
    patches = patch_files([named_file(folder, patch.file) for patch in arm.patches if patch.file is not None])
    source = named_file(folder, spec.source) if spec.source is not None else None
    return DriverBuild(spec.builds, patches, spec.reverse, source, tuple(spec.switches))
