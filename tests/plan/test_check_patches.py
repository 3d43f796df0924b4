"""Patches that reach beyond the module that is built and loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from txop.plan.load import load_plan
from txop.plan_check.check import check

PLAN = """
title = "t"
[target.dut]
kind = "local"
interface = "wlan0"
[target.peer]
kind = "local"
address = "10.0.0.1"
[[arm]]
name = "a"
patches = [{ file = "some.patch" }]
[arm.build]
source = "tree"
module = "MODULE"
[[arm]]
name = "b"
load = ["true"]
[[test]]
name = "tx"
kind = "tcp-tx"
"""
INSIDE = """diff --git a/drivers/net/x/x.c b/drivers/net/x/x.c
--- a/drivers/net/x/x.c
+++ b/drivers/net/x/x.c
@@ -1 +1 @@
-a
+b
"""
NEW = "--- /dev/null\n+++ b/drivers/net/x/sub/new.c\t2026-01-01\n@@ -0,0 +1 @@\n+a\n"
OUTSIDE = "--- a/include/net/mac80211.h\n+++ b/include/net/mac80211.h\n@@ -1 +1 @@\n-a\n+b\n"
BESIDE = "--- a/drivers/net/xy/y.c\n+++ b/drivers/net/xy/y.c\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("module", "patch", "outside"),
    [
        ("drivers/net/x/x.ko", INSIDE + NEW, None),
        ("drivers/net/x/x.ko", INSIDE + OUTSIDE, "include/net/mac80211.h"),
        ("drivers/net/x/x.ko", BESIDE + OUTSIDE, "drivers/net/xy/y.c, include/net/mac80211.h"),
        ("x.ko", INSIDE + OUTSIDE, None),
    ],
)
def test_what_a_patch_changes_beside_the_module(tmp_path: Path, module: str, patch: str, outside: str | None) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "some.patch").write_text(patch)
    (tmp_path / "plan.toml").write_text(PLAN.replace("MODULE", module))
    warnings = [
        problem.text("plan")
        for problem in check(load_plan(tmp_path / "plan.toml")).warnings
        if "patches" in problem.text("")
    ]
    if outside is None:
        assert warnings == []
    else:
        (warning,) = warnings
        assert f"it changes {outside}, outside drivers/net/x" in warning
        assert "Only x.ko is loaded" in warning


def test_a_patch_of_several_modules_may_change_all_their_folders(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "some.patch").write_text(INSIDE + BESIDE)
    text = PLAN.replace('module = "MODULE"', 'modules = ["drivers/net/xy/y.ko", "drivers/net/x/x.ko"]')
    (tmp_path / "plan.toml").write_text(text)
    assert not [p for p in check(load_plan(tmp_path / "plan.toml")).warnings if "patches" in p.text("")]
    (tmp_path / "some.patch").write_text(INSIDE + OUTSIDE)
    (warning,) = [p.text("") for p in check(load_plan(tmp_path / "plan.toml")).warnings if "patches" in p.text("")]
    assert "outside drivers/net/xy and drivers/net/x" in warning
    assert "Only y.ko, x.ko are loaded" in warning
