"""What a module is built with and from: the kernel's build folder and its source, out of a distribution's packages.

The build folder is put together of three packages (flavour, common headers, kbuild programs), with links that lead to
places of an installed system. Of the source, only the folders of a guest's modules are kept.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from txop.guest_image.cache import default_cache, new_folder
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.lock import Lock, LockedPackage
from txop.guest_image.packages.store import PackageStore

SOURCE_FOLDERS = (
    "drivers/net/ethernet/qualcomm/rmnet",
    "drivers/net/usb",
    "drivers/net/wireless",
    "drivers/net/wwan",
    "drivers/usb/class",
    "drivers/usb/usbip",
    "net/mac80211",
    "net/wireless",
)
"""Parts of the kernel's source that are unpacked."""

_SELECTION = "source-1"


def build_folder(lock: Lock, *, cache: Path | None = None, progress: Progress = lambda _: None) -> Path:
    """The folder that modules of a lock's kernel are built with (``make -C``). Raises :class:`GuestError`."""
    folder = cache or default_cache()
    store = PackageStore.of(lock, folder, progress)
    flavour = _package(lock, f"linux-headers-{lock.release}")
    common = _package(lock, f"linux-headers-{lock.release.removesuffix('-amd64')}-common")
    kbuild = _package(lock, "linux-kbuild-")
    place = folder / "kernels" / f"build_{flavour.sha256[:16]}_{common.sha256[:16]}_{kbuild.sha256[:16]}"
    if not place.is_dir():
        parts = [store.unpacked(package, lambda _: True, "all") for package in (common, flavour, kbuild)]
        progress("putting the kernel's build folder together")
        with new_folder(place) as work:
            put_together(parts[0], parts[1], parts[2], work)
    return place


def put_together(common: Path, flavour: Path, kbuild: Path, place: Path) -> None:
    """Make a build folder of the three unpacked packages, on the same file system. Raises :class:`GuestError`."""
    _merge(_only(common / "usr/src"), place, ())
    # the flavour's Makefile names the common one's place on an installed system; its vmlinux is for BTF, which modules
    # here have none of
    _merge(_only(flavour / "usr/src"), place, ("Makefile", "vmlinux"))
    for name in ("scripts", "tools"):
        _merge(_only(kbuild / "usr/lib") / name, place / name, ())


def source_folder(lock: Lock, *, cache: Path | None = None, progress: Progress = lambda _: None) -> Path:
    """The folder with :data:`SOURCE_FOLDERS` of the source of a lock's kernel. Raises :class:`GuestError`."""
    folder = cache or default_cache()
    package = _package(lock, "linux-source-")
    place = folder / "kernels" / f"{_SELECTION}_{package.sha256[:24]}"
    if not place.is_dir():
        store = PackageStore.of(lock, folder, progress)
        packed = store.unpacked(package, lambda name: name.startswith("usr/src/linux-source-"), "source")
        tar = next(iter(sorted(packed.glob("usr/src/linux-source-*.tar.xz"))), None)
        if tar is None:
            raise GuestError(f"{package.name} has no source archive")
        progress(f"unpacking the source of {lock.release}")
        with new_folder(place) as work:
            _unpack_source(tar, work)
        shutil.rmtree(packed, ignore_errors=True)
    return place


def folder_of_module(source: Path, module: str) -> tuple[Path, str]:
    """Where a module is made; see :func:`find_module`. Raises :class:`GuestError` when it is nowhere."""
    found = find_module(source, module)
    if found is not None:
        return found
    raise GuestError(
        f"the kernel's source has no module {module} in {', '.join(SOURCE_FOLDERS)}",
        what_to_do="give its source with --source",
    )


def find_module(source: Path, module: str) -> tuple[Path, str] | None:
    """Where a module is made: its folder, relative to the source, and the configuration symbol it is made for.

    Found by the line of a Makefile; see :func:`symbol_in`.
    """
    for makefile in sorted(path for name in MAKEFILES for path in source.rglob(name)):
        if makefile.is_file() and not makefile.is_symlink():
            symbol = symbol_in(makefile.read_text(encoding="utf-8", errors="replace"), module)
            if symbol is not None:
                return makefile.parent.relative_to(source), symbol
    return None


def is_one_file(folder: Path, module: str) -> bool:
    """Whether a module is made of one source file alone: it has none of the lists that a module of several files has
    (``NAME-y``, ``NAME-objs``)."""
    several = re.compile(rf"^{re.escape(module)}-(?:y|objs|\$\()", re.MULTILINE)
    makefiles = [path.read_text(encoding="utf-8", errors="replace") for name in MAKEFILES
                 if (path := folder / name).is_file()]  # fmt: skip
    return (folder / f"{module}.c").is_file() and not any(several.search(text) for text in makefiles)


MAKEFILES = ("Makefile", "Kbuild")
"""Files in which a folder says what is made of it."""


def symbol_in(makefile: str, module: str) -> str | None:
    """The configuration symbol for which a Makefile makes a module.

    >>> symbol_in("obj-$(CONFIG_RTL8XXXU) += rtl8xxxu.o", "rtl8xxxu")
    'CONFIG_RTL8XXXU'
    >>> symbol_in("obj-$(CONFIG_MT76x0U) += mt76x0u.o", "mt76x0u")
    'CONFIG_MT76x0U'
    """
    wanted = re.escape(module).replace("_", "[-_]")
    line = re.compile(rf"^obj-\$\((CONFIG_[A-Za-z0-9_]+)\)\s*[+:]?=(?:.*\s)?{wanted}\.o(?:\s|$)", re.MULTILINE)
    match = line.search(makefile.replace("\\\n", " "))
    return match[1] if match else None


def _unpack_source(tar: Path, work: Path) -> None:
    if shutil.which("xz") is None:
        raise MissingGuestToolError("there is no xz", what_to_do="install the package xz-utils")
    process = subprocess.Popen(["xz", "-dc", "-T0", str(tar)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        with tarfile.open(fileobj=process.stdout, mode="r|") as files:
            for member in files:
                name = member.name.partition("/")[2]
                if not member.isreg() or ".." in name.split("/") or not name.startswith(_PREFIXES):
                    continue
                content = files.extractfile(member)
                place = work / name
                place.parent.mkdir(parents=True, exist_ok=True)
                assert content is not None
                with place.open("wb") as out:
                    shutil.copyfileobj(content, out, 1 << 18)
    except (tarfile.TarError, EOFError) as error:
        raise GuestError(f"{tar.name} is damaged: {error}") from None
    finally:
        process.kill()
        process.communicate()


_PREFIXES = tuple(f"{folder}/" for folder in SOURCE_FOLDERS)


def _merge(source: Path, target: Path, left_out: tuple[str, ...]) -> None:
    """Link the files of a folder into another; links to what other packages have are left out."""
    for folder, folders, names in os.walk(source):
        below = Path(folder).relative_to(source)
        place = target / below
        place.mkdir(parents=True, exist_ok=True)
        folders[:] = sorted(name for name in folders if not (Path(folder) / name).is_symlink())
        for name in names:
            path = Path(folder) / name
            if str(below / name) not in left_out and not path.is_symlink() and not (place / name).exists():
                os.link(path, place / name)


def _only(folder: Path) -> Path:
    """The one folder in a folder."""
    found = sorted(path for path in folder.iterdir() if path.is_dir() and path.name.startswith("linux-"))
    if len(found) != 1:
        raise GuestError(f"{folder} should hold one folder of a kernel, and has {len(found)}")
    return found[0]


def _package(lock: Lock, name: str) -> LockedPackage:
    package = next(
        (one for one in lock.of_role("build") if one.name == name or (name[-1] == "-" and one.name.startswith(name))),
        None,
    )
    if package is None:
        raise GuestError(f"the lock has no package {name}", what_to_do="recreate it with `txop guest build --update`")
    return package
