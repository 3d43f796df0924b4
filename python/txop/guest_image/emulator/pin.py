"""Making the lock of the emulator: what the archive offers now, and of what that depends on, what counts."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from txop.guest_image.cache import default_cache, sha256_of
from txop.guest_image.emulator import recipe
from txop.guest_image.emulator.lock import COMPILER, ROLES, EmulatorLock, SourceFile
from txop.guest_image.emulator.source import NEEDED
from txop.guest_image.error import GuestError
from txop.guest_image.libraries import libraries_of
from txop.guest_image.packages.apt import Apt, PackageNotOfferedError, Progress
from txop.guest_image.packages.archive import Index, current_archive
from txop.guest_image.packages.deb import unpack
from txop.guest_image.packages.lock import EMULATOR, LockedPackage, in_order
from txop.guest_image.packages.resolve import pin, with_dependencies
from txop.guest_image.packages.store import FileTree, PackageStore
from txop.guest_image.recipe import LIBRARIES

_REBUILD = re.compile(r"\+b\d+$")
"""What a version ends with when the same source was only compiled again."""


def resolve_emulator(*, cache: Path | None = None, progress: Progress = lambda _: None) -> EmulatorLock:
    """What the archive has now for the emulator.

    Raises:
        GuestError: It lacks something.
        MissingGuestToolError: This machine has no APT.
    """
    folder = cache or default_cache()
    archive = current_archive(recipe.DISTRIBUTION)
    apt = Apt(folder / "apt", archive)
    sources = Apt(folder / "apt", archive, Index.SOURCES)
    progress(f"fetching package lists of {recipe.DISTRIBUTION}, of sources too")
    apt.refresh()
    sources.refresh()
    store = PackageStore(folder, progress, recipe.DISTRIBUTION)
    progress(f"looking for what {recipe.PACKAGE} needs")
    offered = [pin(entry, EMULATOR) for entry in with_dependencies(apt, [recipe.PACKAGE])]
    store.fetch(offered)
    there = {package.name for package in offered}
    named = [*recipe.COMPILER, *recipe.HEADERS]
    tools = [pin(entry, COMPILER) for entry in with_dependencies(apt, recipe.COMPILER)]
    tools += [pin(apt.show([name])[name][0], COMPILER) for name in recipe.HEADERS]
    tools = [package for package in dict.fromkeys(tools) if package.name not in there]
    store.fetch(tools)
    with tempfile.TemporaryDirectory(prefix="txop-emulator-") as name:
        folders = _unpacked(store, offered, Path(name), recipe.is_emulator_file)
        emulator = _that_count(folders, [recipe.PACKAGE, *recipe.RUNTIME, *recipe.FIRMWARE], [recipe.PROGRAM], [])
        program = sha256_of(folders[next(p for p in emulator if p.name == recipe.PACKAGE)] / recipe.PROGRAM)
        others = _unpacked(store, tools, Path(name), recipe.is_compiler_file)
        programs = [name for names in recipe.COMPILER.values() for name in names]
        beside = [folders[package] for package in emulator]
        compiler = _that_count(others, named, programs, beside)
    version = _REBUILD.sub("", next(package.version for package in emulator if package.name == recipe.PACKAGE))
    return EmulatorLock(
        recipe.DISTRIBUTION,
        program,
        in_order([*emulator, *compiler], ROLES),
        recipe.SOURCE,
        version,
        _source_files(sources, version),
        datetime.now(UTC).date().isoformat(),
    )


def _source_files(sources: Apt, version: str) -> tuple[SourceFile, ...]:
    entry = next((entry for entry in sources.show_sources(recipe.SOURCE) if entry.version == version), None)
    if entry is None:
        raise PackageNotOfferedError(f"the archive has not the source of {recipe.SOURCE} in version {version}")
    try:
        files = [SourceFile(*row) for row in entry.files if row[0].endswith((*NEEDED, ".dsc"))]
    except ValueError as error:
        raise GuestError(f"the archive's index has something odd: {error}") from None
    return tuple(sorted(files))


def _unpacked(
    store: PackageStore, packages: Sequence[LockedPackage], folder: Path, wanted: Callable[[str], bool]
) -> dict[LockedPackage, Path]:
    folders = {}
    for package in packages:
        folders[package] = folder / f"{package.name}_{package.role}"
        folders[package].mkdir()
        unpack(store.package(package), folders[package], wanted)
    return folders


def _that_count(
    folders: dict[LockedPackage, Path], named: Iterable[str], programs: Sequence[str], beside: Sequence[Path]
) -> list[LockedPackage]:
    """Packages that are named, and those that programs have libraries of. ``beside``: folders that come first."""
    tree = FileTree([*beside, *folders.values()])
    if missing := [name for name in programs if tree.find(name) is None]:
        raise GuestError(f"no package has {', '.join(missing)}")
    used = [place for name in libraries_of(tree, programs, LIBRARIES) if (place := tree.find(name)) is not None]
    wanted = set(named)
    return [
        package
        for package, folder in folders.items()
        if package.name in wanted or any(place.is_relative_to(folder) for place in used)
    ]
