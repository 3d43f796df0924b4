"""``txop ci --watch DIR``: what is saved in a work tree is judged, again and again, until Ctrl-C."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from txop.arms.repository import Repository
from txop.cli import console
from txop.cli.console import safe_text
from txop.core.errors import TxopError, UserError

POLL_S = 0.5
PATCH = "edit.patch"
_HEAD = "From: the work tree <>\nSubject: [PATCH] {subject}\n\n---\n"


def rest(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def edits(repository: Repository, base: str, folder: str | None, *, poll_s: float = POLL_S) -> Iterator[str]:
    """What differs from a commit, each time that it is another than before and has settled; blank: nothing does.

    Raises :class:`~txop.arms.repository.GitError`.
    """
    judged: str | None = None
    before: str | None = None
    while True:
        now = repository.edited(base, folder)
        if now == before and now != judged:  # the same twice: nobody is in the middle of writing
            judged = now
            yield now
        before = now
        rest(poll_s)


def watch(
    tree: Path, base: str | None, folder: str | None, output: Path, judge: Callable[[Path, Path, str], str]
) -> None:
    """Judge what is saved below a folder of a git work tree, until :class:`KeyboardInterrupt`.

    Args:
        tree: A folder of it.
        base: The commit that it is compared with; default HEAD.
        folder: The driver's folder in the repository; default: all of it.
        output: Folder for the runs of each edit, in a folder of its own number.
        judge: Judges a patch file, with a folder for that and the base; gives the line with the verdict.
    """
    repository = Repository.at(tree)
    commit = repository.commit(base or "HEAD")
    screen = console.stderr()
    screen.print(safe_text(f"Watching {tree} against {commit[:12]}; Ctrl-C ends."), soft_wrap=True)
    for text in edits(repository, commit, folder):
        if not text.strip():
            screen.print(safe_text("Nothing differs from the base."), soft_wrap=True)
            continue
        place = _next(output)
        # What git shows of file names and contents need not be UTF-8.
        head = _HEAD.format(subject=_subject(text))
        (place / PATCH).write_bytes((head + text).encode("utf-8", "surrogateescape"))
        try:
            line = judge(place / PATCH, place, commit)
        except UserError as error:
            line = f"{error.what}{f'; {error.what_to_do}' if error.what_to_do else ''}"
        except TxopError as error:  # a driver that cannot be loaded, say
            line = str(error)
        console.stdout().print(safe_text(f"{time.strftime('%H:%M:%S')} {place.name}: {line}"), soft_wrap=True)


def _next(output: Path) -> Path:
    """A new folder, by number."""
    output.mkdir(parents=True, exist_ok=True)
    taken = [int(each.name) for each in output.iterdir() if each.name.isdigit()]
    place = output / f"{max(taken, default=0) + 1:03d}"
    place.mkdir()
    return place


def _subject(text: str) -> str:
    """The files that are edited."""
    names = [os.path.basename(row[6:]) for row in text.splitlines() if row.startswith("+++ b/")]  # noqa: PTH119
    return f"{', '.join(names[:3])}{' and more' if len(names) > 3 else ''} as saved"
