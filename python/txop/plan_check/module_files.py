"""Whether the module files that arms load are kernel modules, and know the parameters that they get."""

from __future__ import annotations

from collections.abc import Iterator

from txop.arms.module_file import NotAModuleError, read_module_info
from txop.core.nearest import did_you_mean
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path


def wrong_module_files(loaded: LoadedPlan) -> Iterator[tuple[Path, str, str | None]]:
    """Each file that is no kernel module, and each parameter that its module does not have.

    Files that are not there are left to :mod:`txop.plan_check.files`.
    """
    for index, arm in enumerate(loaded.plan.arm):
        for number, spec in enumerate(arm.loads):
            if spec.file is None:
                continue
            place: Path = ("arm", index, *(("module",) if arm.module is not None else ("modules", number)))
            try:
                info = read_module_info(loaded.file(spec.file))
            except NotAModuleError as error:
                yield (*place, "file"), str(error), "give a kernel module (.ko) that its build made"
                continue
            except (OSError, ValueError):  # a name too long, or with a NUL
                continue
            for name in spec.parameters:
                if name not in info.parameters:
                    said = f'{spec.file} has no parameter "{name}"'
                    yield (*place, "parameters", name), said, did_you_mean(name, sorted(info.parameters))
