"""A driver that a user built: a module file, and whether it is the one that a guest is to load."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from txop.arms.module_file import MAX_BYTES, NotAModuleError, module_info, unpack
from txop.guest_image.error import GuestError
from txop.guest_image.modules import ModuleFolder


@dataclass(frozen=True)
class DriverFile:
    """A module file that a guest can load."""

    path: Path
    build_id: str | None
    """In hexadecimal."""


def driver_file(path: Path, driver: str, release: str, modules: ModuleFolder | None = None) -> DriverFile:
    """A module file for a guest.

    Args:
        path: The file.
        driver: Name of the module that it has to be.
        release: ``uname -r`` of the guest.
        modules: Those of the guest's kernel: the options that it was built with have to agree, too; ``None``: they are
            not here.

    Raises:
        GuestError: It cannot be read, is no module, is another one, or was built for another kernel.
    """
    try:
        with path.open("rb") as source:
            info = module_info(unpack(source.read(MAX_BYTES + 1), path.name))
    except OSError as error:
        raise GuestError(f"{path}: {error.strerror}") from None
    except NotAModuleError as error:
        raise GuestError(f"{path}: {error}") from None
    name = (info.name or "").replace("-", "_")
    if name != driver.replace("-", "_"):
        raise GuestError(
            f"{path} is the module {name or '(without a name)'}, not {driver}", what_to_do="correct driver"
        )
    if info.kernel_release != release:
        raise GuestError(
            f"{path} was built for the kernel {info.kernel_release or '(not stated)'}; the guest has {release}",
            what_to_do="build it with the headers of that kernel: `txop guest module --source DIR` does",
        )
    own, options = _options(info.vermagic), _options_of(modules)
    if options is not None and own != options:
        raise GuestError(
            f"{path} was built for {release} with other options ({own}); the guest has {options}",
            what_to_do="build it with the headers of that kernel: `txop guest module --source DIR` does",
        )
    return DriverFile(path, info.build_id)


def _options_of(modules: ModuleFolder | None) -> str | None:
    try:
        return None if modules is None else _options(modules.vermagic)
    except GuestError:  # compressed in a way that cannot be read here
        return None


def _options(vermagic: str | None) -> str:
    """What of a vermagic follows the release: ``SMP preempt mod_unload modversions``."""
    return " ".join((vermagic or "").split()[1:])
