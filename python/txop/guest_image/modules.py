"""Kernel modules of an image: which ones, in which order, and the index that ``modprobe`` reads."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from txop.arms.module_file import NotAModuleError, modinfo_entries, unpack
from txop.guest_image.error import GuestError

_FILE = re.compile(r"(?P<name>[A-Za-z0-9_-]+)\.ko(?:\.xz|\.gz|\.zst)?$")
_NAME = re.compile(r"[A-Za-z0-9_]{1,64}")

FindModule = Callable[[str], bytes | None]
"""The contents of a module by its name, unpacked; ``None`` when there is none."""


class MissingModuleError(GuestError):
    """A module that the kernel does not have."""


@dataclass(frozen=True)
class KernelModule:
    """A module."""

    name: str
    """With underscores."""
    data: bytes
    depends: tuple[str, ...]
    wants: tuple[str, ...]
    """Soft dependencies: loaded before it where they exist (modprobe.d(5))."""
    aliases: tuple[str, ...]
    kernel_release: str | None
    """The kernel it was built for."""


def module_name(file_name: str) -> str | None:
    """The name of the module in a file of that name.

    >>> module_name("aesni-intel.ko.xz"), module_name("modules.dep")
    ('aesni_intel', None)
    """
    match = _FILE.fullmatch(posixpath.basename(file_name))
    return match["name"].replace("-", "_") if match else None


def read_module(data: bytes, file_name: str) -> KernelModule:
    """A module from its file, which may be compressed. Raises :class:`GuestError`."""
    try:
        unpacked = unpack(data, file_name)
        entries = modinfo_entries(unpacked)
    except NotAModuleError as error:
        raise GuestError(f"{file_name}: {error}") from None
    name = entries.get("name", [module_name(file_name) or ""])[0].replace("-", "_")
    if not _NAME.fullmatch(name):
        raise GuestError(f"{file_name} has no name in its .modinfo")
    depends = [_plain(word) for entry in entries.get("depends", []) for word in entry.split(",") if word]
    wants = [_plain(word) for entry in entries.get("softdep", []) for word in entry.split() if not word.endswith(":")]
    aliases = [alias for alias in entries.get("alias", []) if alias.isprintable() and " " not in alias]
    vermagic = entries.get("vermagic", [""])[0].split()
    return KernelModule(name, unpacked, tuple(depends), tuple(wants), tuple(aliases), vermagic[0] if vermagic else None)


def closure(
    wanted: Iterable[str],
    find: FindModule,
    builtin: frozenset[str],
    given: Mapping[str, KernelModule] | None = None,
    optional: Collection[str] = (),
) -> list[KernelModule]:
    """Modules with all that they need, each after what it needs.

    Args:
        wanted: Names.
        find: Where the kernel's own are.
        builtin: Names that are part of the kernel.
        given: Modules that take the place of the kernel's own.
        optional: Names of ``wanted`` that are left out where the kernel lacks them.

    Raises:
        MissingModuleError: One is nowhere.
    """
    replaced = dict(given or {})
    order: list[KernelModule] = []
    state: dict[str, bool] = {}

    def visit(name: str, needed_by: str | None, *, soft: bool = False) -> None:
        name = _plain(name)
        if name in builtin or name in state:
            return
        module = replaced.get(name)
        if module is None:
            data = find(name)
            if data is None:
                if soft:
                    return
                by = f", which {needed_by} needs" if needed_by else ""
                raise MissingModuleError(f"the kernel has no module {name}{by}")
            module = read_module(data, f"{name}.ko")
        state[name] = True
        for other in module.wants:
            visit(other, name, soft=True)
        for other in module.depends:
            visit(other, name)
        order.append(module)

    for name in [*wanted, *replaced]:
        visit(name, None, soft=name in optional)
    return order


def dependency_text(modules: Iterable[KernelModule]) -> str:
    """``modules.dep``: each file, and all it needs, the nearest first (modules.dep(5))."""
    by_name = {module.name: module for module in modules}
    rows = []
    for module in by_name.values():
        seen = {module.name}
        order: list[str] = []

        def gather(one: KernelModule, seen: set[str] = seen, order: list[str] = order) -> None:
            for name in (*one.wants, *one.depends):
                if name in by_name and name not in seen:
                    seen.add(name)
                    gather(by_name[name])
                    order.append(name)

        gather(module)
        rows.append(f"{module.name}.ko:" + "".join(f" {name}.ko" for name in reversed(order)))
    return "\n".join(sorted(rows)) + "\n"


def alias_text(modules: Iterable[KernelModule]) -> str:
    """``modules.alias``."""
    return "".join(sorted(f"alias {alias} {module.name}\n" for module in modules for alias in set(module.aliases)))


def builtin_names(modules_builtin: str) -> frozenset[str]:
    """Names in ``modules.builtin``."""
    return frozenset(name for row in modules_builtin.splitlines() if (name := module_name(row.strip())))


class ModuleFolder:
    """The modules below a folder such as ``/lib/modules/6.12.1``, found by name."""

    def __init__(self, folder: Path) -> None:
        """Raises :class:`GuestError` when there are none."""
        self.folder = folder
        self._files = {
            name: path for path in sorted(folder.rglob("*.ko*")) if (name := module_name(path.name)) is not None
        }
        if not self._files:
            raise GuestError(f"{folder} has no kernel modules")

    @property
    def builtin(self) -> frozenset[str]:
        """Names of what is built into the kernel; empty when the folder does not say."""
        try:
            return builtin_names((self.folder / "modules.builtin").read_text(encoding="utf-8"))
        except OSError:
            return frozenset()

    @property
    def vermagic(self) -> str:
        """The kernel they are for, and options that must agree, as one of them says. Raises :class:`GuestError`."""
        path = next(iter(self._files.values()))
        try:
            vermagic = modinfo_entries(unpack(path.read_bytes(), path.name)).get("vermagic", [""])[0]
        except (NotAModuleError, OSError) as error:
            raise GuestError(f"{path}: {error}") from None
        if not vermagic.split():
            raise GuestError(f"{path} does not name the kernel that it is for")
        return vermagic

    @property
    def release(self) -> str:
        """``uname -r`` of the kernel they are for, as one of them says. Raises :class:`GuestError`."""
        return self.vermagic.split()[0]

    def find(self, name: str) -> bytes | None:
        """The contents of a module, unpacked. Raises :class:`GuestError`."""
        path = self._files.get(name)
        if path is None:
            return None
        try:
            return unpack(path.read_bytes(), path.name)
        except NotAModuleError as error:
            raise GuestError(f"{path}: {error}") from None


def _plain(name: str) -> str:
    return name.replace("-", "_")
