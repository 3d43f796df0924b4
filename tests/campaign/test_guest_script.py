"""A run as a script for a guest, and what is made of the files that it leaves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.arms.bound_driver import BoundDriver
from txop.campaign.guest_places import PEER_ADDRESS
from txop.campaign.guest_runs import seed_of
from txop.campaign.guest_script import given_script, marks_in, read_marks, run_script, saved_script, take_over
from txop.campaign.instruments import in_guest
from txop.core.origin import Origin
from txop.measure.instrument import Marks, RunContext, RunFacts
from txop.measure.probes import chip
from txop.measure.probes.wireless_reading import read_wireless
from txop.measure.traffic.command import Command
from txop.plan.guest import GuestSpec, GuestVariant
from txop.plan.load import LoadedPlan, parse_plan
from txop.plan.measurement import CommandTest
from txop.plan.model import Plan
from txop.plan_check.check import check
from txop.targets.contract import Targets

TEXT = """
title = "x"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[guest]
mips = 250
channel = 11
[[arm]]
name = "a"
[[arm]]
name = "b"
[arm.guest]
driver = "rtl8xxxu"
[[test]]
name = "both"
kind = "tcp-both"
duration_s = 7
warm_up_s = 2
latency = "ping"
[design]
idle_s = 3
"""


def loaded(text: str) -> LoadedPlan:
    return parse_plan(text.encode(), Path("plan.toml"))


def plan(text: str = TEXT) -> Plan:
    return loaded(text).plan


def script_of(made: Plan, seconds: float) -> str:
    """The script of a run of the first test, recorded by what records it in a guest."""
    run = RunContext(made, made.arm[0], made.test[0], Targets(), Path(), Marks(), PEER_ADDRESS, seconds)
    return run_script(run, in_guest(made, made.test[0]))


def test_the_script_is_one_that_the_shell_understands(tmp_path: Path) -> None:
    script = script_of(plan(), 130)
    shell = shutil.which("dash") or "sh"
    subprocess.run([shell, "-n"], input=script.encode(), check=True)


def test_the_script_has_every_phase_and_flow_in_its_order() -> None:
    rows = script_of(plan(), 130).splitlines()
    wanted = [
        "dmesg >kernel-log-before.txt", "mark idle", "sleep 3", "mark load", "sleep 2", "mark window", "sleep 7",
        "mark end", "dmesg >kernel-log-after.txt", "exit 0",
    ]  # fmt: skip
    places = [rows.index(row) for row in wanted]
    assert places == sorted(places)
    clients = [row for row in rows if "dut iperf3 -c" in row]
    assert len(clients) == 2
    assert sum(" -R" in row for row in clients) == 1
    assert all(rows.index("mark load") < rows.index(row) < rows.index("mark window") for row in clients)
    assert len([row for row in rows if "peer iperf3 -s -1" in row]) == 2


def test_the_log_is_taken_when_the_arm_does_not_come_up_and_only_if_the_plan_wants_it() -> None:
    assert "txop-lab up || { dmesg >kernel-log-after.txt; exit 73; }" in script_of(plan(), 130).splitlines()
    without = script_of(plan(TEXT + "[collect]\nkernel_log = false\n"), 130)
    assert "txop-lab up || { :; exit 73; }" in without.splitlines()
    assert "dmesg" not in without


def test_what_is_begun_is_ended_as_it_has_to_be() -> None:
    rows = script_of(plan(), 130).splitlines()
    servers = [number for number, row in enumerate(rows) if "peer iperf3 -s" in row]
    assert [rows[number + 1] for number in servers] == [
        f"waiting 10 listening {port:X} peer || exit 71" for port in (5210, 5211)
    ]
    after = rows[rows.index("mark end") :]
    wanted = ["waiting 15 ended", "sleep 2; kill -INT $lingering", "kill $clients $others 2>/dev/null"]
    assert [row for row in after if row in wanted] == wanted
    assert [row.rsplit("& ", 1)[1].partition("=")[0] for row in rows if row.endswith('$!"')] == [
        "others", "others", "others", "others", "lingering", "clients", "clients",
    ]  # fmt: skip


COMMAND = """
[[test]]
name = "own"
kind = "command"
command = {command}
on = "{on}"
duration_s = 1
warm_up_s = 0
"""


def carried_out(folder: Path, command: str, on: str = "dut", lab: str = ":") -> RunFacts:
    """Run the script of a command test here, with stand-ins for the testbed; ``on``: the end that it is for."""
    made = plan(TEXT[: TEXT.index("[[test]]")] + COMMAND.format(command=command, on=on) + "[design]\nidle_s = 0\n")
    programs = folder / "bin"
    programs.mkdir()
    stands_in = {
        "dut": 'END=dut exec "$@"',
        "peer": 'END=peer exec "$@"',
        "txop-lab": lab,
        "iw": "echo iw",
        "dmesg": ":",
    }
    for name, text in stands_in.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    script = script_of(made, 20).replace("cd /txop/out", f"cd {folder}")
    script = script.replace("/run/txop-lab", str(folder))
    environment = {"PATH": f"{programs}:{os.environ['PATH']}"}
    argv = [shutil.which("dash") or "sh", "-c", script]
    assert subprocess.run(argv, env=environment, timeout=60, check=False).returncode == 0
    return RunFacts(made, made.arm[0], made.test[0], folder, marks_in(folder))


@pytest.mark.parametrize("on", ["dut", "peer"])
def test_a_command_runs_at_its_end_and_its_output_is_kept(tmp_path: Path, on: str) -> None:
    facts = carried_out(tmp_path, """["sh", "-c", 'echo "{\\"own_s\\": 3}"; echo $END >end']""", on)
    assert isinstance(facts.test, CommandTest)
    reading = Command(facts.test).read(facts)
    assert reading.metrics["own_s"].value == 3
    assert (tmp_path / "end").read_text() == f"{on}\n"
    assert not reading.gates
    assert (tmp_path / "iw-phy.txt").read_text() == "iw\n"


PORT = """\
import json, os, pty, sys, tty
master, slave = pty.openpty()
tty.setraw(slave)
print(os.ttyname(slave), flush=True)
with os.fdopen(master, "r+b", buffering=0) as port:
    for asked in range(1, 3):
        line = b""
        while not line.endswith(b"\\n"):
            line += port.read(1)
        words = json.loads(line)["words"]
        assert words[0] == "counters", words
        with open(words[1], "w") as out:
            out.write(str(asked))
        port.write(b'{"status":0,"text":""}\\n')
    sys.stdin.readline()
"""
"""Answers as the control port of a guest does: counters go to the file that is named."""


def test_the_chip_is_asked_at_both_ends_of_the_window(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", PORT]
    with subprocess.Popen(argv, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stands_in:
        try:
            assert stands_in.stdout is not None
            port = stands_in.stdout.readline().strip()
            (tmp_path / "attached").touch()
            carried_out(tmp_path, '["true"]', lab=f"[ $1 != port ] || echo {port}")
        finally:
            stands_in.kill()
    assert [(tmp_path / name).read_text() for name in (chip.WINDOW_FILE, chip.END_FILE)] == ["1", "2"]


def test_a_command_that_fails_voids_the_run_and_one_that_goes_on_is_ended(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    failed = carried_out(tmp_path / "a", '["sh", "-c", "exit 3"]')
    assert isinstance(failed.test, CommandTest)
    (gate,) = Command(failed.test).read(failed).gates
    assert (gate.gate, gate.state) == ("traffic-failed", "void")
    assert "ended with 3" in gate.words
    begun = time.monotonic()
    lasting = carried_out(tmp_path / "b", """["sh", "-c", 'echo "{\\"n\\": 1}"; sleep 1000']""")
    assert time.monotonic() - begun < 50
    assert isinstance(lasting.test, CommandTest)
    reading = Command(lasting.test).read(lasting)
    assert reading.metrics["n"].value == 1
    assert not reading.gates


@given(st.text(max_size=200))
def test_marks_are_read_from_anything(text: str) -> None:
    read_marks(text)


def test_marks_are_the_guests_own_clock() -> None:
    marks = read_marks("idle 10.50\nload 13.50\nwall 1767225620\nwindow 15.51\nend 22.52\nnoise 1\n")
    assert (marks.idle, marks.load, marks.window, marks.end) == (10.5, 13.5, 15.51, 22.52)
    assert marks.window_s == pytest.approx(7.01)
    assert marks.wall_minus_monotonic_s == 1767225620 - 13.5
    assert marks.uptime_minus_monotonic_s["dut"] == 0


@pytest.mark.parametrize(
    ("chip_says", "expected"),
    [
        ('{"epoch_ns": 1767225599290000000}', 1767225599.29),
        # the script's own date, cut to a second
        ("{}", 1767225603.0 - 4.5),
        ('{"epoch_ns": 1e400}', 1767225603.0 - 4.5),
        ('{"epoch_ns": ' + "9" * 400 + "}", 1767225603.0 - 4.5),
    ],
)
def test_the_chips_clock_is_finer_than_the_date(tmp_path: Path, chip_says: str, expected: float) -> None:
    (tmp_path / "marks.txt").write_text("load 4.50\nwall 1767225603\n")
    (tmp_path / "chip.json").write_text(chip_says)
    assert marks_in(tmp_path).wall_minus_monotonic_s == pytest.approx(expected, abs=1e-3)


DEV = """Inter-|   Receive |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed
 wlan0: {} 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0
"""


def test_files_are_taken_over_in_the_form_of_the_instruments(tmp_path: Path) -> None:
    out, folder = tmp_path / "files", tmp_path / "run"
    for place in (out, folder):
        place.mkdir()
    (out / "net-dev-before.txt").write_text(DEV.format(1000))
    (out / "net-dev-after.txt").write_text(DEV.format(5000))
    (out / "driver.txt").write_text("../../../bus/usb/drivers/rtl8xxxu\n")
    (out / "marks.txt").write_text("load 1.5\n")
    (out / "ping.txt").write_text("PING\n")
    (folder / "run.json").write_text("mine")
    (out / "run.json").write_text("the guest's")
    assert take_over(out, folder, GuestSpec()) == BoundDriver("rtl8xxxu", None)
    both = json.loads((folder / "interface-dut.json").read_text())
    assert (both["before"]["rx_bytes"], both["after"]["rx_bytes"]) == (1000, 5000)
    assert (folder / "ping.txt").read_text() == "PING\n"
    assert (folder / "run.json").read_text() == "mine"  # a guest does not replace what is there
    assert marks_in(out).load == 1.5


MODEM = TEXT.replace("channel = 11\n", 'device = "qmi-modem"\n').replace(
    'driver = "rtl8xxxu"\n', 'modem = { mux = "rmnet" }\n'
)


def test_the_script_of_a_modem_asks_nothing_about_a_radio() -> None:
    script = script_of(plan(MODEM), 130)
    assert "/sys/class/net/wwan0/device/$link" in script
    assert "wlan0" not in script
    assert "iw" not in script.replace("txop-wireless", "").split()
    assert "mark window" in script.splitlines()


def test_traffic_of_a_client_on_a_lan_runs_there_and_counters_do_not() -> None:
    device = 'device = "qmi-modem"\n'
    own, lan = (
        script_of(plan(MODEM.replace(device, f'{device}modem = {{ traffic = "{traffic}" }}\n')), 130).splitlines()
        for traffic in ("host", "lan")
    )
    moved = [after for before, after in zip(own, lan, strict=True) if before != after]
    assert moved, "nothing was"
    assert all("exec lan iperf3" in row or "exec lan ping" in row for row in moved), moved
    assert any("dut tc" in row for row in lan)
    assert "dut cat /proc/net/dev >net-dev-before.txt" in lan


def test_statistics_of_the_driver_are_asked_of_a_network_function_only() -> None:
    asked = "ip netns exec dut ethtool -S wwan0 >ethtool-before-dut.txt"
    assert asked in script_of(plan(MODEM), 130).splitlines()
    assert "ethtool -S" not in script_of(plan(), 130)


def test_what_a_modem_cannot_tell_is_absent_with_a_reason(tmp_path: Path) -> None:
    out, made = tmp_path / "files", plan(MODEM)
    out.mkdir()
    for name, count in (("net-dev-before.txt", 1000), ("net-dev-after.txt", 5000)):
        (out / name).write_text(DEV.format(count).replace("wlan0", "wwan0"))
    take_over(out, tmp_path, made.guest_of(made.arm[0]) or GuestSpec())
    both = json.loads((tmp_path / "interface-dut.json").read_text())
    assert (both["interface"], both["after"]["rx_bytes"]) == ("wwan0", 5000)
    reading = read_wireless(RunFacts(made, made.arm[0], made.test[0], tmp_path, Marks()), "dut")
    said = "a network function (qmi-modem) has no radio that its driver could see"
    assert reading.metrics["retry_percent"].reason == said
    assert {(gate.gate, gate.state, gate.words) for gate in reading.gates} == {
        (name, "not available", said) for name in ("association-lost", "channel-changed")
    }


def test_an_arm_varies_the_guest_and_only_what_it_sets() -> None:
    spec = GuestSpec(mips=250, channel=11).varied(GuestVariant(driver="rtl8xxxu"))
    assert (spec.driver, spec.channel, spec.mips, spec.mode) == ("rtl8xxxu", 11, 250, "exact")
    assert GuestSpec(driver="rtl8xxxu").varied(None).driver == "rtl8xxxu"


def test_the_origin_says_how_time_passed() -> None:
    assert plan().origin is Origin.GUEST_EXACT
    assert plan(TEXT.replace("mips = 250", 'mode = "fast"')).origin is Origin.GUEST_FAST


def test_arms_are_paired_by_the_seed_of_their_block() -> None:
    seeds = [seed_of(1, block) for block in range(50)]
    assert len(set(seeds)) == 50
    assert all(0 < seed < 2**31 for seed in seeds)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('[target.peer]\nkind = "guest"', '[target.peer]\nkind = "local"\naddress = "10.0.0.1"', "target.peer"),
        ("[guest]\nmips = 250\nchannel = 11\n", "", "target.dut.kind"),
        ('name = "a"', 'name = "a"\nmodule = { name = "x" }', "arm[0].module"),
        ('kind = "tcp-both"', 'kind = "stations"\nstations = ["dut", "dut"]', "test[0].kind"),
        ('latency = "ping"', 'latency = "irtt"', "test[0].latency"),
    ],
)
def test_what_cannot_be_done_in_a_guest_is_said_before(old: str, new: str, key: str) -> None:
    assert old in TEXT
    text = TEXT.replace(old, new)
    assert [problem for problem in check(loaded(text), files=False).problems if problem.key == key]
    assert not check(loaded(TEXT), files=False).problems


@pytest.mark.parametrize(
    "name",
    [
        "guest-two-drivers",
        "guest-modem-aggregation",
        "guest-modem-pacing",
        "guest-modem-sweep",
        "guest-modem-wandering",
        "guest-ncm-timer",
        "guest-sdio-stacks",
        "guest-sdio-endurance",
        "guest-sdio-faults",
        "guest-sdio-libertas-reset",
        "guest-sdio-polling",
        "guest-sdio-soak",
        "guest-sdio-two-cards",
    ],
)
def test_the_shipped_plan_is_one(name: str) -> None:
    path = Path(__file__).parents[2] / f"examples/plans/{name}.toml"
    tomllib.loads(path.read_text(encoding="utf-8"))
    assert not check(loaded(path.read_text(encoding="utf-8")), files=False).problems


def test_guests_at_once_in_fast_mode_are_told_of() -> None:
    text = TEXT.replace("mips = 250", 'mode = "fast"\nparallel = 2')
    assert "guest.parallel" in [problem.key for problem in check(loaded(text), files=False).warnings]
    assert "guest.parallel" not in [problem.key for problem in check(loaded(TEXT), files=False).warnings]


def test_one_saved_guest_is_the_start_of_runs_of_all_tests_and_seeds() -> None:
    made = plan(TEXT + '[[test]]\nname = "up"\nkind = "tcp-tx"\n')
    run = RunContext(made, made.arm[0], made.test[0], Targets(), Path(), Marks(), PEER_ADDRESS, 130)
    saved = {saved_script(replace(run, test=test), in_guest(made, test)) for test in made.test}
    assert len(saved) == 1, "what a test is, is said after the restore"
    (script,) = saved
    given = {
        given_script(replace(run, test=test), in_guest(made, test), seed, 1000) for test in made.test for seed in (1, 2)
    }
    assert len(given) == 4
    shell = shutil.which("dash") or "sh"
    for text in (script, *given):
        subprocess.run([shell, "-n"], input=text.encode(), check=True)
    whole = run_script(run, in_guest(made, made.test[0]))
    parts = given_script(run, in_guest(made, made.test[0]), 1, 1000).split("\n", 2)
    assert whole.endswith(parts[2]), "from there on it does what a guest does that boots"
    assert script.startswith(whole.removesuffix(parts[2]))
