"""The two sources of a patch series: its base, and the base with the series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from txop.arms.repository import GitError, Repository
from txop.arms.series import SeriesPatch, read_series
from txop.core.errors import UserError
from txop.guest.driver_history import driver_folders, source_of
from txop.guest_image.cache import default_cache
from txop.present.format import plural


class SeriesDoesNotApplyError(UserError):
    """The series does not apply to its base."""


@dataclass(frozen=True)
class SeriesRequest:
    """What is to be judged."""

    repository: Path | None = None
    """``None``: the source of the distribution's kernel."""
    base: str | None = None
    folder: str | None = None
    series: tuple[Path, ...] = ()
    branch: str | None = None


@dataclass(frozen=True)
class Sources:
    """What is compared."""

    base: str
    """What the series is applied to, in words."""
    title: str
    """The title of the series: its only patch's, or how many there are and the first one's."""
    patches: tuple[SeriesPatch, ...]
    base_source: Path | None
    series_source: Path | None
    """Folders of the two; ``None``: the distribution's source, to which the patches are applied when it is built."""
    notes: tuple[str, ...] = ()


def sources(asked: SeriesRequest, driver: str, *, cache: Path | None = None) -> Sources:
    """Find, apply and export them.

    Raises:
        SeriesDoesNotApplyError: A patch does not apply.
        UserError: Something that was asked for is not there, or does not fit together.
    """
    folder = cache or default_cache()
    if bool(asked.series) == bool(asked.branch):
        raise UserError("give either --series FILE or --branch NAME")
    patches = tuple(read_series(asked.series, folder / "series")) if asked.series else ()
    if asked.repository is None:
        if asked.base is not None or asked.branch is not None:
            raise UserError("--base and --branch take --source DIR, a clone")
        return Sources("the distribution's kernel source", _title(patches), patches, None, None)
    found = Repository.at(asked.repository)
    if asked.branch is not None:
        return _of_branch(found, asked, driver, cache)
    if asked.base is None:
        raise UserError("a series in a clone takes --base COMMIT")
    base = found.commit(asked.base)
    if scripts := [patch.file.name for patch in patches if patch.file.suffix == ".toml"]:
        raise UserError(
            f"{scripts[0]} is an edit script, and git applies patches only", what_to_do="leave --source out"
        )
    patched = Repository(found.root, folder / "objects")
    try:
        tree = patched.applied(base, [patch.file for patch in patches])[-1]
    except GitError as error:
        raise SeriesDoesNotApplyError(error.what, what_to_do=error.what_to_do) from None
    trees = _Trees(found, patched, base, tree)
    return _exported(trees, _name(found, base, asked.base), patches, asked, driver, cache)


def _of_branch(found: Repository, asked: SeriesRequest, driver: str, cache: Path | None) -> Sources:
    assert asked.branch is not None
    head = found.commit(asked.branch)
    base = found.merge_base(found.commit(asked.base or "HEAD"), head)
    if base is None:
        raise UserError(f"{asked.branch} and {asked.base or 'HEAD'} have no commit in common", where=str(found.root))
    commits = found.between(base, head, ["."])
    if not commits:
        raise UserError(f"{asked.branch} has no commit after {base[:12]}", where=str(found.root))
    patches = tuple(SeriesPatch(Path(), commit.subject, commit.author) for commit in commits)
    trees = _Trees(found, found, base, head)
    return _exported(trees, _name(found, base, base[:12]), patches, asked, driver, cache)


class _Trees(NamedTuple):
    """Where the two sources are."""

    found: Repository
    patched: Repository
    """The repository that has the tree of the series."""
    base: str
    tree: str


def _exported(
    trees: _Trees,
    name: str,
    patches: Sequence[SeriesPatch],
    asked: SeriesRequest,
    driver: str,
    cache: Path | None,
) -> Sources:
    found, patched, base, tree = trees
    if asked.folder is not None:
        folder = asked.folder.strip("/")
        folders: tuple[str, ...] = ("" if folder in ("", ".") else folder,)
    else:
        folders = driver_folders(patched, (base, tree), driver)
    outside = [
        file for file in patched.changed(base, tree)
        if not any(not each or file.startswith(f"{each}/") for each in folders)
    ]  # fmt: skip
    notes = []
    if outside:
        shown = ", ".join(outside[:3]) + (f" and {len(outside) - 3} more" if len(outside) > 3 else "")
        notes.append(
            f"The series changes {plural(len(outside), 'file')} outside the driver ({shown}): not built, not measured"
        )
    return Sources(
        name,
        _title(patches),
        tuple(patches),
        source_of(found, base, folders, cache=cache),
        source_of(patched, tree, folders, cache=cache),
        tuple(notes),
    )


def _name(found: Repository, base: str, asked: str) -> str:
    about = found.about(base)
    name = about.short if base.startswith(asked) else f"{asked} ({about.short})"
    return f"{name}: {about.subject}"


def _title(patches: Sequence[SeriesPatch]) -> str:
    first = patches[0].title
    return first if len(patches) == 1 else f"{len(patches)} patches, from: {first}"
