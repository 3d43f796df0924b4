"""The object that adds txop's devices to QEMU: one C file, compiled against the headers of exactly that QEMU.

The steps that the driver ``gcc`` would call are called here, by the pinned dynamic linker and with pinned headers only,
so that the same C file gives the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from txop.core.visible import visible
from txop.guest_image.cache import default_cache, new_folder, room
from txop.guest_image.emulator import recipe
from txop.guest_image.emulator.headers import GENERATED, SOURCE, headers_folder, headers_place
from txop.guest_image.emulator.lock import EmulatorLock, find_emulator_lock
from txop.guest_image.emulator.obtain import obtain
from txop.guest_image.emulator.trees import compiler_place, compiler_tree, qemu_place, qemu_tree
from txop.guest_image.error import GuestError
from txop.guest_image.packages.apt import Progress

SHIM = Path(__file__).parent / "shim" / "txop_device.c"
INCLUDED = ("*.h", "*.c.inc")
"""Files beside a C file that belong to it."""
OBJECT = "txop_device.so"

SELECTION = 1
"""Raised when this module builds differently."""

MAX_ERRORS = 10
"""Lines of a compiler's complaint that are shown."""

_STEP_S = 300.0


class ShimError(GuestError):
    """A C file that does not compile."""


def build_shim(
    source: Path = SHIM,
    *,
    lock: EmulatorLock | None = None,
    cache: Path | None = None,
    progress: Progress = lambda _: None,
) -> Path:
    """The object of a C file, from the cache or made now.

    It leaves what it calls of QEMU's and of the library with the models undefined: both are there when it is loaded.

    Args:
        source: The C file. It can include headers (``*.h``) and parts (``*.c.inc``) beside it by name.
        lock: QEMU and compiler; default the user's lock, else the shipped one.
        cache: Folder for it; default the user's.
        progress: Receives what is being done.

    Raises:
        ShimError: It does not compile.
        GuestError: A package cannot be had, something in it is missing, or the disk is full.
    """
    folder = cache or default_cache()
    pinned = lock or find_emulator_lock()
    with room(folder):
        files = _own_files(source)
        place = folder / "emulators" / f"shim-{pinned.version}_{_digest(pinned, folder, source, files)}"
        if not (place / OBJECT).is_file():
            obtain(pinned, folder, progress)
            steps = _Steps(pinned, folder, progress)
            progress(f"compiling {source.name} for QEMU {pinned.version}")
            with new_folder(place) as work:
                for name, data in files.items():
                    (work / name).write_bytes(data)
                steps.build(work, source.name)
                for path in list(work.iterdir()):
                    if path.name != OBJECT:
                        path.unlink()
    return place / OBJECT


def shim_sha256(source: Path = SHIM) -> str:
    """SHA-256 of the names and contents of a C file and what it can include beside it. Raises :class:`ShimError`.

    With the pinned QEMU and compiler it decides the bytes of the object.
    """
    digest = hashlib.sha256()
    for name, data in _own_files(source).items():
        digest.update(f"{hashlib.sha256(data).hexdigest()} {name}\n".encode())
    return digest.hexdigest()


def _own_files(source: Path) -> dict[str, bytes]:
    included = (path for ending in INCLUDED for path in source.parent.glob(ending))
    try:
        return {path.name: path.read_bytes() for path in sorted([source, *included])}
    except OSError as error:
        raise ShimError(f"{source}: {error.strerror}") from None


def _digest(lock: EmulatorLock, cache: Path, source: Path, files: dict[str, bytes]) -> str:
    """Names the object by all that goes into it."""
    parts = [
        SELECTION, recipe.COMPILE_FLAGS, recipe.LINK_FLAGS, recipe.SYSTEM_INCLUDES, recipe.SOURCE_INCLUDES, source.name,
        headers_place(lock, cache).name, compiler_place(lock, cache).name, qemu_place(lock, cache).name,
        {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


class _Steps:
    """Compiler, assembler and linker, with what they read."""

    def __init__(self, lock: EmulatorLock, cache: Path, progress: Progress) -> None:
        self._qemu = qemu_tree(lock, cache, progress)
        self._compiler = compiler_tree(lock, cache, progress)
        self._headers = headers_folder(lock, cache, progress)

    def build(self, work: Path, name: str) -> None:
        """Make the object of a C file in a folder, in that folder. Raises :class:`ShimError`."""
        cc1, assembler, linker = (name for names in recipe.COMPILER.values() for name in names)
        includes = [self._headers / GENERATED, *(self._headers / SOURCE / below for below in recipe.SOURCE_INCLUDES)]
        argv = [cc1, "-quiet", name, "-o", "shim.s", "-march=x86-64", "-mtune=generic", *recipe.COMPILE_FLAGS]
        argv += ["-nostdinc", "-iquote", ".", *(f"-I{include}" for include in includes)]
        argv += [word for below in recipe.SYSTEM_INCLUDES for word in ("-isystem", str(self._compiler / below))]
        for real, shown in ((self._headers, "/qemu"), (self._compiler, "/compiler"), (work, "/txop")):
            argv.append(f"-ffile-prefix-map={real}={shown}")
        self._run(argv, work)
        self._run([assembler, "--64", "-o", "shim.o", "shim.s"], work)
        libraries = [str(self._compiler / recipe.LIBGCC), str(self._qemu / recipe.C_LIBRARY)]
        self._run([linker, *recipe.LINK_FLAGS, "-soname", OBJECT, "-o", OBJECT, "shim.o", *libraries], work)

    def _run(self, argv: Sequence[str], work: Path) -> None:
        libraries = ":".join(str(tree / recipe.LIBRARY_FOLDER) for tree in (self._compiler, self._qemu))
        launcher = [
            str(self._qemu / recipe.LINKER),
            "--inhibit-cache",
            "--library-path",
            libraries,
            str(self._compiler / argv[0]),
        ]
        try:
            ran = subprocess.run(
                [*launcher, *argv[1:]],
                cwd=work,
                env={"LC_ALL": "C", "PATH": "/nonexistent"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=_STEP_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ShimError(f"{Path(argv[0]).name} did not end within {_STEP_S:g} s") from None
        if ran.returncode != 0:
            said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
            errors = [row for row in said if "error" in row.lower()] or said or ["no reason given"]
            shown = "\n".join(visible(row[:300]) for row in errors[:MAX_ERRORS])
            raise ShimError(f"the devices of QEMU do not compile ({Path(argv[0]).name}):\n{shown}")
