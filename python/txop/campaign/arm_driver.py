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
    source = named_file(folder, spec.source) if spec.source is not None else None
    patches = _patches(arm, spec.builds, spec, folder)
    return DriverBuild(spec.builds, patches, spec.reverse, source, tuple(spec.switches))


def beside_driver_of(arm: Arm, spec: GuestSpec, folder: Path) -> DriverBuild | None:
    """The module on top of the driver of an arm as it is built, always from the distribution's source.

    Arguments and errors are those of :func:`driver_of`.
    """
    module = spec.built_beside
    return None if module is None else DriverBuild(module, _patches(arm, module, spec, folder), spec.reverse)


def _patches(arm: Arm, module: str, spec: GuestSpec, folder: Path) -> tuple[Path, ...]:
    files = [patch.file for patch in arm.patches_of(module, spec.builds)]
    return patch_files([named_file(folder, file) for file in files if file is not None])
