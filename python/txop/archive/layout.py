"""Where things are in an archive, and the one lock that keeps two campaigns out of the same folder.

::

    archive/
      archive.json      format, version, the plan's folder, what the command line changed
      plan.toml         the plan, frozen
      journal.jsonl     what happened, append-only, synced: the truth
      commands.log      every command sent to every target
      build/            logs of modules built for the arms
      runs/BLOCK-ARM-TEST/
        run.json        what the run was and gave
        series.json     what happened over time
        ...             raw output of every tool, captures, kernel logs
      derived/          Parquet, made from the above; may be thrown away
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any, Self

from txop.archive.regular import read_regular
from txop.core.errors import UserError
from txop.core.stores import was_address
from txop.core.whole_file import whole_file

ARCHIVE_VERSION = 1


class ArchiveError(UserError):
    """An archive cannot be used as asked."""

    def __init__(self, what: str, *, where: Path | str, what_to_do: str | None = None) -> None:
        super().__init__(what, where=str(where), what_to_do=what_to_do)


class Layout:
    """The paths of one archive."""

    def __init__(self, root: Path, named: str | None = None) -> None:
        """``named`` is what the archive is called where its files are a copy; default: ``root``."""
        self.root = root
        self.named = named or str(root)
        self.in_store = named is not None
        self.identity = root / "archive.json"
        self.plan = root / "plan.toml"
        self.journal = root / "journal.jsonl"
        self.commands = root / "commands.log"
        self.build = root / "build"
        self.runs = root / "runs"
        self.derived = root / "derived"

    def run(self, name: str) -> Path:
        """Folder of a run."""
        return self.runs / name

    @staticmethod
    def run_name(block: int, arm: str, test: str) -> str:
        """Name of a run.

        >>> Layout.run_name(3, "vanilla", "tx")
        '003-vanilla-tx'
        """
        return f"{block:03d}-{arm}-{test}"

    def create(self, plan_text: str, plan_folder: Path, overrides: dict[str, Any] | None = None) -> None:
        """Make a new archive; file names in the plan are relative to ``plan_folder``.

        Raises :class:`ArchiveError` when the folder holds anything already.
        """
        if self.root.exists() and (not self.root.is_dir() or any(self.root.iterdir())):
            raise ArchiveError(
                "is not empty",
                where=self.root,
                what_to_do="give a new folder, or continue the campaign in it: txop resume " + str(self.root),
            )
        self.runs.mkdir(parents=True, exist_ok=True)
        with whole_file(self.plan) as out:
            out.write(plan_text)
        self.identify(plan_folder, overrides)
        sync_folder(self.root)

    def identify(self, plan_folder: Path, overrides: dict[str, Any] | None) -> None:
        """Write ``archive.json``; see :meth:`create`."""
        from txop.core.version import program_version

        identity = {
            "format": "txop-archive",
            "version": ARCHIVE_VERSION,
            "txop": program_version(),
            "plan_folder": str(plan_folder),
            "overrides": overrides or {},
        }
        with whole_file(self.identity) as out:
            out.write(json.dumps(identity) + "\n")

    def facts(self) -> dict[str, Any]:
        """``archive.json``: ``plan_folder``, which file names in the plan are relative to, and ``overrides``, what the
        command line changed. Empty when it cannot be read."""
        try:
            identity = json.loads(read_regular(self.identity, 65536))
        except (OSError, ValueError, RecursionError):
            return {}
        return identity if isinstance(identity, dict) else {}

    def check(self) -> None:
        """Raise :class:`ArchiveError` unless this is an archive that this txop can read."""
        if was_address(self.root):
            raise ArchiveError(
                "is an address, and this reads archives in folders", where=self.root, what_to_do="copy it to a folder"
            )
        identity = self.facts()
        version = identity.get("version") if identity.get("format") == "txop-archive" else None
        if not isinstance(version, int):
            raise ArchiveError(
                "is not an archive of a txop campaign (no readable archive.json in it)",
                where=self.root,
                what_to_do="give the folder that `txop run` made",
            )
        if version > ARCHIVE_VERSION:
            raise ArchiveError(
                f"was made by a newer txop (archive version {version}, this one reads up to {ARCHIVE_VERSION})",
                where=self.root,
                what_to_do="update txop",
            )


class ArchiveLock:
    """Held by the process that writes to an archive; ends with the process, however that ends."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._handle: int | None = None

    def __enter__(self) -> Self:
        handle = os.open(self._layout.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise ArchiveError(
                "another txop is writing to it", where=self._layout.root, what_to_do="wait for it, or stop it"
            ) from None
        self._handle = handle
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            # Closing alone keeps the lock while a child of this process is between fork and exec (flock(2)).
            fcntl.flock(self._handle, fcntl.LOCK_UN)
            os.close(self._handle)
            self._handle = None


def lock_is_held(layout: Layout) -> bool | None:
    """Whether a process holds the archive's lock, by the kernel's list (/proc/locks, proc(5)): trying the lock would
    disturb a campaign that begins at that moment. ``None``: that list, or the folder, cannot be read."""
    try:
        inode = layout.root.stat().st_ino
        rows = Path("/proc/locks").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    # Some file systems (overlayfs, btrfs) give stat another device number than /proc/locks: the inode has to do.
    return any(" FLOCK " in row and row.split()[5].rpartition(":")[2] == str(inode) for row in rows if "->" not in row)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last through a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
