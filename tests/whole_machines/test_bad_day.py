"""A campaign on a bad day: run after run something goes wrong with the machine. Each void run has a cause with a name,
its block is repeated, the archive stays whole, and nothing is left on the machine."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from lab_bench import STARVED, Bench
from lab_image import AP_NAMESPACE
from txop.archive.counting import counting
from txop.archive.journal import Event, read_journal

TRAFFIC = "iperf3 -c"
FULL = "mkdir -p {0} && mount -t tmpfs -o size=16k lab {0} && dd if=/dev/zero of={0}/x 2>/dev/null"
REBOOT = "nohup sh -c 'sleep 0.5; reboot -ff' >/dev/null 2>&1 &"
SSH_OUTAGE = (
    "systemd-run --quiet --unit=lab-outage sh -c 'systemctl stop ssh; pkill -KILL sshd; sleep 20; systemctl start ssh'"
)
DEAUTHENTICATE = f"ip netns exec {AP_NAMESPACE} hostapd_cli -i wlan1 deauthenticate 02:00:00:00:00:00"
PLAN = {
    "blocks = 1": "blocks = 2",  # six void runs in a row would end the campaign
    "max_repeats = 5": "max_repeats = 12",
    "duration_s = 5": "duration_s = 8",
    "hooks.settle_s = 240": "hooks.settle_s = 900",
}


@dataclass
class Day:
    """What became of it."""

    bench: Bench
    done: subprocess.CompletedProcess[str]
    ends: dict[str, Event]
    """How the run ended that each of them struck."""
    boots: tuple[str, str]
    left_behind: list[str]


class _Course:
    """The campaign as it goes."""

    def __init__(self, bench: Bench, process: subprocess.Popen[str]) -> None:
        self._bench = bench
        self._process = process
        self._ended = 0

    def next_end(self) -> Event:
        """The end of the next run."""
        self._wait(lambda: len(self._ends()) > self._ended, f"the end of run {self._ended + 1}")
        self._ended += 1
        return self._ends()[self._ended - 1]

    def struck(self, command: str) -> Event:
        """The end of the run that a command on the machine met two seconds after its traffic began."""
        seen = self._bench.begun(TRAFFIC)
        self._wait(lambda: self._bench.begun(TRAFFIC) > seen, "traffic")
        time.sleep(2.0)
        self._ended = len(self._ends())
        self._bench.machine.ssh(command, check=False)
        return self.next_end()

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        self._bench.wait(lambda: condition() or self._process.poll() is not None, what)
        assert condition(), f"the campaign ended, and {what} was to come: {self._ends()}"

    def _ends(self) -> list[Event]:
        file = self._bench.archive / "journal.jsonl"
        events = read_journal(file).events if file.exists() else []
        return [event for event in events if event.event in ("run-finished", "run-voided")]


@pytest.fixture(scope="module")
def day(shared_bench: Bench) -> Day:
    """All of it, once."""
    machine = shared_bench.machine
    boot = machine.boot_id()
    machine.ssh(FULL.format("/run/txop"), check=False)
    process = shared_bench.start("run", str(shared_bench.short_plan(PLAN)), "-o", str(shared_bench.archive))
    course = _Course(shared_bench, process)
    ends: dict[str, Event] = {}
    try:
        ends["run folder full"] = course.next_end()
        machine.ssh("umount -l /run/txop")
        ends["reboot"] = course.struck(REBOOT)
        course.next_end()  # nothing happens to this one
        ends["SSH server killed"] = course.struck(SSH_OUTAGE)
        ends["deauthenticated"] = course.struck(DEAUTHENTICATE)
        machine.ssh(FULL.format("/tmp"), check=False)  # noqa: S108 - a mount point
        ends["temporary folder full"] = course.next_end()
        machine.ssh("umount -l /tmp")
        ends["clock set"] = course.struck("date -s '+60 sec'")
    except BaseException:
        process.terminate()
        process.communicate()
        raise
    done = shared_bench.ended(process)
    return Day(shared_bench, done, ends, (boot, machine.boot_id()), machine.left_behind())


CAUSES: dict[str, tuple[set[str], Callable[[str], bool]]] = {
    "run folder full": ({"arm-load-failed"}, lambda said: "No space left on device" in said),
    "reboot": ({"target-lost", "target-rebooted"}, lambda said: "connection" in said or "does not answer" in said),
    "SSH server killed": ({"target-lost"}, lambda said: "SSH" in said),
    "deauthenticated": ({"association-lost"}, lambda said: "The AP ended the authentication" in said),
    "temporary folder full": ({"traffic-failed"}, lambda said: "is there room in /tmp?" in said),
    "clock set": ({"clock-jumped"}, lambda said: "the clock of dut was set by +" in said),
}
"""The gates that name it, and what one of the causes says."""


@pytest.mark.parametrize("what", CAUSES)
def test_each_is_named(day: Day, what: str) -> None:
    end = day.ends[what]
    gates, says = CAUSES[what]
    assert end.event == "run-voided", day.ends
    causes = end.get("causes")
    assert {cause["gate"] for cause in causes} <= gates | STARVED, causes
    assert any(cause["gate"] in gates and says(cause["cause"]) for cause in causes), causes


def test_every_block_is_repeated_and_the_archive_is_whole(day: Day) -> None:
    assert day.done.returncode == 0, day.done.stderr
    read = day.bench.read()
    assert read.finished
    assert not read.damage
    struck = {end.get("run") for end in day.ends.values()}
    assert len(struck) == len(CAUSES), day.ends
    for run in read.runs:
        assert run.run in struck or {cause.gate for cause in run.void} <= STARVED, (run.run, run.void)
    counting_runs = counting(read, "tx").runs
    assert len(counting_runs) == 2
    assert all(run.replaces is not None for run in counting_runs), "both blocks were struck"
    compared = day.bench.txop("compare", str(day.bench.archive))
    assert "damaged" not in compared.stderr


def test_the_machine_was_lost_and_found(day: Day) -> None:
    assert day.boots[0] != day.boots[1]
    assert "answers again" in " ".join(day.done.stderr.split())


def test_nothing_is_left_on_the_machine(day: Day) -> None:
    assert day.left_behind == []
