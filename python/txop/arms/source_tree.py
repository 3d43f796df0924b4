"""A source tree: which of its files count, a hash of them, and a copy.

Of a git work tree the files that git tracks, and new ones that it does not ignore: what an earlier build left behind is
not carried over. Of any other folder everything.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

GIT_TIMEOUT_S = 120.0

_PIECE = 100
"""Files between two moments in which other things may go on."""


@dataclass(frozen=True)
class SourceTree:
    """The files of a tree."""

    root: Path
    files: tuple[str, ...]
    """Relative names, sorted: ordinary files and symbolic links."""
    content: str
    """Hash of names, modes and contents."""
    identity: str
    """The commit, with ``-dirty`` when files differ from it; or a part of ``content``."""

    @classmethod
    async def of(cls, root: Path) -> SourceTree:
        """Look at a tree. Raises :class:`OSError`."""
        if not root.is_dir():
            raise NotADirectoryError(20, "is not a folder", str(root))
        names = await _git_files(root)
        commit = await _git(root, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*") if names else None
        files = tuple(sorted(_expanded(root, names) if names is not None else _walk(root, "")))
        content = await _hash(root, files)
        identity = commit.decode("utf-8", "replace").strip() if commit else f"content-{content[:16]}"
        return cls(root, files, content, identity)

    async def copy(self, target: Path) -> None:
        """Copy the files; links stay links. Raises :class:`OSError`."""
        target.mkdir(parents=True)
        for number, name in enumerate(self.files):
            if number % _PIECE == 0:
                await asyncio.sleep(0)
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.root / name, place, follow_symlinks=False)


async def _git_files(root: Path) -> list[str] | None:
    """What git knows of the tree; ``None`` when it is not a work tree of git."""
    out = await _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return None if out is None else [os.fsdecode(name) for name in set(out.split(b"\0")) if name]


async def _git(root: Path, *arguments: str) -> bytes | None:
    if shutil.which("git") is None:
        return None
    # safe.directory: who builds a tree trusts it already
    argv = ["git", "-c", "safe.directory=*", "-C", str(root), *arguments]
    variables = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    process = await asyncio.create_subprocess_exec(
        *argv,
        env={**variables, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), GIT_TIMEOUT_S)
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return out if process.returncode == 0 else None


def _expanded(root: Path, names: list[str]) -> Iterator[str]:
    """Files that are there, and those of submodules, which git names as folders."""
    for name in names:
        mode = _mode(root / name)
        if stat.S_ISDIR(mode):
            yield from _walk(root, name.rstrip("/"))
        elif stat.S_ISREG(mode) or stat.S_ISLNK(mode):
            yield name


def _walk(root: Path, below: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root / below):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in [*names, *(name for name in folders if (Path(folder) / name).is_symlink())]:
            path = Path(folder) / name
            mode = _mode(path)
            if name != ".git" and (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                yield str(path.relative_to(root))


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


async def _hash(root: Path, files: tuple[str, ...]) -> str:
    whole = hashlib.sha256()
    for number, name in enumerate(files):
        if number % _PIECE == 0:
            await asyncio.sleep(0)
        path = root / name
        mode = _mode(path)
        if stat.S_ISLNK(mode):
            kind, digest = b"link", hashlib.sha256(os.fsencode(path.readlink())).digest()
        else:
            kind = b"program" if mode & stat.S_IXUSR else b"file"
            with path.open("rb") as source:
                digest = hashlib.file_digest(source, "sha256").digest()
        whole.update(kind + b"\0" + os.fsencode(name) + b"\0" + digest)
    return whole.hexdigest()
