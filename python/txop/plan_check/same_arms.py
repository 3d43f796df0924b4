"""Finds arms that are the same under two names: their comparison only shows noise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from txop.plan.load import LoadedPlan
from txop.plan.locate import Path
from txop.plan.named_file import SHIPPED

_MAX_FILE_BYTES = 256 * 1024 * 1024
_NAMES = ("name", "title", "description", "link", "published")
_OF_PATCH = ("number", "description", "link", "upstream")


def same_arms(loaded: LoadedPlan) -> Iterator[tuple[Path, str, str | None]]:
    """Arms with the modules, parameters and settings of an earlier one, byte for byte."""
    plan = loaded.plan
    first: dict[str, str] = {}
    for index, arm in enumerate(plan.arm):
        patched = arm.build is not None or plan.guest is not None
        what = json.dumps(_meant(loaded, arm.model_dump(mode="json"), patched=patched), sort_keys=True)
        other = first.setdefault(what, arm.name)
        if other != arm.name:
            files = "its files and settings are" if _has_files(arm.model_dump()) else "its settings are"
            said = f'{files} those of "{other}": a comparison of the two is an A/A comparison, of noise'
            yield ("arm", index, "name"), said, "look for the file or the setting that should differ"


def _meant(loaded: LoadedPlan, arm: dict[str, Any], *, patched: bool) -> Any:
    """What an arm does: without its names, and with what files hold in place of where they are."""
    kept = {key: value for key, value in arm.items() if key not in _NAMES}
    patches = [patch for patch in arm["patches"] if patched and patch["file"] is not None]
    kept["patches"] = [{key: value for key, value in patch.items() if key not in _OF_PATCH} for patch in patches]
    return _with_contents(loaded, kept)


def _with_contents(loaded: LoadedPlan, value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _digest(loaded, each)
            if key in ("file", "module_file") and isinstance(each, str)
            else _with_contents(loaded, each)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_with_contents(loaded, each) for each in value]
    return value


def _digest(loaded: LoadedPlan, name: str) -> str:
    """The hash of a file; its name where it cannot be read, or comes with txop."""
    if name.startswith(SHIPPED):
        return name
    path: FilePath = loaded.file(name)
    try:
        if not path.is_file() or path.stat().st_size > _MAX_FILE_BYTES:
            return name
        with path.open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    except (OSError, ValueError):
        return name


def _has_files(value: Any) -> bool:
    if isinstance(value, dict):
        return any((key == "file" and each is not None) or _has_files(each) for key, each in value.items())
    return isinstance(value, list) and any(map(_has_files, value))
