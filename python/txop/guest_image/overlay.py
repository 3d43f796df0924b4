"""What one run adds to the image: what to run, files, modules of your own, the program that is the virtual chips."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from txop.guest_image.cpio import Cpio
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image, module_members
from txop.guest_image.modules import KernelModule, ModuleFolder, closure, read_module

MAX_FILE_BYTES = 512 << 20


@dataclass(frozen=True)
class Overlay:
    """What one run adds."""

    command: tuple[str, ...] = ()
    """Program and arguments; empty: nothing is run."""
    script: str | None = None
    """Shell text (POSIX, run by dash) in place of ``command``."""
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    """By name in the guest (``/root/x``): files of this machine. Those that may be executed here may be there."""
    texts: Mapping[str, bytes] = field(default_factory=dict)
    """By name in the guest: contents."""
    modules: tuple[Path, ...] = ()
    """Module files that take the place of the kernel's own."""
    more_modules: tuple[str, ...] = ()
    """Modules of the kernel beside those of the image."""

    def beside(self, more: Mapping[str, Path]) -> Overlay:
        """With more files; of one name this one's counts."""
        return replace(self, files={**more, **self.files})


def overlay_archive(overlay: Overlay, image: Image) -> Cpio:
    """The overlay as an archive that is unpacked over the image's. Raises :class:`GuestError`."""
    archive = Cpio()
    script = _script(overlay)
    if script is not None:
        archive.add_file("txop/run", script, program=True)
    for name, path in overlay.files.items():
        archive.add_file(_inside(name), _contents(path), program=bool(path.stat().st_mode & 0o100))
    for name, data in overlay.texts.items():
        archive.add_file(_inside(name), data, program=data.startswith(b"#!"))
    if overlay.modules or overlay.more_modules:
        for name, data in _modules(overlay, image).items():
            archive.add_file(name, data)
    return archive


def _modules(overlay: Overlay, image: Image) -> dict[str, bytes]:
    source = ModuleFolder(image.modules_folder)
    given = given_modules(overlay.modules)
    for path, module in given.values():
        built_for = module.kernel_release
        if built_for != image.release:
            raise GuestError(
                f"{path} was built for the kernel {built_for or '(not stated)'}; the guest has {image.release}",
                what_to_do="build it for the same kernel (`txop guest module` does, for those of the distribution)",
            )
    replaced = {name: module for name, (_, module) in given.items()}
    return module_members(
        closure([*image.modules, *overlay.more_modules], source.find, source.builtin, replaced), image.release
    )


def given_modules(paths: Sequence[Path]) -> dict[str, tuple[Path, KernelModule]]:
    """Module files by the names that the modules have, whatever the files are called.

    Raises:
        GuestError: One is not a module, or two of them have one name.
    """
    given: dict[str, tuple[Path, KernelModule]] = {}
    for path in paths:
        module = read_module(_contents(path), path.name)
        if module.name in given:
            raise GuestError(f"{given[module.name][0]} and {path} both are the module {module.name}")
        given[module.name] = path, module
    return given


def _script(overlay: Overlay) -> bytes | None:
    if overlay.script is None and not overlay.command:
        return None
    rows = ["#!/usr/bin/dash"]
    for name, value in overlay.environment.items():
        if not name.isidentifier():
            raise GuestError(f"{name!r} is not the name of an environment variable")
        rows.append(f"export {name}={shlex.quote(value)}")
    rows.append(overlay.script if overlay.script is not None else f"exec {shlex.join(overlay.command)}")
    text = "\n".join(rows) + "\n"
    if "\0" in text:
        raise GuestError("a command cannot hold a NUL byte")
    return text.encode("utf-8", "surrogateescape")


def _inside(name: str) -> str:
    if not name.startswith("/") or name.endswith("/"):
        raise GuestError(f"{name!r} is not a place for a file in a guest: it is a whole path, as /root/file")
    if ".." in name.split("/") or not name.isprintable():
        raise GuestError(
            f"{name!r} is not a place for a file in a guest: it may have no .. and nothing that does not print"
        )
    clean = name.lstrip("/")
    first, _, rest = clean.partition("/")
    # these are links in the image, and a folder must not take their place
    return f"usr/{first}/{rest}" if first in ("bin", "sbin", "lib", "lib64") and rest else clean


def _contents(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise GuestError(f"{path} is larger than {MAX_FILE_BYTES >> 20} MB")
        return path.read_bytes()
    except OSError as error:
        raise GuestError(f"{path}: {error.strerror}") from None


def guest_files(pairs: Sequence[str]) -> dict[str, Path]:
    """Files from ``HERE:THERE`` or ``HERE`` (then ``/root/NAME``). Raises :class:`GuestError`."""
    files = {}
    for pair in pairs:
        here, colon, there = pair.rpartition(":/")
        path = Path(here if colon else pair)
        if not path.is_file():
            raise GuestError(f"{path} is not a file")
        name = f"/{there}" if colon else f"/root/{path.name}"
        _inside(name)
        files[name] = path
    return files
