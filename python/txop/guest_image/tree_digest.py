"""One hash of a folder with a hundred thousand files, of which only those are read that changed since the last time."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from contextlib import suppress
from pathlib import Path

from txop.core.whole_file import whole_file

_SKIPPED = frozenset({".git"})
_RACY_NS = 2_000_000_000
"""A file that was written so shortly before it was read may be written again without a change of its times."""


def tree_digest(source: Path, known: Path | None = None) -> str:
    """The hash of the names and contents of all files, and of whether they may be run. ``.git`` does not count.

    Args:
        source: The folder.
        known: File with what was read the last time, which is written again; a file with the same size, times and inode
            is not read.

    Raises:
        OSError: Something cannot be read.
    """
    before = _read(known)
    now: dict[str, list[str]] = {}
    digest = hashlib.sha256()
    newest_ns = 0
    for above, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        # a link to a folder is one of its folders to os.walk, and is not followed
        links = [name for name in folders if (Path(above) / name).is_symlink()]
        for name in sorted([*names, *links]):
            path = Path(above) / name
            inside = path.relative_to(source).as_posix()
            about = path.lstat()
            if stat.S_ISLNK(about.st_mode):
                content = f"-> {path.readlink()}"
            elif stat.S_ISREG(about.st_mode):
                stamp = f"{about.st_size} {about.st_mtime_ns} {about.st_ctime_ns} {about.st_ino}"
                old = before.get(inside)
                if old is not None and old[0] == stamp:
                    content = old[1]
                else:
                    with path.open("rb") as opened:
                        content = hashlib.file_digest(opened, "sha256").hexdigest()
                now[inside] = [stamp, content]
                newest_ns = max(newest_ns, about.st_ctime_ns)
            else:
                continue
            digest.update(f"{inside}\0{about.st_mode & 0o100:o}\0{content}\0".encode("utf-8", "surrogateescape"))
    if known is not None and now != before:
        _write(known, {name: row for name, row in now.items() if int(row[0].split()[2]) < newest_ns - _RACY_NS})
    return digest.hexdigest()


def _read(known: Path | None) -> dict[str, list[str]]:
    """What was read the last time; nothing, where that is not known."""
    if known is None:
        return {}
    try:
        found = json.loads(known.read_text(encoding="utf-8", errors="surrogateescape"))
        return {str(name): [str(stamp), str(content)] for name, (stamp, content) in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write(known: Path, rows: dict[str, list[str]]) -> None:
    """Losing it costs a longer reading."""
    with suppress(OSError):
        known.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(known) as out:
            out.write(json.dumps(rows))
