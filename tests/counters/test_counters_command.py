"""``txop counters`` as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import counter_specimens as specimens
from txop.core.errors import ExitCode
from txop.counters import CountersReport

FAKE_IW = """#!/bin/sh
# Every station dump has 1,000 packets, 250 retries and 125,000 bytes more than the one before.
[ "$2" = wlan0 ] || { echo "command failed: No such device (-19)" >&2; exit 237; }
case $3 in
survey) printf 'Survey data from wlan0\\n\\tfrequency:\\t\\t\\t5180 MHz [in use]\\n\\tnoise:\\t\\t\\t\\t-92 dBm\\n' ;;
station)
    n=$(cat "$STATE" 2>/dev/null || echo 0); n=$((n + 1)); echo "$n" > "$STATE"
    printf 'Station 02:00:00:aa:bb:01 (on wlan0)\\n\\ttx bytes:\\t%d\\n\\ttx packets:\\t%d\\n\\ttx retries:\\t%d\\n' \\
        $((n * 125000)) $((n * 1000)) $((n * 250))
    printf '\\tsignal:  \\t-60 dBm\\n\\tconnected time:\\t%d seconds\\n' $((n + 5))
    printf '\\tcurrent time:\\t%d ms\\n' $((n * 2000)) ;;
esac
"""


def fake_iw(folder: Path, state: str) -> Path:
    """A program ``iw`` in ``folder`` that counts in the file ``state``."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "iw"
    path.write_text(FAKE_IW.replace("$STATE", state))
    path.chmod(0o755)
    return path


@pytest.fixture
def here(tmp_path):
    """The environment of a machine whose iw is ours, and the folder of two readings."""
    (tmp_path / "before.txt").write_text(specimens.STATION_BEFORE + specimens.SURVEY_BEFORE + specimens.RATES_NEW)
    (tmp_path / "after.txt").write_text(
        specimens.STATION_AFTER + specimens.SURVEY_AFTER + specimens.RATES_AFTER + specimens.KERNEL_LOG
    )
    fake_iw(tmp_path / "bin", str(tmp_path / "state"))
    return {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "COLUMNS": "120"}


def test_two_files(txop, here, tmp_path):
    done = txop("counters", "before.txt", "after.txt", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    report = CountersReport.model_validate_json(done.stdout)
    assert (report.format, report.version, report.before, report.after) == (
        "txop-counters",
        1,
        "before.txt",
        "after.txt",
    )
    assert {each.code for each in report.conclusions} == {
        "rate-overshoots",
        "channel-of-others",
        "retries-many",
        "frames-lost",
    }
    shown = txop("counters", "before.txt", "after.txt", cwd=tmp_path, env=here)
    assert (shown.returncode, shown.stderr) == (0, "")
    words = " ".join(shown.stdout.split())
    for conclusion in report.conclusions:
        assert conclusion.text in words
    assert "txop log after.txt" in words
    first = shown.stdout.splitlines()[: len(report.conclusions) * 2 + 1]
    assert "overshoots" in " ".join(first)
    whole = txop("counters", "before.txt", "after.txt", "--all", cwd=tmp_path, env=here)
    assert len(whole.stdout) > len(shown.stdout)
    assert "rc80211_minstrel_ht_debugfs.c" in whole.stdout


def test_stdin_and_one_file(txop, tmp_path):
    done = txop("counters", "-", "--json", stdin=None, input=specimens.STATION_BEFORE)
    assert json.loads(done.stdout)["after"] == "-"
    assert done.returncode == 0


def test_what_is_not_counters(txop, tmp_path):
    (tmp_path / "log.txt").write_text(specimens.KERNEL_LOG)
    done = txop("counters", "log.txt", cwd=tmp_path)
    assert done.returncode == ExitCode.UNDECIDED
    assert "txop log log.txt" in done.stdout
    (tmp_path / "c.pcap").write_bytes(b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + b"\0" * 16)
    done = txop("counters", "c.pcap", cwd=tmp_path)
    assert done.returncode == ExitCode.BAD_INPUT
    assert "txop air c.pcap" in done.stderr
    assert txop("counters", "none.txt", cwd=tmp_path).returncode == ExitCode.BAD_INPUT


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a", "b", "c"],
        ["-", "-"],
        ["--interface", "wlan0"],
        ["--target", "local", "before.txt"],
        ["--target", "local"],
        ["--target", "local", "--interface", "-x"],
        ["--target", "local", "--interface", "a;b"],
        ["--target", "local", "--interface", "wlan0", "--every", "0"],
        ["--target", "local", "--interface", "wlan0", "--every", "soon"],
    ],
)
def test_wrong_usage(txop, here, tmp_path, arguments):
    done = txop("counters", *arguments, cwd=tmp_path, env=here)
    assert (done.returncode, done.stdout) == (ExitCode.BAD_INPUT, "")


def test_this_machine_at_intervals(txop, here):
    live = ["counters", "--target", "local", "--interface", "wlan0", "--every", "0.5s", "--count", "3"]
    done = txop(*live, env=here)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:4]]
    # 125,000 bytes in 2 s by the clock of iw; 250 of 1,250 attempts
    assert [(row[2], row[4]) for row in rows] == [("0.5", "20.0")] * 3
    report = CountersReport.model_validate_json(txop(*live, "--json", env=here).stdout)
    values = {each.code: each.value for each in report.figures}
    assert (values["tx-packets"], values["tx-retries"], values["tx-mbit-s"]) == (3_000, 750, 0.5)
    assert [each.seconds for each in report.pairings if each.seconds is not None] == [6]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_readings(program, plain_environment, here, tmp_path, number):
    running = subprocess.Popen(
        [program, "counters", "--target", "local", "--interface", "wlan0", "--every", "0.5s", "--json"],
        env=plain_environment | here,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (state := tmp_path / "state").exists() or int(state.read_text() or 0) < 4:
        assert time.monotonic() < deadline
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert "Traceback" not in err
    if number == signal.SIGINT:
        assert running.returncode == 0
        values = {each.code: each.value for each in CountersReport.model_validate_json(out).figures}
        assert values["tx-packets"] >= 2_000
    else:
        assert (running.returncode, out) == (128 + number, "")


def test_a_machine_without_the_interface_or_iw(txop, here, tmp_path):
    done = txop("counters", "--target", "local", "--interface", "wlan9", env=here)
    assert (done.returncode, done.stdout) == (ExitCode.MISSING, "")
    assert "No such device" in done.stderr


def test_over_ssh(busybox_sshd, txop, tmp_path):
    server = busybox_sshd()
    fake_iw(server.root / "usr/sbin", "/tmp/state")  # noqa: S108 - on the server
    server.table(tmp_path / "known_hosts")
    plan = tmp_path / "plan.toml"
    made = txop("plan", "new", str(plan), "--template", "ssh-second-machine")
    assert made.returncode == 0, made.stderr
    text = plan.read_text().replace("192.0.2.20", server.address).replace('"eth0"', '"wlan0"')
    access = (
        f'user = "root"\nkey = "{server.keys.user}"\nknown_hosts = "{tmp_path / "known_hosts"}"\nconfig = "/dev/null"\n'
    )
    plan.write_text(text.replace('user = "root"\n', access, 1))
    done = txop("counters", "--target", "dut", "--plan", str(plan), "--every", "0.5s", "--count", "2", "--json")
    assert done.returncode == 0, done.stderr
    values = {each.code: each.value for each in CountersReport.model_validate_json(done.stdout).figures}
    assert (values["tx-packets"], values["tx-retries"]) == (2_000, 500)
    assert server.wait_for_no_commands(5) == []


def test_a_mixed_paste_is_named_by_both_commands(txop, tmp_path):
    (tmp_path / "paste.txt").write_text(
        specimens.KERNEL_LOG + "$ iw dev wlan0 station dump\n" + specimens.STATION_BEFORE
    )
    log = txop("log", "paste.txt", cwd=tmp_path)
    assert "Lines 5 to 23: iw station dump. It is read by: txop counters paste.txt" in log.stdout
    counters = txop("counters", "paste.txt", cwd=tmp_path)
    assert "lines 1 to 3: a kernel log. It is read by: txop log paste.txt" in counters.stdout
    assert "look like errors" not in log.stdout, "lines of counters are no messages"
    (tmp_path / "log.txt").write_text(specimens.KERNEL_LOG)
    assert "txop counters" not in txop("log", "log.txt", cwd=tmp_path).stdout


def test_results_of_tests_in_a_paste_are_named_too(txop, tmp_path):
    ping = "$ ping -c 1 host\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1.2 ms\n"
    text = specimens.KERNEL_LOG + ping + "$ iw dev wlan0 station dump\n" + specimens.STATION_BEFORE
    (tmp_path / "paste.txt").write_text(text)
    assert "output of a tool that measures. It is read by: txop import paste.txt" in (
        txop("log", "paste.txt", cwd=tmp_path).stdout
    )
    piped = txop("counters", "-", cwd=tmp_path, stdin=None, input=text)
    assert "It is read by: txop import FILE" in piped.stdout, "stdin cannot be named again"


def test_the_analysis_of_captures_names_what_reads_a_paste(txop, tmp_path):
    (tmp_path / "paste.txt").write_text(specimens.KERNEL_LOG + specimens.STATION_BEFORE)
    done = txop("air", "paste.txt", cwd=tmp_path)
    assert done.returncode == ExitCode.BAD_INPUT
    assert "txop log paste.txt and txop counters paste.txt" in " ".join(done.stderr.split())
    (tmp_path / "letter.txt").write_text("Hello\nworld\n")
    assert "txop counters" not in txop("air", "letter.txt", cwd=tmp_path).stderr
