"""A kernel built from a tree of your own: the smallest configuration that runs the laboratory, kept by what went in.

The tree is only read: the build has a folder of its own, which stays, so that the next build of a changed tree compiles
only what changed. What results is kept by the hash of the tree's files, the configuration and the compiler.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from txop.arms.local_command import run_here
from txop.guest_image.cache import default_cache, new_folder, room
from txop.guest_image.compiler import compiler_folder
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.lock import Lock
from txop.guest_image.recipe import TRIPLET
from txop.guest_image.tree_digest import tree_digest

RECIPE = 2
"""Raised when kernels are built differently: older ones are then not used again."""

TIMEOUT_S = 6 * 3600.0

CHECKERS: Mapping[str, tuple[str, ...]] = {
    "kasan": ("CONFIG_KASAN=y", "CONFIG_KASAN_GENERIC=y", "CONFIG_KASAN_INLINE=y", "CONFIG_STACKTRACE=y"),
    "lockdep": ("CONFIG_PROVE_LOCKING=y", "CONFIG_DEBUG_ATOMIC_SLEEP=y"),
    "kmemleak": ("CONFIG_DEBUG_KMEMLEAK=y", "CONFIG_DEBUG_KMEMLEAK_AUTO_SCAN=n"),
    "ubsan": ("CONFIG_UBSAN=y", "CONFIG_UBSAN_BOUNDS=y", "CONFIG_UBSAN_SHIFT=y"),
    "kcov": ("CONFIG_KCOV=y", "CONFIG_KCOV_INSTRUMENT_ALL=y"),
}
"""By name: what a checker of the kernel takes (Linux lib/Kconfig.debug, lib/Kconfig.kasan, lib/Kconfig.ubsan)."""

KERNEL_PROGRAMS = {"flex": "flex", "bison": "bison", "bc": "bc", "make": "make", "cc": "gcc"}
"""Programs that a kernel's own scripts call, and their packages."""

ELF_HEADER = ("gelf.h", "libelf-dev")
"""What objtool is compiled with (Linux tools/objtool), and its package."""

_LINE = re.compile(r"(?P<name>CONFIG_\w+)=(?P<value>.*)|# (?P<off>CONFIG_\w+) is not set")
_LAST_ROWS = 12


@dataclass(frozen=True)
class OwnKernel:
    """A kernel of your own."""

    folder: Path
    """``bzImage``, ``vmlinux`` with its symbols, ``config`` and ``lib/modules/RELEASE``."""
    release: str
    key: str
    lost: tuple[str, ...]
    """Lines of the configuration that this tree did not take."""
    cached: bool
    build: Path
    """In which it was built, until another state of its tree is built there."""

    @property
    def kernel(self) -> Path:
        """Its file."""
        return self.folder / "bzImage"

    @property
    def modules(self) -> Path:
        """The folder of its modules."""
        return self.folder / "lib" / "modules" / self.release


@dataclass(frozen=True)
class KernelRecipe:
    """What is built."""

    source: Path
    checkers: tuple[str, ...] = ()
    """Names in :data:`CHECKERS`."""
    configuration: tuple[Path, ...] = ()
    """More lines of a configuration, in files."""

    def lines(self) -> list[str]:
        """The configuration, the last line of a symbol counting. Raises :class:`GuestError`."""
        text = resources.files("txop.guest_image").joinpath("laboratory.config").read_text(encoding="utf-8")
        given = [row for name in self.checkers for row in CHECKERS[name]]
        for path in self.configuration:
            try:
                given += path.read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                raise GuestError(f"{path} cannot be read: {error}") from None
        chosen: dict[str, str] = {}
        for row in [*text.splitlines(), *given]:
            if (symbol := _symbol(row)) is not None:
                chosen.pop(symbol, None)  # the last place: a choice takes the last of its symbols
                chosen[symbol] = row.strip()
        return list(chosen.values())


async def build_kernel(
    what: KernelRecipe, lock: Lock, *, cache: Path | None = None, progress: Progress = lambda _: None
) -> OwnKernel:
    """Build a kernel and its modules, or take them from the cache.

    Args:
        what: The tree and its configuration.
        lock: with a compiler that is taken, if it has one.
        cache: Folder for results; default the user's.
        progress: Receives the progress.

    Raises:
        GuestError: The tree is none, or does not build; the message has the compiler's first errors.
        MissingGuestToolError: A program that building takes is not here.
    """
    source = what.source.resolve()
    if not (source / "Kconfig").is_file() or not (source / "arch" / "x86").is_dir():
        raise GuestError(f"{what.source} is not a kernel source tree: it has no Kconfig and arch/x86")
    if (source / ".config").exists() or (source / "include" / "config").exists():
        raise GuestError(
            f"{what.source} was built in, and a kernel is then not built beside it (Linux Makefile, outputmakefile)",
            what_to_do="give a clone (`git worktree add`), or run `make mrproper` there after saving its .config",
        )
    for name in what.checkers:
        if name not in CHECKERS:
            raise GuestError(f"{name} is not a checker", what_to_do=f"choose from {', '.join(CHECKERS)}")
    lines = what.lines()
    check_programs()
    folder = cache or default_cache()
    with room(folder):
        variables, compiler = compiler_of_kernels(lock, folder, progress)
        progress(f"reading {source}")
        configuration = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        known = folder / "trees" / hashlib.sha256(str(source).encode()).hexdigest()[:24]
        parts = [str(RECIPE), tree_digest(source, known), configuration, compiler]
        key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
        place = folder / "own-kernels" / key
        name = hashlib.sha256(json.dumps([RECIPE, str(source), configuration, compiler]).encode()).hexdigest()[:16]
        work = folder / "kernel-builds" / name
        if not (place / "kernel.json").is_file():
            work.mkdir(parents=True, exist_ok=True)
            lost = await _build(source, work, lines, variables, progress)
            with new_folder(place) as made:
                await _install(source, work, made, variables, lost)
            return _open(place, key, work, cached=False)
    return _open(place, key, work, cached=True)


def header_folders() -> list[Path]:
    """Where headers of programs for this machine are, whatever its architecture."""
    return [Path("/usr/include"), Path("/usr/local/include"), *Path("/usr/include").glob("*-linux-gnu")]


def check_programs() -> None:
    """Raise :class:`MissingGuestToolError` for what building a kernel takes and is not here."""
    missing = [package for program, package in KERNEL_PROGRAMS.items() if shutil.which(program) is None]
    header, package = ELF_HEADER
    if not any((folder / header).is_file() for folder in header_folders()):
        missing.append(package)
    if missing:
        raise MissingGuestToolError(
            f"building a kernel takes {', '.join(missing)}", what_to_do=f"apt-get install {' '.join(missing)}"
        )


def lost_lines(asked: Sequence[str], configured: str) -> tuple[str, ...]:
    """Lines of a configuration that did not come to be: a symbol that the tree lacks, or one with unmet conditions.

    >>> lost_lines(["CONFIG_A=y", "CONFIG_B=m", "# CONFIG_C is not set"], "CONFIG_A=y\\n# CONFIG_B is not set\\n")
    ('CONFIG_B=m',)
    """
    found = {symbol: row for row in configured.splitlines() if (symbol := _symbol(row)) is not None}
    lost = []
    for row in asked:
        symbol = _symbol(row)
        is_off = row.startswith("#") or row.endswith("=n")
        now = found.get(symbol or "", "#")
        if is_off != now.startswith("#") or (not is_off and row != now):
            lost.append(row)
    return tuple(lost)


def _symbol(row: str) -> str | None:
    match = _LINE.fullmatch(row.strip())
    return (match["name"] or match["off"]) if match else None


def compiler_of_kernels(lock: Lock, folder: Path, progress: Progress) -> tuple[dict[str, str], str]:
    """Environment variables of a build, and what its compiler says of itself."""
    pinned = compiler_folder(lock, cache=folder, progress=progress)
    variables = {name: value for name, value in os.environ.items() if name not in _FORGOTTEN}
    variables |= _SAME_EVERYWHERE
    named = "cc"
    if pinned is not None:
        version = next(package.name for package in lock.of_role("compiler") if package.name.startswith("gcc-"))
        named = f"{TRIPLET}{version}"
        variables["PATH"] = f"{pinned / 'bin'}:{variables.get('PATH', os.defpath)}"
        variables["CROSS_COMPILE"] = TRIPLET
        variables["CC"] = named
    found = shutil.which(named, path=variables.get("PATH"))
    if found is None:
        raise MissingGuestToolError(f"there is no {named}", what_to_do="install the package gcc")
    try:
        said = subprocess.run([found, "--version"], env=variables, capture_output=True, timeout=120, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingGuestToolError(f"{named} does not report its version: {error}") from None
    return variables, said.decode("utf-8", "replace").splitlines()[0][:200]


_FORGOTTEN = (
    "ARCH",
    "CC",
    "LD",
    "CROSS_COMPILE",
    "KCFLAGS",
    "KBUILD_OUTPUT",
    "KCONFIG_CONFIG",
    "LLVM",
    "MAKEFLAGS",
    "O",
)
_SAME_EVERYWHERE = {
    "ARCH": "x86_64",
    "KBUILD_BUILD_TIMESTAMP": "2026-01-01 00:00:00 UTC",
    "KBUILD_BUILD_USER": "txop",
    "KBUILD_BUILD_HOST": "txop",
    "KBUILD_BUILD_VERSION": "1",
    "LOCALVERSION": "",
    "LC_ALL": "C",
}
"""Who builds, where and when is in a kernel's banner: without this the same tree makes another kernel each time."""


async def _build(
    source: Path, work: Path, lines: Sequence[str], variables: Mapping[str, str], progress: Progress
) -> tuple[str, ...]:
    asked = work / "laboratory.config"
    asked.write_text("\n".join(lines) + "\n", encoding="utf-8")
    progress("configuring the kernel")
    log = work / "build.log"
    log.unlink(missing_ok=True)
    await _make(source, work, ["alldefconfig"], {**variables, "KCONFIG_ALLCONFIG": str(asked)}, log)
    lost = lost_lines(lines, (work / ".config").read_text(encoding="utf-8"))
    if lost:
        progress(f"this tree does not take {', '.join(lost)}")
    progress(f"building the kernel; what it says is in {log}")
    await _make(source, work, ["bzImage", "modules"], variables, log)
    return lost


async def _make(source: Path, work: Path, targets: Sequence[str], variables: Mapping[str, str], log: Path) -> None:
    jobs = len(os.sched_getaffinity(0))
    given = words_for_make(variables)
    command = ["make", "-C", str(source), f"O={work}", f"-j{jobs}", *given, *targets]
    ended = await run_here(command, folder=work, log=log, variables=variables, timeout_s=TIMEOUT_S)
    if ended.timed_out:
        raise GuestError(f"the kernel is not built after {TIMEOUT_S / 3600:g} h (all of it: {log})")
    if ended.missing or ended.status != 0:
        raise GuestError(f"the kernel could not be built: {_errors(ended.output)} (all of it: {log})")


_TO_MAKE = ("ARCH", "CC", "CROSS_COMPILE", "LOCALVERSION")


def words_for_make(variables: Mapping[str, str]) -> list[str]:
    """What the kernel's Makefile has to be given as arguments, as it sets it otherwise."""
    return [f"{name}={variables[name]}" for name in _TO_MAKE if name in variables]


def _errors(output: str) -> str:
    rows = output.splitlines()
    wrong = [row for row in rows if re.search(r"\berror\b|\*\*\*|undefined reference", row, re.IGNORECASE)]
    return " / ".join(row.strip()[:300] for row in (wrong[:3] or rows[-_LAST_ROWS:]))


async def _install(source: Path, work: Path, made: Path, variables: Mapping[str, str], lost: Sequence[str]) -> None:
    release = (work / "include" / "config" / "kernel.release").read_text(encoding="utf-8").strip()
    out = {**variables, "INSTALL_MOD_PATH": str(made), "INSTALL_MOD_STRIP": "1", "DEPMOD": "true"}
    await _make(source, work, ["modules_install"], out, work / "build.log")
    for name in ("build", "source"):  # they name folders of this machine
        (made / "lib" / "modules" / release / name).unlink(missing_ok=True)
    shutil.copyfile(work / "arch" / "x86" / "boot" / "bzImage", made / "bzImage")
    shutil.copyfile(work / "vmlinux", made / "vmlinux")
    shutil.copyfile(work / ".config", made / "config")
    facts = {"release": release, "lost": list(lost)}
    (made / "kernel.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _open(place: Path, key: str, work: Path, *, cached: bool) -> OwnKernel:
    try:
        facts = json.loads((place / "kernel.json").read_text(encoding="utf-8"))
        return OwnKernel(place, str(facts["release"]), key, tuple(map(str, facts["lost"])), cached, work)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GuestError(f"the kernel in {place} is damaged: {error}", what_to_do="remove that folder") from None
