"""Building a driver for a guest: from the distribution's kernel source or a folder of your own, with patches."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from txop.arms.build import BuildError, Built, CompilerError, Recipe, build
from txop.arms.edits.script import EditScriptError, read_script
from txop.arms.patches import NOT_BACKWARDS, is_script
from txop.core.visible import visible
from txop.core.whole_file import whole_file
from txop.guest import qemu
from txop.guest_image.cache import default_cache, new_folder
from txop.guest_image.compiler import compiler_folder, variables_of
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.kernel_tree import build_folder, find_module, folder_of_module, is_one_file, source_folder
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.lock import Lock
from txop.plan.make_variables import TAKEN, is_variable
from txop.plan.named_file import SHIPPED, named_file, shipped_scripts

TIMEOUT_S = 1800.0
COMPILER_S = 120.0
"""For the compiler to say what it is, on a busy machine."""

SWITCHES: dict[str, tuple[str, ...]] = {"rtl8xxxu": ("CONFIG_RTL8XXXU_UNTESTED",)}
"""By module: configuration symbols that Debian leaves off and txop turns on. Without this one rtl8xxxu does not know
the RTL8188CUS (Linux drivers/net/wireless/realtek/rtl8xxxu/8192c.c is one #ifdef of it)."""

TOOLS = {"make": "make", "ld": "binutils", "xz": "xz-utils"}
"""What building takes beside a compiler, and the packages."""

_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)
"""A configuration symbol. make would expand other text, and the compiler take it for an option."""

_DEPTH = {"drivers/net/wireless": 5, "drivers/net/ethernet": 5}
"""How many parts of its path a driver's folder has where that is not three: below it lies all that belongs to it."""


class DriverBuildError(GuestError):
    """The source does not build: a patch does not apply (``rejected``), the compiler fails, or it has no such driver.
    ``log`` is what the tools said, ``first`` the compiler's first error, if there is one."""

    def __init__(
        self,
        cause: str,
        log: Path | None = None,
        *,
        rejected: bool = False,
        first: CompilerError | None = None,
    ) -> None:
        super().__init__(cause if log is None else f"{cause} (all of it: {log})")
        self.cause = cause
        self.log = log
        self.rejected = rejected
        self.first = first


@dataclass(frozen=True)
class DriverBuild:
    """What to build."""

    driver: str
    """Name of the module."""
    patches: tuple[Path, ...] = ()
    """Applied in this order with ``-p1``, to the kernel's source or to ``source``; or edit scripts (``.toml``)."""
    reverse: bool = False
    """Take them back instead, the last one first. Edit scripts go one way only."""
    source: Path | None = None
    """A folder of your own: a driver with its Makefile, or folders as in a kernel's source tree; ``None``: the
    distribution's kernel source."""
    switches: tuple[str, ...] = ()
    """Configuration symbols to turn on, beside :data:`SWITCHES`."""
    make: tuple[str, ...] = ()
    """Variables for the Makefile, each as ``NAME=VALUE``."""


async def build_driver(
    what: DriverBuild, lock: Lock, *, cache: Path | None = None, progress: Progress = lambda _: None
) -> Built:
    """Build a module, or take it from the cache.

    Raises:
        DriverBuildError: The source has no such driver, or it cannot be built; the message has the patch and hunk, or
            the compiler's first errors.
        GuestError: Something else fails: an edit script that cannot be used, packages that cannot be had.
        MissingGuestToolError: No compiler.
    """
    for name in what.switches:
        if not _SYMBOL.fullmatch(name):
            raise GuestError(f"{visible(name)!r} is not a configuration symbol: letters, digits and _ only")
    for variable in what.make:
        check_variable(variable)
    check_scripts(what)
    check_tools(what.source is None, own_compiler=bool(lock.of_role("compiler")))
    folder = cache or default_cache()
    kernel = build_folder(lock, cache=folder, progress=progress)
    variables = variables_of(compiler_folder(lock, cache=folder, progress=progress))
    compiler = check_compiler(kernel, variables)
    if what.source is None:
        whole = source_folder(lock, cache=folder, progress=progress)
        inside, symbol = folder_of_module(whole, what.driver)
        top = top_folder(inside)
        source = folder / "kernels" / f"{whole.name}_{top.as_posix().replace('/', '-')}"
        _one_driver(whole, top, source)
        makes = _of_kernel(source / inside, symbol, what.driver)
    else:
        source = what.source
        inside, makes = _own_source(source, what.driver)
    flags = compiler_flags(what.driver, what.switches)
    recipe = Recipe(
        arm=what.driver,
        source=source,
        patches=what.patches,
        command=(
            *("make", "-C", str(kernel), f"M={{tree}}/{inside.as_posix()}".removesuffix("/.")),
            *(f"KCFLAGS={' '.join(flags)}", f"-j{os.cpu_count() or 1}"),
            *what.make,
            *makes,
        ),
        module=(inside / f"{what.driver}.ko").as_posix(),
        kernel=kernel,
        timeout_s=TIMEOUT_S,
        reverse=what.reverse,
        compiler=compiler,
    )
    progress(f"building {what.driver} for {lock.release}")
    try:
        built = await build(recipe, cache=folder / "modules", environment=variables)
        _remember(what, lock, folder, built)
        return built
    except BuildError as error:
        raise DriverBuildError(error.what, error.log, rejected=error.rejected, first=error.first) from None


def compiler_flags(driver: str, switches: Sequence[str] = (), *, debug: str = "-g0") -> list[str]:
    """Words for ``KCFLAGS``, with ``{tree}`` for the copy of the source."""
    return [
        *(f"-D{name}=1" for name in (*SWITCHES.get(driver, ()), *switches)),
        # names of source files are in every WARN: without this the same source makes another module in another folder
        "-ffile-prefix-map={tree}/=",
        # debug information names folders of this machine, and the build-id is made of it, too: a driver has none
        debug,
    ]


def _of_kernel(folder: Path, symbol: str, driver: str) -> list[str]:
    """What a Makefile of the kernel's is asked for. It makes the module only where its configuration symbol is set.

    A module of one file is made alone: drivers/net/usb has some forty others. One of several files is made with those
    beside it, with headers that it may share: if a patch changes these, the versions of symbols then differ from those
    of the guest's kernel, which refuses the module.
    """
    return [f"{symbol}=m", f"{driver}.ko" if is_one_file(folder, driver) else "modules"]


def _own_source(source: Path, driver: str) -> tuple[Path, list[str]]:
    """The folder of a driver in a source of your own, and what its Makefile is asked for.

    One of an out-of-tree driver mostly needs nothing set (``obj-m``), and may have rules of its own for ``modules``.
    """
    found = find_module(source, driver)
    if found is not None:
        return found[0], _of_kernel(source / found[0], found[1], driver)
    if not (source / "Makefile").is_file() and not (source / "Kbuild").is_file():
        raise DriverBuildError(f"{source} has no Makefile to build a module with")
    return Path(), ["modules"]


def was_built(what: DriverBuild, lock: Lock, *, cache: Path | None = None) -> bool:
    """Whether a driver would come from the cache, as far as is known without fetching anything.

    A folder of your own counts as not built. Raises :class:`OSError` for a patch that cannot be read.
    """
    folder = cache or default_cache()
    if what.source is not None:
        return False
    return is_kept(folder, _asked(what, lock))


def is_kept(folder: Path, asked: str) -> bool:
    """Whether the cache still has the outcome of something that was asked for; see :func:`keep`."""
    try:
        key = (folder / "modules" / _BUILT / asked).read_text(encoding="ascii")
    except OSError:
        return False
    return re.fullmatch(r"[0-9a-f]{32}", key) is not None and (folder / "modules" / key / "built.json").is_file()


def keep(folder: Path, asked: str, built: Built) -> None:
    """Note the outcome of something that was asked for, by its hash. Losing it costs nothing else."""
    with suppress(OSError):
        place = folder / "modules" / _BUILT
        place.mkdir(exist_ok=True)
        with whole_file(place / asked) as out:
            out.write(built.key)


_BUILT = "asked"
"""Folder of what was asked for, by its hash: the key of the module that resulted."""


def _asked(what: DriverBuild, lock: Lock) -> str:
    parts = [
        [package.sha256 for package in lock.packages if package.role in ("build", "compiler")],
        [what.driver, what.reverse, *what.switches, *what.make],
        [hashlib.sha256(patch.read_bytes()).hexdigest() for patch in what.patches],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _remember(what: DriverBuild, lock: Lock, folder: Path, built: Built) -> None:
    """For :func:`was_built`. Losing it costs nothing else."""
    if what.source is None:
        keep(folder, _asked(what, lock), built)


def check_variable(text: str) -> None:
    """Raise :class:`GuestError` for what is not a variable of a Makefile with its value."""
    name, equals, value = text.partition("=")
    if not equals or not is_variable(name, value):
        raise GuestError(
            f"{visible(text)[:200]!r} is not NAME=VALUE for a Makefile",
            what_to_do=f"no $ in it, and none of {', '.join(TAKEN)}, which txop sets",
        )


def check_scripts(what: DriverBuild) -> None:
    """Raise :class:`GuestError` for an edit script that cannot be used, before anything is fetched or built."""
    for path in (patch for patch in what.patches if is_script(patch)):
        if what.reverse:
            wrong, _, advice = NOT_BACKWARDS.partition(": ")
            raise GuestError(f"{path}: {wrong}", what_to_do=advice)
        try:
            read_script(path)
        except EditScriptError as error:
            raise GuestError(f"{path}: {error}") from None
        except OSError as error:
            raise GuestError(f"{path}: {error.strerror}") from None


def check_tools(kernel_source: bool = True, *, own_compiler: bool = True) -> None:
    """Raise :class:`MissingGuestToolError` for a program that building takes, and on a processor that cannot build.

    Args:
        kernel_source: The kernel's source is to be unpacked.
        own_compiler: The lock has compiler and binutils.
    """
    machine = platform.machine()
    if machine not in qemu.X86:
        raise MissingGuestToolError(
            f"drivers for guests are built on x86-64 machines, and this is an {machine} one: the programs in Debian's "
            "kernel packages that build modules are x86-64 ones",
            what_to_do="build the module on an x86-64 machine with `txop guest module --output FILE`, and give it with "
            "--module",
        )
    for program, package in TOOLS.items():
        needed = {"ld": not own_compiler, "xz": kernel_source or own_compiler}.get(program, True)
        if needed and shutil.which(program) is None:
            raise MissingGuestToolError(
                f"building a driver takes {program}", what_to_do=f"install the package {package}"
            )


def check_compiler(kernel: Path, variables: Mapping[str, str]) -> str:
    """What the compiler that the kernel's build folder names says of itself.

    Args:
        kernel: The build folder.
        variables: Environment variables, with the ``PATH`` where it is looked for.

    Raises:
        MissingGuestToolError: It is not here, or does not say what it is.
    """
    try:
        text = (kernel / ".kernelvariables").read_text(encoding="utf-8")
    except OSError:
        text = ""
    compiler = compiler_of(text)
    found = shutil.which(compiler, path=variables.get("PATH"))
    if found is None:
        package = compiler.rsplit("linux-gnu-", 1)[-1]
        raise MissingGuestToolError(
            f"the kernel was built with {compiler}, which is not here", what_to_do=f"install the package {package}"
        )
    try:
        said = subprocess.run(
            [found, "--version"], env=dict(variables), capture_output=True, timeout=COMPILER_S, check=True
        ).stdout
        return said.decode("utf-8", "replace").splitlines()[0][:200]
    except (OSError, subprocess.SubprocessError, IndexError) as error:
        raise MissingGuestToolError(
            f"{compiler} does not report its version: {error}", what_to_do="reinstall its package"
        ) from None


def compiler_of(text: str) -> str:
    """The compiler that a ``.kernelvariables`` names. What stands in a conditional is for building for another
    architecture (Debian's 6.1), which a build here is not.

    >>> compiler_of("CC = $(if $(X),$(CCACHE)) $(CROSS_COMPILE)gcc-12\\noverride CROSS_COMPILE = x86_64-linux-gnu-")
    'x86_64-linux-gnu-gcc-12'
    >>> compiler_of("CC = $(CROSS_COMPILE)gcc-12\\nifneq ($(A),$(B))\\nCROSS_COMPILE = $(C)-\\nendif")
    'gcc-12'
    """
    values: dict[str, str] = {}
    depth = 0
    for row in text.splitlines():
        word = row.split(maxsplit=1)[0] if row.strip() else ""
        depth += (word in ("ifeq", "ifneq", "ifdef", "ifndef")) - (word == "endif")
        name, equals, value = row.removeprefix("override ").partition(" = ")
        if equals and depth == 0:
            values[name.strip()] = value
    named = values.get("CC", "").split()
    return named[-1].replace("$(CROSS_COMPILE)", values.get("CROSS_COMPILE", "")) if named else "gcc"


def top_folder(folder: Path) -> Path:
    """The folder that holds all of a driver in a kernel's source tree.

    >>> top_folder(Path("drivers/net/wireless/realtek/rtlwifi/rtl8192cu")).as_posix()
    'drivers/net/wireless/realtek/rtlwifi'
    """
    above = "/".join(folder.parts[:3])
    depth = _DEPTH.get(above, 2 if folder.parts[0] == "net" else 3)
    return Path(*folder.parts[:depth])


def _one_driver(whole: Path, top: Path, source: Path) -> None:
    """A tree with one driver's folder and the headers beside it, at their place in the kernel's: enough to build."""
    if source.is_dir():
        return
    with new_folder(source) as work:
        shutil.copytree(whole / top, work / top)
        for header in sorted((whole / top).parent.glob("*.h")):  # those of a family, such as ath.h
            shutil.copy2(header, work / top.parent)


def patch_files(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The patches as whole paths; see :func:`txop.plan.named_file.named_file`. Raises :class:`GuestError`."""
    found = []
    for path in paths:
        place = named_file(Path(), str(path))
        if not place.is_file():
            names = f"choose from {', '.join(shipped_scripts())}" if str(path).startswith(SHIPPED) else None
            raise GuestError(f"{path} is not a file", what_to_do=names)
        found.append(place)
    return tuple(found)
