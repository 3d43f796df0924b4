"""Edit scripts in plans: what `txop plan check` says of them before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from txop.plan.load import load_plan
from txop.plan.templates import templates
from txop.plan_check.check import check

PLAN = templates()["guest-rtl8xxxu-patches"].text
SHIPPED = "txop:rtl8xxxu/0010-interrupts.toml"


def problems(folder: Path, text: str) -> list[str]:
    path = folder / "plan.toml"
    path.write_text(text)
    return [problem.text("plan") for problem in check(load_plan(path)).problems]


def test_shipped_scripts_are_found_from_anywhere(tmp_path: Path) -> None:
    assert SHIPPED in PLAN
    assert problems(tmp_path, PLAN) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (SHIPPED, "txop:rtl8xxxu/0011-nothing.toml", "there is no file"),
        (SHIPPED, "txop:/etc/passwd", "there is no file"),
        (SHIPPED, "txop:../qemu.py", "there is no file"),
        (SHIPPED, "own.toml", "own.toml: it is not an edit script"),
        ("mips = 500", "mips = 500\nreverse = true", "an edit script cannot be taken back"),
    ],
)
def test_scripts_that_cannot_be_used(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "own.toml").write_text("format = 'other'")
    said = problems(tmp_path, PLAN.replace(old, new, 1))
    assert said
    assert all("patches[" in row and message in row for row in said)
