"""Programs that talk to modems, for the guests that take them: files beside the image, which stays what it is."""

from __future__ import annotations

from pathlib import Path

from txop.guest_image import recipe
from txop.guest_image.cache import default_cache, room
from txop.guest_image.error import GuestError
from txop.guest_image.libraries import libraries_of
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.lock import Lock
from txop.guest_image.packages.store import FileTree, PackageStore


def modem_files(
    lock: Lock, program: str, *, cache: Path | None = None, progress: Progress = lambda _: None
) -> dict[str, Path]:
    """By name in a guest: a program of :data:`~txop.guest_image.recipe.MODEM_PROGRAMS` (``qmicli``, ``mbimcli``), with
    the libraries that it needs and the image has not.

    Raises:
        GuestError: The lock has no such packages, or they cannot be had.
    """
    packages = lock.of_role("modem")
    if not packages:
        raise GuestError(
            "the lock has no programs for modems: it was made by an earlier version of txop",
            what_to_do="recreate it with `txop guest build --update`",
        )
    folder = cache or default_cache()
    with room(folder):
        store = PackageStore.of(lock, folder, progress)
        store.fetch(packages)
        image = [package for package in lock.of_role("image") if not package.name.startswith("linux-image-")]
        tree = FileTree(
            [store.unpacked(package, recipe.is_runtime, recipe.RUNTIME_SELECTION) for package in (*image, *packages)]
        )
        own = [name for names in recipe.PROGRAMS.values() for name in names]
        have = libraries_of(tree, own, recipe.LIBRARIES)
        programs = [f"usr/bin/{program}"]
        names = [*programs, *(name for name in libraries_of(tree, programs) if name not in have)]
        return {f"/{name}": _place(tree, name) for name in names}


def _place(tree: FileTree, name: str) -> Path:
    place = tree.find(name)
    if place is None:
        raise GuestError(
            f"no package of the lock has {name}", what_to_do="recreate the lock with `txop guest build --update`"
        )
    return place
