"""A campaign on a second machine that has BusyBox, an SSH server and iperf3: the whole of `txop run`, for real."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from txop.archive.counting import counting
from txop.archive.reader import read_archive
from txop.plan.templates import templates

SHORTER = {
    "duration_s = 10": "duration_s = 2",
    "[design]\n": "[design]\nwarm_up_s = 0\nidle_s = 1.2\ngap_s = 0\n",
    "[gates]\n": "[collect]\ncounters_interval_s = 0.2\n[gates]\nmax_peer_cpu_percent = 100\n",
}
"""What makes the shipped plan quick; one machine plays all parts here, so the peer's CPU is not a gate."""


@pytest.fixture
def gateway(busybox_sshd, tmp_path):
    """A running server, and the plan that drives it."""
    server = busybox_sshd(programs=["iperf3"])
    known_hosts = tmp_path / "known_hosts"
    known_hosts.write_text(server.known_hosts_line)

    def plan(blocks: int = 1) -> Path:
        text = templates()["ssh-second-machine"].text
        for old, new in SHORTER.items():
            assert old in text
            text = text.replace(old, new)
        text = text.replace("blocks = 8", f"blocks = {blocks}").replace('"eth0"', f'"{server.interface}"')
        text = text.replace("192.0.2.20", server.address).replace('192.0.2.1"', f'{server.near_address}"')
        access = f'user = "root"\nkey = "{server.keys.user}"\nknown_hosts = "{known_hosts}"\nconfig = "/dev/null"\n'
        text = text.replace('user = "root"\n', access + "hooks.settle_s = 5\n")
        path = tmp_path / "plan.toml"
        path.write_text(text)
        return path

    return server, plan


def test_a_campaign_over_ssh(gateway, txop, tmp_path):
    _, plan = gateway
    archive = tmp_path / "archive"
    done = txop("run", str(plan()), "-o", str(archive), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["format"] == "txop-compare"
    read = read_archive(archive)
    assert read.finished
    assert not read.damage
    assert {(run.arm, run.test): run.state for run in read.runs} == {
        (arm, test): "valid" for arm in ("mtu-1500", "mtu-600") for test in ("tx", "rx")
    }
    assert all(run.origin == "hardware" for run in read.runs)
    for run in read.runs:
        assert run.metrics["throughput_mbit_s"].value > 1
        busy = run.metrics["cpu_busy_percent"]
        # a machine busy with other work may starve the sampler of one run; the figure says so then
        assert busy.value is not None or "fewer than two samples" in busy.reason
        assert run.gates["route (dut)"] == "ok"
    sampled = [run for run in read.runs if run.metrics["cpu_busy_percent"].value is not None]
    assert len(sampled) >= 2
    assert all(run.metrics["context_switches_per_s"].value > 0 for run in sampled)
    tx = {run.arm: run for run in read.runs if run.test == "tx"}
    assert tx["mtu-1500"].metrics["rtt_p50_ms"].value > 0
    assert (archive / "runs" / "001-mtu-600-tx" / "ping.txt").read_text().startswith("PING")
    dut = read.provenance["dut"]
    assert "iperf3" in dut["tools"]
    assert dut["not_available"]["regulatory_domain"] == "no iw"
    log = (archive / "commands.log").read_text()
    assert "dut $ ip link set dev eth0 mtu 600" in log
    assert (archive / "report.html").stat().st_size > 10_000
    assert (archive / "derived" / "metrics.parquet").exists()


def test_a_gateway_without_iperf3_is_told_before_anything_is_loaded(gateway, txop, tmp_path):
    server, plan = gateway
    (server.root / "usr/bin/iperf3").unlink()
    archive = tmp_path / "archive"
    done = txop("run", str(plan()), "-o", str(archive))
    assert done.returncode == 3
    assert "dut: it has no iperf3, which is needed for the test" in done.stderr.replace("\n", " ")
    assert "ip link set" not in (archive / "commands.log").read_text()
    assert read_archive(archive).runs == []


@pytest.mark.slow
def test_nothing_is_left_on_the_gateway_after_kill_9_and_resume_goes_on(gateway, program, txop, tmp_path):
    server, plan = gateway
    archive = tmp_path / "archive"
    process = subprocess.Popen(
        [program, "run", str(plan(2)), "-o", str(archive), "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    journal = archive / "journal.jsonl"
    until = time.monotonic() + 60
    while time.monotonic() < until and not (journal.exists() and journal.read_text().count("run-started") >= 2):
        time.sleep(0.05)
    time.sleep(1.0)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert server.wait_for_no_commands(15) == []
    read = read_archive(archive)
    assert not read.finished
    assert len(read.runs) >= 1
    done = txop("resume", str(archive))
    assert done.returncode == 0, done.stderr
    read = read_archive(archive)
    assert read.finished
    assert len(counting(read, "tx").runs) == len(counting(read, "rx").runs) == 4


@pytest.mark.slow
def test_a_gateway_that_goes_away_stops_the_campaign_cleanly(gateway, txop, program, tmp_path):
    server, plan = gateway
    archive = tmp_path / "archive"
    process = subprocess.Popen(
        [program, "run", str(plan()), "-o", str(archive)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    commands = archive / "commands.log"
    while time.monotonic() < until and not (commands.exists() and "iperf3 -c" in commands.read_text()):
        time.sleep(0.05)
    server.stop()
    _, said = process.communicate(timeout=90)
    assert process.returncode == 4, said
    assert "dut stopped responding" in said
    assert "txop resume" in said
    read = read_archive(archive)
    assert [run.void[0].gate for run in read.runs] == ["target-lost"]
    assert read.events[-1].event == "campaign-stopped"


def test_the_kernel_log_of_a_target_of_a_plan(gateway, txop):
    _, plan = gateway
    done = txop("log", "--target", "dut", "--plan", str(plan()), "--json")
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout)["source"] == "dut"
    done = txop("log", "--target", "nobody", "--plan", str(plan()))
    assert done.returncode == 2
    assert "choose from dut, peer" in done.stderr.lower()
