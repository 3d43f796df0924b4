"""A crate without the lints that all have is found."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "crate_lints.py"
COMPLAINTS = runpy.run_path(str(SCRIPT))["complaints"]

WORKSPACE = '[workspace]\nmembers = ["crates/one"]\n[workspace.lints.rust]\nunsafe_code = "deny"\n'
MANIFEST = '[package]\nname = "one"\n[lints]\nworkspace = true\n'
DENIED = (
    "//! One.\n#![forbid(unsafe_code)]\n"
    "#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]\n"
)
LAXER = DENIED.replace(" clippy::indexing_slicing,", "")


def said(folder: Path, root: str = DENIED, manifest: str = MANIFEST, workspace: str = WORKSPACE) -> str:
    (folder / "crates" / "one" / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(workspace, encoding="utf-8")
    (folder / "crates" / "one" / "Cargo.toml").write_text(manifest, encoding="utf-8")
    (folder / "crates" / "one" / "src" / "lib.rs").write_text(root, encoding="utf-8")
    return "\n".join(COMPLAINTS(folder))


def test_a_crate_with_all_lints_passes(tmp_path):
    assert said(tmp_path) == ""


def test_a_crate_that_says_why_it_lacks_one_passes(tmp_path):
    root = LAXER + '#![allow(\n    clippy::indexing_slicing,\n    reason = "tables of its own making"\n)]\n'
    assert said(tmp_path, root) == ""


@pytest.mark.parametrize(
    ("root", "complaint"),
    [
        (LAXER, "neither denies clippy::indexing_slicing nor gives a reason"),
        (LAXER + "#![allow(clippy::indexing_slicing)]\n", "neither denies clippy::indexing_slicing nor gives a reason"),
        ("//! One.\n// #![deny(clippy::unwrap_used)]\n", "neither denies clippy::unwrap_used, clippy::expect_used"),
    ],
)
def test_a_lint_that_is_neither_denied_nor_excused_is_named(tmp_path, root, complaint):
    assert complaint in said(tmp_path, root)


def test_a_crate_without_the_lints_of_the_workspace_is_named(tmp_path):
    assert "crates/one/Cargo.toml: without" in said(tmp_path, manifest='[package]\nname = "one"\n')


def test_a_crate_that_is_no_member_is_named(tmp_path):
    assert "crates/one: not a member" in said(tmp_path, workspace=WORKSPACE.replace("crates/one", "crates/two"))


def test_a_workspace_that_allows_unsafe_code_is_named(tmp_path):
    assert "does not deny unsafe_code" in said(tmp_path, workspace=WORKSPACE.partition("unsafe")[0])


def test_here_every_crate_has_them():
    ran = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_what_is_found_fails(tmp_path):
    said(tmp_path, root="//! One.\n")
    ran = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
