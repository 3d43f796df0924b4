"""Making a lock: the newest packages that the archive offers, and of those that they depend on, the ones that count."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from txop.guest_image import recipe
from txop.guest_image.cache import default_cache
from txop.guest_image.compiler import compiler_files, kbuild_programs
from txop.guest_image.error import GuestError
from txop.guest_image.libraries import libraries_of
from txop.guest_image.packages.apt import Apt, PackageNotOfferedError, Progress
from txop.guest_image.packages.archive import IMAGE_DISTRIBUTION, KERNEL_DISTRIBUTIONS, current_archive
from txop.guest_image.packages.control import IndexEntry
from txop.guest_image.packages.lock import Lock, LockedPackage, in_order, is_of_kernel
from txop.guest_image.packages.store import FileTree, PackageStore

MAX_PACKAGES = 1000

_GCC = re.compile(r"(?:linux-compiler-)?(gcc-\d+)(?:-x86)?")
_OWN_STDARG = "usr/src/*/include/linux/stdarg.h"
"""In the headers of a kernel that takes none of the compiler's: Linux has its own since 5.15."""
_RELEASE = re.compile(r"linux-image-(\d+\.\d+[0-9A-Za-z.+~-]*-amd64)$")


def resolve(
    series: str,
    *,
    distribution: str = IMAGE_DISTRIBUTION,
    cache: Path | None = None,
    progress: Progress = lambda _: None,
) -> Lock:
    """What the archive has now for a guest with a kernel of a series.

    Raises:
        GuestError: It lacks something.
        MissingGuestToolError: This machine has no APT.
    """
    folder = cache or default_cache()
    apt = _lists(folder, distribution, progress)
    kernels, image, release = kernel_of_any(folder, distribution, series, progress)
    kernel_apt = apt if kernels == distribution else _lists(folder, kernels, progress)
    progress(f"looking for what {release} needs")
    programs = with_dependencies(apt, [*recipe.PROGRAMS, *recipe.FILES, *recipe.LIBRARY_PACKAGES])
    build = _with_version(
        kernel_apt,
        {
            f"linux-headers-{release}": image.version,
            f"linux-headers-{release.removesuffix('-amd64')}-common": image.version,
            f"linux-kbuild-{_kbuild(kernel_apt, release)}": None,
            recipe.KernelPackages.of(series).source: image.version,
        },
    )
    store = PackageStore(folder, progress, lambda package: kernels if is_of_kernel(package) else distribution)
    named = {*recipe.PROGRAMS, *recipe.FILES}
    wanted = [name for names in recipe.PROGRAMS.values() for name in names]
    counted = _that_count(store, [pin(entry, "image") for entry in programs], named, wanted)
    built_with = [pin(entry, "build") for entry in build]
    compiler = _compiler(kernel_apt, store, release, counted, built_with, progress)
    extra = extra_packages(apt, store, counted)
    pins = [pin(image, "image"), *counted, *built_with, *compiler, *extra]
    today = datetime.now(UTC).date().isoformat()
    other = kernels if kernels != distribution else None
    return Lock(series, release, distribution, in_order(pins), today, other)


def _lists(folder: Path, distribution: str, progress: Progress) -> Apt:
    """What a release of the distribution has now. Raises :class:`GuestError`."""
    apt = Apt(folder / "apt", current_archive(distribution))
    progress(f"fetching package lists of {distribution}")
    apt.refresh()
    return apt


def kernel_of_any(folder: Path, distribution: str, series: str, progress: Progress) -> tuple[str, IndexEntry, str]:
    """The release of the distribution that has a kernel of a series, the kernel, and what it calls itself. Beside a
    lock's own release the others count. Raises :class:`PackageNotOfferedError` when none has it."""
    releases = tuple(dict.fromkeys((distribution, *KERNEL_DISTRIBUTIONS)))
    offered: list[str] = []
    for release in releases:
        try:
            apt = _lists(folder, release, progress)
        except GuestError:
            if release == distribution:
                raise
            continue  # a mirror may have dropped a release
        found = _kernel(apt, series)
        if found is not None:
            return release, *found
        offered.append(release)
    raise PackageNotOfferedError(
        f"the archive has no kernel {series}: it is none of those of {', '.join(offered)}",
        what_to_do="give another series, or a kernel of your own with --kernel-file and --modules-dir",
    )


def extra_packages(apt: Apt, store: PackageStore, image: list[LockedPackage]) -> list[LockedPackage]:
    """What :data:`~txop.guest_image.recipe.EXTRA_PROGRAMS` come from, beside the packages of an image."""
    found: list[LockedPackage] = []
    for role, wanted in recipe.EXTRA_PROGRAMS.items():
        have = [*image, *found]
        there = {package.name for package in have}
        packages = [pin(entry, role) for entry in with_dependencies(apt, wanted) if entry.name not in there]
        programs = [name for names in wanted.values() for name in names]
        found += _that_count(store, packages, {*wanted}, programs, have)
    return found


def _compiler(
    apt: Apt,
    store: PackageStore,
    release: str,
    image: list[LockedPackage],
    build: list[LockedPackage],
    progress: Progress,
) -> list[LockedPackage]:
    """What a release's modules are compiled with: of packages that no image has, those with files that count."""
    headers = apt.show([f"linux-headers-{release}"])[f"linux-headers-{release}"][0]
    named = next((match[1] for name in headers.depends if (match := _GCC.fullmatch(name))), None)
    if named is None:
        raise PackageNotOfferedError(f"the headers of {release} do not name the compiler that they are for")
    compiler = recipe.Compiler(named)
    wanted = {*compiler.programs}
    common = next(package for package in build if package.name.endswith("-common"))
    if not any(store.unpacked(common, lambda _: True, "all").glob(_OWN_STDARG)):
        wanted.add(compiler.headers_package)
    progress(f"looking for what {named} needs")
    entries = with_dependencies(apt, sorted(wanted))
    others = {package.name for package in image}
    packages = [pin(entry, "compiler") for entry in entries if entry.name not in others]
    store.fetch(packages)
    kbuild = next(package for package in build if package.name.startswith("linux-kbuild-"))
    folders = {package: compiler_files(store, package) for package in (*image, *packages)}
    tree = FileTree([*folders.values(), store.unpacked(kbuild, lambda _: True, "all")])
    programs = [*compiler.files(), *kbuild_programs(tree)]
    used = {place for name in libraries_of(tree, programs) if (place := tree.find(name)) is not None}
    return [
        package
        for package in packages
        if package.name in wanted or any(place.is_relative_to(folders[package]) for place in used)
    ]


def _kernel(apt: Apt, series: str) -> tuple[IndexEntry, str] | None:
    metas = recipe.KernelPackages.of(series).meta
    offered = apt.show(metas)
    for meta in metas:
        for entry in offered.get(meta, [])[:1]:
            for name in entry.depends:
                match = _RELEASE.fullmatch(name)
                if match and (match[1] + ".").startswith(tuple(f"{series}{sign}" for sign in ".-+")):
                    images = [image for image in apt.show([name]).get(name, []) if image.version == entry.version]
                    if images:
                        return images[0], match[1]
    return None


def _kbuild(apt: Apt, release: str) -> str:
    """The part of a release that names its kbuild package: ``6.1`` or ``6.12.117+deb12``."""
    headers = apt.show([f"linux-headers-{release}"]).get(f"linux-headers-{release}", [])
    for name in headers[0].depends if headers else ():
        if name.startswith("linux-kbuild-"):
            return name.removeprefix("linux-kbuild-")
    raise PackageNotOfferedError(f"the archive has no headers for the kernel {release}")


def _with_version(apt: Apt, wanted: dict[str, str | None]) -> list[IndexEntry]:
    offered = apt.show(wanted)
    entries = []
    for name, version in wanted.items():
        of_it = [entry for entry in offered.get(name, []) if version in (None, entry.version)]
        if not of_it:
            raise PackageNotOfferedError(f"the archive has no {name}" + (f" in version {version}" if version else ""))
        entries.append(of_it[0])
    return entries


def with_dependencies(apt: Apt, names: Iterable[str]) -> list[IndexEntry]:
    """The newest of packages, and of all they depend on, in the order in which they are found."""
    found: dict[str, IndexEntry | None] = {}
    waiting = list(dict.fromkeys(names))
    needed = set(waiting)
    while waiting and len(found) < MAX_PACKAGES:
        offered = apt.show(waiting)
        following: dict[str, None] = {}
        for name in waiting:
            entry = next(iter(offered.get(name, [])), None)
            found[name] = entry
            if entry is None and name in needed:
                raise PackageNotOfferedError(f"the archive has no package {name}")
            following.update(dict.fromkeys(entry.depends if entry else ()))
        waiting = [name for name in following if name not in found]
    return [entry for entry in found.values() if entry is not None]


def _that_count(
    store: PackageStore,
    packages: list[LockedPackage],
    named: set[str],
    programs: list[str],
    beside: list[LockedPackage] | None = None,
) -> list[LockedPackage]:
    """Packages with files that count: the named ones, and those with libraries that the programs need.

    ``beside``: packages that are there anyway, and come first.
    """
    store.fetch(packages)
    there = [*(beside or []), *packages]
    folders = {package: store.unpacked(package, recipe.is_runtime, recipe.RUNTIME_SELECTION) for package in there}
    tree = FileTree(list(folders.values()))
    if missing := [name for name in programs if tree.find(name) is None]:
        raise GuestError(f"no package has {', '.join(missing)}")
    libraries = libraries_of(tree, programs, recipe.LIBRARIES)
    used = {place for name in libraries if (place := tree.find(name)) is not None}
    return [
        package
        for package in packages
        if package.name in named or any(place.is_relative_to(folders[package]) for place in used)
    ]


def pin(entry: IndexEntry, role: str) -> LockedPackage:
    """What an index says of a package, as an entry of a lock. Raises :class:`GuestError`."""
    try:
        return LockedPackage(entry.name, entry.version, entry.architecture, entry.sha256, entry.size_bytes, role)
    except ValueError as error:
        raise GuestError(f"the archive's index has something odd: {error}") from None
