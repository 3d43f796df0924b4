"""The compiler that modules of a guest are built with: that of the image's distribution, unpacked, on every machine.

Two machines build the same module only with the same compiler and binutils, and a later distribution does not have
those of an earlier one. Its programs run with their own libraries and this machine's C library.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from txop.guest_image import recipe
from txop.guest_image.cache import default_cache, new_folder
from txop.guest_image.libraries import libraries_of
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.lock import Lock, LockedPackage
from txop.guest_image.packages.store import FileTree, PackageStore

SELECTION = "compiler-1"

OBJTOOLS = ("tools/objtool/objtool.real-x86", "tools/objtool/objtool")
"""The program in a kernel's build folder that takes more than the C library; the second is that of 6.1."""

_LAUNCHER = """\
#!/bin/sh
here=${{0%/*}}/..
LD_LIBRARY_PATH="$here/lib" exec "$here/usr/bin/{program}" "$@"
"""


def compiler_folder(lock: Lock, *, cache: Path | None = None, progress: Progress = lambda _: None) -> Path | None:
    """The folder of a lock's compiler: ``bin`` with the programs, ``objtool`` with the libraries of the kernel's own.

    ``None``: the lock has none, and this machine's is to be taken. Raises :class:`~txop.guest_image.error.GuestError`.
    """
    pinned = lock.of_role("compiler")
    named = next((package.name for package in pinned if package.name.startswith("gcc-")), None)
    kbuild = lock.find("linux-kbuild-")
    if named is None or kbuild is None:
        return None
    folder = cache or default_cache()
    packages = [package for package in lock.packages if package.role in ("image", "compiler")]
    packages = [package for package in packages if not package.name.startswith("linux-image-")]
    digest = hashlib.sha256(" ".join(package.sha256 for package in (*packages, kbuild)).encode()).hexdigest()
    place = folder / "compilers" / f"{named}_{SELECTION}_{digest[:24]}"
    if place.is_dir():
        return place
    store = PackageStore.of(lock, folder, progress)
    store.fetch(packages)
    folders = {package: compiler_files(store, package) for package in packages}
    glibc = next((path for package, path in folders.items() if package.name == "libc6"), None)
    tree = FileTree([*folders.values(), store.unpacked(kbuild, lambda _: True, "all")])
    compiler = recipe.Compiler(named)
    progress(f"putting {named} together")
    with new_folder(place) as work:
        for name in compiler.files():
            _link(tree, name, work / name)
        for name, target in compiler.beside_cc1():
            _link(tree, name, work / target)
        for name in tree.names(compiler.headers):
            _link(tree, name, work / name)
        for below, programs in (("lib", compiler.files()), ("objtool", kbuild_programs(tree))):
            (work / below).mkdir()
            for name in libraries_of(tree, programs):
                found = tree.find(name)
                if found is not None and (glibc is None or not found.is_relative_to(glibc)):
                    _link(tree, name, work / below / Path(name).name)
        _launchers(work / "bin", compiler)
    return place


def compiler_files(store: PackageStore, package: LockedPackage) -> Path:
    """A folder with what may be needed of a package to compile."""
    if package.role == "image":
        return store.unpacked(package, recipe.is_runtime, recipe.RUNTIME_SELECTION)
    return store.unpacked(package, _wanted, SELECTION)


def kbuild_programs(tree: FileTree) -> list[str]:
    """Names of the programs that modules are built with and that take libraries, in a tree with a kbuild package."""
    names = [name for name in tree.names("usr/lib") if name.endswith(OBJTOOLS) and "/linux-kbuild-" in f"/{name}"]
    return [name for name in names if (found := tree.find(name)) is not None and found.is_file()]


def variables_of(folder: Path | None) -> Mapping[str, str]:
    """This process's environment variables, with the programs of a compiler folder first."""
    variables = dict(os.environ)
    if folder is not None:
        variables["PATH"] = f"{folder / 'bin'}:{variables.get('PATH', os.defpath)}"
        others = variables.get("LD_LIBRARY_PATH")
        variables["LD_LIBRARY_PATH"] = f"{folder / 'objtool'}{f':{others}' if others else ''}"
    return variables


def _wanted(name: str) -> bool:
    program = name.rsplit("/", 1)[-1].removeprefix(recipe.TRIPLET)
    return recipe.is_runtime(name) and not program.startswith(("lto1", "lto-dump"))  # large, and kernels take none


def _link(tree: FileTree, name: str, target: Path) -> None:
    found = tree.find(name)
    if found is not None and not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(found, target)


def _launchers(folder: Path, compiler: recipe.Compiler) -> None:
    folder.mkdir()
    for name in compiler.files():
        above, _, program = name.rpartition("/")
        if above != "usr/bin":
            continue
        for called in (program, program.removeprefix(recipe.TRIPLET)):
            (folder / called).write_text(_LAUNCHER.format(program=program), encoding="utf-8")
            (folder / called).chmod(0o755)
