"""Every combination of what two arms differ in."""

from __future__ import annotations

import itertools
import json
import tomllib

import pytest

from txop.core.errors import UserError
from txop.plan.model import Plan
from txop.plan.write import plan_text
from txop.plan_check.changes import contents_of
from txop.plan_check.factorial import corners, factorial, factorial_plan, held_plan, largest_factorial

HEAD = """
title = "a plan"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
driver = "rtl8xxxu"
[[test]]
name = "tx"
kind = "tcp-tx"
"""
ARMS = """
[[arm]]
name = "old"
patches = [{ description = "taken out", file = "txop:rtl8xxxu/0007-tx-ampdu.toml" }, { number = 8, file = "a.patch" }]
[arm.guest]
parameters = { ht40_2g = 0, other = 5 }

[[arm]]
name = "new"
patches = [{ number = 8, file = "a.patch" }, { number = 10, file = "b.patch" }]
[arm.guest]
parameters = { ht40_2g = 1, other = 5 }
assume = { filter = "on" }
"""


def plan(text: str = ARMS) -> Plan:
    return Plan.model_validate(tomllib.loads(HEAD + text))


def test_two_arms_differ_in_factors_with_names():
    found = factorial(plan(), "new", "old")
    assert {factor.name for factor in found.factors} == {"taken-out", "patch-10", "filter", "ht40-2g"}
    assert found.arms == {frozenset(): "old", frozenset(range(4)): "new"}
    assert len(found.missing) == 14


def test_the_plan_has_every_combination_once():
    source = plan()
    made = factorial_plan(source, "new", "old")
    assert len(made.arm) == 16
    assert made.arm[0].name == made.baseline == "old"
    assert made.arm[-1].name == "new"
    again = Plan.model_validate(tomllib.loads(plan_text(made)))
    found = factorial(again, "new", "old")
    assert not found.missing
    assert sorted(found.arms.values()) == sorted(arm.name for arm in made.arm)
    first, second = (contents_of(source, source.find_arm(name)) for name in ("old", "new"))
    for corner in corners(4):
        mine = contents_of(again, again.find_arm(found.arms[corner]))
        for number, factor in enumerate(found.factors):
            assert mine.get(factor.key) == (second if number in corner else first).get(factor.key)
    largest = largest_factorial(again)
    assert largest is not None
    assert (largest.arm, largest.against, len(largest.factors)) == ("new", "old", 4)


def test_patches_keep_their_order():
    made = factorial_plan(plan(), "new", "old")
    for arm in made.arm:
        files = [patch.file for patch in arm.patches]
        order = ["txop:rtl8xxxu/0007-tx-ampdu.toml", "a.patch", "b.patch"]
        assert files == [name for name in order if name in files]


def test_mechanisms_of_one_build_are_held():
    source, name = held_plan(
        plan(), "new", {"aggregation": "txop:rtl8xxxu/0007-tx-ampdu-off.toml", "wide": "width_mhz=40"}
    )
    made = factorial_plan(source, "new", name)
    assert [arm.name for arm in made.arm] == [
        "old", "new-held", "new-held-with-aggregation", "new-held-with-width-mhz", "new",
    ]  # fmt: skip
    held = made.find_arm("new-held")
    assert held.guest is not None
    assert held.guest.width_mhz == 40
    found = factorial(made, "new", "new-held")
    assert [factor.name for factor in found.factors] == ["aggregation", "width-mhz"]
    assert not found.missing
    assert made.baseline == "old"


@pytest.mark.parametrize(
    ("arm", "against", "said"),
    [("newer", "old", "there is no arm newer"), ("old", "old", "differ in 0 things")],
)
def test_what_cannot_be_combined_is_refused(arm, against, said):
    with pytest.raises(UserError, match=said):
        factorial_plan(plan(), arm, against)


def test_more_factors_than_a_plan_has_room_for():
    patches = ", ".join(f'{{ number = {number}, file = "{number}.patch" }}' for number in range(7))
    text = f'[[arm]]\nname = "a"\n[[arm]]\nname = "b"\npatches = [{patches}]\n'
    with pytest.raises(UserError, match="differ in 7 things"):
        factorial_plan(plan(text), "b", "a")


def test_a_plan_has_no_room_for_all_combinations_and_another_baseline():
    patches = ", ".join(f'{{ number = {number}, file = "{number}.patch" }}' for number in range(6))
    text = f'[[arm]]\nname = "a"\n[[arm]]\nname = "b"\npatches = [{patches}]\n'
    assert len(factorial_plan(plan(text), "b", "a").arm) == 64
    other = '[[arm]]\nname = "first"\nguest = { width_mhz = 40 }\n'
    with pytest.raises(UserError, match="65 arms"):
        factorial_plan(plan(other + text), "b", "a")


def test_a_mechanism_is_held_once(txop, tmp_path):
    plan_file = tmp_path / "plan.toml"
    assert txop("plan", "new", str(plan_file), "--template", "guest-causes-usb").returncode == 0
    holds = ("--hold", "wide=width_mhz=40", "--hold", "wide=width_mhz=20")
    refused = txop("plan", "causes", str(plan_file), "--arm", "regressed", *holds, "-o", str(tmp_path / "causes.toml"))
    assert refused.returncode == 2
    assert "wide" in refused.stderr


@pytest.mark.parametrize("name", ["guest-causes-usb", "guest-causes-pci", "guest-causes-sdio"])
def test_a_template_becomes_a_plan_of_all_combinations(txop, tmp_path, name):
    plan_file, causes = tmp_path / "plan.toml", tmp_path / "causes.toml"
    assert txop("plan", "new", str(plan_file), "--template", name).returncode == 0
    arm = "slow" if name.endswith("sdio") else "regressed"
    made = txop("plan", "causes", str(plan_file), "--arm", arm, "-o", str(causes))
    assert made.returncode == 0, made.stderr
    checked = json.loads(txop("plan", "check", str(causes), "--json").stdout)
    assert checked["problems"] == []
    assert len(tomllib.loads(causes.read_text())["arm"]) == 8
    again = txop("plan", "causes", str(plan_file), "--arm", arm, "-o", str(causes))
    assert again.returncode == 2
    elsewhere = txop("plan", "causes", str(plan_file), "--arm", arm, "-o", str(tmp_path.parent / f"{name}.toml"))
    assert "beside it" in elsewhere.stderr


def test_corners_are_all_sets():
    assert set(corners(3)) == {frozenset(c) for n in range(4) for c in itertools.combinations(range(3), n)}
