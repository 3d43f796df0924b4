"""Cycles and fault scripts as runs of a campaign: what is reported of what a guest left. Nothing boots here."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quiet_reporter import Quiet
from txop.campaign.guest_runs import Stopwatch
from txop.campaign.guest_trials import carry_out_trial, limit_s
from txop.campaign.guests import GuestTestbed
from txop.campaign.instruments import in_guest
from txop.campaign.placed_arm import ArmError
from txop.guest.chips import VARIABLE, Chip
from txop.guest.qemu import Computer
from txop.guest.results import Event
from txop.guest.running import Cause, Ended, GuestFailedError
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay
from txop.guest_trials import trial as trials
from txop.measure.instrument import Marks, Reading, RunContext, RunFacts
from txop.measure.probes.guest_trial import GuestTrial
from txop.plan.guest import GuestSpec
from txop.plan.guest_time import guest_s
from txop.plan.load import LoadedPlan, load_plan, parse_plan
from txop.plan.model import Plan
from txop.plan.named_file import named_file
from txop.plan_check.check import check
from txop.plan_check.figures import figures_of, primary_of
from txop.targets.contract import TargetError, Targets

EXAMPLES = Path(__file__).parents[2] / "examples" / "plans"
PLAN = """
title = "x"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
mips = 500
[[arm]]
name = "none"
[[arm]]
name = "unplug"
[arm.guest]
faults = "txop:faults/unplug.toml"
[[test]]
name = "reload"
kind = "module-cycle"
cycles = 30
pause_s = 0.5
recover_s = 20
[[test]]
name = "replug"
kind = "module-cycle"
way = "replug"
cycles = 3
[[test]]
name = "fault"
kind = "fault-trial"
"""
RELOAD, REPLUG, FAULT = range(3)
CONTROL, FAULTY = range(2)


def loaded(text: str = PLAN) -> LoadedPlan:
    return parse_plan(text.encode(), Path("plan.toml"))


def left(
    folder: Path,
    facts: str,
    *,
    failure: str | None = None,
    test: int = RELOAD,
    arm: int = FAULTY,
    **files: str,
) -> Reading:
    """What is read of a guest that left these files; ``failure``: how it failed, and then it left no files."""
    plan = loaded().plan
    guest = folder / "guest"
    (guest / "files").mkdir(parents=True)
    end = {"failure": failure, "turned_off": failure is not None, "void": False, "seconds": 9.0, "guest_seconds": 7.0}
    (guest / "trial.json").write_text(json.dumps({"key": "k", **end}))
    if failure is None:
        for name, text in {"facts": facts, **files}.items():
            (guest / "files" / name).write_text(text)
    else:
        shutil.rmtree(guest / "files")
        for name, text in files.items():
            (guest / name).write_text(text)
    run = RunFacts(plan, plan.arm[arm], plan.test[test], folder, Marks(window=10.0, end=500.0))
    (instrument,) = in_guest(plan, plan.test[test])
    assert isinstance(instrument, GuestTrial)
    reading = instrument.read(run)
    known = set(figures_of(plan, plan.test[test])) - {"load_time_s"}
    assert set(reading.metrics) == known
    assert all((value.value is None) == (value.reason is not None) for value in reading.metrics.values())
    return reading


def figure(reading: Reading, key: str) -> float | None:
    return reading.metrics[key].value


def cycles(count: int, *, carried: int = 50) -> str:
    rows = [
        f"{20 * n}.00 given {n}\n{20 * n + 5}.00 back {n}\n{20 * n + 6}.00 cycle {n} {carried}"
        for n in range(1, count + 1)
    ]
    return "\n".join(["9.00 driver rtl8192cu", "10.00 begun reload 30", *rows, ""])


def memory(count: int, leak: int) -> dict[str, str]:
    slab = "".join(f"{n}\tkmalloc-2k\t{100 + leak * n}\t2048\n" for n in range(1, count + 1))
    pages = "".join(
        f"{n}\tMemTotal\t500000\n{n}\tMemFree\t400000\n{n}\tVmallocUsed\t3000\n{n}\tSlab\t{9000 + 2 * leak * n}\n"
        f"{n}\tSUnreclaim\t{5000 + 2 * leak * n}\n"
        for n in range(1, count + 1)
    )
    return {"slab": slab, "memory": pages}


END = "900.00 ends-well\n901.00 done\n"


def test_cycles_that_go_well_are_figures_without_a_word(tmp_path: Path) -> None:
    reading = left(
        tmp_path, cycles(30) + END, kmsg="6,1,1000,-;usb 1-1: USB disconnect, device number 2\n", **memory(30, 0)
    )
    wanted = {"cycles": 30, "cycles_failed": 0, "recovery_s": 5, "kernel_warnings": 0, "hung_tasks": 0, "leaks": 0}
    assert {key: figure(reading, key) for key in wanted} == wanted
    assert [figure(reading, key) for key in ("slab_growth_kb", "vmalloc_growth_kb")] == [0, 0]
    assert reading.metrics["kmemleak_objects"].reason == "this kernel has no kmemleak"
    assert reading.warnings == []
    assert reading.series["recovery_s"][:2] == [(10.0, 5.0), (30.0, 5.0)]
    assert "guest/files/kmsg" in reading.files


def test_what_grows_with_every_cycle_is_a_leak(tmp_path: Path) -> None:
    reading = left(tmp_path, cycles(30) + END, **memory(30, 1))
    assert figure(reading, "slab_growth_kb") == 2
    assert figure(reading, "leaks") == 1
    assert reading.warnings == ["memory grows with every cycle: kmalloc-2k"]


def test_of_few_cycles_growth_is_not_reported(tmp_path: Path) -> None:
    reading = left(tmp_path, cycles(5) + END, test=REPLUG, **memory(5, 1))
    for key in ("slab_growth_kb", "vmalloc_growth_kb", "pages_growth_kb", "leaks"):
        assert figure(reading, key) is None
        assert "10 cycles" in (reading.metrics[key].reason or "")


def test_a_cycle_that_comes_to_no_end_is_a_failed_one(tmp_path: Path) -> None:
    facts = cycles(4) + "99.00 stuck unload (D (disk sleep))\n99.10 stuck-at 5 unload\n140.00 done\n"
    warning = "4,2,2000,-;WARNING: CPU: 0 PID: 9 at net/core/dev.c:10 dev_x+0x1/0x2\n"
    hung = "3,3,9000,-;INFO: task rmmod:99 blocked for more than 40 seconds.\n"
    reading = left(tmp_path, facts, kmsg=warning + hung)
    wanted = {"cycles": 5, "cycles_failed": 1, "kernel_warnings": 1, "hung_tasks": 1, "faults": 2}
    assert {key: figure(reading, key) for key in wanted} == wanted
    assert any("unload" in words for words in reading.warnings)
    assert {fault.key for fault in reading.faults} == {"kernel-warning", "kernel-hung-task"}


def test_silence_after_a_cycle_makes_it_a_failed_one(tmp_path: Path) -> None:
    facts = cycles(2) + "901.00 done\n"
    facts = facts.replace("40.00 given 2", "39.00 cycle-silent 2\n40.00 given 2")
    assert figure(left(tmp_path, facts, test=REPLUG), "cycles_failed") == 2


def test_a_kernel_that_goes_down_is_a_result(tmp_path: Path) -> None:
    console = "[   70.000000] BUG: kernel NULL pointer dereference, address: 10\n"
    events = "stage 8.10 associated (wpa2)\nstage 40.00 cycle 7 of 30\nstage 50.00 cycle 8 of 30\n"
    reading = left(tmp_path, "", failure="the guest failed: it turned itself off", console=console, events=events)
    assert [figure(reading, key) for key in ("cycles", "cycles_failed")] == [9, 1]
    assert (figure(reading, "kernel_warnings") or 0) >= 1
    assert figure(reading, "recovery_s") is None
    assert reading.gates == []
    assert reading.warnings[0] == "the guest failed: it turned itself off"


TRIED = "9.00 plug 0\n12.00 driver rtl8192cu\n12.10 join 0\n13.00 before ok\n20.00 struck {n}\n"
CARRIED = "13.50 10 10\n14.00 20 20\n19.00 30 30\n29.00 30 30\n30.00 {last} 30\n"


def test_a_driver_that_recovers_and_one_that_does_not(tmp_path: Path) -> None:
    good = TRIED.format(n=1) + "30.00 after-1 ok\n30.10 by-itself yes\n30.20 struck-at-last 1\n40.00 done\n"
    reading = left(tmp_path / "a", good, test=FAULT, carried=CARRIED.format(last=40), log="")
    assert [figure(reading, key) for key in ("recovered", "silence_s", "struck")] == [1, 10, 1]
    assert reading.warnings == ["recovers (traffic stood still for 10.0 s)"]
    bad = TRIED.format(n=1) + "60.10 by-itself no\n60.20 struck-at-last 1\n70.00 reload ok\n80.00 done\n"
    log = "<4>[   20.000000] WARNING: CPU: 0 PID: 9 at net/mac80211/rx.c:813 ieee80211_rx_list+0x1/0x2\n"
    reading = left(tmp_path / "b", bad, test=FAULT, carried=CARRIED.format(last=30), log="")
    assert figure(reading, "recovered") == 0
    assert reading.warnings == ["fails cleanly (no traffic any more; brought back by reload)"]
    reading = left(tmp_path / "c", good, test=FAULT, carried=CARRIED.format(last=40), log=log)
    assert [figure(reading, key) for key in ("recovered", "kernel_warnings", "faults")] == [1, 1, 1]
    trial = reading.provenance["dut"]["fault_trial"]
    assert isinstance(trial, dict)
    assert trial["verdict"] == "warns"


def test_a_fault_that_never_happened_voids_the_run_and_the_control_has_none(tmp_path: Path) -> None:
    facts = TRIED.format(n=0) + "30.10 by-itself yes\n30.20 struck-at-last 0\n40.00 done\n"
    carried = "13.50 10 10\n14.00 20 20\n15.00 30 30\n"
    reading = left(tmp_path / "a", facts, test=FAULT, carried=carried, log="")
    assert [(gate.gate, gate.state) for gate in reading.gates] == [("fault-not-reached", "void")]
    reading = left(tmp_path / "b", facts, test=FAULT, arm=CONTROL, carried=carried, log="")
    assert (reading.gates, reading.warnings) == ([], [])
    assert [figure(reading, key) for key in ("recovered", "struck")] == [1, 0]


def test_a_driver_that_makes_no_interface_and_a_kernel_that_goes_down_do_not_recover(tmp_path: Path) -> None:
    facts = "50.00 plug 70\n60.00 struck 4\n100.00 by-itself no\n101.00 struck-at-last 4\n150.00 done\n"
    reading = left(tmp_path / "a", facts, test=FAULT, log="")
    assert figure(reading, "recovered") == 0
    assert "no traffic" in (reading.metrics["silence_s"].reason or "")
    assert "makes no interface" in reading.warnings[0]
    panic = "[   21.000000] Kernel panic - not syncing: Fatal exception\n"
    reading = left(tmp_path / "b", "", failure="the guest failed: it turned itself off", test=FAULT, console=panic)
    assert [figure(reading, key) for key in ("recovered", "struck")] == [0, None]
    assert reading.warnings[0].startswith("crashes")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=300), test=st.sampled_from([RELOAD, FAULT]))
def test_no_file_of_a_guest_breaks_anything(tmp_path_factory: pytest.TempPathFactory, text: str, test: int) -> None:
    folder = tmp_path_factory.mktemp("run")
    text = text.encode("utf-8", "replace").decode()
    left(folder, text, test=test, carried=text, log=text, kmsg=text, slab=text, memory=text, kmemleak=text)


def test_a_trial_that_left_nothing_voids_the_run(tmp_path: Path) -> None:
    plan = loaded().plan
    reading = GuestTrial().read(RunFacts(plan, plan.arm[0], plan.test[0], tmp_path, Marks()))
    assert [(gate.gate, gate.state) for gate in reading.gates] == [("instrument-failed", "void")]


class Guest:
    """In place of one that boots."""

    def __init__(self, facts: str = "", *, status: int = 0, fails: Cause | None = None) -> None:
        self.facts = facts
        self.status = status
        self.fails = fails
        self.overlay: Overlay | None = None

    async def __call__(self, image: Image, overlay: Overlay, *_: object, results: Path, **__: object) -> Ended:
        self.overlay = overlay
        (results / "files").mkdir(parents=True)
        if self.fails is not None:
            raise GuestFailedError("the guest failed: it was ended", cause=self.fails)
        (results / "files" / "facts").write_text(self.facts)
        (results / "files" / "steps.log").write_text("txop-lab: no association in 60 s\n")
        return Ended(self.status, (Event("end", 30.0, "0"),), (), 7.5)


def tried(
    folder: Path, guest: Guest, monkeypatch: pytest.MonkeyPatch, *, test: int = RELOAD, arm: int = CONTROL
) -> Marks:
    """The marks of a run with this guest."""
    program = folder / "txop-vusb"
    program.write_text("#!/bin/sh\n")
    monkeypatch.setenv(VARIABLE, str(program))
    monkeypatch.setattr(trials, "run_guest", guest)
    plan, marks = loaded().plan, Marks()
    context = RunContext(plan, plan.arm[arm], plan.test[test], Targets(), folder / "run", marks, "", 100.0)
    spec = (plan.guest or GuestSpec()).varied(plan.arm[arm].guest)
    faults = None if spec.faults is None else named_file(Path(), spec.faults)
    chip = Chip(driver=spec.driver, air="air.pcapng", faults=faults)
    image = Image(Path(), "6.12.1", Path(), (), "key", cached=True)
    asyncio.run(carry_out_trial(context, spec, image, (), chip, Computer(), 100.0, Stopwatch()))
    return marks


def test_a_trial_is_that_of_the_command_with_what_the_plan_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = Guest(cycles(3) + END)
    marks = tried(tmp_path, guest, monkeypatch)
    assert (marks.window, marks.end) == (10.0, 901.0)
    assert guest.overlay is not None
    asked = {key: guest.overlay.environment[key] for key in ("CYCLE", "CYCLES", "PAUSE_S", "RECOVER_S")}
    assert asked == {"CYCLE": "reload", "CYCLES": "30", "PAUSE_S": "0.5", "RECOVER_S": "20"}
    assert "cycle.sh" in (guest.overlay.script or "")
    assert "air.pcapng" not in guest.overlay.environment["LAB_OPTIONS"]


@pytest.mark.parametrize(("arm", "wait"), [(CONTROL, "8"), (FAULTY, None)])
def test_a_fault_script_goes_into_the_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arm: int, wait: str | None
) -> None:
    guest = Guest(TRIED.format(n=1) + "30.10 by-itself yes\n40.00 done\n")
    tried(tmp_path, guest, monkeypatch, test=FAULT, arm=arm)
    assert guest.overlay is not None
    assert guest.overlay.environment.get("WAIT_S") == wait
    assert ("--faults" in guest.overlay.environment["LAB_OPTIONS"]) is (wait is None)
    assert sum(path.name == "unplug.toml" for path in guest.overlay.files.values()) == (wait is None)


def test_what_says_nothing_of_the_driver_voids_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (guest, error, words) in enumerate(
        (
            (Guest("9.00 no-association\n", status=73), ArmError, "it does not associate: no association in 60 s"),
            (Guest(fails=Cause.HOST), TargetError, "it was ended"),
            (
                Guest("9.00 no-chip unknown variant\n9.10 no-interface\n", status=73),
                TargetError,
                "ended: unknown variant",
            ),
            (Guest(cycles(1).replace("rtl8192cu", "other")), ArmError, "is other, not rtl8192cu"),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.raises(error, match=words):
            tried(folder, guest, monkeypatch)


def test_a_guest_that_goes_down_by_itself_is_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(tmp_path, Guest(fails=Cause.OFF), monkeypatch).window is None
    assert json.loads((tmp_path / "run/guest/trial.json").read_text())["void"] is False


def test_the_stopwatch_has_no_time_of_what_never_came_up() -> None:
    watch = Stopwatch()
    watch.event(Event("stage", 3.0, "the driver has the chip: wlan0"))
    assert watch.load_s is None
    watch.event(Event("stage", 5.5, "associated (wpa2)"))
    watch.event(Event("stage", 9.5, "associated (wpa2)"))
    assert watch.load_s == 2.5


def test_the_testbed_reads_a_trial_with_its_own_instrument() -> None:
    plan = loaded().plan
    testbed = GuestTestbed(plan, Path(), Quiet())
    names = [[instrument.name for instrument in testbed.instruments(test)] for test in plan.test]
    assert names == [["guest trial"]] * 3


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("recover_s = 20", 'recover_s = 20\nlatency = "ping"', "test[0].latency"),
        ("cycles = 3\n", "cycles = 3\npause_s = 5\n", "test[1].pause_s"),
        ("mips = 500", 'mips = 500\nap = "builtin"\nsecurity = "open"', "test[2].kind"),
        ('faults = "txop:faults/unplug.toml"', 'driver = "rtl8xxxu"', "test[2].kind"),
        ("txop:faults/unplug.toml", "txop:faults/../../qemu.py", "arm[1].guest.faults"),
        ("txop:faults/unplug.toml", "txop:faults/none-such.toml", "arm[1].guest.faults"),
    ],
)
def test_what_a_trial_cannot_do_is_said_before(old: str, new: str, key: str) -> None:
    assert PLAN.count(old) == 1
    assert key in [problem.key for problem in check(loaded(PLAN.replace(old, new))).problems]
    assert not check(loaded()).problems


def test_elsewhere_there_are_no_faults_by_script_and_nothing_is_pulled_out() -> None:
    text = PLAN.replace('[target.peer]\nkind = "guest"', '[target.peer]\nkind = "local"\naddress = "10.0.0.1"')
    text = text.replace('kind = "guest"', 'kind = "local"\ninterface = "wlan0"').replace("[guest]\nmips = 500\n", "")
    text = text.replace('[arm.guest]\nfaults = "txop:faults/unplug.toml"\n', "")
    keys = [problem.key for problem in check(loaded(text), files=False).problems]
    assert {"test[0].kind", "test[1].way", "test[2].kind"} <= set(keys)


def test_times_and_limits_follow_the_cycles() -> None:
    plan: Plan = loaded().plan
    times = [guest_s(plan, test) for test in plan.test]
    assert times[RELOAD] > 5 * times[REPLUG]
    assert all(limit_s(test) > 3 * seconds for test, seconds in zip(plan.test, times, strict=True))
    assert primary_of(plan) == [
        "reload.cycles_failed", "reload.kernel_warnings", "replug.cycles_failed", "replug.kernel_warnings",
        "fault.recovered",
    ]  # fmt: skip


def test_the_shipped_plans_have_both_ways_and_a_dozen_scripts_for_both_drivers() -> None:
    endurance = load_plan(EXAMPLES / "guest-endurance.toml")
    assert {test.name: test.length for test in endurance.plan.test} == {"reload": "200 cycles", "replug": "200 cycles"}
    faults = load_plan(EXAMPLES / "guest-faults.toml")
    assert not check(endurance).problems
    assert not check(faults).problems
    scripts: dict[str, list[str | None]] = {}
    for arm in faults.plan.arm:
        assert arm.guest is not None
        scripts.setdefault(arm.guest.driver, []).append(arm.guest.faults)
    assert scripts["rtl8xxxu"] == scripts["rtl8192cu"]
    assert len(set(scripts["rtl8xxxu"])) == 13
    assert scripts["rtl8xxxu"][0] is None


@pytest.mark.parametrize("name", ["cycle.sh", "survey.sh", "lib.sh"])
def test_the_scripts_are_ones_that_the_shell_understands(name: str) -> None:
    script = (resources.files("txop.guest_trials") / "trials" / name).read_bytes()
    subprocess.run([shutil.which("dash") or "sh", "-n"], input=script, check=True)
