"""A driver's source at a commit of a git repository: a kernel tree, or one that holds the driver alone.

What is built comes from the cache of guests, where each source has the name of what is in it.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from txop.arms.repository import GitError, Repository
from txop.guest.driver import top_folder
from txop.guest_image.cache import default_cache, new_folder
from txop.guest_image.kernel_tree import MAKEFILES, symbol_in

_IN_KERNEL = ("drivers", "net", "sound")
"""Folders of a kernel's source tree with modules, of which only the driver's own part is taken."""


def driver_folders(repository: Repository, commits: tuple[str, ...], driver: str) -> tuple[str, ...]:
    """The folders that hold all of a driver in these commits; ``""`` is the whole repository.

    Raises:
        GitError: A commit makes no such module.
    """
    found = []
    for commit in commits:
        folder = _folder(repository, commit, driver)
        if folder is None:
            raise GitError(
                f"{commit[:12]} has no Makefile that makes {driver}.o",
                where=str(repository.root),
                what_to_do="name the driver's folder with --folder, or another driver in the plan's [guest]",
            )
        parts = PurePosixPath(folder).parts
        if parts and parts[0] in _IN_KERNEL:
            folder = top_folder(Path(folder)).as_posix()
        found.append(folder)
    return tuple(sorted(set(found)))


def source_of(repository: Repository, treeish: str, folders: tuple[str, ...], *, cache: Path | None = None) -> Path:
    """The folders of a commit or tree, with their names, in a folder of the cache. Raises :class:`GitError`."""
    place = (cache or default_cache()) / "sources" / repository.tree(treeish, folders)
    if not place.is_dir():
        with new_folder(place) as work:
            repository.export(treeish, folders, work)
    return place


def _folder(repository: Repository, commit: str, driver: str) -> str | None:
    wanted = re.sub("[-_]", "[-_]", driver)
    own = re.compile(rf"^obj-(?:m|y|\$\(\w+\))\s*[+:]?=(?:.*\s)?{wanted}\.o(?:\s|$)", re.MULTILINE)
    for name, text in repository.files_with(commit, rf"(^|[[:space:]=]){wanted}\.o", MAKEFILES):
        if symbol_in(text, driver) or own.search(text.replace("\\\n", " ")):
            return name.rpartition("/")[0]
    return None
