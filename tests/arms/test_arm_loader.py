"""Arms are loaded step by step, verified, and everything is taken back, whatever goes wrong on the way."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from fake_kernel import BUSYBOX, FakeKernel, commands, plan_of
from fake_target import FakeTarget, answer
from txop.arms.arm_loader import InitialState, LoadedArm, shown_steps, tag_of, undo_by_commands
from txop.arms.module import arguments, parse_modules
from txop.arms.steps import StepError
from txop.arms.verify import same_value
from txop.plan.load import LoadedPlan
from txop.plan.model import Plan
from txop.plan_check.check import check
from txop.targets.contract import TargetError, TargetLostError, Targets

BY_NAME = """\
[[arm]]
name = "a"
remove = ["rtl8192cu"]
blacklist = ["rtl8192cu", "8192cu"]
load = ["ip link show"]
unload = ["ip link first", "ip link second"]
[arm.module]
name = "rtl8xxxu"
parameters = { debug = 16, ht40 = true }
depends = ["mac80211"]
"""


def arm_of(file: str) -> str:
    return f'[[arm]]\nname = "a"\n[arm.module]\nfile = "{file}"\nparameters = {{ debug = 16 }}\n'


def load(targets: Targets, plan: Plan, folder, arm: str = "a", **options):
    loaded = LoadedArm(folder, **options)
    record = asyncio.run(loaded.load(targets, plan.find_arm(arm), plan))
    return loaded, record


def test_a_module_by_name_is_loaded_in_order_and_unloaded_in_reverse(kernel, targets, tmp_path):
    kernel.load("rtl8192cu")
    kernel.load("rtl8xxxu")
    plan = plan_of(BY_NAME)
    loaded, record = load(targets, plan, tmp_path)
    assert [step.what for step in record.steps] == [
        "keep rtl8192cu, 8192cu from loading by themselves",
        "remove rtl8192cu, if it is loaded",
        "load rtl8xxxu",
        "run ip afterwards",
        "run ip afterwards",
        "run ip",
    ]
    assert commands(kernel, "modprobe")[1:] == [
        "modprobe -r rtl8192cu",
        "modprobe -r rtl8xxxu",
        "modprobe mac80211",
        "modprobe rtl8xxxu debug=16 ht40=1",
    ]
    assert kernel.files["/run/modprobe.d/txop-arm.conf"].endswith(b"blacklist rtl8192cu\nblacklist 8192cu\n")
    assert all(argv in kernel.root for argv in kernel.ran if argv[0] in ("rmmod", "insmod"))
    kernel.ran.clear()
    assert asyncio.run(loaded.unload()) == []
    assert commands(kernel, "ip", "modprobe", "rm") == [
        "ip link first",
        "ip link second",
        "modprobe -r rtl8xxxu",
        "modprobe rtl8192cu",
        "rm -f /run/modprobe.d/txop-arm.conf /etc/modprobe.d/txop-arm.conf",
    ]
    assert set(kernel.modules) == {"mac80211", "rtl8192cu"}
    assert kernel.left_behind() == []


def test_restoring_can_be_left_to_the_end_of_the_campaign(kernel, targets, tmp_path):
    kernel.load("rtl8192cu")
    plan = plan_of(BY_NAME)
    bed = InitialState(tmp_path)
    assert asyncio.run(bed.take(targets, plan)) == ("rtl8192cu",)
    assert "/run/modprobe.d/txop-campaign.conf" in kernel.files
    for _ in range(2):
        loaded, _record = load(targets, plan, tmp_path, restore=False)
        assert asyncio.run(loaded.unload()) == []
        assert "rtl8192cu" not in kernel.modules
        assert "/run/modprobe.d/txop-campaign.conf" in kernel.files
    assert asyncio.run(bed.give_back(targets, plan)) == []
    assert "rtl8192cu" in kernel.modules
    assert kernel.left_behind() == []


def test_a_resumed_campaign_gives_back_what_the_first_start_found(kernel, targets, tmp_path):
    plan = plan_of(BY_NAME)
    bed = InitialState(tmp_path)
    assert asyncio.run(bed.take(targets, plan, found=("rtl8192cu", "evil"))) == ("rtl8192cu",)
    asyncio.run(bed.give_back(targets, plan))
    assert "rtl8192cu" in kernel.modules
    assert "modprobe evil" not in commands(kernel, "modprobe")


def test_busybox_has_its_own_folder_for_blacklists(tmp_path):
    kernel = FakeKernel(modprobe=BUSYBOX)
    kernel.connected = True
    load(Targets({"dut": kernel}), plan_of(BY_NAME), tmp_path)
    assert "/etc/modprobe.d/txop-arm.conf" in kernel.files
    assert "/run/modprobe.d/txop-arm.conf" not in kernel.files


def test_a_target_without_modprobe_still_inserts_files(make_module, tmp_path):
    kernel = FakeKernel(modprobe=None)
    kernel.connected = True
    targets = Targets({"dut": kernel})
    loaded, _ = load(targets, plan_of(arm_of(str(make_module()))), tmp_path)
    assert list(kernel.modules) == ["rtl8xxxu"]
    assert asyncio.run(loaded.unload()) == []
    assert kernel.modules == {}
    assert kernel.left_behind() == []
    with pytest.raises(StepError, match="has no modprobe, so rtl8xxxu has to be given as a file"):
        load(targets, plan_of('[[arm]]\nname = "a"\nmodule = { name = "rtl8xxxu" }\n'), tmp_path)


def test_a_file_is_copied_loaded_with_what_it_needs_and_taken_away(kernel, targets, make_module, tmp_path):
    file = make_module()
    loaded, _ = load(targets, plan_of(arm_of(str(file))), tmp_path)
    (path,) = [path for path in kernel.written if path.endswith(".ko")]
    assert path.startswith(f"/run/txop/{tag_of(plan_of(arm_of(str(file))))}-")
    assert kernel.written[path] == file.read_bytes()
    assert commands(kernel, "modprobe")[1:] == ["modprobe mac80211", "modprobe cfg80211"]
    assert commands(kernel, "insmod") == [f"insmod {path} debug=16"]
    assert loaded.module == "rtl8xxxu"
    assert asyncio.run(loaded.unload()) == []
    assert kernel.left_behind() == []


def test_a_module_in_use_is_tried_again_and_its_users_are_named(kernel, targets, tmp_path):
    kernel.load("rtl8xxxu")
    kernel.busy["rtl8xxxu"] = 4
    plan = plan_of('[[arm]]\nname = "a"\nmodule = { name = "rtl8xxxu" }\n')
    loaded, _ = load(targets, plan, tmp_path)
    asyncio.run(loaded.unload())
    kernel.load("cfg80211", "mac80211", "brcmfmac")
    plan = plan_of('[[arm]]\nname = "a"\nremove = ["cfg80211"]\n')
    with pytest.raises(StepError, match=r"could not remove cfg80211.*it is used by mac80211, brcmfmac"):
        load(targets, plan, tmp_path)


def test_a_module_that_is_gone_already_is_no_error(kernel, targets, tmp_path):
    loaded, _ = load(targets, plan_of(BY_NAME), tmp_path)
    kernel.modules.clear()
    kernel._show_modules()
    assert asyncio.run(loaded.unload()) == []


def test_a_failed_insmod_says_why(kernel, targets, make_module, tmp_path):
    kernel.log = "[1.0] other: hello\n[2.0] rtl8xxxu: disagrees about version of symbol module_layout\n"
    kernel.answer("uname", "-r", stdout="6.6.1\n")
    kernel.answer("uname", "-r", stdout="6.6.1\n")
    kernel._scripts["insmod",] = [answer(status=1, stderr="insmod: ERROR: Invalid module format\n")]
    kernel._scripts["uname", "-r"] = [answer(stdout="6.6.1\n")]
    with pytest.raises(StepError) as failed:
        load(targets, plan_of(arm_of(str(make_module()))), tmp_path)
    said = str(failed.value)
    assert "Invalid module format" in said
    assert "built for Linux 6.1.0-7-amd64, but 6.6.1 runs" in said
    assert "kernel log: [2.0] rtl8xxxu: disagrees about version" in said
    assert "hello" not in said


def test_built_in_and_unknown_modules_are_told_apart(kernel, targets, tmp_path):
    plan = plan_of('[[arm]]\nname = "a"\nmodule = { name = "loop" }\n')
    kernel.answer("modprobe", "loop")
    kernel.folders.add("/sys/module/loop")
    with pytest.raises(StepError, match="built into the kernel"):
        load(targets, plan, tmp_path)
    kernel.folders.discard("/sys/module/loop")
    with pytest.raises(StepError, match="give the module's own name"):
        load(targets, plan, tmp_path)


@pytest.mark.parametrize("content", [None, b"no module", b"\x1f\x8bdamaged"])
def test_a_file_that_is_no_module_never_reaches_the_target(kernel, targets, tmp_path, content):
    if content is not None:
        (tmp_path / "x.ko").write_bytes(content)
    with pytest.raises(StepError, match=r"x\.ko"):
        load(targets, plan_of(arm_of("x.ko")), tmp_path)
    assert commands(kernel, "insmod") == []


def test_everything_is_taken_back_wherever_the_load_fails(make_module, tmp_path):
    """The target fails at each command in turn, then works again: nothing is left behind, and nothing raises."""
    (tmp_path / "fw.bin").write_bytes(b"new")
    text = (
        '[[arm]]\nname = "a"\nremove = ["rtl8192cu"]\nblacklist = ["rtl8192cu"]\nload = ["ip x"]\nunload = ["ip y"]\n'
        f'[arm.module]\nfile = "{make_module()}"\n[arm.firmware]\nfile = "fw.bin"\nname = "rtlwifi/fw.bin"\n'
    )
    plan = plan_of(text)
    failures = 0
    for number in itertools.count(1):
        kernel = FakeKernel()
        kernel.files["/lib/firmware/rtlwifi/fw.bin"] = b"old"
        kernel.load("rtl8192cu")
        targets = Targets({"dut": kernel})
        asyncio.run(kernel.connect())
        kernel.lose_at(number)
        loaded = LoadedArm(tmp_path)
        try:
            asyncio.run(loaded.load(targets, plan.find_arm("a"), plan))
            break
        except TargetLostError:
            failures += 1
        asyncio.run(kernel.connect())
        assert asyncio.run(loaded.unload()) == []
        asyncio.run(InitialState(tmp_path).take(targets, plan))
        asyncio.run(InitialState(tmp_path).give_back(targets, plan))
        assert kernel.left_behind() == [], number
        assert kernel.files["/lib/firmware/rtlwifi/fw.bin"] == b"old", number
        assert "rtl8xxxu" not in kernel.modules, number
    assert failures > 15


def test_an_unload_that_is_interrupted_goes_on_where_it_was(make_module, tmp_path):
    plan = plan_of(
        '[[arm]]\nname = "a"\nremove = ["rtl8192cu"]\nblacklist = ["rtl8192cu"]\n'
        f'module = {{ file = "{make_module()}" }}\n'
    )
    interrupted = 0
    for number in itertools.count(1):
        kernel = FakeKernel()
        kernel.load("rtl8192cu")
        targets = Targets({"dut": kernel})
        asyncio.run(kernel.connect())
        loaded = LoadedArm(tmp_path)
        asyncio.run(loaded.load(targets, plan.find_arm("a"), plan))
        kernel.lose_at(kernel.count + number)
        try:
            asyncio.run(loaded.unload())
            break
        except TargetLostError:
            interrupted += 1
        asyncio.run(kernel.connect())
        assert asyncio.run(loaded.unload()) == []
        assert kernel.left_behind() == [], number
        assert set(kernel.modules) == {"mac80211", "cfg80211", "rtl8192cu"}, number
    assert interrupted >= 5


def test_problems_of_an_unload_are_told_and_the_rest_is_done(kernel, targets, tmp_path):
    loaded, _ = load(targets, plan_of(BY_NAME), tmp_path)
    kernel.answer("ip", "link", "first", status=3, stderr="no such thing\n")
    (problem,) = asyncio.run(loaded.unload())
    assert "`ip link first` ended with 3: no such thing" in problem
    assert kernel.left_behind() == []
    assert "rtl8xxxu" not in kernel.modules


def test_a_failed_step_is_in_the_records(kernel, targets, tmp_path):
    kernel.answer("ip", status=1, stderr="RTNETLINK answers: No such device\n")
    kernel._scripts["ip",] = kernel._scripts["ip",][-1:]
    loaded = LoadedArm(tmp_path)
    plan = plan_of(BY_NAME)
    with pytest.raises(TargetError, match="No such device"):
        asyncio.run(loaded.load(targets, plan.find_arm("a"), plan))
    assert [record.failed is None for record in loaded.records] == [True, True, True, True, True, False]
    with pytest.raises(RuntimeError):
        asyncio.run(loaded.load(targets, plan.find_arm("a"), plan))


def test_what_a_killed_campaign_left_is_cleared_away(kernel, targets, make_module, tmp_path):
    (tmp_path / "fw.bin").write_bytes(b"new")
    plan = plan_of(
        f'[[arm]]\nname = "a"\nblacklist = ["x"]\nmodule = {{ file = "{make_module()}" }}\n'
        'firmware = { file = "fw.bin", name = "rtlwifi/fw.bin" }\n'
    )
    load(targets, plan, tmp_path)  # and then it was killed
    kernel.folders.add("/run/txop/000000000000-other")
    assert len(kernel.left_behind()) > 4
    asyncio.run(InitialState(tmp_path).take(targets, plan))
    asyncio.run(InitialState(tmp_path).give_back(targets, plan))
    assert kernel.left_behind() == ["/run/txop/000000000000-other"]
    assert "/lib/firmware/rtlwifi/fw.bin" not in kernel.files


def test_firmware_is_put_in_place_before_the_load_and_back_after(kernel, targets, tmp_path):
    (tmp_path / "fw.bin").write_bytes(b"new")
    plan = plan_of(
        '[[arm]]\nname = "a"\nmodule = { name = "rtl8xxxu" }\nfirmware = { file = "fw.bin", name = "rtlwifi/fw.bin" }\n'
    )
    kernel.files["/lib/firmware/rtlwifi/fw.bin"] = b"old"
    loaded, _ = load(targets, plan, tmp_path)
    assert kernel.files["/lib/firmware/rtlwifi/fw.bin"] == b"new"
    assert kernel.files["/lib/firmware/rtlwifi/fw.bin.txop-kept"] == b"old"
    verified = asyncio.run(loaded.verify(targets, plan.arm[0], plan))
    assert verified.found["firmware_sha256"].startswith("11507a0e2f5e69d5")
    assert asyncio.run(loaded.unload()) == []
    assert kernel.files["/lib/firmware/rtlwifi/fw.bin"] == b"old"
    kernel.files["/lib/firmware/updates/rtlwifi/fw.bin"] = b"hides ours"
    with pytest.raises(StepError, match=r"updates/rtlwifi/fw\.bin would be loaded instead"):
        load(targets, plan, tmp_path)


def verify(targets, plan, loaded):
    return asyncio.run(loaded.verify(targets, plan.arm[0], plan))


def sysfs(kernel: FakeKernel, **values: str) -> None:
    for key, value in values.items():
        kernel.files[f"/sys/module/rtl8xxxu/{key}"] = value.encode() + b"\n"


def build_id_note(text: str) -> bytes:
    return bytes.fromhex("040000001400000003000000474e5500" + text)


def test_the_loaded_module_is_compared_with_its_file(kernel, targets, make_module, tmp_path):
    import re
    import subprocess

    file = make_module()
    plan = plan_of(arm_of(str(file)))
    loaded, _ = load(targets, plan, tmp_path)
    shown = subprocess.run(["readelf", "-n", file], capture_output=True, text=True, check=True).stdout
    match = re.search(r"Build ID: ([0-9a-f]+)", shown)
    assert match is not None
    note = "/sys/module/rtl8xxxu/notes/.note.gnu.build-id"
    sysfs(kernel, srcversion="0123456789ABCDEF01234567", version="1.2")
    kernel.files[note] = build_id_note(match[1])
    verified = verify(targets, plan, loaded)
    assert verified.problems == []
    assert verified.found == {
        "module": "rtl8xxxu", "srcversion": "0123456789ABCDEF01234567", "version": "1.2", "build_id": match[1],
        "parameters": {"debug": "16"}, "driver": "rtl8xxxu", "driver_module": "rtl8xxxu",
    }  # fmt: skip
    kernel.files[note] = build_id_note("ab" * 20)
    sysfs(kernel, srcversion="FFFF")
    kernel.files["/sys/module/rtl8xxxu/parameters/debug"] = b"0\n"
    problems = verify(targets, plan, loaded).problems
    assert len(problems) == 3
    assert "srcversion of the loaded rtl8xxxu is FFFF, but" in problems[0]
    assert "build_id" in problems[1]
    assert problems[2] == "dut: parameter debug of rtl8xxxu is 0, not 16"


def test_what_a_target_cannot_tell_is_noted_and_no_problem(kernel, targets, make_module, tmp_path):
    plan = plan_of(arm_of(str(make_module())))
    loaded, _ = load(targets, plan, tmp_path)
    del kernel.files["/sys/module/rtl8xxxu/parameters/debug"]
    verified = verify(targets, plan, loaded)
    assert verified.problems == []
    assert set(verified.not_available) == {"srcversion", "version", "build_id", "parameter debug"}
    asked = plan_of(arm_of(str(make_module())) + '[arm.verify]\nsrcversion = "AB"\n')
    assert "the plan asks for AB" in verify(targets, asked, loaded).problems[0]


def test_a_parameter_that_the_module_does_not_have_is_a_problem(kernel, targets, make_module, tmp_path):
    plan = plan_of(arm_of(str(make_module())).replace("debug", "debgu"))
    loaded, _ = load(targets, plan, tmp_path)
    del kernel.files["/sys/module/rtl8xxxu/parameters/debgu"]
    assert verify(targets, plan, loaded).problems == ["dut: rtl8xxxu has no parameter debgu, so the kernel ignored it"]


@pytest.mark.parametrize(("name", "shown"), [("dyndbg", None), ("async-probe", None), ("ht-40", "ht_40")])
def test_parameters_of_every_module_and_dashes_are_no_problem(kernel, targets, make_module, tmp_path, name, shown):
    file = make_module()
    file.write_bytes(file.read_bytes().replace(b"parmtype=ht40:bool\0", b"parmtype=ht_40:int\0"))
    plan = plan_of(arm_of(str(file)).replace("debug", name))
    loaded, _ = load(targets, plan, tmp_path)
    kernel.files.pop(f"/sys/module/rtl8xxxu/parameters/{name}", None)
    if shown is not None:
        kernel.files[f"/sys/module/rtl8xxxu/parameters/{shown}"] = b"16\n"
    verified = verify(targets, plan, loaded)
    assert verified.problems == []
    assert verified.found["parameters"] == ({} if shown is None else {name: "16"})


def test_the_driver_behind_the_interface_is_the_modules_or_needs_it(kernel, targets, tmp_path):
    plan = plan_of('[[arm]]\nname = "a"\nmodule = { name = "mac80211" }\n')
    loaded, _ = load(targets, plan, tmp_path)
    (problem,) = verify(targets, plan, loaded).problems
    assert problem == "dut: wlan0 is driven by rtl8xxxu, which has nothing to do with mac80211"
    kernel.load("rtl8xxxu")
    kernel.load("mac80211", "rtl8xxxu")
    assert verify(targets, plan, loaded).problems == []
    asked = plan_of('[[arm]]\nname = "a"\nmodule = { name = "mac80211" }\nverify = { driver = "rtl8192cu" }\n')
    assert verify(targets, asked, loaded).problems == ["dut: wlan0 is driven by rtl8xxxu, not by rtl8192cu"]


def test_the_module_decides_which_driver_an_interface_has(kernel, targets, tmp_path):
    kernel.links["/sys/class/net/wlan0/device/driver/module"] = "/sys/module/rtl8xxxu_git"
    plan = '[[arm]]\nname = "a"\nmodule = { name = "rtl8xxxu" }\nverify = { driver = "%s" }\n'
    own, other = plan_of(plan % "rtl8xxxu_git"), plan_of(plan % "rtl8xxxu")
    loaded, _ = load(targets, own, tmp_path)
    assert verify(targets, own, loaded).problems == []
    (problem,) = verify(targets, other, loaded).problems
    assert problem == "dut: wlan0 is driven by rtl8xxxu (module rtl8xxxu_git), not by rtl8xxxu"


def test_modules_by_name_are_compared_with_modinfo(kernel, targets, tmp_path):
    plan = plan_of('[[arm]]\nname = "a"\nmodule = { name = "rtl8xxxu" }\n')
    kernel.answer("modinfo", "-F", "srcversion", stdout="AAAA\n")
    kernel.answer("modinfo", "-F", "version", status=1)
    loaded, _ = load(targets, plan, tmp_path)
    sysfs(kernel, srcversion="BBBB")
    (problem,) = verify(targets, plan, loaded).problems
    assert problem == "dut: srcversion of the loaded rtl8xxxu is BBBB, but modinfo rtl8xxxu has AAAA"


def test_commands_of_verify_must_succeed(kernel, targets, tmp_path):
    plan = plan_of('[[arm]]\nname = "a"\nverify = { commands = ["check it", "iw dev"] }\n')
    kernel.answer("check", "it")
    kernel.answer("iw", status=2, stderr="nl80211 not found.\n")
    loaded, _ = load(targets, plan, tmp_path)
    assert verify(targets, plan, loaded).problems == ["dut: `iw dev` ended with 2: nl80211 not found."]


def test_a_module_that_went_away_is_a_problem(kernel, targets, tmp_path):
    plan = plan_of('[[arm]]\nname = "a"\nmodule = { name = "rtl8xxxu" }\n')
    loaded, _ = load(targets, plan, tmp_path)
    kernel.modules.clear()
    kernel._show_modules()
    del kernel.files["/sys/class/net/wlan0/ifindex"]
    kernel.links.clear()
    problems = verify(targets, plan, loaded).problems
    assert "dut: module rtl8xxxu is not loaded" in problems
    assert "dut: there is no interface wlan0" in problems


def test_values_of_parameters_are_compared_as_the_kernel_shows_them():
    assert same_value("Y", "1")
    assert same_value("N", "0")
    assert same_value("16", "0x10")
    assert same_value("8", "010")
    assert same_value("a b", '"a b"')
    assert not same_value("Y", "0")
    assert not same_value("16", "17")


def test_parameters_are_quoted_for_insmod_only():
    parameters = {"a": "x y", "b": False, "c": "1,2"}
    assert arguments(parameters, quoted=False) == ["a=x y", "b=0", "c=1,2"]
    assert arguments(parameters, quoted=True) == ['a="x y"', "b=0", "c=1,2"]


def test_proc_modules_of_this_kernel_is_read_and_garbage_is_passed_over():
    from pathlib import Path

    real = Path("/proc/modules")
    if real.exists():
        text = real.read_text()
        assert len(parse_modules(text)) == len(text.splitlines())
    assert parse_modules("\n\x00\nx\na 1 2\nmac80211 1 2 rtl8xxxu,[permanent], Live 0x0\n").keys() == {"mac80211"}


def test_what_is_shown_is_what_is_done(kernel, targets, make_module, tmp_path):
    """Every command of the dry run is run by the real one, in the same order (the temporary folder aside)."""
    import re

    kernel.load("rtl8192cu")
    plan = plan_of(
        '[[arm]]\nname = "a"\nremove = ["rtl8192cu"]\nload = ["ip link show"]\nunload = ["ip link first"]\n'
        f'[arm.module]\nfile = "{make_module()}"\ndepends = ["mac80211"]\n'
    )
    rows = shown_steps(plan, plan.arm[0], tmp_path)
    shown = [command.partition("  #")[0] for row in rows for command in row["commands"]]
    loaded, _ = load(targets, plan, tmp_path)
    asyncio.run(loaded.unload())
    done = [re.sub(r"/run/txop/[0-9a-f]+-\d+", "TEMPORARY", " ".join(argv)) for argv in kernel.ran]
    for command in shown:
        if not command.startswith(("copy", "rmmod")):  # a copy is not a command; modprobe -r is tried before rmmod
            assert command in done, command
            done = done[done.index(command) + 1 :]


ON_PEER = """\
[[arm]]
name = "a"
load = ["ip link show"]
unload = ["ip link first"]
[arm.on.peer]
load = ["uci set a", "uci commit"]
unload = ["uci revert a", "uci commit"]
"""


def test_commands_on_another_target_come_last_and_are_undone_first(kernel, tmp_path, monkeypatch):
    peer = FakeTarget("peer")
    peer.connected = True
    peer.answer("uci")
    order: list[str] = []
    for target in (kernel, peer):
        run = target.run

        async def noted(argv, *, run=run, name=target.name, **options):
            order.append(f"{name}: {' '.join(argv)}")
            return await run(argv, **options)

        monkeypatch.setattr(target, "run", noted)
    targets = Targets({"dut": kernel, "peer": peer})
    plan = plan_of(ON_PEER)
    loaded, _ = load(targets, plan, tmp_path)
    assert order == ["dut: ip link show", "peer: uci set a", "peer: uci commit"]
    assert peer.root == peer.ran
    order.clear()
    assert asyncio.run(loaded.unload()) == []
    assert order == ["peer: uci revert a", "peer: uci commit", "dut: ip link first"]
    order.clear()
    assert asyncio.run(undo_by_commands(targets, plan.arm[0], plan)) == []
    assert order == ["peer: uci revert a", "peer: uci commit", "dut: ip link first"]


@pytest.mark.parametrize(("name", "said"), [("dut", "its own commands are those of the arm"), ("ap", "unknown target")])
def test_commands_on_a_target_that_is_not_another_one_are_a_problem(tmp_path, name, said):
    plan = plan_of(ON_PEER.replace("arm.on.peer", f"arm.on.{name}"))
    problems = check(LoadedPlan(plan, "", tmp_path / "plan.toml", ""), files=False).problems
    assert any(said in problem.message for problem in problems)


OOPS = """\
[  455.7] BUG: kernel NULL pointer dereference, address: 0000000000000000
[  455.8] RIP: 0010:probe+0x1b/0x1000 [rtl8xxxu]
[  455.9] Modules linked in: rtl8xxxu(OE+) mac80211 cfg80211
"""


def test_a_module_that_oopses_while_it_is_loaded_is_named_and_not_waited_for(kernel, targets, make_module, tmp_path):
    def oops(argv, stdin):
        kernel.files["/proc/modules"] = b"rtl8xxxu 16384 1 - Loading 0x0000000000000000 (OE+)\n"
        kernel.log = OOPS
        return answer(status=137)

    kernel._scripts[("insmod",)] = [oops]
    kernel.busy["rtl8xxxu"] = 100
    plan = plan_of(arm_of(str(make_module())))
    loaded = LoadedArm(tmp_path)
    with pytest.raises(StepError) as failed:
        asyncio.run(loaded.load(targets, plan.arm[0], plan))
    assert "ended with 137; kernel log: [  455.7] BUG: kernel NULL pointer dereference" in failed.value.what
    assert failed.value.what.endswith("RIP: 0010:probe+0x1b/0x1000 [rtl8xxxu]")
    kernel.ran.clear()
    (problem,) = asyncio.run(loaded.unload())
    assert "half loaded, as after an oops" in problem
    assert len(commands(kernel, "rmmod")) == 1
