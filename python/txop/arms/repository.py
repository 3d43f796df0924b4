"""A git repository that holds a driver: its commits, and their trees as folders, without touching its work tree."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

from txop.core.errors import MissingToolError, UserError
from txop.core.visible import visible

TIMEOUT_S = 600.0

_FIELDS = "%H%x00%P%x00%an%x00%aI%x00%s"


@dataclass(frozen=True)
class Commit:
    """A commit."""

    sha: str
    parents: tuple[str, ...]
    """As git simplifies history for the folders asked for."""
    author: str
    date: str
    """When the author wrote it, ISO 8601."""
    subject: str

    @property
    def short(self) -> str:
        """The beginning of its hash."""
        return self.sha[:12]


class GitError(UserError):
    """git did not do as asked."""


@dataclass(frozen=True)
class Repository:
    """A repository."""

    root: Path
    scratch: Path | None = None
    """Folder for new objects, such as the trees of a patch series: the repository itself is only read."""

    @classmethod
    def at(cls, folder: Path) -> Repository:
        """The repository that holds a folder. Raises :class:`GitError` where there is none."""
        if not folder.is_dir():
            raise GitError("it is not a folder", where=str(folder))
        ran = _git(folder, ["rev-parse", "--show-toplevel"], check=False)
        if ran.returncode == 0:
            return cls(Path(os.fsdecode(ran.stdout.rstrip(b"\n"))))
        ran = _git(folder, ["rev-parse", "--absolute-git-dir"], check=False)  # without a work tree
        if ran.returncode != 0:
            raise GitError("it is not in a git repository", where=str(folder), what_to_do="give a clone with --source")
        return cls(Path(os.fsdecode(ran.stdout.rstrip(b"\n"))))

    def commit(self, name: str) -> str:
        """The hash of a commit by its name. Raises :class:`GitError` for one that is not there."""
        ran = self._run(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"], check=False)
        if ran.returncode != 0:
            raise GitError(
                f"there is no commit {visible(name)!r}",
                where=str(self.root),
                what_to_do="`git log` shows what there is; a shallow clone lacks old commits (git fetch --unshallow)",
            )
        return ran.stdout.decode().strip()

    def edited(self, commit: str, folder: str | None = None) -> str:
        """What the files of the work tree differ in from a commit, as a patch. Raises :class:`GitError`."""
        argv = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index", "--binary"]
        argv += ["--src-prefix=a/", "--dst-prefix=b/", commit, "--"]
        ran = self._run([*argv, f":(top){folder}" if folder else ":(top)"])
        return ran.stdout.decode("utf-8", "surrogateescape")

    def about(self, sha: str) -> Commit:
        """A commit with its title. Raises :class:`GitError`."""
        return _commits(self._run(["log", "-1", f"--format={_FIELDS}", sha]).stdout)[0]

    def merge_base(self, one: str, other: str) -> str | None:
        """The last commit that both come from; ``None``: there is none."""
        ran = self._run(["merge-base", one, other], check=False)
        return ran.stdout.decode().strip() if ran.returncode == 0 else None

    def between(self, good: str, bad: str, folders: Sequence[str], *, first_parent: bool = False) -> list[Commit]:
        """The commits after ``good`` up to ``bad`` that change any of the folders, oldest first.

        Raises:
            GitError: ``good`` is not an ancestor of ``bad``.
        """
        if self.merge_base(good, bad) != good:
            raise GitError(
                f"{good[:12]} is not an ancestor of {bad[:12]}",
                where=str(self.root),
                what_to_do="give as good a commit that bad comes from: `git merge-base GOOD BAD` names one",
            )
        way = ["--first-parent"] if first_parent else []
        argv = ["log", "--reverse", "--topo-order", "--parents", *way, f"--format={_FIELDS}", f"{good}..{bad}", "--"]
        return _commits(self._run([*argv, *folders]).stdout)

    def files_with(self, commit: str, pattern: str, names: Sequence[str]) -> list[tuple[str, str]]:
        """Files of a commit that are called so, in any folder, and have a line with a pattern (extended regular
        expression); with their text."""
        pathspecs = [f":(top,glob)**/{name}" for name in names]
        ran = self._run(["grep", "-l", "-z", "-E", "-e", pattern, commit, "--", *pathspecs], check=False)
        found = sorted(os.fsdecode(name).partition(":")[2] for name in ran.stdout.split(b"\0") if name)
        return [(name, self._run(["show", f"{commit}:{name}"]).stdout.decode("utf-8", "replace")) for name in found]

    def tree(self, treeish: str, folders: Sequence[str]) -> str:
        """One hash of the folders of a commit or tree: equal where all that is in them is equal."""
        if "" in folders:  # the whole repository: git takes no empty pathspec
            shown = self._run(["rev-parse", f"{treeish}^{{tree}}"]).stdout
        else:
            shown = self._run(["ls-tree", "-z", "--full-tree", treeish, "--", *folders]).stdout
        return hashlib.sha256(shown).hexdigest()[:32]

    def export(self, treeish: str, folders: Sequence[str], target: Path) -> None:
        """Write the folders of a commit or tree below an empty folder. Raises :class:`GitError`."""
        there = [folder for folder in folders if not folder or self._has(treeish, folder)]
        if not there:
            raise GitError(f"{treeish[:12]} has no folder {' or '.join(map(visible, folders))}", where=str(self.root))
        paths = [] if "" in there else there
        with tempfile.TemporaryFile() as packed:
            argv = ["archive", "--format=tar", treeish, "--", *paths]
            _git(self.root, argv, variables=self._variables, stdout=packed)
            packed.seek(0)
            with tarfile.open(fileobj=packed) as files:
                files.extractall(target, filter="data")

    def applied(self, base: str, patches: Sequence[Path]) -> list[str]:
        """The trees of a commit with 1, 2, ... all of the patches applied (``git apply``, no fuzz).

        Raises:
            GitError: A patch does not apply.
            ValueError: There is no :attr:`scratch`.
        """
        if self.scratch is None:
            raise ValueError("there is no folder for new objects")
        self.scratch.mkdir(parents=True, exist_ok=True)
        self._run(["read-tree", base])
        trees = []
        for number, patch in enumerate(patches, 1):
            ran = self._run(["apply", "--cached", "-p1", "--whitespace=nowarn", str(patch.absolute())], check=False)
            if ran.returncode != 0:
                rows = [row for row in ran.stderr.decode("utf-8", "replace").splitlines() if row.strip()]
                before = ", after the ones before it" if number > 1 else ""
                raise GitError(
                    f"patch {number} of {len(patches)} ({patch.name}) does not apply to {base[:12]}{before}: "
                    f"{' / '.join(rows[:3])[:500] or 'no reason given'}",
                    what_to_do="give the commit that the series is for with --base",
                )
            trees.append(self._run(["write-tree"]).stdout.decode().strip())
        return trees

    def changed(self, one: str, other: str) -> list[str]:
        """Names of the files that differ between two trees."""
        shown = self._run(["diff", "--name-only", "--no-renames", "-z", one, other]).stdout
        return [os.fsdecode(name) for name in shown.split(b"\0") if name]

    def _objects(self) -> Path:
        shown = _git(self.root, ["rev-parse", "--git-path", "objects"]).stdout
        return (self.root / os.fsdecode(shown.rstrip(b"\n"))).resolve()

    def _has(self, treeish: str, folder: str) -> bool:
        return self._run(["cat-file", "-e", f"{treeish}:{folder}"], check=False).returncode == 0

    @cached_property
    def _variables(self) -> dict[str, str]:
        if self.scratch is None:
            return {}
        return {
            "GIT_INDEX_FILE": str(self.scratch / "index"),
            "GIT_OBJECT_DIRECTORY": str(self.scratch),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self._objects()),
        }

    def _run(self, argv: Sequence[str], *, check: bool = True) -> subprocess.CompletedProcess[bytes]:
        return _git(self.root, argv, check=check, variables=self._variables)


def git_environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for git: nothing of a git that runs around txop, and no language but its own."""
    alone = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return {**alone, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", **(variables or {})}


def _git(
    folder: Path,
    argv: Sequence[str],
    *,
    check: bool = True,
    variables: Mapping[str, str] | None = None,
    stdout: int | IO[bytes] = subprocess.PIPE,
) -> subprocess.CompletedProcess[bytes]:
    # safe.directory: who builds a tree trusts it already
    whole = ["git", "-c", "safe.directory=*", "-c", "core.quotePath=false", "-C", str(folder), *argv]
    try:
        ran = subprocess.run(
            whole,
            env=git_environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise MissingToolError("there is no git", what_to_do="install the package git") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"`git {argv[0]}` did not end within {TIMEOUT_S:g} s", where=str(folder)) from None
    if check and ran.returncode != 0:
        rows = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitError(f"`git {argv[0]}` failed: {rows[0][:300] if rows else 'no reason given'}", where=str(folder))
    return ran


def _commits(output: bytes) -> list[Commit]:
    found = []
    for row in output.decode("utf-8", "replace").split("\n"):
        fields = row.split("\0", 4)
        if len(fields) == 5:
            sha, parents, author, date, subject = fields
            found.append(Commit(sha.split()[-1], tuple(parents.split()), author, date, subject))
    return found
