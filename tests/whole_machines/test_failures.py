"""What a desk sees on bad days: each ends in a run that is void for a named cause, a block that is repeated, an archive
that is whole, and nothing left on the machine."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from pathlib import Path

from lab_bench import STARVED, Bench
from lab_image import AP_NAMESPACE
from txop.archive.counting import counting

TRAFFIC = "iperf3 -c"


def outcome(bench: Bench, done: subprocess.CompletedProcess[str], *, gates: set[str]) -> list[str]:
    """Check what all these campaigns have in common: the first run is void for one of these gates, the block was
    repeated, and nothing is left behind. The causes for which the first run is void."""
    assert done.returncode == 0, done.stderr
    read = bench.read()
    assert read.finished
    assert not read.damage
    first, *others = read.runs
    assert first.state == "void"
    assert {cause.gate for cause in first.void} <= gates, first.void
    for run in others[:-1]:
        assert {cause.gate for cause in run.void} <= STARVED, run.void
    assert others[-1].state == "valid", others[-1].void
    assert others[-1].replaces is not None
    assert len(counting(read, "tx").runs) == 1
    assert bench.machine.left_behind() == []
    compared = bench.txop("compare", str(bench.archive))
    assert "damaged" not in compared.stderr
    return [cause.cause for cause in first.void]


def shown(done) -> str:
    """All that the terminal showed, in one line."""
    return " ".join(done.stderr.split())


def in_the_window(bench: Bench) -> None:
    """Until traffic has run for a moment."""
    bench.wait_for_command(TRAFFIC)
    time.sleep(2.0)


def test_a_machine_that_reboots_in_the_middle_of_a_run(bench: Bench):
    boot = bench.machine.boot_id()
    process = bench.start("run", str(bench.short_plan()), "-o", str(bench.archive))
    in_the_window(bench)
    bench.machine.ssh("nohup sh -c 'sleep 0.5; reboot -ff' >/dev/null 2>&1 &", check=False)
    done = bench.ended(process)
    causes = outcome(bench, done, gates={"target-lost", "target-rebooted"})
    assert bench.machine.boot_id() != boot
    assert "answers again" in shown(done)
    assert any("connection" in cause or "does not answer" in cause for cause in causes), causes


def test_a_machine_without_power_comes_back_by_its_hook(bench: Bench):
    asked = bench.folder / "power"
    hooks = f"hooks.settle_s = 120\nhooks.power_cycle = ['touch {asked}']"
    process = bench.start("run", str(bench.short_plan({"hooks.settle_s = 240": hooks})), "-o", str(bench.archive))
    in_the_window(bench)
    bench.machine.power_off()
    socket = threading.Thread(target=_power_socket, args=(bench, asked))
    socket.start()
    done = bench.ended(process)
    socket.join()
    outcome(bench, done, gates={"target-lost"})
    assert asked.exists()
    assert "cutting its power" in shown(done)


def _power_socket(bench: Bench, asked: Path) -> None:
    bench.wait(asked.exists, "the power-cycle hook", 300.0)
    bench.machine.power_on()


def test_an_ssh_server_that_is_killed_takes_its_sessions_along(bench: Bench):
    process = bench.start("run", str(bench.short_plan()), "-o", str(bench.archive))
    in_the_window(bench)
    bench.machine.ssh(
        "systemd-run --quiet --unit=lab-outage sh -c "
        "'systemctl stop ssh; pkill -KILL sshd; sleep 20; systemctl start ssh'",
        check=False,
    )
    done = bench.ended(process)
    causes = outcome(bench, done, gates={"target-lost"})
    assert any("SSH" in cause for cause in causes), causes


def test_a_full_run_folder_is_named(bench: Bench):
    bench.machine.ssh(
        "mkdir -p /run/txop && mount -t tmpfs -o size=16k lab /run/txop && dd if=/dev/zero of=/run/txop/x", check=False
    )
    process = bench.start("run", str(bench.short_plan()), "-o", str(bench.archive))
    bench.wait(lambda: "run-voided" in _journal(bench), "a void run")
    bench.machine.ssh("umount -l /run/txop")
    causes = outcome(bench, bench.ended(process), gates={"arm-load-failed"})
    assert any("No space left on device" in cause for cause in causes), causes


def test_a_full_temporary_folder_is_named(bench: Bench):
    bench.machine.ssh("mount -t tmpfs -o size=16k lab /tmp && dd if=/dev/zero of=/tmp/x 2>/dev/null", check=False)
    process = bench.start("run", str(bench.short_plan()), "-o", str(bench.archive))
    bench.wait(lambda: "run-voided" in _journal(bench), "a void run")
    bench.machine.ssh("umount -l /tmp")
    causes = outcome(bench, bench.ended(process), gates={"traffic-failed"})
    assert any("is there room in /tmp?" in cause for cause in causes), causes


def test_a_station_that_is_deauthenticated_voids_the_run(bench: Bench):
    process = bench.start("run", str(bench.short_plan()), "-o", str(bench.archive))
    in_the_window(bench)
    bench.machine.ssh(f"ip netns exec {AP_NAMESPACE} hostapd_cli -i wlan1 deauthenticate 02:00:00:00:00:00")
    causes = outcome(bench, bench.ended(process), gates={"association-lost", *STARVED})
    assert any("The AP ended the authentication" in cause for cause in causes), causes


def test_a_clock_that_is_set_in_the_middle_of_a_run_voids_it(bench: Bench):
    process = bench.start("run", str(bench.short_plan()), "-o", str(bench.archive))
    in_the_window(bench)
    bench.machine.ssh("date -s '+60 sec'")
    causes = outcome(bench, bench.ended(process), gates={"clock-jumped"})
    assert any("the clock of dut was set by +" in cause for cause in causes), causes


def test_a_clock_that_is_a_minute_off_changes_no_figure(bench: Bench):
    bench.machine.ssh("date -s '+60 sec'")
    plan = bench.short_plan({"[gates]": "[collect]\nair = true\n[gates]"})
    looked = bench.txop("plan", "check", str(plan), "--connect")
    assert "dut, clock: set it" in looked.stdout
    done = bench.txop("run", str(plan), "-o", str(bench.archive))
    assert done.returncode == 0, done.stderr
    *starved, run = bench.read().runs
    assert {cause.gate for each in starved for cause in each.void} <= STARVED
    assert run.state == "valid", run.void
    mpdus = run.metrics["air_up_mpdus"]
    assert (mpdus.value or 0) > 100 or "simulated radio" in mpdus.reason
    assert bench.machine.left_behind() == []


def test_another_host_key_is_refused_before_anything_is_done(bench: Bench):
    other = bench.folder / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
    key = " ".join(other.with_suffix(".pub").read_text().split()[:2])
    known = bench.folder / "known_hosts"
    known.write_text(f"[127.0.0.1]:{bench.machine.port} {key}\n")
    done = bench.txop("run", str(bench.short_plan({'"KNOWN_HOSTS"': f'"{known}"'})), "-o", str(bench.archive))
    assert done.returncode in (2, 3), done.stderr
    assert "is not the one in" in shown(done)
    assert "ssh-keygen -f" in shown(done)
    assert bench.read().runs == []
    assert bench.machine.left_behind() == []


def test_a_missing_iperf3_is_named_before_anything_is_loaded(bench: Bench):
    bench.machine.ssh("mv /usr/bin/iperf3 /usr/bin/iperf3-away")
    try:
        done = bench.txop("run", str(bench.short_plan()), "-o", str(bench.archive))
    finally:
        bench.machine.ssh("mv /usr/bin/iperf3-away /usr/bin/iperf3")
    assert done.returncode == 3, done.stderr
    assert "iperf3" in shown(done)
    assert bench.read().runs == []
    assert "modprobe mac80211_hwsim" not in (bench.archive / "commands.log").read_text()
    assert bench.machine.left_behind() == []


def test_after_kill_9_nothing_runs_on_and_resume_completes(bench: Bench):
    process = bench.start("run", str(bench.short_plan()), "-o", str(bench.archive))
    in_the_window(bench)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    running = [line for line in bench.machine.left_behind() if "hostapd" not in line and line != "mac80211_hwsim"]
    until = time.monotonic() + 30
    while any(not line.startswith("/") for line in running) and time.monotonic() < until:
        time.sleep(1.0)
        running = [line for line in bench.machine.left_behind() if "hostapd" not in line and line != "mac80211_hwsim"]
    assert [line for line in running if not line.startswith("/")] == []
    done = bench.txop("resume", str(bench.archive))
    assert done.returncode == 0, done.stderr
    read = bench.read()
    assert read.finished
    assert not read.damage
    assert len(counting(read, "tx").runs) == 1
    assert bench.machine.left_behind() == []


def test_ctrl_c_gives_the_machine_back(bench: Bench):
    process = bench.start("run", str(bench.short_plan()), "-o", str(bench.archive))
    in_the_window(bench)
    process.send_signal(signal.SIGINT)
    done = bench.ended(process)
    assert done.returncode == 130
    assert bench.machine.left_behind() == []
    assert not bench.read().damage


def _journal(bench: Bench) -> str:
    file = bench.archive / "journal.jsonl"
    return file.read_text(encoding="utf-8") if file.exists() else ""
