"""Everything that guests need of the emulator, made at once, with a word first on what it takes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from txop.guest_image.cache import default_cache, room
from txop.guest_image.emulator.lock import EmulatorLock
from txop.guest_image.emulator.obtain import EVERYTHING, needs, obtain
from txop.guest_image.emulator.qemu import Emulator, adopt, emulator
from txop.guest_image.emulator.shim import SHIM, build_shim
from txop.guest_image.packages.apt import Progress

MADE_IN_S = 15
"""Seconds that unpacking and compiling take, once everything is fetched."""


LISTS_MB = 21
"""What APT fetches of a release's lists, packages and sources, on the way (Debian 13, compressed)."""


@dataclass(frozen=True)
class Prepared:
    """QEMU and the object with txop's devices."""

    emulator: Emulator
    shim: Path
    seconds: float


def prepare(
    lock: EmulatorLock,
    *,
    cache: Path | None = None,
    progress: Progress = lambda _: None,
    packages_dir: Path | None = None,
    source: Path = SHIM,
) -> Prepared:
    """QEMU and its devices, from the cache or made now.

    Args:
        lock: What is pinned.
        cache: Folder for it; default the user's.
        progress: Receives what is being done, and before it begins, how much it is.
        packages_dir: Folder of packages and source files to take first what is pinned from.
        source: The C file with the devices.

    Raises:
        GuestError: Something cannot be had or does not compile, or the disk is full.
    """
    folder = cache or default_cache()
    begun = time.monotonic()
    with room(folder):
        if packages_dir is not None:
            adopt(lock, packages_dir, folder, progress)
        missing = needs(lock, folder)
        if missing:
            size = sum(need.size_bytes for need in missing) / 1e6
            progress(
                f"QEMU {lock.version}, a compiler and QEMU's headers: {len(missing)} files, {size:.1f} MB to fetch, "
                f"and some {LISTS_MB} MB of package lists if there are none; making them ready takes some {MADE_IN_S} s"
            )
        obtain(lock, folder, progress, EVERYTHING)
    made = emulator(lock=lock, cache=folder, progress=progress)
    shim = build_shim(source, lock=lock, cache=folder, progress=progress)
    return Prepared(made, shim, time.monotonic() - begun)
