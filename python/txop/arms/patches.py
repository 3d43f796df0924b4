"""A series of patches and edit scripts, applied in order; and, when one does not apply, where and why."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.arms.edits.apply import EditError, apply_script
from txop.arms.edits.script import SUFFIX, EditScriptError, read_script
from txop.arms.local_command import run_here

TIMEOUT_S = 300.0

NOT_BACKWARDS = (
    "an edit script cannot be taken back: it does not say what was there before; write one for the other way"
)


@dataclass(frozen=True)
class NotApplied:
    """Why a series is not in a tree."""

    text: str
    rejected: bool = True
    """A patch does not apply; not, it could not be tried."""


async def apply_patches(
    tree: Path, patches: Sequence[Path], log: Path, variables: Mapping[str, str], *, reverse: bool = False
) -> NotApplied | None:
    """Apply patches (``-p1``) to a tree, or take them back; ``None`` when all of them did, else what went wrong.

    ``git apply`` is strict: context must agree, and a patch applies atomically. Without git, ``patch`` is
    used, without fuzz. Files with names that end with ``.toml`` are edit scripts, which cannot be taken back.
    """
    for number, patch in enumerate(patches, 1):
        which = f"patch {number} of {len(patches)} ({patch.name})"
        if is_script(patch):
            trouble = _edit(tree, patch, log, reverse=reverse)
        elif shutil.which("git", path=variables.get("PATH")):
            trouble = await _with_git(tree, patch, log, variables, reverse=reverse)
        elif shutil.which("patch", path=variables.get("PATH")):
            trouble = await _with_patch(tree, patch, log, variables, reverse=reverse)
        else:
            return NotApplied("there is neither git nor patch to apply patches with", rejected=False)
        if trouble is not None:
            before = ", after the ones before it" if number > 1 else ""
            verb = "cannot be taken back" if reverse else "does not apply"
            return NotApplied(f"{which} {verb}{before}: {trouble}")
    return None


def is_script(patch: Path) -> bool:
    """Whether a file is an edit script, by its name."""
    return patch.suffix.lower() == SUFFIX


def _edit(tree: Path, patch: Path, log: Path, *, reverse: bool) -> str | None:
    if reverse:
        return NOT_BACKWARDS
    try:
        done = apply_script(tree, read_script(patch))
    except (EditScriptError, EditError) as error:
        return str(error)
    with log.open("a", encoding="utf-8", errors="surrogateescape") as out:
        out.write(f"{patch.name}: {', '.join(done.lines)}\n{done.changes}")
    return None


async def _with_git(tree: Path, patch: Path, log: Path, variables: Mapping[str, str], *, reverse: bool) -> str | None:
    # without the ceiling, a repository around the cache folder would make git skip the files silently
    alone = {key: value for key, value in variables.items() if not key.startswith("GIT_")}
    alone["GIT_CEILING_DIRECTORIES"] = str(tree.parent)
    way = ["-R"] if reverse else []
    argv = ["git", "apply", "-p1", "--whitespace=nowarn", *way, str(patch)]
    ended = await run_here(argv, folder=tree, log=log, variables=alone, timeout_s=TIMEOUT_S)
    if ended.status == 0:
        return None
    again = ["git", "apply", "-p1", "--whitespace=nowarn", "--reject", "--verbose", *way, str(patch)]
    retried = await run_here(again, folder=tree, log=log, variables=alone, timeout_s=TIMEOUT_S)
    return rejected_by_git(retried.output) or _last_words(ended.output)


async def _with_patch(tree: Path, patch: Path, log: Path, variables: Mapping[str, str], *, reverse: bool) -> str | None:
    way = "--reverse" if reverse else "--forward"
    argv = ["patch", "-p1", "--batch", way, "--fuzz=0", "-i", str(patch)]
    ended = await run_here(argv, folder=tree, log=log, variables=variables, timeout_s=TIMEOUT_S)
    return None if ended.status == 0 else rejected_by_patch(ended.output) or _last_words(ended.output)


def rejected_by_git(output: str) -> str | None:
    r"""Which hunks ``git apply --reject --verbose`` rejected.

    >>> rejected_by_git("error: patch failed: a.c:12\nApplying patch a.c with 1 reject...\nRejected hunk #2.\n")
    'a.c, hunk 2 (line 12)'
    """
    file, found = "", []
    lines: dict[str, str] = {}
    for row in output.splitlines():
        if match := re.match(r"error: patch failed: (.+):(\d+)$", row):
            lines.setdefault(match[1], match[2])
        elif match := re.match(r"error: (.+): No such file or directory$", row):
            found.append(f"there is no {match[1]}")
        elif match := re.match(r"error: (.+): already exists in working directory$", row):
            found.append(f"{match[1]} is there already")
        elif match := re.match(r"Applying patch (.+) with \d+ rejects?\.\.\.$", row):
            file = match[1]
        elif match := re.match(r"Rejected hunk #(\d+)\.$", row):
            at = f" (line {lines[file]})" if file in lines else ""
            found.append(f"{file}, hunk {match[1]}{at}")
    return "; ".join(dict.fromkeys(found[:5])) or None


def rejected_by_patch(output: str) -> str | None:
    r"""Which hunks ``patch`` rejected.

    >>> rejected_by_patch("patching file a.c\nHunk #2 FAILED at 12.\n1 out of 2 hunks FAILED\n")
    'a.c, hunk 2 (line 12)'
    """
    file, found = "", []
    for row in output.splitlines():
        if match := re.match(r"patching file '?(.+?)'?$", row):
            file = match[1]
        elif match := re.match(r"Hunk #(\d+) FAILED at (\d+)", row):
            found.append(f"{file}, hunk {match[1]} (line {match[2]})")
        elif "previously applied" in row:
            found.append(f"{file} has it already")
        elif "can't find file to patch" in row:
            found.append("a file that it changes is not there")
    return "; ".join(dict.fromkeys(found[:5])) or None


def _last_words(output: str) -> str:
    rows = [row.strip() for row in output.splitlines() if row.strip() and not row.startswith("$ ")]
    return " / ".join(rows[-2:])[:500] or "no reason given"
