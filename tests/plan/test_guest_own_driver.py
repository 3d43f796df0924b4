"""Drivers that a user built or builds, as arms of a guest plan: checked before a guest boots, or left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from txop.guest.driver import check_variable
from txop.guest.driver_file import driver_file
from txop.guest_image.error import GuestError
from txop.guest_image.modules import ModuleFolder
from txop.plan.load import LoadedPlan, parse_plan
from txop.plan.overrides import Overrides
from txop.plan.problem import PlanError
from txop.plan_check.check import check
from txop.plan_check.files import OPTIONAL_FILES, left_out, missing
from txop.plan_check.guest_builds import builds_of, driver_of
from txop.plan_check.guest_chip import chip_of

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
[[arm]]
name = "b"
{arm}
[[test]]
name = "tx"
kind = "tcp-tx"
"""
VENDOR = 'optional = {}\n[arm.guest]\ndriver = "vendor"\nmodule_file = "vendor.ko"'
BUILT_FOR = "6.1.0-7-amd64"
"""In the vermagic of modules made here."""


def load(folder: Path, arm: str, guest: str = "") -> LoadedPlan:
    return parse_plan(PLAN.format(guest=guest, arm=arm).encode(), folder / "plan.toml")


@pytest.fixture(autouse=True)
def no_locks_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@pytest.fixture
def module(make_module: Callable[..., Path]) -> bytes:
    return make_module("vendor").read_bytes()


def test_a_module_for_another_kernel_is_refused_before_a_guest_boots(tmp_path: Path, module: bytes) -> None:
    (tmp_path / "vendor.ko").write_bytes(module)
    (problem,) = check(load(tmp_path, VENDOR.format("false"))).problems
    assert problem.key == "arm[1].guest.module_file"
    assert BUILT_FOR in problem.message
    assert "6.12.117" in problem.message


def test_a_module_file_is_the_driver_that_the_plan_names(tmp_path: Path, module: bytes) -> None:
    path = tmp_path / "file.ko"
    path.write_bytes(module)
    assert driver_file(path, "vendor", BUILT_FOR).build_id is not None
    with pytest.raises(GuestError, match="is the module vendor, not rtl8xxxu"):
        driver_file(path, "rtl8xxxu", BUILT_FOR)
    path.write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(GuestError, match=r"file\.ko"):
        driver_file(path, "vendor", BUILT_FOR)
    with pytest.raises(GuestError, match=r"none\.ko: No such file"):
        driver_file(tmp_path / "none.ko", "vendor", BUILT_FOR)


@pytest.mark.parametrize(
    ("theirs", "is_refused"),
    [
        (b"SMP preempt mod_unload modversions ", False),
        (b"SMP mod_unload modversions \0\0\0\0\0\0\0\0", True),
        (b"SMP preempt mod_unload \0\0\0\0\0\0\0\0\0\0\0\0", True),
    ],
)
def test_a_module_for_a_kernel_with_other_options_is_refused(
    tmp_path: Path, module: bytes, theirs: bytes, is_refused: bool
) -> None:
    """Linux compares the whole vermagic (kernel/module/version.c, same_magic)."""
    path, folder = tmp_path / "vendor.ko", tmp_path / "modules"
    folder.mkdir()
    path.write_bytes(module)
    ours = b"SMP preempt mod_unload modversions "
    assert len(theirs) == len(ours)
    assert ours in module
    (folder / "other.ko").write_bytes(module.replace(ours, theirs))
    (tmp_path / "bzImage").write_bytes(b"")
    guest = 'kernel_file = "bzImage"\nmodules_dir = "modules"'
    problems = [problem.key for problem in check(load(tmp_path, VENDOR.format("false"), guest)).problems]
    assert problems == (["arm[1].guest.module_file"] if is_refused else [])
    if is_refused:
        with pytest.raises(GuestError, match="options"):
            driver_file(path, "vendor", BUILT_FOR, ModuleFolder(folder))
    assert driver_file(path, "vendor", BUILT_FOR).path == path


def test_where_the_modules_of_a_kernel_cannot_be_read_its_release_decides(tmp_path: Path, module: bytes) -> None:
    path, folder = tmp_path / "vendor.ko", tmp_path / "modules"
    folder.mkdir()
    path.write_bytes(module)
    (folder / "other.ko.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    assert driver_file(path, "vendor", BUILT_FOR, ModuleFolder(folder)).path == path


def test_nothing_is_built_for_an_arm_with_its_own_module(tmp_path: Path) -> None:
    plan = load(tmp_path, VENDOR.format("true")).plan
    assert plan.guest is not None
    assert [len(builds_of(arm, plan.guest.varied(arm.guest), None)) for arm in plan.arm] == [1, 0]
    with pytest.raises(GuestError, match="built already"):
        driver_of(plan.arm[1], plan.guest.varied(plan.arm[1].guest), None)


def test_an_optional_arm_is_left_out_with_its_reason(tmp_path: Path) -> None:
    loaded = load(tmp_path, VENDOR.format("true"))
    checked = check(loaded)
    assert checked.problems == ()
    assert [problem.key for problem in checked.warnings if problem.key and "module_file" in problem.key]
    without = left_out(loaded)
    assert list(without) == ["b"]
    kept = Overrides.model_validate(Overrides(left_out=without).model_dump(exclude_defaults=True))
    assert [arm.name for arm in kept.apply(loaded.plan).arm] == ["a"]


@pytest.mark.parametrize("key", ["module_file", "source"])
def test_the_reason_is_of_what_is_lacking(tmp_path: Path, key: str) -> None:
    advice = set()
    for name, beside in (("sub/x", True), (f"{tmp_path}/x", False), ("~/no-such-x", False)):
        loaded = load(tmp_path, f'optional = true\n[arm.guest]\n{key} = "{name}"')
        assert left_out(loaded) == {"b": f"there is no {name}{' beside the plan' if beside else ''}"}
        (warning,) = [problem for problem in check(loaded).warnings if problem.key == f"arm[1].guest.{key}"]
        advice.add(warning.what_to_do)
    assert advice == {OPTIONAL_FILES[key]}
    assert len({*OPTIONAL_FILES.values()}) == len(OPTIONAL_FILES)


NAMES_OF_FILES = {"x" * 5000: "too long", "a\\u0000b": "with a NUL", "{loop}/x": "behind links in a circle"}


@pytest.mark.parametrize("name", NAMES_OF_FILES, ids=NAMES_OF_FILES.values())
@pytest.mark.parametrize("key", ["module_file", "source", "lock", "faults"])
@pytest.mark.parametrize("optional", ["true", "false"])
def test_a_name_that_no_file_can_have_is_a_problem_and_no_crash(
    tmp_path: Path, name: str, key: str, optional: str
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    name = name.format(loop=tmp_path / "loop")
    loaded = load(tmp_path, f'optional = {optional}\n[arm.guest]\n{key} = "{name}"')
    checked = check(loaded)
    keys = [problem.key for problem in (*checked.problems, *checked.warnings)]
    assert f"arm[1].guest.{key}" in keys
    left_out(loaded)


@pytest.mark.parametrize("key", ["module_file", "source"])
def test_a_file_that_may_not_be_looked_for_is_a_problem_and_no_crash(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    loaded = load(tmp_path, f'optional = true\n[arm.guest]\n{key} = "x"')
    monkeypatch.setattr(Path, "stat", refuse)
    assert left_out(loaded) == {}
    assert ("arm", 1, "guest", key) in [path for path, _, _ in missing(loaded)]


def test_an_arm_that_is_not_optional_needs_its_module(tmp_path: Path) -> None:
    loaded = load(tmp_path, VENDOR.format("false"))
    assert [problem.key for problem in check(loaded).problems] == ["arm[1].guest.module_file"]
    assert left_out(loaded) == {}


def test_the_baseline_is_not_left_out(tmp_path: Path) -> None:
    loaded = load(tmp_path, VENDOR.format("true") + '\n[design]\nbaseline = "b"')
    assert "arm[1].optional" in [problem.key for problem in check(loaded).problems]


def test_a_module_that_is_built_already_takes_no_patches(tmp_path: Path) -> None:
    (tmp_path / "x.patch").write_text("")
    loaded = load(tmp_path, 'patches = [{ file = "x.patch" }]\n' + VENDOR.format("true"))
    assert "arm[1].guest.module_file" in [problem.key for problem in check(loaded).problems]


@pytest.mark.parametrize(
    "with_it", ['source = "x"', 'make = { A = "b" }', 'switches = ["CONFIG_X"]', 'module = "mac80211"']
)
def test_a_module_that_is_built_already_is_not_built_otherwise(tmp_path: Path, with_it: str) -> None:
    with pytest.raises(PlanError, match="built already"):
        load(tmp_path, f"{VENDOR.format('true')}\n{with_it}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("source", '"new-source"'),
        ("make", '{ A = "b" }'),
        ("switches", '["CONFIG_X"]'),
        ("module", '"mac80211"'),
        ("reverse", "true"),
    ],
)
@pytest.mark.parametrize("in_guest", [True, False])
def test_nothing_of_a_build_is_ignored_beside_a_module_file(
    tmp_path: Path, key: str, value: str, in_guest: bool
) -> None:
    file, built = 'module_file = "old.ko"', f"{key} = {value}"
    guest, arm = (file, built) if in_guest else (built, file)
    loaded = load(tmp_path, f"[arm.guest]\n{arm}", guest)
    problems = [problem.key for problem in check(loaded, files=False).problems]
    assert problems == [f"arm[1].guest.{key if in_guest else 'module_file'}"]


def test_an_arm_may_have_a_module_file_where_the_guest_has_none_of_a_build(tmp_path: Path) -> None:
    assert check(load(tmp_path, '[arm.guest]\nmodule_file = "old.ko"'), files=False).problems == ()


@pytest.mark.parametrize("of_a_build", ['make = { A = "b" }', 'source = "x"', 'switches = ["CONFIG_X"]'])
def test_the_stack_with_debugfs_is_built_as_it_is_configured(tmp_path: Path, of_a_build: str) -> None:
    debugfs = '[arm.guest]\ndevice = "mt7610u"\ndriver = "mt76x0u"\nqueues = { aql_enable = false }\n'
    stations = 'stations = [{ name = "s", signal_dbm = -50 }]'
    before, after = (
        [problem.key for problem in check(load(tmp_path, debugfs + stations + more), files=False).problems]
        for more in ("", f"\n{of_a_build}")
    )
    assert [key for key in after if key not in before] == ["arm[1].guest.queues"]


def test_variables_reach_the_build_of_a_source(tmp_path: Path) -> None:
    arm = '[arm.guest]\nsource = "src"\nmake = { CONFIG_PLATFORM_X = "y", EXTRA = "a b" }'
    plan = load(tmp_path, arm).plan
    assert plan.guest is not None
    what = driver_of(plan.arm[1], plan.guest.varied(plan.arm[1].guest), None)
    assert what.make == ("CONFIG_PLATFORM_X=y", "EXTRA=a b")


@pytest.mark.parametrize(
    "variable", ["M=/tmp", "KCFLAGS=-O0", "A", "1A=b", "A=$(shell id)", "A=b\nall:", "A B=c", "=x"]
)
def test_what_make_would_take_for_something_else_is_refused(variable: str) -> None:
    with pytest.raises(GuestError, match="NAME=VALUE"):
        check_variable(variable)


@pytest.mark.parametrize("table", ['M = "x"', 'A = "$(shell id)"', 'A = "b\\nall:"', '"A B" = "c"'])
def test_a_plan_has_the_same_limits(tmp_path: Path, table: str) -> None:
    with pytest.raises(PlanError):
        load(tmp_path, f'[arm.guest]\nsource = "src"\nmake = {{ {table} }}')


def test_the_air_of_an_arm_is_laid_over_that_of_the_plan(tmp_path: Path) -> None:
    guest = "[guest.air]\nsignal_dbm = -50\nloss_percent = 3"
    plan = load(tmp_path, "[arm.guest.air]\nsignal_dbm = -66\nneighbour_mbit_s = 3", guest).plan
    assert plan.guest is not None
    options = [set(chip_of(plan.guest.varied(arm.guest)).options) for arm in plan.arm]
    assert options[0] == {"--signal=-50", "--loss=0.030000"}
    assert options[1] == {"--signal=-66", "--loss=0.030000", "--neighbour=3"}


@pytest.mark.parametrize(
    ("guest", "key"),
    [
        ('stations = [{ name = "s", signal_dbm = -50 }]\nair = { loss_percent = 1 }', "guest.air"),
        ("air = { loss_percent = 101 }", None),
    ],
)
def test_air_that_cannot_be(tmp_path: Path, guest: str, key: str | None) -> None:
    try:
        problems = [problem.key for problem in check(load(tmp_path, "", guest)).problems]
    except PlanError as error:
        problems = [problem.key for problem in error.problems]
        assert key is None
        key = "guest.air.loss_percent"
    assert key in problems
