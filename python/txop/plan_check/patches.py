"""The patches that a plan names: whether an edit script can be used, a guest builds the module of a patch, and one of
a built arm stays within its modules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path as FilePath
from pathlib import PurePosixPath

from txop.arms.edits.script import EditScriptError, read_script
from txop.arms.patches import is_script
from txop.guest.wireless_stack import NAMES as REBUILT_MODULES
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path

MAX_BYTES = 16 << 20
_SHOWN = 4
_FILE = re.compile(r'^(?:---|\+\+\+) "?(?:[^/\s"]+)/([^\t\n"]+)', re.MULTILINE)
"""The name of a file in a unified diff, without its first folder (``-p1``); ``/dev/null`` has none before it."""


def wrong_scripts(loaded: LoadedPlan) -> Iterator[tuple[Path, str, str | None]]:
    """Each that cannot be used. Files that are not there are left to :mod:`txop.plan_check.files`."""
    guest = loaded.plan.guest
    for index, arm in enumerate(loaded.plan.arm):
        for number, patch in enumerate(arm.patches):
            if patch.file is None or not is_script(loaded.file(patch.file)):
                continue
            path = ("arm", index, "patches", number, "file")
            try:
                read_script(loaded.file(patch.file))
            except EditScriptError as error:
                yield path, f"{patch.file}: {error}", None
            except OSError:
                continue
            if guest is not None and guest.varied(arm.guest).reverse:
                yield path, "an edit script cannot be taken back", "write one for the other way"


def wrong_modules(loaded: LoadedPlan) -> Iterator[tuple[Path, str, str | None]]:
    """Each patch for a module that is not built: it would not be applied."""
    guest = loaded.plan.guest
    for index, arm in enumerate(loaded.plan.arm):
        for number, patch in enumerate(arm.patches):
            if patch.module is None:
                continue
            path = ("arm", index, "patches", number, "module")
            if guest is None:
                said = "patches of a module by its name are for guests"
                yield path, said, "take module out: build.module says what is built of the patched tree"
                continue
            spec = guest.varied(arm.guest)
            built = [name for name in (spec.builds, spec.built_beside) if name is not None]
            if spec.needs_debugfs:
                built = list(REBUILT_MODULES)
            if patch.module not in built:
                said = f"the guest builds {', '.join(built)}, not {patch.module}"
                known = (
                    'set mux = "rmnet" in guest.modem' if patch.module == "rmnet" else f"choose {' or '.join(built)}"
                )
                yield path, said, f"{known}, or take the patch out"


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
