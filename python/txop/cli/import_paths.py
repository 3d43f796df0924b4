"""Which files the arguments of ``txop import`` name: files, folders with all that is in them, and patterns.

A shell leaves ``old=results/*.json`` as it is, so patterns are expanded here, too.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from txop.core.errors import UserError
from txop.core.stores import is_address

MOST_FILES = 10_000
_ARM = re.compile(r"([a-z0-9][a-z0-9_]*(?:-[a-z0-9_]+)*)=(.+)", re.DOTALL)
_MAGIC = re.compile(r"[*?\[]")


class Named(NamedTuple):
    """One file."""

    arm: str | None
    path: str
    in_folder: bool
    """It was found, and not named: one that cannot be imported is no mistake of the user's."""


def files_of(arguments: Sequence[str]) -> tuple[list[Named], list[str]]:
    """The files that ``arguments`` name, each once for each arm, and sentences on those that name none.

    Raises:
        UserError: they are more than :data:`MOST_FILES`.
    """
    found: dict[tuple[str | None, str], Named] = {}
    problems: list[str] = []
    for argument in arguments:
        given = _ARM.fullmatch(argument)
        arm, name = (given[1], given[2]) if given is not None and not Path(argument).exists() else (None, argument)
        for named in _expanded(arm, name, problems):
            found.setdefault((arm, named.path), named)
            if len(found) > MOST_FILES:
                raise UserError(
                    f"more than {MOST_FILES:,} files", where=argument, what_to_do="name fewer, or smaller folders"
                )
    return list(found.values()), problems


def _expanded(arm: str | None, name: str, problems: list[str]) -> list[Named]:
    path = Path(name)
    if is_address(name):
        return [Named(arm, name, in_folder=False)]
    if path.is_dir():
        inside = [Named(arm, each, in_folder=True) for each in _inside(path)]
        if not inside:
            problems.append(f"{name}: a folder without files")
        return inside
    if _MAGIC.search(name) and not path.exists():
        matches = sorted(islice(glob.iglob(name, recursive=True), MOST_FILES + 1))  # noqa: PTH207 - as a shell does
        if not matches:
            problems.append(f"{name}: no file matches this pattern")
        made: list[Named] = []
        for match in matches:
            if Path(match).is_dir():
                made += [Named(arm, each, in_folder=True) for each in _inside(Path(match))]
            else:
                made.append(Named(arm, match, in_folder=False))
        return made
    return [Named(arm, name, in_folder=False)]


def _inside(folder: Path) -> list[str]:
    """The files below ``folder`` in order of their names; hidden ones, and links to folders, are passed over."""
    found: list[str] = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        found += [str(Path(root) / each) for each in sorted(files) if not each.startswith(".")]
        if len(found) > MOST_FILES:
            break
    return found
