"""The edit scripts that a plan names: whether they can be read, and go the way that is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from txop.arms.edits.script import EditScriptError, read_script
from txop.arms.patches import is_script
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path


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
