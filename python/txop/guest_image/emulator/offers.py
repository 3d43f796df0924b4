"""Whether the archive still has the source of the pinned QEMU."""

from __future__ import annotations

from pathlib import Path

from txop.guest_image.cache import default_cache
from txop.guest_image.emulator.lock import EmulatorLock
from txop.guest_image.emulator.source import SourceStore
from txop.guest_image.packages.apt import Apt, Progress
from txop.guest_image.packages.archive import Index, current_archive
from txop.guest_image.packages.offers import Offer


def source_offer(lock: EmulatorLock, *, cache: Path | None = None, progress: Progress = lambda _: None) -> Offer:
    """What the archive has of a lock's source package, by lists fetched now. Raises :class:`GuestError`."""
    folder = cache or default_cache()
    apt = Apt(folder / "apt", current_archive(lock.distribution), Index.SOURCES)
    progress(f"fetching lists of source packages of {lock.distribution}")
    apt.refresh()
    versions = [entry.version for entry in apt.show_sources(lock.source_name)]
    return Offer(
        lock.source_name,
        lock.source_version,
        "source",
        lock.source_version in versions,
        versions[0] if versions else None,
        not SourceStore(lock, folder, progress).missing(),
    )
