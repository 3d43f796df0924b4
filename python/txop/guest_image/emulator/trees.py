"""Folders of the cache that packages of the emulator's lock are unpacked into: QEMU's, and the compiler's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from txop.guest_image.cache import new_folder, sha256_of
from txop.guest_image.emulator import recipe
from txop.guest_image.emulator.lock import COMPILER, EmulatorLock
from txop.guest_image.error import GuestError
from txop.guest_image.libraries import libraries_of
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.deb import unpack
from txop.guest_image.packages.lock import EMULATOR, LockedPackage
from txop.guest_image.packages.store import FileTree, PackageStore
from txop.guest_image.recipe import LIBRARIES

SELECTION = 1
"""Raised when this module, or what the recipe says counts, changes."""


def qemu_place(lock: EmulatorLock, cache: Path) -> Path:
    """Where QEMU is, or will be: a folder with ``usr``."""
    return cache / "emulators" / f"qemu-{lock.version}_{_digest(lock.of_role(EMULATOR))}"


def compiler_place(lock: EmulatorLock, cache: Path) -> Path:
    """Where the compiler is, or will be: a folder with ``usr``; its programs also take libraries of QEMU's."""
    return cache / "compilers" / f"gcc-{recipe.GCC}-emulator_{_digest(lock.packages)}"


def qemu_tree(lock: EmulatorLock, cache: Path, progress: Progress) -> Path:
    """The folder of QEMU, made when it is not there, of packages that are.

    Raises:
        GuestError: A package cannot be had, or something in it is missing.
    """
    place = qemu_place(lock, cache)
    if not place.is_dir():
        progress(f"unpacking QEMU {lock.version}")
        with new_folder(place) as work:
            unpack_packages(store_of(lock, cache, progress), lock.of_role(EMULATOR), recipe.is_emulator_file, work)
            (work / recipe.BUNDLE).symlink_to(recipe.BUNDLE_TARGET)
            check_programs([work], [recipe.PROGRAM], [name for names in recipe.FIRMWARE.values() for name in names])
            if sha256_of(work / recipe.PROGRAM) != lock.program_sha256:
                raise GuestError("the lock of the emulator contradicts itself: its QEMU has another hash")
    return place


def compiler_tree(lock: EmulatorLock, cache: Path, progress: Progress) -> Path:
    """The folder of the compiler, made when it is not there, of packages that are. Raises :class:`GuestError`."""
    place = compiler_place(lock, cache)
    if not place.is_dir():
        qemu = qemu_tree(lock, cache, progress)
        progress(f"unpacking the compiler of QEMU's devices, gcc-{recipe.GCC}")
        with new_folder(place) as work:
            unpack_packages(store_of(lock, cache, progress), lock.of_role(COMPILER), recipe.is_compiler_file, work)
            programs = [name for names in recipe.COMPILER.values() for name in names]
            check_programs([work, qemu], programs, [recipe.LIBGCC, recipe.C_LIBRARY])
    return place


def store_of(lock: EmulatorLock, cache: Path, progress: Progress) -> PackageStore:
    """The packages of a lock on this machine."""
    return PackageStore.of(lock, cache, progress)


def unpack_packages(
    store: PackageStore, packages: Sequence[LockedPackage], wanted: Callable[[str], bool], target: Path
) -> None:
    """Write files of packages into one folder. Raises :class:`GuestError`."""
    for pinned in packages:
        package = store.package(pinned)
        if sha256_of(package) != pinned.sha256:
            package.unlink()
            package = store.package(pinned)
        unpack(package, target, wanted)


def check_programs(folders: Sequence[Path], programs: Sequence[str], files: Sequence[str]) -> None:
    """Raise :class:`GuestError` when a program, a library that one needs, or another file is missing."""
    tree = FileTree(folders)
    if missing := [name for name in (*programs, *files) if tree.find(name) is None]:
        raise GuestError(f"no package of the lock has {', '.join(missing)}")
    libraries_of(tree, programs, LIBRARIES)


def _digest(packages: Sequence[LockedPackage]) -> str:
    parts = [SELECTION, *(package.sha256 for package in packages)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]
