"""Programs for the guests that ask for them: files beside the image, which stays what it is."""

from __future__ import annotations

from pathlib import Path

from txop.guest_image import recipe
from txop.guest_image.cache import default_cache, room
from txop.guest_image.error import GuestError
from txop.guest_image.libraries import libraries_of
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.lock import Lock
from txop.guest_image.packages.store import FileTree, PackageStore


def extra_program_names() -> tuple[str, ...]:
    """Programs that can be had: ``aireplay-ng``, ``perf``, ``qmicli``, ..."""
    return tuple(sorted(Path(name).name for packages in recipe.EXTRA_PROGRAMS.values() for name in _names(packages)))


def extra_files(
    lock: Lock, program: str, *, cache: Path | None = None, progress: Progress = lambda _: None
) -> dict[str, Path]:
    """A program of :data:`~txop.guest_image.recipe.EXTRA_PROGRAMS`, with the libraries that it needs and the image has
    not, by name in a guest.

    Raises:
        GuestError: There is no such program, the lock has no such packages, or they cannot be had.
    """
    found = [(role, name) for role, packages in recipe.EXTRA_PROGRAMS.items() for name in _names(packages)]
    role, place = next(((role, name) for role, name in found if Path(name).name == program), (None, ""))
    if role is None:
        raise GuestError(f"{program} cannot be added to a guest", what_to_do=f"give {', '.join(extra_program_names())}")
    if not lock.of_role(role):
        raise GuestError(
            f"the lock has no {program}: it was made by an earlier version of txop",
            what_to_do="recreate it with `txop guest build --update`",
        )
    # a library that several of them need is in the first role that has it
    roles = [*recipe.EXTRA_PROGRAMS]
    packages = [package for each in roles[: roles.index(role) + 1] for package in lock.of_role(each)]
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
        programs = [place]
        names = [*programs, *(name for name in libraries_of(tree, programs) if name not in have)]
        return {f"/{name}": _place(tree, name) for name in names}


def _names(packages: dict[str, tuple[str, ...]]) -> list[str]:
    return [name for names in packages.values() for name in names]


def _place(tree: FileTree, name: str) -> Path:
    place = tree.find(name)
    if place is None:
        raise GuestError(
            f"no package of the lock has {name}", what_to_do="recreate the lock with `txop guest build --update`"
        )
    return place
