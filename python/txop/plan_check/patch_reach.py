"""Patches of a built arm that change files beside its module: only the module is loaded, so the rest of such a patch
has no effect, or none that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path as FilePath
from pathlib import PurePosixPath

from txop.arms.patches import is_script
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path

MAX_BYTES = 16 << 20
_SHOWN = 4
_FILE = re.compile(r'^(?:---|\+\+\+) "?(?:[^/\s"]+)/([^\t\n"]+)', re.MULTILINE)
"""The name of a file in a unified diff, without its first folder (``-p1``); ``/dev/null`` has none before it."""


def beside_the_module(loaded: LoadedPlan) -> Iterator[tuple[Path, str, str | None]]:
    """Each patch that changes something outside the folders of the arm's modules. Where a module is at the top of its
    tree, there is no outside."""
    for index, arm in enumerate(loaded.plan.arm):
        if arm.build is None:
            continue
        folders = [PurePosixPath(name).parent for name in arm.build.files]
        if PurePosixPath() in folders:
            continue
        shown = " and ".join(dict.fromkeys(map(str, folders)))
        for number, patch in enumerate(arm.patches):
            if patch.file is None or is_script(file := loaded.file(patch.file)):
                continue
            outside = [
                name
                for name in changed(file)
                if not any(PurePosixPath(name).is_relative_to(folder) for folder in folders)
            ]
            if outside:
                more = f" and {len(outside) - _SHOWN} more" if len(outside) > _SHOWN else ""
                said = f"it changes {', '.join(outside[:_SHOWN])}{more}, outside {shown}"
                names = ", ".join(PurePosixPath(name).name for name in arm.build.files)
                verb = "is" if len(folders) == 1 else "are"
                to_do = (
                    f"only {names} {verb} loaded: the rest of the kernel stays as it is; "
                    "name all modules that the patch is for in build.modules"
                )
                yield ("arm", index, "patches", number, "file"), said, to_do


def changed(file: FilePath) -> list[str]:
    """The files that a unified diff changes, each once; none when it cannot be read."""
    try:
        with file.open("rb") as source:
            text = source.read(MAX_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return []
    return list(dict.fromkeys(match.strip() for match in _FILE.findall(text)))
