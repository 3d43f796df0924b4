"""Guests of a plan that cannot be are told before one is booted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from txop.plan.load import LoadedPlan
from txop.plan_check.check import check

PLAN = """\
title = "x"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
{guest}
[[arm]]
name = "a"
[[arm]]
name = "b"
[arm.guest]
{arm}
[[test]]
name = "tx"
kind = "tcp-tx"
"""


@pytest.fixture(autouse=True)
def no_locks_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("guest", "arm", "where", "words"),
    [
        ('kernel = "7.1"', "", ("guest", "kernel"), "no lock for the kernel '7.1'"),
        ("", 'kernel = "7.1"', ("arm", 1, "guest", "kernel"), "no lock"),
        ("", 'ap = "builtin"\nsecurity = "wpa2"', ("arm", 1, "guest", "security"), "it has no wpa2"),
        ('security = "wpa2"', 'ap = "builtin"', ("arm", 1, "guest", "ap"), "it has no wpa2"),
        ("", 'device = "rtl8723au"', ("arm", 1, "guest", "device"), "rtl8192cu does not know an rtl8723au"),
        ('faults = "broken.toml"', "", ("guest", "faults"), "broken.toml: Invalid value"),
        ('faults = "deep.toml"', "", ("guest", "faults"), "deep.toml"),
        ('faults = "bytes.toml"', "", ("guest", "faults"), "is not UTF-8"),
    ],
)
def test_what_cannot_be_is_told_with_its_place(
    parse: Callable[[str], LoadedPlan],
    tmp_path: Path,
    guest: str,
    arm: str,
    where: tuple[str | int, ...],
    words: str,
) -> None:
    (tmp_path / "broken.toml").write_text("x = [")
    (tmp_path / "deep.toml").write_text("x = " + "[" * 100_000)
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    loaded = parse(PLAN.format(guest=guest, arm=arm))
    (problem,) = check(loaded).problems
    assert words in problem.message
    assert problem.key == loaded.problem(where, "", None).key


@pytest.mark.parametrize(
    ("guest", "arm"),
    [
        ("", 'driver = "rtl8xxxu"'),
        ('ap = "builtin"', ""),
        ("", 'ap = "builtin"'),
        ("", 'device = "rtl8723au"\ndriver = "rtl8xxxu"'),
        ("", 'driver = "vendor"\nsource = "."'),
        ('faults = "good.toml"', ""),
    ],
)
def test_what_can_be_is_not_refused(parse: Callable[[str], LoadedPlan], tmp_path: Path, guest: str, arm: str) -> None:
    (tmp_path / "good.toml").write_text("[[fault]]\nendpoint = 1\naction = 'stall'\n")
    (tmp_path / "Makefile").write_text("obj-m := vendor.o\n")
    assert check(parse(PLAN.format(guest=guest, arm=arm))).problems == ()


def test_the_built_in_access_point_is_open_where_nothing_else_is_said(parse: Callable[[str], LoadedPlan]) -> None:
    plan = parse(PLAN.format(guest="", arm='ap = "builtin"')).plan
    assert plan.guest is not None
    assert [plan.guest.varied(arm.guest).security for arm in plan.arm] == ["wpa2", "open"]
