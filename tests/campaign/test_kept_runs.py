"""Runs of exact guests that are reused: the same figures, no guest, and a record that says so."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quiet_reporter import Quiet
from txop.campaign import guest_runs
from txop.campaign.active_run import ActiveRun, RunLabel
from txop.campaign.guest_runs import GuestArm
from txop.campaign.kept_runs import KeptRuns
from txop.guest.chips import VARIABLE, Chip
from txop.guest.inputs import Inputs
from txop.guest.qemu import TESTED_QEMU, Computer
from txop.guest.results import Event
from txop.guest.run_places import LocalPlace, StoreError
from txop.guest.run_store import RunStore
from txop.guest.running import Ended
from txop.guest_image.image import Image
from txop.measure.instrument import Marks, RunContext
from txop.plan.guest import GuestSpec
from txop.plan.model import Plan
from txop.targets.contract import Targets

MARKS = "idle 10.0\nload 11.0\nwindow 12.0\nend 14.0\nwall 1767225612\n"
EVENTS = "stage 2.5 booted 6.12\nstage 12.5 associated (wpa2, channel 6, 20 MHz)\nend 30.0 0\n"


class Guests:
    """In place of those that boot: they leave the same, but for what ``crng`` says."""

    def __init__(self) -> None:
        self.seeds: list[int] = []
        self.crng = "1.0"
        self.status = 0
        self.while_they_run: Callable[[], object] = lambda: None

    async def __call__(
        self, _: Image, __: object, computer: Computer, *, results: Path, listener: Any, **___: object
    ) -> Ended:
        self.seeds.append(computer.seed)
        self.while_they_run()
        (results / "files").mkdir(parents=True)
        (results / "console").write_text("boot\n")
        (results / "events").write_text(EVENTS)
        files = {
            "marks.txt": MARKS,
            "driver.txt": "/sys/bus/usb/drivers/rtl8192cu",
            "kernel.log": f"[ {self.crng}] x\n",
        }
        for name, text in files.items():
            (results / "files" / name).write_text(text)
        events = [Event("stage", 2.5, "booted 6.12"), Event("stage", 12.5, "associated (wpa2, channel 6, 20 MHz)")]
        for event in events:
            listener.event(event)
        return Ended(self.status, (*events, Event("end", 30.0, "0")), (), 7.5)


class Bench:
    """Runs of one arm, with a cache."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.guests = Guests()
        self.notices: list[str] = []
        self.store = RunStore.at(str(folder / "runs"))
        self.booted: dict[tuple[object, ...], str] = {}
        self._number = 0
        for name in ("txop-vusb", "library.so", "vmlinuz", "faults.toml"):
            (folder / name).write_text("#!/bin/sh\n")
        (folder / "initramfs.gz").write_bytes(gzip.compress(b"files"))
        monkeypatch.setenv(VARIABLE, str(folder / "txop-vusb"))
        monkeypatch.setenv("TXOP_QEMU_DEVICES", str(folder / "library.so"))
        monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
        monkeypatch.setattr(guest_runs, "run_guest", self.guests)
        monkeypatch.setattr(guest_runs, "qemu_version", lambda: f"QEMU emulator version {TESTED_QEMU[0]}")

    def run(self, *, block: int = 2, cache: bool = True, **guest: str) -> ActiveRun:
        plan = Plan.model_validate(
            {
                "title": "x",
                "target": {"dut": {"kind": "guest"}, "peer": {"kind": "guest"}},
                "guest": guest,
                "arm": [{"name": "a"}],
                "test": [{"name": "t", "kind": "tcp-tx"}],
                "design": {"blocks": 3, "gap_s": 0},
            }
        )
        image = Image(self.folder, "6.12.1", self.folder, (), "key", cached=True)
        kept = KeptRuns(self.store, self.notices.append) if cache else None
        chip = Chip(driver="rtl8192cu", faults=self.folder / "faults.toml")
        arm = GuestArm(plan, plan.guest or GuestSpec(), image, (), chip, {}, kept=kept, booted=self.booted)
        self._number += 1
        folder = self.folder / f"run-{self._number}"
        folder.mkdir()
        context = RunContext(plan, plan.arm[0], plan.test[0], Targets(), folder, Marks(), "", 100.0)
        active = ActiveRun(RunLabel("002-a-t", block, 1, "a", "t"), context, [], Quiet())
        asyncio.run(arm.carry_out(active))
        return active


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_the_same_run_is_not_run_again(bench: Bench) -> None:
    first, second = bench.run(), bench.run()
    assert len(bench.guests.seeds) == 1
    assert first.reused is None
    assert second.reused is not None
    assert second.reused.place == bench.store.where
    assert (first.void, second.void) == ([], [])
    for one, other in ((first, second), (second, first)):
        assert one.placed is not None
        assert other.placed is not None
        assert (one.placed.verified, one.placed.seconds) == (other.placed.verified, 10.0)
        assert one.context.marks == other.context.marks
    files = [sorted(path.name for path in run.context.folder.rglob("*")) for run in (first, second)]
    assert files[0] == files[1]


def test_another_seed_is_another_run(bench: Bench) -> None:
    bench.run(block=2)
    assert bench.run(block=3).reused is None
    assert len(set(bench.guests.seeds)) == 2


def test_a_file_that_is_changed_between_blocks_makes_other_runs(bench: Bench) -> None:
    """Of one campaign, which reads what boots once."""
    bench.run(block=2)
    (bench.folder / "faults.toml").write_text("#!/bin/ls\n")
    bench.run(block=3)
    (bench.folder / "faults.toml").write_text("#!/bin/sh\n")
    assert bench.run(block=2).reused is not None
    assert bench.run(block=3).reused is None, "that run was of the other file"
    assert len(bench.store.entries()) == 3


@pytest.mark.parametrize("name", ["faults.toml", "library.so"])
def test_a_run_during_which_a_file_was_changed_is_not_kept(bench: Bench, name: str) -> None:
    bench.guests.while_they_run = lambda: (bench.folder / name).write_text("#!/bin/ls\n")
    active = bench.run()
    assert active.void == []
    assert len(active.warnings) == 1
    assert bench.store.entries() == []


def test_without_a_cache_all_are_run_and_none_is_kept(bench: Bench) -> None:
    assert bench.run(cache=False).reused is None
    assert bench.run(cache=False).reused is None
    assert len(bench.guests.seeds) == 2
    assert bench.store.entries() == []


def test_nothing_that_is_not_exact_is_kept(bench: Bench) -> None:
    assert bench.run(mode="fast").void == []
    assert bench.run(mode="fast").reused is None
    assert bench.store.entries() == []


def test_a_run_that_failed_is_not_kept(bench: Bench) -> None:
    bench.guests.status = 1
    assert bench.run().void
    assert bench.store.entries() == []


def test_a_run_that_is_to_be_done_twice_is_until_both_were_the_same(bench: Bench) -> None:
    bench.run(block=2)
    assert len(bench.guests.seeds) == 1
    checked = bench.run(block=2, check_exact="all")
    assert len(bench.guests.seeds) == 2, "once more, to compare with the one that is kept"
    assert checked.reused is not None
    again = bench.run(block=2, check_exact="all")
    assert len(bench.guests.seeds) == 2
    for run in (checked, again):
        assert run.placed is not None
        assert run.placed.verified["checked_exact"] is True


def test_a_kept_run_that_differs_from_one_here_voids_it_and_is_forgotten(bench: Bench) -> None:
    bench.run(block=2)
    bench.guests.crng = "1.1"
    (void,) = bench.run(block=2, check_exact="all").void
    assert void.gate == "not-exact"
    assert bench.store.entries() == []


def test_a_run_that_differs_from_itself_is_not_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    guests = bench.guests

    async def other_each_time(*arguments: Any, **how: Any) -> Ended:
        guests.crng += "1"
        return await guests(*arguments, **how)

    monkeypatch.setattr(guest_runs, "run_guest", other_each_time)
    assert bench.run(check_exact="all").void
    assert bench.store.entries() == []


def test_a_cache_that_fails_costs_no_run(bench: Bench) -> None:
    (bench.folder / "runs").write_text("a file in the place of the folder")
    for _ in range(2):
        active = bench.run()
        assert (active.void, active.reused) == ([], None)
    assert len(bench.notices) == 2, "one of each campaign"


class ReadOnly(LocalPlace):
    """A cache that may only be read."""

    def writing(self, key: str) -> Any:
        raise StoreError("read-only")

    def remove(self, key: str) -> None:
        raise StoreError("read-only")


def inputs_kept(store: RunStore, key: str) -> Inputs:
    header = store.header(key)
    assert header is not None
    return Inputs(header.inputs)


@pytest.mark.parametrize("damaged", [False, True])
def test_a_cache_that_may_only_be_read_is_read_after_a_miss(bench: Bench, tmp_path: Path, damaged: bool) -> None:
    bench.run(block=2)
    bench.run(block=3)
    entries = sorted(each.key for each in bench.store.entries())
    assert len(entries) == 2
    found = [inputs_kept(bench.store, key) for key in entries]
    if damaged:
        key = entries[1]
        (tmp_path / "runs" / key[:2] / f"{key}.run").write_bytes(b"x")
    kept = KeptRuns(RunStore(ReadOnly(tmp_path / "runs")), bench.notices.append)
    missing = found[1] if damaged else Inputs({"seed": 1})
    assert asyncio.run(kept.take(missing, tmp_path / "missing")) is None
    asyncio.run(kept.put(missing, tmp_path / "run-1" / "guest", Ended(0, (), (), 1.0), checked=False))
    assert len(bench.notices) == 1
    assert asyncio.run(kept.take(found[0], tmp_path / "taken")) is not None
