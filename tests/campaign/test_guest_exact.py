"""Runs of an exact campaign that are done twice: what differs is void, with a cause; what does not leaves its hash."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from quiet_reporter import Quiet
from txop.campaign import guest_runs, guest_trials
from txop.campaign.active_run import ActiveRun, RunLabel
from txop.campaign.gates import GATES
from txop.campaign.guest_runs import REPEAT, GuestArm
from txop.guest.chips import VARIABLE, Chip
from txop.guest.exactness import results_sha256
from txop.guest.qemu import TESTED_QEMU, Computer
from txop.guest.results import Event
from txop.guest.running import Cause, Ended, GuestFailedError
from txop.guest_image.image import Image
from txop.measure.instrument import Marks, RunContext
from txop.measure.probes.guest_trial import FOLDER
from txop.plan.guest import GuestSpec
from txop.plan.model import Plan
from txop.targets.contract import Targets

MARKS = "idle 10.0\nload 11.0\nwindow 12.0\nend 14.0\nwall 1767225612\n"
FACTS = "9.00 driver rtl8192cu\n9.50 begun\n40.00 done\n"


class Guests:
    """In place of those that boot: they leave the same, but for what ``crng`` of their number says."""

    def __init__(self, *crng: str) -> None:
        self.crng = crng
        self.seeds: list[int] = []
        self.said: tuple[str, ...] = ()

    async def __call__(self, _: Image, __: object, computer: Computer, *, results: Path, **___: object) -> Ended:
        crng = self.crng[len(self.seeds)]
        self.seeds.append(computer.seed)
        (results / "files").mkdir(parents=True)
        (results / "console").write_text("boot\n")
        files = {"marks.txt": MARKS, "driver.txt": "/sys/bus/usb/drivers/rtl8192cu", "facts": FACTS}
        for name, text in {**files, "kernel.log": f"[   {crng}] random: crng init done\n"}.items():
            (results / "files" / name).write_text(text)
        return Ended(0, (Event("end", 30.0, "0"),), (), 7.5 + len(self.seeds), self.said)


def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, booted: Guests, *, block: int = 1, kind: str = "tcp-tx", **guest: str
) -> ActiveRun:
    """A run that was carried out."""
    program = folder / "txop-vusb"
    program.write_text("#!/bin/sh\n")
    monkeypatch.setenv(VARIABLE, str(program))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setattr(guest_runs, "run_guest", booted)
    monkeypatch.setattr("txop.guest_trials.trial.run_guest", booted)
    monkeypatch.setattr(guest_trials, "_why", lambda *_: "")
    plan = Plan.model_validate(
        {
            "title": "x",
            "target": {"dut": {"kind": "guest"}, "peer": {"kind": "guest"}},
            "guest": guest,
            "arm": [{"name": "a"}],
            "test": [{"name": "t", "kind": kind}],
            "design": {"blocks": 3, "gap_s": 0},
        }
    )
    image = Image(Path(), "6.12.1", Path(), (), "key", cached=True)
    arm = GuestArm(plan, plan.guest or GuestSpec(), image, (), Chip(driver="rtl8192cu"), {})
    run = folder / "run"
    run.mkdir()
    context = RunContext(plan, plan.arm[0], plan.test[0], Targets(), run, Marks(), "", 100.0)
    active = ActiveRun(RunLabel("001-a-t", block, 1, "a", "t"), context, [], Quiet())
    asyncio.run(arm.carry_out(active))
    return active


def verified(active: ActiveRun) -> dict[str, Any]:
    """How the arm of a run that is not void is described."""
    assert active.void == []
    assert active.placed is not None
    return active.placed.verified


@pytest.fixture(autouse=True)
def qemu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest_runs, "qemu_version", lambda: f"QEMU emulator version {TESTED_QEMU[0]}")


class GoesDown(Guests):
    """In place of a guest whose kernel stops, or one that this machine ends."""

    def __init__(self, cause: Cause, *, booted: bool = True) -> None:
        super().__init__()
        self.cause = cause
        self.booted = booted

    async def __call__(self, *_: object, **how: Any) -> Ended:
        if self.booted:
            how["listener"].event(Event("stage", 2.7, "booted"))
        console = "[   52.1] Kernel panic - not syncing: NMI: Not continuing\n[   52.1] RIP: 0010:spin+0xf/0x20 [bad]\n"
        raise GuestFailedError("the guest failed: it powered off", console, cause=self.cause)


@pytest.mark.parametrize(
    ("guest", "gate"),
    [
        (GoesDown(Cause.OFF), "guest-went-down"),
        (GoesDown(Cause.OFF, booted=False), "instrument-failed"),
        (GoesDown(Cause.HOST), "instrument-failed"),
    ],
)
def test_a_guest_that_goes_down_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guest: GoesDown, gate: str
) -> None:
    (void,) = run(tmp_path, monkeypatch, guest).void
    assert void.gate == gate
    assert gate in GATES
    assert "NMI: Not continuing" in void.cause
    assert "RIP: 0010:spin+0xf/0x20 [bad]" in void.cause


def test_what_qemu_and_its_devices_warn_of_is_a_warning_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    booted = Guests("1.0")
    booted.said = ("txop-vusb: the trace is full",)
    assert "QEMU: txop-vusb: the trace is full" in run(tmp_path, monkeypatch, booted, block=2).warnings


def test_two_that_are_identical_leave_one_run_and_its_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    booted = Guests("11.784366", "11.784366")
    active = run(tmp_path, monkeypatch, booted)
    assert len(booted.seeds) == 2
    assert booted.seeds[0] == booted.seeds[1]
    assert verified(active)["checked_exact"] is True
    assert len(verified(active)["guest_sha256"]) == 64
    assert active.warnings == []
    assert not (tmp_path / "run" / REPEAT).exists()


def test_three_microseconds_void_the_run_and_say_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (void,) = run(tmp_path, monkeypatch, Guests("11.784366", "11.784369")).void
    assert re.search(r"kernel.log at line 1: .*11.784366.*11.784369", void.cause)
    assert void.gate == "not-exact"
    # to look into
    assert (tmp_path / "run" / REPEAT / "files" / "kernel.log").is_file()


@pytest.mark.parametrize(
    ("block", "guest", "times"),
    [(2, {}, 1), (4, {}, 2), (2, {"check_exact": "all"}, 2), (1, {"check_exact": "none"}, 1), (1, {"mode": "fast"}, 1)],
)
def test_which_runs_are_done_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, guest: dict[str, str], times: int
) -> None:
    booted = Guests("1.0", "1.0")
    active = run(tmp_path, monkeypatch, booted, block=block, **guest)
    assert len(booted.seeds) == times
    assert ("guest_sha256" in verified(active)) is (guest.get("mode") != "fast")


@pytest.mark.parametrize(("again", "gate"), [("1.0", None), ("1.1", "not-exact")])
def test_a_trial_is_checked_where_the_plan_says_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: str, gate: str | None
) -> None:
    booted = Guests("1.0", again)
    void = run(tmp_path, monkeypatch, booted, kind="fault-trial", check_exact="all").void
    assert len(booted.seeds) == 2
    assert [each.gate for each in void] == ([] if gate is None else [gate])
    # what the second took by this machine's clock is another time, and no difference
    assert (tmp_path / "run" / FOLDER / "trial.json").is_file()


def test_the_hash_is_of_what_the_guest_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = verified(run(tmp_path, monkeypatch, Guests("1.0"), check_exact="none"))["guest_sha256"]
    (tmp_path / "other").mkdir()
    other = verified(run(tmp_path / "other", monkeypatch, Guests("1.1"), check_exact="none"))["guest_sha256"]
    assert one != other
    assert results_sha256(tmp_path / "nothing") not in (one, other)


def test_another_qemu_is_a_warning_of_every_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest_runs, "qemu_version", lambda: "QEMU emulator version 10.0.2")
    active = run(tmp_path, monkeypatch, Guests("1.0", "1.0"))
    assert len(active.warnings) == 1
    assert f"tested with QEMU {TESTED_QEMU[0]}; this is 10.0.2" in active.warnings[0]
