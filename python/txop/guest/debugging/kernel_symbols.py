"""Names and addresses of a kernel that a distribution ships without symbols: the kernel itself has them.

It is booted once, and lists its symbols (``/proc/kallsyms``) and where some fields of its types are (BTF); that is kept
in the user's cache folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from txop.guest.chips import Chip
from txop.guest.debugging.loaded import FIELDS
from txop.guest.debugging.symbol_file import Symbol, read_kallsyms
from txop.guest.qemu import Computer
from txop.guest.running import FILES, run_guest
from txop.guest.scratch import scratch_folder
from txop.guest_image.cache import default_cache, new_folder, room, sha256_of
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay
from txop.guest_image.packages.apt import Progress

WALL_S = 300.0
_LIST, _PLACES = "kallsyms", "places"
_SCRIPT = f"""
cat /proc/kallsyms >/txop/out/{_LIST}
txop-vusb kernel-layout {" ".join(FIELDS)} >/txop/out/{_PLACES}
"""


class NoSymbolsError(GuestError):
    """A kernel that does not list its symbols, or not where its fields are."""


@dataclass(frozen=True)
class KernelSymbols:
    """Symbols of a kernel at the addresses it was linked for."""

    text: str
    """``/proc/kallsyms``."""
    places: Mapping[str, int]
    """Offsets of :data:`~txop.guest.debugging.loaded.FIELDS`."""

    def moved(self, slide: int) -> list[Symbol]:
        """The symbols, with the kernel this many bytes elsewhere."""
        return read_kallsyms(self.text, slide)


def kernel_symbols(
    image: Image, kernel: Path, *, cache: Path | None = None, progress: Progress = lambda _: None
) -> KernelSymbols:
    """The symbols of a kernel, from the cache or of a guest that is booted now.

    Args:
        image: One with this kernel.
        kernel: Its file.
        cache: Default the user's.
        progress: Receives what is being done.

    Raises:
        NoSymbolsError: The kernel has none.
        GuestError: No guest can be run.
    """
    folder = (cache or default_cache()) / "symbols"
    place = folder / sha256_of(kernel)[:32]
    if not (place / _LIST).is_file():
        progress(f"listing the symbols of Linux {image.release}")
        with room(folder), scratch_folder("symbols", cache) as results:
            overlay = Overlay(script=_SCRIPT, files=Chip().files())
            computer = Computer(append=("nokaslr",))
            asyncio.run(run_guest(image, overlay, computer, results=results, wall_limit_s=WALL_S, cache=cache))
            with new_folder(place) as work:
                for name in (_LIST, _PLACES):
                    (work / name).write_bytes((results / FILES / name).read_bytes())
    text = (place / _LIST).read_text(encoding="utf-8", errors="replace")
    try:
        offsets = [int(word) for word in (place / _PLACES).read_text(encoding="ascii").split()]
        return KernelSymbols(text, dict(zip(FIELDS, offsets, strict=True)))
    except ValueError as error:
        raise NoSymbolsError(
            f"Linux {image.release} does not say where the fields of its types are: {error}",
            what_to_do="a kernel with CONFIG_KALLSYMS_ALL and CONFIG_DEBUG_INFO_BTF does",
        ) from None
