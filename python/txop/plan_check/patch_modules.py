"""The modules that patches name: whether a guest builds them."""

from __future__ import annotations

from collections.abc import Iterator

from txop.guest.wireless_stack import NAMES as REBUILT_MODULES
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path


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
