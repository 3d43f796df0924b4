"""Unified diffs applied to text, as strictly as dpkg-source(1) does it: lines may have moved, none may differ.

Not the program ``patch``: a distribution's patches are without fuzz, and so nothing has to be installed or pinned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from txop.guest_image.error import GuestError

NOWHERE = "/dev/null"

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_GIT_HEAD = re.compile(r"diff --git ")
_ONLY_GIT = re.compile(r"(?:rename|copy) from |GIT binary patch")


class PatchError(GuestError):
    """A patch that cannot be read, or does not fit."""


@dataclass(frozen=True)
class Hunk:
    """Lines in place of lines. Each has its newline, the last of a file perhaps not."""

    start: int
    """Number of the first old line, from 1; where there are none, of the line before."""
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True)
class FileChange:
    """What a patch does to one file."""

    old_name: str | None
    """As in the patch, without the first folder; ``None``: the file is new."""
    new_name: str | None
    """``None``: the file goes."""
    hunks: tuple[Hunk, ...]

    @property
    def name(self) -> str:
        """The file's name."""
        return self.new_name or self.old_name or ""


def read_patch(text: str, where: str) -> list[FileChange]:
    """The changes of a patch, in its order; ``where`` is its name. Raises :class:`PatchError`."""
    rows = re.findall(r"[^\n]*\n|[^\n]+$", text)
    changes: list[FileChange] = []
    at = 0
    in_head = False  # between "diff --git" and the change, where Git says what no unified diff can
    while at < len(rows):
        in_head = _GIT_HEAD.match(rows[at]) is not None or (in_head and rows[at] != "\n")
        if in_head and _ONLY_GIT.match(rows[at]):
            raise PatchError(f"{where}, line {at + 1}: {rows[at].split()[0]} is more than a unified diff says")
        if not (rows[at].startswith("--- ") and at + 1 < len(rows) and rows[at + 1].startswith("+++ ")):
            at += 1
            continue
        old_name, new_name = _name(rows[at], where, at), _name(rows[at + 1], where, at + 1)
        if old_name is None and new_name is None:
            raise PatchError(f"{where}, line {at + 1}: it changes no file")
        at, in_head = at + 2, False
        hunks: list[Hunk] = []
        while at < len(rows) and rows[at].startswith("@@ "):
            hunk, at = _hunk(rows, at, where)
            hunks.append(hunk)
        if not hunks:
            raise PatchError(f"{where}, line {at + 1}: no lines are changed")
        changes.append(FileChange(old_name, new_name, tuple(hunks)))
    return changes


def apply_hunks(text: str, hunks: Sequence[Hunk], where: str) -> str:
    """A text with changes; ``where`` names it in errors.

    A hunk counts where its old lines are: nearest to where it says, after those of the hunk before.

    Raises:
        PatchError: Its old lines are not there.
    """
    rows = re.findall(r"[^\n]*\n|[^\n]+$", text)
    done: list[str] = []
    at = 0
    moved = 0
    for number, hunk in enumerate(hunks, 1):
        stated = hunk.start - 1 if hunk.old else hunk.start
        place = next((place for place in _near(stated + moved, at, len(rows)) if _fits(rows, place, hunk)), None)
        if place is None:
            raise PatchError(f"{where}: the old lines of change {number} are not there")
        moved = place - stated
        done += [*rows[at:place], *hunk.new]
        at = place + len(hunk.old)
    return "".join([*done, *rows[at:]])


def _fits(rows: Sequence[str], place: int, hunk: Hunk) -> bool:
    return tuple(rows[place : place + len(hunk.old)]) == hunk.old


def _near(wanted: int, first: int, last: int) -> Iterator[int]:
    """Numbers from ``first`` to ``last``, the nearest to one first."""
    wanted = min(max(wanted, first), last)
    yield wanted
    for away in range(1, last - first + 1):
        if wanted + away <= last:
            yield wanted + away
        if wanted - away >= first:
            yield wanted - away


def _name(row: str, where: str, at: int) -> str | None:
    name = row[4:].rstrip("\n").split("\t", 1)[0].strip()
    if name == NOWHERE:
        return None
    _, slash, inside = name.partition("/")
    parts = inside.split("/")
    if not slash or not inside or inside.startswith("/") or ".." in parts or "\0" in name:
        raise PatchError(f"{where}, line {at + 1}: {name[:200]!r} is not the name of a file in a source folder")
    return "/".join(part for part in parts if part not in ("", "."))


def _hunk(rows: Sequence[str], at: int, where: str) -> tuple[Hunk, int]:
    match = _HUNK.match(rows[at])
    if match is None:
        raise PatchError(f"{where}, line {at + 1}: this is not the head of a change")
    begun = at
    old_left, new_left = int(match[2] or 1), int(match[4] or 1)
    old: list[str] = []
    new: list[str] = []
    last: tuple[list[str], ...] = ()
    at += 1
    while at < len(rows):
        row = rows[at]
        if row.startswith("\\") and last:  # "No newline at end of file", in the language of whoever made it
            for side in last:
                side[-1] = side[-1].rstrip("\n")
        elif old_left == 0 and new_left == 0:
            break
        elif row[:1] in (" ", "\n"):  # an empty line with a only blank that a mail program took away
            last, old_left, new_left = (old, new), old_left - 1, new_left - 1
        elif row.startswith("-"):
            last, old_left = (old,), old_left - 1
        elif row.startswith("+"):
            last, new_left = (new,), new_left - 1
        else:
            break
        if not row.startswith("\\"):
            for side in last:
                side.append(row if row == "\n" else row[1:])
        at += 1
    if old_left != 0 or new_left != 0:
        raise PatchError(f"{where}, line {begun + 1}: the change has not the number of lines that its head says")
    return Hunk(int(match[1]), tuple(old), tuple(new)), at
