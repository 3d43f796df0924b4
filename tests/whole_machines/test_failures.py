"""Power that is cut, a key that is another, a program that is missing, a campaign that is ended from outside: what txop
says, and what it leaves behind."""

from __future__ import annotations

import signal
import subprocess
import time

from lab_bench import STARVED, Bench
from txop.archive.counting import counting

TRAFFIC = "iperf3 -c"


def shown(done) -> str:
    """All that the terminal showed, in one line."""
    return " ".join(done.stderr.split())


def in_the_window(bench: Bench) -> None:
    """Until traffic has run for a moment."""
    bench.wait_for_command(TRAFFIC)
    time.sleep(2.0)


def test_a_machine_without_power_comes_back_by_its_hook(bench: Bench):
    asked = bench.folder / "power"
    hooks = f"hooks.reconnect_s = 5\nhooks.settle_s = 400\nhooks.power_cycle = ['touch {asked}']"
    process = bench.start("run", str(bench.short_plan({"hooks.settle_s = 240": hooks})), "-o", str(bench.archive))
    in_the_window(bench)
    bench.machine.power_off()
    bench.wait(asked.exists, "the power-cycle hook", 300.0)
    # Not in a thread of its own: the machine is ended with the thread that started it (PR_SET_PDEATHSIG).
    bench.machine.power_on()
    done = bench.ended(process)
    assert done.returncode == 0, done.stderr
    assert asked.exists()
    assert "cutting its power" in shown(done)
    read = bench.read()
    assert read.finished
    assert not read.damage
    first, *others = read.runs
    assert {cause.gate for cause in first.void} == {"target-lost"}, first.void
    for run in others[:-1]:
        assert {cause.gate for cause in run.void} <= STARVED, run.void
    assert others[-1].state == "valid", others[-1].void
    assert others[-1].replaces is not None
    assert len(counting(read, "tx").runs) == 1
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


def test_a_campaign_that_is_interrupted_and_killed_is_resumed(bench: Bench):
    process = bench.start("run", str(bench.short_plan()), "-o", str(bench.archive))
    in_the_window(bench)
    process.send_signal(signal.SIGINT)
    assert bench.ended(process).returncode == 130
    assert bench.machine.left_behind() == []
    assert not bench.read().damage

    seen = bench.begun(TRAFFIC)
    process = bench.start("resume", str(bench.archive))
    bench.wait_for_command(TRAFFIC, count=seen + 1)
    time.sleep(2.0)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    until = time.monotonic() + 60
    while (running := _running(bench)) and time.monotonic() < until:
        time.sleep(1.0)
    assert running == [], "what was started over the connection ends with it"
    assert bench.machine.left_behind() != [], "the arm is still in place"

    done = bench.txop("resume", str(bench.archive))
    assert done.returncode == 0, done.stderr
    read = bench.read()
    assert read.finished
    assert not read.damage
    assert len(counting(read, "tx").runs) == 1
    assert bench.machine.left_behind() == []


def _running(bench: Bench) -> list[str]:
    """Processes of a campaign, but for the access point, which has detached itself."""
    left = bench.machine.left_behind()
    return [line for line in left if not line.startswith("/") and "hostapd" not in line and line != "mac80211_hwsim"]
