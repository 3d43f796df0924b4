"""A kernel of one's own, and words on its command line, in a plan."""

from __future__ import annotations

import pytest

from txop.guest.qemu import Computer, Mode, arguments
from txop.plan.load import parse_plan
from txop.plan.problem import PlanError
from txop.plan_check.check import check

PLAN = """\
title = "x"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
driver = "rtl8xxxu"
{guest}
[[arm]]
name = "a"
{arm}
[[arm]]
name = "b"
[arm.guest]
append = "slub_debug=FZP"
[[test]]
name = "tx"
kind = "tcp-tx"
"""


def problems(tmp_path, guest: str, arm: str = "") -> list[str]:
    try:
        loaded = parse_plan(PLAN.format(guest=guest, arm=arm).encode(), tmp_path / "plan.toml")
    except PlanError as error:
        return [f"{problem.line}: {problem.message}" for problem in error.problems]
    return [f"{problem.line}: {problem.message}" for problem in check(loaded).problems]


def test_words_of_the_kernel_command_line_come_behind_those_of_txop(tmp_path):
    computer = Computer(mode=Mode.EXACT, append=("kfence.sample_interval=1", "slub_debug=FZP"))
    argv = arguments(computer, tmp_path / "vmlinuz", tmp_path / "initramfs", tmp_path)
    line = argv[argv.index("-append") + 1]
    assert line.endswith(" kfence.sample_interval=1 slub_debug=FZP")
    assert "txop.mode=exact" in line


def test_an_arm_may_have_words_of_its_own(tmp_path):
    plan = parse_plan(PLAN.format(guest='append = "quiet"', arm="").encode(), tmp_path / "plan.toml").plan
    assert [plan.guest_of(arm).append for arm in plan.arm] == ["quiet", "slub_debug=FZP"]


@pytest.mark.parametrize("word", ["txop.limit=9", "console=tty0", "rdinit=/bin/sh", "init=/bin/sh"])
def test_words_that_txop_needs_are_refused(tmp_path, word):
    assert any(f"{word} is txop's own" in text for text in problems(tmp_path, f'append = "quiet {word}"'))


def test_a_line_break_is_no_word(tmp_path):
    assert problems(tmp_path, 'append = "a\\nb"')


def test_kernel_and_modules_go_together(tmp_path):
    assert any("go together" in text for text in problems(tmp_path, 'kernel_file = "bzImage"'))


def test_a_kernel_that_is_not_there_is_said_with_its_line(tmp_path):
    found = problems(tmp_path, 'kernel_file = "bzImage"\nmodules_dir = "modules"')
    assert [text.partition(":")[0] for text in found] == ["8", "9"]
    assert "there is no file" in found[0]
    assert "there is no folder" in found[1]


def test_no_driver_is_built_for_a_kernel_of_ones_own(tmp_path):
    (tmp_path / "bzImage").write_bytes(b"x")
    (tmp_path / "modules").mkdir()
    (tmp_path / "a.patch").write_text("--- a/x\n+++ b/x\n")
    found = problems(
        tmp_path, 'kernel_file = "bzImage"\nmodules_dir = "modules"', 'patches = [{ number = 1, file = "a.patch" }]'
    )
    assert any("no driver is built for your own kernel" in text for text in found)
