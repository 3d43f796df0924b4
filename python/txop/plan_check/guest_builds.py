"""What an arm in a guest has built: which modules, from which source, with which patches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.guest.driver import DriverBuild, patch_files
from txop.guest.wireless_stack import StackBuild
from txop.guest_image.error import GuestError
from txop.guest_image.locks import find_lock
from txop.guest_image.packages.lock import Lock
from txop.plan.arm import Arm, Patch
from txop.plan.devices import NEEDS_BUILD
from txop.plan.guest import GuestSpec
from txop.plan.named_file import named_file


@dataclass(frozen=True)
class ArmBuild:
    """Modules that are built for an arm."""

    what: DriverBuild | StackBuild
    record: str | None
    """Key in the record of the arm for its build id, for a stack for the hash of its modules; ``None``: a driver as the
    distribution has it."""


def lock_of(spec: GuestSpec, folder: Path) -> Lock:
    """The lock of a guest; ``folder``: what file names in the plan are relative to. Raises :class:`GuestError`."""
    return find_lock(spec.kernel, named_file(folder, spec.lock) if spec.lock is not None else None)


def builds_of(arm: Arm, spec: GuestSpec, folder: Path | None) -> list[ArmBuild]:
    """All modules that an arm has built, in the order in which they are loaded. The wireless stack with debugfs
    (``needs_debugfs``) takes the place of the driver's build.

    Arguments and errors are those of :func:`driver_of`.
    """
    found = []
    if spec.module_file is not None:
        pass  # the driver is there
    elif spec.needs_debugfs:
        found.append(ArmBuild(stack_of(arm, spec, folder), "stack_sha256"))
    else:
        what = driver_of(arm, spec, folder)
        needs = (spec.device, spec.driver) in NEEDS_BUILD and spec.kernel_file is None  # its drivers are as they are
        if spec.asks_for_a_build or what.patches or (needs and what.driver == spec.driver):
            found.append(ArmBuild(what, "build_id"))
        if needs and what.driver != spec.driver:  # beside what is under test
            found.append(ArmBuild(DriverBuild(spec.driver), None))
    if (module := spec.built_beside) is not None:  # on top of the driver, always from the distribution's source
        patches = _patches(arm, module, spec, folder)
        found.append(ArmBuild(DriverBuild(module, patches, spec.reverse), f"{module}_build_id"))
    return found


def stack_of(arm: Arm, spec: GuestSpec, folder: Path | None) -> StackBuild:
    """The wireless stack of an arm that is rebuilt with debugfs, with all of its patches: it is one tree. Arguments and
    errors are those of :func:`driver_of`."""
    patches = _files(arm.patches, folder)
    return StackBuild(patches, spec.reverse and bool(patches))


def driver_of(arm: Arm, spec: GuestSpec, folder: Path | None) -> DriverBuild:
    """The driver of an arm, or the module that takes its place, as it is built.

    Args:
        arm: With its patches.
        spec: Its guest.
        folder: What file names in the plan are relative to. ``None``: they stay as they are, and no file is looked for.

    Raises:
        GuestError: A patch is not there, or the driver is a module file, of which nothing is built.
    """
    if spec.module_file is not None:
        raise GuestError(f"{spec.module_file} is built already", what_to_do="name its source in place of module_file")
    source = _file(spec.source, folder) if spec.source is not None else None
    patches = _patches(arm, spec.builds, spec, folder)
    make = tuple(f"{name}={value}" for name, value in spec.make.items())
    return DriverBuild(spec.builds, patches, spec.reverse, source, tuple(spec.switches), make)


def _patches(arm: Arm, module: str, spec: GuestSpec, folder: Path | None) -> tuple[Path, ...]:
    return _files(arm.patches_of(module, spec.builds), folder)


def _files(patches: Sequence[Patch], folder: Path | None) -> tuple[Path, ...]:
    paths = [_file(patch.file, folder) for patch in patches if patch.file is not None]
    return patch_files(paths) if folder is not None else tuple(paths)


def _file(name: str, folder: Path | None) -> Path:
    return named_file(folder, name) if folder is not None else Path(name)
