"""Kernels as arms: what is booted, how long it may take, and what is found then."""

from __future__ import annotations

import asyncio

import pytest

from fake_kernel import plan_of
from fake_target import FakeTarget, answer
from txop.arms import boot as booting
from txop.arms.arm_loader import shown_steps
from txop.arms.boot import NOTES, boot
from txop.arms.steps import StepError
from txop.plan.arm import BootSpec
from txop.plan.load import LoadedPlan
from txop.plan_check.changes import changes_of
from txop.plan_check.check import check
from txop.targets.contract import TargetLostError, Targets
from txop.targets.hooks import BOOT_ID


def note(build_id: str) -> bytes:
    other = bytes.fromhex("0600000001000000000100004c696e757800000007000000")
    return other + bytes.fromhex("040000001400000003000000474e5500" + build_id)


class Machine(FakeTarget):
    """Restarts when it is told to, into ``then``, after refusing some attempts to connect."""

    def __init__(self, then: str = "6.12.1", *, refuses: int = 2) -> None:
        super().__init__("dut")
        self.connected = True
        self.release, self.then, self.refuses, self.boots = "6.1.0", then, refuses, 0
        self.away = 0
        self.answer("uname", "-r", script=lambda argv, stdin: answer(stdout=f"{self.release}\n"))
        self.answer("true")
        self.answer("kexec", script=self._restart)
        self.files[BOOT_ID] = b"boot-0\n"
        self.files[NOTES] = note("11" * 20)

    def _restart(self, argv, stdin):
        self.release, self.away, self.connected = self.then, self.refuses, False
        self.boots += 1
        self.files[BOOT_ID] = f"boot-{self.boots}\n".encode()
        self.files[NOTES] = note("22" * 20)
        raise TargetLostError(self.name, "the SSH connection broke")

    async def connect(self) -> None:
        if self.away > 0:
            self.away -= 1
            raise TargetLostError(self.name, "no route to host")
        await super().connect()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(booting, "RETRY_S", 0.01)


def spec(**changes) -> BootSpec:
    return BootSpec(**{"release": "6.12.1", "commands": [["true"], ["kexec", "-e"]], "timeout_s": 5, **changes})


def test_the_kernel_that_is_asked_for_is_booted_once():
    machine = Machine()
    found = asyncio.run(boot(Targets({"dut": machine}), spec(build_id="22" * 20))).found
    assert (found["kernel"], found["kernel_build_id"], machine.boots) == ("6.12.1", "22" * 20, 1)
    assert found["boot_s"] >= 0
    assert ("kexec", "-e") in machine.root
    assert "boot_s" not in asyncio.run(boot(Targets({"dut": machine}), spec())).found
    assert machine.boots == 1


def test_another_kernel_of_the_same_release_is_told_by_its_build_id():
    machine = Machine()
    machine.release = "6.12.1"
    asyncio.run(boot(Targets({"dut": machine}), spec(build_id="22" * 20)))
    assert machine.boots == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "the kernel 6.1.9 runs, not 6.12.1"),
        ({"release": "6.1.9", "build_id": "33" * 20}, "runs with the build id 2"),
    ],
)
def test_another_kernel_that_comes_up_is_named(changes, said):
    with pytest.raises(StepError, match=said):
        asyncio.run(boot(Targets({"dut": Machine("6.1.9")}), spec(**changes)))


def test_one_that_does_not_come_back_is_lost():
    with pytest.raises(
        TargetLostError, match=r"did not come back within 0.05 s when 6.12.1 was booted: no route to host"
    ):
        asyncio.run(boot(Targets({"dut": Machine(refuses=10_000)}), spec(timeout_s=0.05)))


def test_one_that_does_not_restart_says_why():
    machine = Machine()
    machine._scripts[("kexec",)] = [answer(status=1, stderr="no kernel is loaded\n")]
    with pytest.raises(StepError, match=r"did not restart within 0.05 s .*ended with 1: no kernel is loaded"):
        asyncio.run(boot(Targets({"dut": machine}), spec(timeout_s=0.05)))


def test_targets_on_the_same_machine_are_connected_again_and_a_hook_runs_here(tmp_path):
    machine, peer = Machine(), FakeTarget("peer")
    peer.answer("true")
    told = tmp_path / "told"
    how = spec(commands=[], hook=[["touch", str(told)]], timeout_s=0.05)
    with pytest.raises(StepError, match="did not restart"):
        asyncio.run(boot(Targets({"dut": machine, "peer": peer}), how))
    assert told.exists()
    asyncio.run(boot(Targets({"dut": machine, "peer": peer}), spec()))
    assert peer.connects == 1


ARMS = """\
[[arm]]
name = "a"
boot = { release = "6.1.0", commands = ["reboot"] }
[[arm]]
name = "b"
boot = { release = "6.12.1", commands = ["grub-reboot 1", "reboot"] }
"""


def test_in_a_plan(tmp_path):
    plan = plan_of(ARMS)
    (change,) = changes_of(plan).isolated
    assert change.change == "kernel 6.12.1 instead of 6.1.0"
    rows = shown_steps(plan, plan.arm[1], tmp_path)
    assert (rows[0]["what"], rows[0]["commands"]) == ("boot 6.12.1", ["grub-reboot 1", "reboot"])

    def problems(text: str) -> list[str]:
        loaded = LoadedPlan(plan_of(text), "", tmp_path / "plan.toml", "")
        return [problem.message for problem in check(loaded, files=False).problems]

    assert any("this machine cannot be restarted" in said for said in problems(ARMS)), "its device is local"
    assert any("whatever kernel a has left" in said for said in problems(ARMS + '[[arm]]\nname = "c"\n'))
