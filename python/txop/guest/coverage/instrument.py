"""A driver built so that each of its blocks says when it is reached, from the source of the guest's kernel.

The modules that make up the driver are built, those in its folder that it depends on among them, and beside them the
module that counts (``txop_coverage``, GPL-2.0), which their blocks call.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from txop.arms.build import BuildError, Built, Recipe, build
from txop.arms.source_tree import SourceTree
from txop.guest.coverage.blocks import COMPILED_IN, OPTIONS, ModuleBlocks, read_blocks
from txop.guest.driver import (
    TIMEOUT_S,
    DriverBuildError,
    check_compiler,
    check_tools,
    compiler_flags,
    top_folder,
)
from txop.guest_image.cache import default_cache, new_folder, sha256_of
from txop.guest_image.compiler import compiler_folder, variables_of
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.image import Image
from txop.guest_image.kernel_tree import (
    MAKEFILES,
    SOURCE_FOLDERS,
    build_folder,
    find_module,
    is_one_file,
    source_folder,
)
from txop.guest_image.modules import ModuleFolder, read_module
from txop.guest_image.overlay import given_modules
from txop.guest_image.own_kernel import compiler_of_kernels, words_for_make
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.lock import Lock

MODULE = "txop_coverage"
"""The module that counts."""
SOURCE = Path(__file__).parents[2] / "guest_image" / MODULE
"""Folder of its source."""
INSTRUMENTED = "-fsanitize-coverage=trace-pc -fno-optimize-sibling-calls"
"""What makes the compiler call it in each block, and come back from there: without the second, a block that ends its
function jumps, and the place that is counted is its caller's."""
_DEBUG = "-g1"
"""Lines of the source, and nothing else."""
_LEFT = (".o", ".ko", ".mod", ".cmd", ".a", ".order", ".symvers", ".mod.c")
"""Ends of names of what an earlier build has left in a tree."""
_LISTING_S = 300.0


@dataclass(frozen=True)
class KernelBuild:
    """What modules for a kernel are built with."""

    folder: Path
    """The kernel's build folder."""
    source: Path
    """Its source, or a part of it."""
    variables: Mapping[str, str]
    """Environment variables, with the ``PATH`` of the compiler."""
    compiler: str
    """What the compiler says of itself."""
    words: tuple[str, ...] = ()
    """More arguments of make."""
    image_sha256: str = ""
    """Hash of a kernel of your own: its headers may change while its configuration stays the same."""


@dataclass(frozen=True)
class Covered:
    """An instrumented driver."""

    modules: tuple[Path, ...]
    """For the guest, the one that counts among them."""
    blocks: Mapping[str, ModuleBlocks]
    """By module."""

    @property
    def total(self) -> int:
        """Blocks in all."""
        return sum(len(module.blocks) for module in self.blocks.values())

    def in_place_of(self, others: Sequence[Path]) -> tuple[Path, ...]:
        """Modules of a guest, with these in place of those of the same names. Raises :class:`GuestError`."""
        mine = given_modules(self.modules)
        kept = [path for name, (path, _) in given_modules(others).items() if name not in mine]
        return (*kept, *self.modules)


@dataclass(frozen=True)
class _Part:
    """A module of the driver."""

    name: str
    """With underscores."""
    file: str
    """As its Makefile has it, without ``.o``."""
    folder: Path
    """In the kernel's source."""
    symbol: str


def kernel_build(
    lock: Lock, own: Path | None, kernel_file: Path | None, *, progress: Progress, cache: Path | None = None
) -> KernelBuild:
    """What modules are built with: for the kernel of a lock, or for your own.

    Args:
        lock: with a kernel that it is, and with a compiler that is taken.
        own: The build folder of a kernel of your own.
        kernel_file: That kernel.
        progress: Receives the progress.
        cache: Folder for results; default the user's.

    Raises:
        GuestError: The folder is not that kernel's, or it has a ``__sanitizer_cov_trace_pc`` of its own.
        MissingGuestToolError: A program that building takes is not here.
    """
    folder = cache or default_cache()
    if own is None:
        check_tools(own_compiler=bool(lock.of_role("compiler")))
        build_at = build_folder(lock, cache=folder, progress=progress)
        variables = variables_of(compiler_folder(lock, cache=folder, progress=progress))
        source = source_folder(lock, cache=folder, progress=progress)
        return KernelBuild(build_at, source, variables, check_compiler(build_at, variables))
    check_tools(False, own_compiler=bool(lock.of_role("compiler")))
    configuration = _text(own / ".config")
    image = own / "arch" / "x86" / "boot" / "bzImage"
    if kernel_file is not None and not _same(image, kernel_file):
        raise GuestError(f"{own} is not the folder in which {kernel_file} was built")
    if re.search(r"^CONFIG_KCOV=y$", configuration, re.MULTILINE):
        raise GuestError(
            "the kernel has KCOV, with function blocks that would call", what_to_do="build one without kcov"
        )
    variables, compiler = compiler_of_kernels(lock, folder, progress)
    words: Sequence[str] = words_for_make(variables)
    if f'CONFIG_CC_VERSION_TEXT="{compiler}"' not in configuration:  # not built by `txop guest kernel`
        variables, words = dict(os.environ), ()
        compiler = next(iter(re.findall(r'^CONFIG_CC_VERSION_TEXT="(.*)"$', configuration, re.MULTILINE)), "")
    source = own / "source"
    whole = source.resolve() if source.is_dir() else own
    return KernelBuild(own, whole, variables, compiler, tuple(words), sha256_of(image))


async def instrument(
    driver: str, image: Image, kernel: KernelBuild, progress: Progress, *, cache: Path | None = None
) -> Covered:
    """Build a driver so that its blocks are counted, or take it from the cache.

    Raises:
        DriverBuildError: It does not build.
        GuestError: The kernel's source has no such driver.
    """
    folder = cache or default_cache()
    parts = _parts(driver, image, kernel.source)
    top = top_folder(parts[0].folder)
    source = await _prepared(kernel, top, parts, folder)
    goals = [f"{(part.folder / part.file).relative_to(top).as_posix()}.ko" for part in (*parts[1:], parts[0])]
    flags = compiler_flags(driver, debug=_DEBUG)
    flags += [f"-fdebug-prefix-map={place}={COMPILED_IN.rstrip('/')}" for place in (kernel.folder, kernel.source)]
    inside = top.as_posix()
    recipe = Recipe(
        arm=f"{driver} with counters",
        source=source,
        patches=(),
        command=(
            *("make", "-C", str(kernel.folder), f"M={{tree}}/{inside}", *kernel.words),
            *(f"KCFLAGS={' '.join(flags)}", f"-j{os.cpu_count() or 1}"),
            *dict.fromkeys(f"{part.symbol}=m" for part in parts),
            *goals,
            f"{MODULE}.ko",
        ),
        module=f"{inside}/{goals[-1]}",
        kernel=kernel.folder,
        timeout_s=TIMEOUT_S,
        compiler=kernel.compiler,
        beside=(*(f"{inside}/{goal}" for goal in goals[:-1]), f"{inside}/{MODULE}.ko"),
    )
    progress(f"building {driver} with counters in its blocks ({', '.join(part.name for part in parts)})")
    try:
        built = await build(recipe, cache=folder / "modules", environment=kernel.variables)
    except BuildError as error:
        raise DriverBuildError(error.what, error.log, rejected=error.rejected) from None
    files = {part.name: built.file(f"{part.file}.ko") for part in parts}
    listings = {name: await asyncio.to_thread(_listing, path, kernel.variables) for name, path in files.items()}
    blocks = {name: read_blocks(listing, name) for name, listing in listings.items()}
    return Covered((*files.values(), _counter(built)), blocks)


def _counter(built: Built) -> Path:
    return built.file(f"{MODULE}.ko")


def _parts(driver: str, image: Image, source: Path) -> list[_Part]:
    """The driver's modules, the driver first: those in its part of the source that it depends on."""
    first = _part(driver, source, SOURCE_FOLDERS)
    if first is None:
        raise GuestError(f"the kernel's source has no module {driver} in {', '.join(SOURCE_FOLDERS)}")
    found, kernel = [first], ModuleFolder(image.modules_folder)
    waiting, seen = [first.name], {first.name}
    while waiting:
        data = kernel.find(waiting.pop(0))
        for name in () if data is None else read_module(data, f"{driver}.ko").depends:
            if name in seen:
                continue
            seen.add(name)
            part = _part(name, source, (top_folder(first.folder).as_posix(),))
            if part is not None:
                found.append(part)
                waiting.append(name)
    return found


def _part(module: str, source: Path, folders: Sequence[str]) -> _Part | None:
    for below in folders:
        found = find_module(source / below, module)
        if found is not None:
            folder = Path(below) / found[0]
            texts = [_text(source / folder / name) for name in MAKEFILES]
            match = re.search(rf"(?:^|\s)({re.escape(module).replace('_', '[-_]')})\.o\b", "\n".join(texts))
            file = match[1] if match is not None else module
            return _Part(module.replace("-", "_"), file, folder, found[1])
    return None


async def _prepared(kernel: KernelBuild, top: Path, parts: Sequence[_Part], cache: Path) -> Path:
    """A tree with the driver's folder, its Makefiles with what makes blocks call, and the module that they call.

    It names the kernel, so that the driver is built once more for another one.
    """
    whole = kernel.source
    tree = await SourceTree.of(whole / top)
    counter = (SOURCE / f"{MODULE}.c").read_bytes()
    # a maker's drivers may share headers in the folder above (ath6kl: ../regd.h)
    above = {path.name: path.read_bytes() for path in sorted((whole / top.parent).glob("*.h")) if path.is_file()}
    rows: dict[Path, list[str]] = {top: [f"obj-m += {MODULE}.o"]}
    for part in parts:
        alone = is_one_file(whole / part.folder, part.file)
        objects = f"{part.file}.o" if alone else " ".join(f"$({part.file}-{kind})" for kind in ("objs", "y", "m"))
        rows.setdefault(part.folder, []).append(
            f"$(foreach object,{objects},$(eval CFLAGS_$(object) += {INSTRUMENTED}))"
        )
    key = hashlib.sha256(
        repr((tree.content, sorted(rows.items()), counter, above, kernel.image_sha256)).encode()
    ).hexdigest()[:24]
    place = cache / "kernels" / f"instrumented_{key}"
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with new_folder(place) as work:
        await asyncio.to_thread(_copy, tree, work / top)
        (work / top / f"{MODULE}.c").write_bytes(counter)
        (work / top / "kernel.sha256").write_text(kernel.image_sha256 + "\n", encoding="ascii")
        for name, data in above.items():
            (work / top.parent / name).write_bytes(data)
        for folder, lines in rows.items():
            makefile = next((path for name in MAKEFILES if (path := work / folder / name).is_file()), None)
            if makefile is None:
                raise GuestError(f"{whole / folder} has no {' and no '.join(MAKEFILES)}, or git ignores it")
            with makefile.open("a", encoding="utf-8") as out:
                out.write("\n" + "\n".join(lines) + "\n")
    return place


def _copy(tree: SourceTree, target: Path) -> None:
    for name in tree.files:
        if not name.endswith(_LEFT):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree.root / name, target / name)


def _listing(module: Path, variables: Mapping[str, str]) -> str:
    program = shutil.which("objdump", path=variables.get("PATH"))
    if program is None:
        raise MissingGuestToolError(
            "reading the blocks of a module takes objdump", what_to_do="install the package binutils"
        )
    try:
        return subprocess.run(
            [program, *OPTIONS, str(module)], env=dict(variables), capture_output=True, timeout=_LISTING_S, check=True
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.SubprocessError) as error:
        raise GuestError(f"objdump does not read {module}: {error}") from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _same(one: Path, other: Path) -> bool:
    try:
        return one.read_bytes() == other.read_bytes()
    except OSError:
        return False
