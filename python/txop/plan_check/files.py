"""The files that a plan names on the machine txop runs on: whether they are there, and their absolute names."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import TypeVar

from pydantic import BaseModel

from txop.plan.guest import GuestVariant
from txop.plan.load import LoadedPlan
from txop.plan.locate import Path
from txop.plan.model import Plan
from txop.plan.named_file import SHIPPED, named_file

Item = TypeVar("Item", bound=BaseModel)
GUEST_FILES = ("lock", "module_file", "source", "faults", "kernel_file", "modules_dir")
"""Keys of a guest that name files or folders."""
OPTIONAL_FILES = {
    "module_file": "build it for the guest's kernel, and put it there",
    "source": "put the source of the driver there",
}
"""Those of them that an optional arm may lack, and what to do then."""


def missing(loaded: LoadedPlan) -> Iterator[tuple[Path, str, str | None]]:
    """Each file or folder that is missing, is neither a file nor a folder, or cannot be read."""
    excused = {path for path, _, _ in lacking(loaded)}
    for path, name, folder in named(loaded):
        if path in excused:
            continue
        file = loaded.file(name)
        said = _wrong(file, folder=folder)
        if said is not None:
            yield path, said, "file names are relative to the folder of the plan" if _is_relative(name) else None
    for target_name, target in loaded.plan.target.items():
        if target.kind == "labgrid" and importlib.util.find_spec("labgrid") is None:
            path = ("target", target_name, "kind")
            yield path, "the Python package labgrid is not there", "install txop with the extra: txop[labgrid]"


def lacking(loaded: LoadedPlan) -> Iterator[tuple[Path, str, str]]:
    """What optional arms lack: key, arm and reason."""
    for index, arm in enumerate(loaded.plan.arm):
        for key in OPTIONAL_FILES:
            name = getattr(arm.guest, key, None)
            if arm.optional and name is not None and _is_nowhere(loaded.file(name)):
                beside = " beside the plan" if _is_relative(name) else ""
                yield ("arm", index, "guest", key), arm.name, f"there is no {name}{beside}"


def left_out(loaded: LoadedPlan) -> dict[str, str]:
    """Optional arms that cannot be carried out on this machine, and why."""
    return {arm: reason for _, arm, reason in lacking(loaded)}


def named(loaded: LoadedPlan) -> Iterator[tuple[Path, str, bool]]:
    """Key, name, and whether it is a folder, of everything the plan names on this machine."""
    plan = loaded.plan
    for index, arm in enumerate(plan.arm):
        for number, spec in enumerate(arm.loads):
            if spec.file is not None:
                place: Path = ("module",) if arm.module is not None else ("modules", number)
                yield ("arm", index, *place, "file"), spec.file, False
        if arm.build is not None:
            yield ("arm", index, "build", "source"), arm.build.source, True
            if arm.build.kernel is not None:
                yield ("arm", index, "build", "kernel"), arm.build.kernel, True
        if arm.build is not None or plan.guest is not None:
            for number, patch in enumerate(arm.patches):
                if patch.file is not None:
                    yield ("arm", index, "patches", number, "file"), patch.file, False
        if arm.firmware is not None:
            yield ("arm", index, "firmware", "file"), arm.firmware.file, False
    yield from _of_guests(plan)
    if plan.bring_up.wpa_supplicant is not None:
        yield ("bring_up", "wpa_supplicant", "config"), plan.bring_up.wpa_supplicant.config, False
    for name, target in plan.target.items():
        if target.kind == "ssh":
            for key in ("key", "known_hosts", "config"):
                value = getattr(target, key)
                if value is not None:
                    yield ("target", name, key), value, False


def _of_guests(plan: Plan) -> Iterator[tuple[Path, str, bool]]:
    variants: list[tuple[Path, GuestVariant | None]] = [(("guest",), plan.guest)]
    variants += [(("arm", index, "guest"), arm.guest) for index, arm in enumerate(plan.arm)]
    for path, variant in variants:
        for key in GUEST_FILES:
            value = getattr(variant, key, None)
            if value is not None:
                yield (*path, key), value, key in ("source", "modules_dir")


def _is_relative(name: str) -> bool:
    """Whether a name is relative to the folder of the plan."""
    return not name.startswith(("/", "~", SHIPPED))


def is_file(path: FilePath) -> bool:
    """Whether there is a regular file of that name; not where its name is impossible or leads through a folder one may
    not enter, which :func:`missing` reports."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: FilePath) -> bool:
    """Whether there is a folder of that name, as in :func:`is_file`."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _is_nowhere(path: FilePath) -> bool:
    try:
        return not path.exists()
    except (OSError, ValueError):
        return False  # not known: :func:`missing` says why


def _wrong(file: FilePath, *, folder: bool) -> str | None:
    """What is wrong with a file, in words that name it as an absolute path."""
    try:
        if not file.exists():
            return f"there is no {'folder' if folder else 'file'} {file}"
        if file.is_dir() != folder:
            return f"{file} is {'no' if folder else 'a'} folder"
    except (OSError, ValueError) as error:  # a name too long, with a NUL, or behind a folder one may not enter
        return f"{file}: {getattr(error, 'strerror', None) or error}"
    if not os.access(file, os.R_OK | (os.X_OK if folder else 0)):
        return f"{file} cannot be read"
    return None


def with_absolute_files(plan: Plan, folder: FilePath) -> Plan:
    """The plan with every file on this machine as an absolute path; relative names are relative to ``folder``."""

    def full(name: str) -> str:
        return str(named_file(folder, name))

    def renamed(item: Item, *keys: str) -> Item:
        return item.model_copy(update={key: full(value) for key in keys if (value := getattr(item, key)) is not None})

    arms = []
    for arm in plan.arm:
        new: dict[str, object] = {"patches": [renamed(patch, "file") for patch in arm.patches]}
        if arm.module is not None:
            new["module"] = renamed(arm.module, "file")
        new["modules"] = [renamed(spec, "file") for spec in arm.modules]
        if arm.build is not None:
            new["build"] = renamed(arm.build, "source", "kernel")
        if arm.firmware is not None:
            new["firmware"] = renamed(arm.firmware, "file")
        if arm.guest is not None:
            new["guest"] = renamed(arm.guest, *GUEST_FILES)
        arms.append(arm.model_copy(update=new))
    targets = {
        name: renamed(target, "key", "known_hosts", "config") if target.kind == "ssh" else target
        for name, target in plan.target.items()
    }
    bring_up = plan.bring_up
    if bring_up.wpa_supplicant is not None:
        new_supplicant = renamed(bring_up.wpa_supplicant, "config")
        bring_up = bring_up.model_copy(update={"wpa_supplicant": new_supplicant})
    guest = plan.guest if plan.guest is None else renamed(plan.guest, *GUEST_FILES)
    return plan.model_copy(update={"arm": arms, "target": targets, "bring_up": bring_up, "guest": guest})
