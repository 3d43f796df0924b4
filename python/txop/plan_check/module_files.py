"""Whether the module files of arms are kernel modules, fit together, and know the parameters that they get."""

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


def wrong_order(loaded: LoadedPlan) -> Found:
    """Each module that needs one that its arm loads later: the kernel refuses it for an unknown symbol."""
    for arm in _by_arm(loaded).values():
        later = {_name(info): spec.file for _, spec, info in arm}
        for place, spec, info in arm:
            later.pop(_name(info), None)
            needed = [needs for needs in info.depends if _plain(needs) in later]
            if needed:
                said = f"{spec.file} needs {needed[0]}, which {later[_plain(needed[0])]} brings after it"
                yield (*place, "file"), said, "list modules in the order of loading"


def mixed_builds(loaded: LoadedPlan) -> Found:
    """Each module that is of another kernel than the first of its arm."""
    for arm in _by_arm(loaded).values():
        known = [(place, spec, info.kernel_release) for place, spec, info in arm if info.kernel_release is not None]
        for place, spec, release in known[1:]:
            if release != known[0][2]:
                said = f"{spec.file} is for Linux {release}, and {known[0][1].file} for {known[0][2]}"
                yield (*place, "file"), said, "take all modules of an arm from one build"


def lacking_modules(loaded: LoadedPlan) -> Found:
    """Each module that needs one that another arm loads and this one does not, so that it gets whatever is loaded."""
    by_arm = _by_arm(loaded)
    arms = loaded.plan.arm
    for index, arm in by_arm.items():
        own = {_name(info) for _, _, info in arm}
        for place, spec, info in arm:
            for needs in info.depends:
                others = [n for n, given in by_arm.items() if _plain(needs) in {_name(each) for _, _, each in given}]
                if _plain(needs) not in own and others:
                    other, this = arms[others[0]].name, arms[index].name
                    said = f"{spec.file} needs {needs}, which the arm {other} loads and {this} does not"
                    yield (*place, "file"), said, "list that module in both, so that each arm has its own"


def _by_arm(loaded: LoadedPlan) -> dict[int, list[tuple[Path, ModuleSpec, ModuleInfo]]]:
    """The modules that can be read, by number of the arm, in the order of loading."""
    found: dict[int, list[tuple[Path, ModuleSpec, ModuleInfo]]] = {}
    for place, spec, info in _modules(loaded):
        if isinstance(info, ModuleInfo):
            found.setdefault(int(place[1]), []).append((place, spec, info))
    return found


def _name(info: ModuleInfo) -> str:
    return _plain(info.name or "")


def _plain(name: str) -> str:
    return name.replace("-", "_")


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
