"""A driver that is several modules: loaded in order, removed in reverse, each verified."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fake_kernel import FakeKernel, commands, plan_of
from txop.arms.arm_loader import Builds, InitialState, LoadedArm, shown_steps
from txop.plan.problem import PlanError
from txop.plan_check.changes import changes_of
from txop.targets.contract import Targets


def arm(files: tuple[Path, Path], name: str = "a", debug: int = 1) -> str:
    usb, driver = files
    return (
        f'[[arm]]\nname = "{name}"\n'
        f'[[arm.modules]]\nfile = "{usb}"\n'
        f'[[arm.modules]]\nfile = "{driver}"\nparameters = {{ debug = {debug} }}\n'
    )


@pytest.fixture
def files(make_module) -> tuple[Path, Path]:
    return make_module("mt76_usb"), make_module("mt7921u", srcversion="AAAA56789ABCDEF012345678")


def test_they_are_loaded_in_order_and_removed_in_reverse(kernel, targets, files, tmp_path):
    plan = plan_of(arm(files))
    kernel.load("mt76_usb", "mt7921u")
    kernel.load("mt7921u")
    loaded = LoadedArm(tmp_path)
    record = asyncio.run(loaded.load(targets, plan.arm[0], plan))
    steps = [step.what for step in record.steps]
    assert steps[:2] == ["remove mt7921u, if it is loaded", "remove mt76_usb, if it is loaded"]
    assert [Path(argv.split()[1]).name for argv in commands(kernel, "insmod")] == ["mt76_usb.ko", "mt7921u.ko"]
    assert commands(kernel, "insmod")[1].endswith(" debug=1")
    assert loaded.module == "mt7921u"
    kernel.modules["mt76_usb"] = ["mt7921u"]
    kernel.ran.clear()
    assert asyncio.run(loaded.unload()) == []
    assert commands(kernel, "rmmod") == ["rmmod mt7921u", "rmmod mt76_usb"]
    assert not {"mt76_usb", "mt7921u"} & set(kernel.modules)
    assert kernel.left_behind() == []


def test_each_is_verified(kernel, targets, files, tmp_path):
    plan = plan_of(arm(files))
    loaded = LoadedArm(tmp_path)
    asyncio.run(loaded.load(targets, plan.arm[0], plan))
    kernel.add_interface("wlan0", "mt7921u", "mt7921u")
    kernel.files["/sys/module/mt76_usb/srcversion"] = b"0123456789ABCDEF01234567\n"
    kernel.files["/sys/module/mt7921u/srcversion"] = b"AAAA56789ABCDEF012345678\n"
    verified = asyncio.run(loaded.verify(targets, plan.arm[0], plan))
    assert verified.problems == []
    assert (verified.found["module"], verified.found["parameters"]) == ("mt7921u", {"debug": "1"})
    assert verified.found["modules"] == {"mt76_usb": {"srcversion": "0123456789ABCDEF01234567", "parameters": {}}}
    assert "build_id of mt76_usb" in verified.not_available
    kernel.files["/sys/module/mt76_usb/srcversion"] = b"FFFF\n"
    problems = asyncio.run(loaded.verify(targets, plan.arm[0], plan)).problems
    assert len(problems) == 1
    assert "srcversion of the loaded mt76_usb is FFFF, but" in problems[0]


def test_a_module_cycle_takes_the_driver_and_leaves_the_others(kernel, targets, files, tmp_path):
    plan = plan_of(arm(files))
    loaded = LoadedArm(tmp_path)
    asyncio.run(loaded.load(targets, plan.arm[0], plan))
    asyncio.run(loaded.take_out())
    assert "mt76_usb" in kernel.modules
    assert "mt7921u" not in kernel.modules
    asyncio.run(loaded.put_in())
    assert "mt7921u" in kernel.modules


BUILT = """\
[[arm]]
name = "a"
[arm.build]
source = "tree"
modules = ["core/mt76_usb.ko", "mt7921u.ko"]
command = ["true"]
kernel = "."
parameters = { debug = 2 }
"""


def test_one_build_makes_them_all(kernel, targets, files, tmp_path):
    (tmp_path / "tree/core").mkdir(parents=True)
    for file, place in zip(files, ("tree/core", "tree"), strict=True):
        (tmp_path / place / file.name).write_bytes(file.read_bytes())
    plan = plan_of(BUILT)
    loaded = LoadedArm(tmp_path, Builds(tmp_path, cache=tmp_path / "cache"))
    record = asyncio.run(loaded.load(targets, plan.arm[0], plan))
    assert [argv.rpartition("/")[2] for argv in commands(kernel, "insmod")] == ["mt76_usb.ko", "mt7921u.ko debug=2"]
    assert record.built is not None
    assert [path.name for path in (record.built.module, *record.built.beside)] == ["mt7921u.ko", "mt76_usb.ko"]
    contents = {path.rpartition("/")[2]: data for path, data in kernel.written.items() if path.endswith(".ko")}
    assert contents == {file.name: file.read_bytes() for file in files}
    assert asyncio.run(loaded.unload()) == []
    assert kernel.left_behind() == []
    rows = shown_steps(plan, plan.arm[0], tmp_path)
    assert rows[0]["what"] == "build core/mt76_usb.ko, mt7921u.ko"


def test_modules_by_name_are_given_back_at_the_end(kernel, tmp_path):
    plan = plan_of('[[arm]]\nname = "a"\nmodules = [{ name = "cfg80211" }, { name = "rtl8xxxu" }]\n')
    kernel.load("rtl8xxxu")
    assert asyncio.run(InitialState(tmp_path).take(Targets({"dut": kernel}), plan)) == ("rtl8xxxu",)


@pytest.mark.parametrize(
    "text",
    [
        'modules = [{ name = "a" }]\nmodule = { name = "b" }\n',
        'modules = [{ name = "a" }]\n[arm.build]\nsource = "t"\nmodule = "x.ko"\n',
        '[arm.build]\nsource = "t"\n',
        '[arm.build]\nsource = "t"\nmodule = "x.ko"\nmodules = ["y.ko"]\n',
        '[arm.build]\nsource = "t"\nmodules = ["a/x.ko", "b/x.ko"]\n',
    ],
)
def test_what_contradicts_itself_is_refused(text):
    with pytest.raises(PlanError):
        plan_of(f'[[arm]]\nname = "a"\n{text}')


def test_a_parameter_of_one_of_them_is_a_change(files):
    plan = plan_of(arm(files) + arm(files, name="b", debug=2))
    (change,) = changes_of(plan).isolated
    assert "debug 2 instead of 1" in change.change


def test_a_fake_kernel_keeps_a_module_in_use(kernel: FakeKernel, targets, files, tmp_path):
    """The removal in the wrong order would fail: the order of the tests above is not for nothing."""
    plan = plan_of(arm(files[::-1]))
    kernel.load("mt76_usb", "mt7921u")
    kernel.load("mt7921u")
    with pytest.raises(Exception, match="it is used by mt7921u"):
        asyncio.run(LoadedArm(tmp_path).load(targets, plan.arm[0], plan))
