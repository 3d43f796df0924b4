"""What of a lock the archive has still, and what changed from one lock to another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from txop.guest_image.cache import default_cache
from txop.guest_image.packages.apt import Apt, Progress
from txop.guest_image.packages.archive import current_archive
from txop.guest_image.packages.control import IndexEntry
from txop.guest_image.packages.lock import Pinned
from txop.guest_image.packages.store import PackageStore


@dataclass(frozen=True)
class Offer:
    """A package of a lock, and what the archive has of it."""

    name: str
    version: str
    role: str
    offered: bool
    """The archive has this version."""
    newest: str | None
    """The version that it has; ``None``: it has no such package."""
    cached: bool
    """It is on this machine already."""


def offers(lock: Pinned, *, cache: Path | None = None, progress: Progress = lambda _: None) -> list[Offer]:
    """What the archive has of each package of a lock, by package lists fetched now. Raises :class:`GuestError`."""
    folder = cache or default_cache()
    shown: dict[str, dict[str, list[IndexEntry]]] = {}
    for distribution in dict.fromkeys(lock.distribution_of(package) for package in lock.packages):
        apt = Apt(folder / "apt", current_archive(distribution))
        progress(f"fetching package lists of {distribution}")
        apt.refresh()
        names = [package.name for package in lock.packages if lock.distribution_of(package) == distribution]
        shown[distribution] = apt.show(names)
    store = PackageStore.of(lock, folder, progress)
    found = []
    for package in lock.packages:
        versions = [entry.version for entry in shown[lock.distribution_of(package)].get(package.name, [])]
        newest = versions[0] if versions else None
        offered = package.version in versions
        found.append(Offer(package.name, package.version, package.role, offered, newest, store.has(package)))
    return found


def changes(old: Pinned, new: Pinned) -> list[str]:
    """What a new lock has in place of an old one, a package a line."""
    before = {package.name: package for package in old.packages}
    after = {package.name: package for package in new.packages}
    rows = []
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was is None and now is not None:
            rows.append(f"{name}: added, {now.version}")
        elif was is not None and now is None:
            rows.append(f"{name}: {was.version}, not needed now")
        elif was is not None and now is not None and was.sha256 != now.sha256:
            rows.append(f"{name}: {was.version} -> {now.version}")
    return rows
