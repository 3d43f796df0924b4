"""Building an arm's module on the machine txop runs on: copy the tree, apply the patches in order, run the build.

Results are kept in the user's cache folder under a hash of everything that goes in: the files of the tree, the patches
and their order, the kernel's own build folder, the command and the variables that compilers look at. Of a build the
module and the log are kept, not the tree.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from txop.arms.local_command import run_here
from txop.arms.module_file import MAX_BYTES, ModuleInfo, NotAModuleError, module_info, unpack
from txop.arms.patches import apply_patches, is_script
from txop.arms.source_tree import SourceTree
from txop.arms.steps import StepError, line
from txop.core.whole_file import whole_file
from txop.plan.arm import Arm, BuildSpec
from txop.plan.named_file import named_file

RECIPE = 1
"""Raised when this module builds differently: older results are then not used again."""

EDITS = 1
"""Raised when edit scripts are carried out differently."""

_VARIABLES = ("ARCH", "CROSS_COMPILE", "CC", "LD", "LLVM", "LLVM_IAS", "KCFLAGS", "KBUILD_EXTRA_SYMBOLS", "CFLAGS")
"""Environment variables that change what a build makes."""

_KERNEL_FILES = (".config", "Module.symvers", "include/config/kernel.release", "include/generated/utsrelease.h")
"""Files of a kernel build folder that a module depends on."""


@dataclass(frozen=True)
class CompilerError:
    """What a compiler found wrong."""

    file: str
    """As the compiler names it; relative to the tree where it is in it."""
    line: int
    text: str


class BuildError(StepError):
    """A module could not be built: a patch does not apply (``rejected``), or the tools failed. ``log`` is what they
    said, ``None`` when it did not come that far; ``first`` the compiler's first error, if there is one."""

    def __init__(
        self,
        arm: str,
        what: str,
        log: Path | None = None,
        *,
        rejected: bool = False,
        first: CompilerError | None = None,
    ) -> None:
        super().__init__("this machine", f"the module of {arm} could not be built: {what}")
        self.log = log
        self.rejected = rejected
        self.first = first


@dataclass(frozen=True)
class Built:
    """A built module."""

    module: Path
    """In the cache; its name is the one the build gave it."""
    log: Path
    key: str
    """Hash of what went in."""
    source: str
    """The tree: the commit if it is a git work tree, with ``-dirty`` when files differ from it; else its own hash."""
    info: ModuleInfo
    cached: bool
    """It was there already."""
    beside: tuple[Path, ...] = ()
    """Further modules that the same build made, as its recipe asked."""

    def file(self, name: str) -> Path:
        """A module of this build, by the name of its file."""
        return next(path for path in (self.module, *self.beside) if path.name == name)


@dataclass(frozen=True)
class Recipe:
    """What a build does, without doing it."""

    arm: str
    source: Path
    patches: tuple[Path, ...]
    command: tuple[str, ...]
    """With ``{tree}`` for the copy of the tree."""
    module: str
    kernel: Path
    timeout_s: float
    reverse: bool = False
    """Take the patches back, the last one first."""
    compiler: str | None = None
    """What the compiler says of itself, where results are kept by that, too."""
    beside: tuple[str, ...] = ()
    """Further modules that the build makes and that are kept, relative to the tree."""

    @property
    def series(self) -> tuple[Path, ...]:
        """The patches in the order in which they are applied, or taken back."""
        return self.patches[::-1] if self.reverse else self.patches

    def shown(self) -> list[str]:
        """The steps, for those who want to know before."""
        return [
            f"copy {self.source} to TREE",
            *(self._step(patch) for patch in self.series),
            line([part.replace("{tree}", "TREE") for part in self.command]),
        ]

    def _step(self, patch: Path) -> str:
        if is_script(patch):
            return f"make the edits of {patch}"
        return line(["git", "apply", *(["-R"] if self.reverse else []), str(patch)])


def recipe(arm: Arm, folder: Path, kernel_release: str | None) -> Recipe:
    """How an arm is built.

    Args:
        arm: It has a ``build``.
        folder: File names in the plan are relative to it.
        kernel_release: ``uname -r`` of the device under test; ``None``: not known, and shown as ``RELEASE``.
    """
    build = arm.build
    if build is None:
        raise ValueError(f"{arm.name} has no build")
    source = _file(folder, build.source)
    kernel = _file(folder, build.kernel or f"/lib/modules/{kernel_release or 'RELEASE'}/build")
    return Recipe(
        arm=arm.name,
        source=source,
        patches=tuple(_file(folder, patch.file) for patch in arm.patches if patch.file is not None),
        command=_command(build, source, kernel),
        module=build.files[-1],
        kernel=kernel,
        timeout_s=build.timeout_s,
        beside=build.files[:-1],
    )


async def build(how: Recipe, *, cache: Path | None = None, environment: Mapping[str, str] | None = None) -> Built:
    """Build a module, or take it from the cache.

    Args:
        how: What to do.
        cache: Folder of results; default ``txop/builds`` in the user's cache folder.
        environment: Variables; default: this process's own.

    Raises:
        BuildError: with the patch and hunk, or the compiler's first errors.
    """
    variables = dict(os.environ if environment is None else environment)
    folder = cache or default_cache()
    try:
        tree = await SourceTree.of(how.source)
        key = _key(how, tree, variables)
        place = folder / key
        found = _finished(place, tree, cached=True)
        if found is not None:
            return found
        return await _make(how, tree, folder, key, variables)
    except OSError as error:
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        raise BuildError(how.arm, f"{where}{error.strerror or error}") from None


def default_cache() -> Path:
    """``txop/builds`` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path("~/.cache").expanduser()) / "txop" / "builds"


async def _make(how: Recipe, tree: SourceTree, folder: Path, key: str, variables: dict[str, str]) -> Built:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(".*.*.part"):  # of builds that were killed, this one or others
        pid = old.name.split(".")[-2]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(old, ignore_errors=True)
    work = folder / f".{key}.{os.getpid()}.part"
    log = work / "build.log"
    copy = work / "tree"
    failed = folder / f"{key}.failed.log"
    try:
        await tree.copy(copy)
        log.touch()
        if unpatched := await apply_patches(copy, how.series, log, variables, reverse=how.reverse):
            log.replace(failed)
            raise BuildError(how.arm, unpatched.text, failed, rejected=unpatched.rejected)
        if trouble := await _run_build(how, copy, log, variables):
            log.replace(failed)
            raise BuildError(how.arm, trouble.text, failed, first=trouble.first)
        result = work / "result"
        result.mkdir()
        for module in (how.module, *how.beside):
            (copy / module).replace(result / Path(module).name)
        log.replace(result / "build.log")
        facts: dict[str, object] = {"source": tree.identity, "module": Path(how.module).name}
        if how.beside:
            facts["beside"] = [Path(module).name for module in how.beside]
        with whole_file(result / "built.json") as out:
            out.write(json.dumps(facts) + "\n")
        place = folder / key
        try:
            result.replace(place)
        except OSError:
            if _finished(place, tree, cached=True) is None:  # else another process was quicker
                shutil.rmtree(place, ignore_errors=True)
                result.replace(place)
        failed.unlink(missing_ok=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    built = _finished(place, tree, cached=False)
    if built is None:
        raise BuildError(how.arm, f"{how.module} is not a kernel module", place / "build.log")
    return built


@dataclass(frozen=True)
class _Trouble:
    text: str
    first: CompilerError | None = None


async def _run_build(how: Recipe, copy: Path, log: Path, variables: dict[str, str]) -> _Trouble | None:
    argv = [part.replace("{tree}", str(copy)) for part in how.command]
    ended = await run_here(argv, folder=copy, log=log, variables=variables, timeout_s=how.timeout_s)
    if ended.timed_out:
        return _Trouble(f"`{line(how.command)}` did not end within {how.timeout_s:g} s")
    if ended.missing:
        return _Trouble(f"program not found: {argv[0]}")
    if ended.status != 0:
        first = first_error(ended.output, copy)
        said = f"{first.file}:{first.line}: {first.text}" if first is not None else _last_words(ended.output)
        return _Trouble(f"{said} (`{line(how.command)}` ended with {ended.status})".lstrip(), first)
    for name in (how.module, *how.beside):
        module = copy / name
        if not module.is_file():
            made = sorted(str(path.relative_to(copy)) for path in copy.rglob("*.ko"))[:5]
            return _Trouble(f"the build made no {name}" + (f", but {', '.join(made)}" if made else ""))
        try:
            module_info(unpack(module.read_bytes()[: MAX_BYTES + 1], module.name))
        except NotAModuleError as error:
            return _Trouble(f"{name}: {error}")
    return None


_COMPILER_ERROR = re.compile(r"^([^\s:][^:\n]*):(\d{1,9})(?::\d+)?: (?:fatal )?error: (.+)$", re.MULTILINE)
"""As GCC and Clang write it."""


def first_error(output: str, tree: Path) -> CompilerError | None:
    """The first error of a compiler in what a build printed; ``None``: it has none, a tool beside the compiler failed.

    >>> first_error("make[1]: x\\n/t/core/a.c:12:3: error: no member", Path("/t"))
    CompilerError(file='core/a.c', line=12, text='no member')
    """
    match = _COMPILER_ERROR.search(output)
    if match is None:
        return None
    return CompilerError(match[1].removeprefix(f"{tree}/")[:400], int(match[2]), match[3].strip()[:400])


def _last_words(output: str) -> str:
    """What the tools beside the compiler said: modpost, make."""
    rows = [row.strip() for row in output.splitlines()]
    errors = [row for row in rows if "error:" in row.lower() or row.startswith("ERROR")] or rows[-2:]
    return " / ".join(errors[:3])[:800]


def _finished(place: Path, tree: SourceTree, *, cached: bool) -> Built | None:
    try:
        facts = json.loads((place / "built.json").read_bytes()[:65536])
        module = place / str(facts["module"])
        info = module_info(unpack(module.read_bytes()[: MAX_BYTES + 1], module.name))
        beside = tuple(place / Path(str(name)).name for name in facts.get("beside", ()))
        if not all(path.is_file() for path in beside):
            return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return Built(module, place / "build.log", place.name, tree.identity, info, cached, beside)


def _key(how: Recipe, tree: SourceTree, variables: Mapping[str, str]) -> str:
    parts: dict[str, object] = {
        "recipe": RECIPE,
        "tree": tree.content,
        "patches": [hashlib.sha256(patch.read_bytes()).hexdigest() for patch in how.patches],
        "command": how.command,
        "module": how.module,
        "kernel": [str(how.kernel), *(_hash_of(how.kernel / name) for name in _KERNEL_FILES)],
        "variables": {name: variables[name] for name in _VARIABLES if name in variables},
    }
    if how.reverse:
        parts["reverse"] = True
    if how.beside:
        parts["beside"] = how.beside
    if how.compiler is not None:
        parts["compiler"] = how.compiler
    if scripts := [number for number, patch in enumerate(how.patches) if is_script(patch)]:
        parts["edit scripts"] = [EDITS, *scripts]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _hash_of(path: Path) -> str | None:
    try:
        with path.open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    except OSError:
        return None


def _command(build: BuildSpec, source: Path, kernel: Path) -> tuple[str, ...]:
    if build.command is not None:
        return tuple(part.replace("{kernel}", str(kernel)) for part in build.command)
    inside = "{tree}"
    if _is_kernel(source):
        inside += "/" + os.path.commonpath([Path(name).parent for name in build.files])
    jobs = f"-j{os.cpu_count() or 1}"
    return ("make", "-C", str(kernel), f"M={inside}", jobs, "modules")


def _is_kernel(source: Path) -> bool:
    """Whether a tree is a whole kernel: a module then has its own folder in it."""
    return all((source / name).is_file() for name in ("Kbuild", "Kconfig", "scripts/Kbuild.include"))


def _file(folder: Path, name: str) -> Path:
    return named_file(folder, name)
