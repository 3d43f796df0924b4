"""Whether the module files that arms load are kernel modules, and know the parameters that they get."""

from __future__ import annotations

from collections.abc import Iterator

from txop.arms.module_file import ModuleInfo, NotAModuleError, read_module_info
from txop.core.nearest import did_you_mean
from txop.plan.arm import ModuleSpec
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path

Found = Iterator[tuple[Path, str, str | None]]


def wrong_module_files(loaded: LoadedPlan) -> Found:
    """Each file that is no kernel module. Files that are not there are left to :mod:`txop.plan_check.files`."""
    for place, _, info in _modules(loaded):
        if isinstance(info, str):
            yield (*place, "file"), info, "give a kernel module (.ko) that its build made"


def unknown_parameters(loaded: LoadedPlan) -> Found:
    """Each parameter that a module file does not have: the kernel ignores it, and every run of the arm is void."""
    for place, spec, info in _modules(loaded):
        if isinstance(info, str):
            continue
        for name in spec.parameters:
            if not info.takes(name):
                said = f'{spec.file} has no parameter "{name}": the kernel would ignore it'
                yield (*place, "parameters", name), said, did_you_mean(name, sorted(info.parameters))


def _modules(loaded: LoadedPlan) -> Iterator[tuple[Path, ModuleSpec, ModuleInfo | str]]:
    """Place, module, and what its file says of itself, or why it is no module."""
    for index, arm in enumerate(loaded.plan.arm):
        for number, spec in enumerate(arm.loads):
            if spec.file is None:
                continue
            place: Path = ("arm", index, *(("module",) if arm.module is not None else ("modules", number)))
            file = loaded.file(spec.file)
            try:
                if file.is_file():
                    yield place, spec, read_module_info(file)
                elif file.exists() and not file.is_dir():  # a FIFO, which would be waited for
                    yield place, spec, f"{spec.file} is not a regular file"
            except NotAModuleError as error:
                yield place, spec, str(error)
            except (OSError, ValueError):  # a name too long, or with a NUL
                continue
