"""The image of a guest: a kernel, and an initramfs made of packages. Built once for each lock, kept in the cache.

On disk the initramfs is compressed, but a guest gets it as it was: so two machines with the same lock and the same
txop give it the same bytes, whatever their compressors, and it does not spend its first seconds on unpacking them.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import time
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import IO

from txop.guest_image import recipe
from txop.guest_image.cache import default_cache, new_folder, remove_folder, room, sha256_of
from txop.guest_image.cpio import Cpio
from txop.guest_image.error import GuestError
from txop.guest_image.firmware import firmware_files
from txop.guest_image.libraries import libraries_of
from txop.guest_image.modules import KernelModule, ModuleFolder, alias_text, closure, dependency_text
from txop.guest_image.packages.apt import Progress
from txop.guest_image.packages.lock import Lock, LockedPackage
from txop.guest_image.packages.store import FileTree, PackageStore

RECIPE = 3
"""Raised when this module builds differently: older images are then not used again."""

KEPT_UNUSED_DAYS = 30
"""How long an image stays that no guest has booted: each change of txop or of a lock makes another."""

KERNEL_SELECTION = "kernel-3"


@dataclass(frozen=True)
class Image:
    """A kernel and an initramfs."""

    folder: Path
    release: str
    """``uname -r``."""
    modules_folder: Path
    """Where the rest of the kernel's modules are."""
    modules: tuple[str, ...]
    """Names of those that are in the image."""
    key: str
    """Hash of kernel and initramfs."""
    cached: bool

    @property
    def kernel(self) -> Path:
        """The kernel's file."""
        return self.folder / "vmlinuz"

    def write_initramfs(self, out: IO[bytes]) -> None:
        """Write the archive as a guest gets it. Raises :class:`GuestError` when it is damaged."""
        with suppress(OSError):  # a cache that may only be read
            os.utime(self.folder)
        try:
            with gzip.open(self.folder / "initramfs.gz", "rb") as packed:
                shutil.copyfileobj(packed, out, 1 << 20)
        except (gzip.BadGzipFile, FileNotFoundError, EOFError, zlib.error) as error:
            raise GuestError(
                f"the image in {self.folder} is damaged: {error}", what_to_do="remove that folder"
            ) from None

    @property
    def size_bytes(self) -> int:
        """Size of the initramfs on disk."""
        return (self.folder / "initramfs.gz").stat().st_size


def build_image(lock: Lock, *, cache: Path | None = None, progress: Progress = lambda _: None) -> Image:
    """The image of a lock, from the cache or made now.

    Raises:
        GuestError: A package cannot be had, something in it is missing, or the disk is full.
    """
    folder = cache or default_cache()
    with room(folder):
        return _image_of_lock(lock, folder, progress)


def _image_of_lock(lock: Lock, folder: Path, progress: Progress) -> Image:
    kernel_package = lock.find("linux-image-")
    if kernel_package is None:
        raise GuestError("the lock has no kernel (linux-image-...)")
    store = PackageStore.of(lock, folder, progress)
    place = folder / "images" / _lock_key(lock)
    if place.exists() and not _is_whole(place):
        progress("the image in the cache is damaged: making it again")
        remove_folder(place)
    if not place.is_dir():
        store.fetch(lock.of_role("image"))
        kernel = store.unpacked(kernel_package, _wanted_of_kernel, KERNEL_SELECTION)
        progress("making the image")
        with new_folder(place) as work:
            _build(work, kernel / "boot" / f"vmlinuz-{lock.release}", modules_of(kernel, lock), _userland(store, lock))
        _drop_unused(place)
    # again, for those who have the image but not the unpacked kernel any more
    kernel = store.unpacked(kernel_package, _wanted_of_kernel, KERNEL_SELECTION)
    return _open(place, modules_of(kernel, lock).folder, cached=True)


def build_image_of(
    kernel: Path, modules: Path, lock: Lock, *, cache: Path | None = None, progress: Progress = lambda _: None
) -> Image:
    """The image of a kernel of your own, with the programs of a lock.

    Args:
        kernel: A bzImage.
        modules: Folder of its modules, as ``/lib/modules/RELEASE``.
        lock: Where the programs come from.
        cache: Folder for it; default the user's.
        progress: Receives the progress.
    """
    folder = cache or default_cache()
    with room(folder):
        return _image_of_own(kernel, modules, lock, folder, progress)


def _image_of_own(kernel: Path, modules: Path, lock: Lock, folder: Path, progress: Progress) -> Image:
    source = ModuleFolder(modules)
    progress("making the image")
    work_name = hashlib.sha256(f"{kernel.resolve()}{modules.resolve()}".encode()).hexdigest()[:24]
    with new_folder(folder / "images" / f"own-{work_name}") as work:
        _build(work, kernel, source, _userland(PackageStore.of(lock, folder, progress), lock))
        place = folder / "images" / json.loads((work / "image.json").read_text())["key"]
        if not _is_whole(place):
            remove_folder(place)
            with new_folder(place) as copy:
                shutil.copytree(work, copy, dirs_exist_ok=True)
            _drop_unused(place)
        shutil.rmtree(work)
    return _open(place, modules, cached=False)


def modules_of(kernel: Path, lock: Lock) -> ModuleFolder:
    """The modules of an unpacked kernel package."""
    return ModuleFolder(kernel / "usr" / "lib" / "modules" / lock.release)


def module_members(modules: Iterable[KernelModule], release: str) -> dict[str, bytes]:
    """Files of an image with modules, by name: the modules and their index."""
    listed = list(modules)
    folder = f"usr/lib/modules/{release}"
    members = {f"{folder}/{module.name}.ko": module.data for module in listed}
    members[f"{folder}/modules.dep"] = dependency_text(listed).encode()
    members[f"{folder}/modules.alias"] = alias_text(listed).encode()
    members[f"{folder}/modules.symbols"] = b""
    return members


def _lock_key(lock: Lock) -> str:
    parts = {
        "recipe": [RECIPE, recipe.PROGRAMS, recipe.LIBRARIES, recipe.FILES, recipe.MODULES],
        "packages": [package.sha256 for package in lock.of_role("image")],
        "own": [hashlib.sha256(data).hexdigest() for data in _own_files().values()],
        "firmware": [hashlib.sha256(data).hexdigest() for data in firmware_files().values()],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _open(place: Path, modules: Path, *, cached: bool) -> Image:
    try:
        record = _record(place)
    except (OSError, ValueError) as error:
        raise GuestError(f"the image in {place} is damaged: {error}", what_to_do="remove that folder") from None
    return Image(place, record.release, modules, record.modules, record.key, cached)


@dataclass(frozen=True)
class _Record:
    """What ``image.json`` says."""

    release: str
    modules: tuple[str, ...]
    key: str
    sha256: Mapping[str, str]
    """Hash of each of :data:`_PARTS`."""


def _record(place: Path) -> _Record:
    """Raises :class:`OSError`, and :class:`ValueError` for what no txop has written."""
    with (place / "image.json").open("rb") as source:
        data = source.read(_MAX_RECORD_BYTES)
    try:
        facts = json.loads(data)
        release, modules, key, hashes = (facts[name] for name in ("release", "modules", "key", "sha256"))
        sha256 = {name: hashes[name] for name in _PARTS}
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"image.json: {error}") from None
    if not isinstance(modules, list) or not all(isinstance(text, str) for text in (release, key, *modules)):
        raise ValueError("image.json: something in it is not text")
    return _Record(release, tuple(modules), key, sha256)


_PARTS = ("vmlinuz", "initramfs.gz")
_MAX_RECORD_BYTES = 1 << 20


def _is_whole(place: Path) -> bool:
    """Whether an image is as it was made: disks fill up, and people clean up."""
    try:
        return all(sha256_of(place / name) == sha256 for name, sha256 in _record(place).sha256.items())
    except (OSError, ValueError):
        return False


def _drop_unused(new: Path) -> None:
    """Remove the images beside a new one that no guest has booted for long."""
    with suppress(OSError):
        for other in new.parent.iterdir():
            unused_s = time.time() - other.stat().st_mtime
            if other != new and not other.name.startswith(".") and unused_s > KEPT_UNUSED_DAYS * 86_400:
                remove_folder(other)


def _wanted_of_kernel(name: str) -> bool:
    if name.startswith("boot/vmlinuz-"):
        return True
    parts = name.split("/", 4)
    if parts[:3] != ["usr", "lib", "modules"] or len(parts) < 5:
        return False
    if parts[4].startswith("modules."):
        return True
    return parts[4].startswith(tuple(f"kernel/{place}{end}" for place in recipe.KERNEL_PLACES for end in ("/", ".ko")))


def _userland(store: PackageStore, lock: Lock) -> FileTree:
    packages: list[LockedPackage] = [p for p in lock.of_role("image") if not p.name.startswith("linux-image-")]
    return FileTree([store.unpacked(package, recipe.is_runtime, recipe.RUNTIME_SELECTION) for package in packages])


def _build(folder: Path, kernel: Path, source: ModuleFolder, tree: FileTree) -> None:
    release = source.release
    modules = closure(recipe.MODULES, source.find, source.builtin, optional=(*recipe.DRIVERS, *recipe.WATCHDOG))
    archive = Cpio()
    _skeleton(archive)
    programs = [name for names in recipe.PROGRAMS.values() for name in names]
    for name in [*programs, *libraries_of(tree, programs, recipe.LIBRARIES)]:
        archive.add_file(name, _contents(tree, name), program=True)
    for pairs in recipe.FILES.values():
        for name, target in pairs:
            archive.add_file(target, _contents(tree, name))
    _applets(archive, tree)
    for name, data in {**module_members(modules, release), **firmware_files()}.items():
        archive.add_file(name, data)
    _builtin_index(archive, source, release)
    for name, data in _own_files().items():
        archive.add_file(name, data, program=True)
    packed = io.BytesIO()
    archive.write(packed)
    digest = hashlib.sha256(packed.getbuffer()).hexdigest()
    with gzip.GzipFile(folder / "initramfs.gz", "wb", compresslevel=1, mtime=0) as out:
        out.write(packed.getbuffer())
    shutil.copyfile(kernel, folder / "vmlinuz")
    key = hashlib.sha256(f"{sha256_of(folder / 'vmlinuz')} {digest}".encode()).hexdigest()[:32]
    facts: Mapping[str, object] = {
        "key": key,
        "release": release,
        "modules": [module.name for module in modules],
        "sha256": {name: sha256_of(folder / name) for name in _PARTS},
    }
    (folder / "image.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _skeleton(archive: Cpio) -> None:
    for folder in ("proc", "sys", "dev", "tmp", "run", "root", "etc", "mnt", "txop", "usr/bin", "usr/sbin", "usr/lib"):
        archive.add_folder(folder)
    for name in ("bin", "sbin", "lib", "lib64"):
        archive.add_link(name, f"usr/{name}")
    archive.add_link("var", "tmp")
    archive.add_link("etc/mtab", "/proc/mounts")
    archive.add_device("dev/console", 5, 1)
    archive.add_device("dev/null", 1, 3)
    archive.add_file("etc/passwd", _USERS)
    archive.add_file("etc/group", _GROUPS)
    archive.add_file("etc/hosts", b"127.0.0.1 localhost\n")
    archive.add_file("etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files\n")


_USERS = b"root:x:0:0::/root:/bin/sh\ntcpdump:x:102:102::/nonexistent:/bin/false\n"
"""Debian's tcpdump becomes this user once it has opened the interface (tcpdump(8), -Z)."""
_GROUPS = b"root:x:0:\nnetdev:x:1:\ntcpdump:x:102:\n"


def _applets(archive: Cpio, tree: FileTree) -> None:
    """Links to BusyBox for what no real program is there for. Its own list would have to be asked by running it."""
    del tree
    for name in APPLETS:
        if f"usr/bin/{name}" not in archive and f"usr/sbin/{name}" not in archive:
            archive.add_link(f"usr/bin/{name}", "busybox")
    for name in ("modprobe", "insmod", "rmmod", "lsmod", "poweroff"):
        archive.add_link(f"usr/sbin/{name}", "../bin/busybox")
    archive.add_link("usr/bin/sh", "dash")


APPLETS = (
    "[", "awk", "base64", "basename", "cat", "chmod", "chown", "clear", "cmp", "cp", "cut", "date", "dd", "df",
    "diff", "dirname", "du", "echo", "expr", "false", "find", "fold", "free", "grep", "gunzip", "gzip", "head",
    "hexdump", "hostname", "id", "ifconfig", "kill", "killall", "less", "ln", "ls", "md5sum", "mkdir", "mkfifo",
    "mknod", "mktemp", "more", "mount", "mv", "nc", "nproc", "od", "pidof", "printf", "ps", "pwd", "readlink",
    "realpath", "renice", "reset", "rm", "rmdir", "route", "sed", "seq", "sleep", "sort", "stat", "strings",
    "stty", "sync", "sysctl", "tail", "tar", "tee", "test", "time", "top", "touch", "tr", "true", "truncate",
    "tty", "umount", "uname", "uniq", "uptime", "usleep", "vi", "watch", "wc", "which", "xargs", "xxd", "xz",
    "yes", "zcat",
)  # fmt: skip
"""Applets of BusyBox."""


def _builtin_index(archive: Cpio, source: ModuleFolder, release: str) -> None:
    for name in ("modules.builtin", "modules.order"):
        path = source.folder / name
        if path.is_file():
            archive.add_file(f"usr/lib/modules/{release}/{name}", path.read_bytes())


def _contents(tree: FileTree, name: str) -> bytes:
    place = tree.find(name)
    if place is None:
        raise GuestError(f"no package of the lock has {name}")
    return place.read_bytes()


def _own_files() -> dict[str, bytes]:
    """What is txop's own in an image, by name."""
    package = resources.files("txop.guest_image")
    return {
        "init": package.joinpath("init").read_bytes(),
        "usr/sbin/txop-lab": package.joinpath("lab.sh").read_bytes(),
        "usr/bin/dut": b'#!/usr/bin/dash\nexec ip netns exec dut "$@"\n',
        "usr/bin/peer": b'#!/usr/bin/dash\nexec ip netns exec ap "$@"\n',
        "usr/bin/station": b'#!/usr/bin/dash\nnumber=$1\nshift\nexec ip netns exec "sta$number" "$@"\n',
    }
