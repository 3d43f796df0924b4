"""The lock of the fuzz targets, which are not members of the workspace, knows what our crates depend on."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
ADVICE = "cargo metadata in fuzz/ brings its Cargo.lock up to date"


def load(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def manifests() -> dict[str, dict[str, Any]]:
    found = (load(file) for file in ROOT.glob("crates/*/Cargo.toml"))
    return {manifest["package"]["name"]: manifest for manifest in found}


def locked() -> dict[str, set[str]]:
    packages = load(ROOT / "fuzz" / "Cargo.lock")["package"]
    return {package["name"]: {entry.split(" ")[0] for entry in package.get("dependencies", [])} for package in packages}


def declared(manifest: dict[str, Any], *, optional: bool) -> set[str]:
    """The crates that it is built with, by the registry's names; with ``optional`` those too that a feature or a target
    adds."""
    shared = load(ROOT / "Cargo.toml")["workspace"]["dependencies"]
    tables = [manifest.get("dependencies", {})]
    if optional:
        tables += [target.get("dependencies", {}) for target in manifest.get("target", {}).values()]
    found = set()
    for name, entry in (item for table in tables for item in table.items()):
        whole = as_table(shared.get(name)) | as_table(entry)
        if optional or not whole.get("optional", False):
            found.add(whole.get("package", name))
    return found


def as_table(entry: Any) -> dict[str, Any]:
    return entry if isinstance(entry, dict) else {}


CRATES = sorted(set(manifests()) & set(locked()))


def test_there_are_crates_to_compare():
    assert len(CRATES) >= 10


@pytest.mark.parametrize("crate", CRATES)
def test_the_lock_has_every_dependency(crate: str):
    assert declared(manifests()[crate], optional=False) - locked()[crate] == set(), ADVICE


@pytest.mark.parametrize("crate", CRATES)
def test_the_lock_has_nothing_that_is_gone(crate: str):
    assert locked()[crate] - declared(manifests()[crate], optional=True) == set(), ADVICE
