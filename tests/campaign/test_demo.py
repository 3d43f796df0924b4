"""`txop demo`: the main job on an emulated link, with real iperf3 and ping."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time

import pytest

from txop.archive.reader import read_archive
from txop.emulate import EmulationStatus


@pytest.fixture(autouse=True)
def _possible():
    missing = [program for program in ("iperf3", "ping", "nsenter") if shutil.which(program) is None]
    if missing or not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        reason = f"emulated links need {', '.join(missing) or '/dev/net/tun'}"
        if os.environ.get("CI") == "true" and missing:
            pytest.fail(reason)
        pytest.skip(reason)
    if not any(subprocess.run(["unshare", way, "true"], capture_output=True).returncode == 0 for way in ("-n", "-Urn")):
        pytest.skip("emulated links need network namespaces, which this machine does not allow")


def test_the_demo_measures_explains_compares_and_reports(txop, tmp_path):
    done = txop("demo", "-o", str(tmp_path / "demo"), "--blocks", "1", "--no-open", "--json", timeout=280)
    root = tmp_path / "demo" / "archive"
    archive = read_archive(root)
    late = [
        why.cause for run in archive.runs if run.state == "void" for why in run.void if why.gate == "emulation-late"
    ]
    if late:
        pytest.skip(f"this machine is too busy for an emulated link: {late[0]}")
    assert done.returncode == 0, done.stderr
    assert archive.finished
    assert not archive.damage
    valid = {(run.arm, run.test): run for run in archive.runs if run.state == "valid"}
    assert len(valid) == 6, [run.void for run in archive.runs]
    for run in valid.values():
        assert run.origin == "emulated"
        assert run.metrics["throughput_mbit_s"].value > 5
        assert run.gates["route (dut)"] == "ok"
        # What txop air says of the capture is what the link counted.
        folder = root / "runs" / run.run
        status = EmulationStatus.model_validate_json((folder / "link.json").read_bytes())
        side = status.wlan.dut if run.test == "tx" else status.wlan.ap
        assert status.air is not None
        assert status.air.dropped == 0
        assert run.metrics["air_retry_percent"].value == pytest.approx(side.retry_percent, abs=0.5)
        assert sum(step["share"] for step in run.air["waterfall"]) == pytest.approx(1)
        # And txop bus finds the URBs that it counted.
        counted = status.counters["dut"]["usb"]
        completions = {each["address"]: each["completions"] for each in run.bus["endpoints"]}
        assert status.usb.dropped == 0
        assert (completions["0x02"], completions["0x81"]) == (counted["out_urbs"], counted["in_urbs"])
        assert run.metrics["usb_out_datagrams_per_urb"].value == 1
    tx = {arm: valid[arm, "tx"].metrics for arm in ("vanilla", "aggregation")}
    assert tx["aggregation"]["throughput_mbit_s"].value > 1.3 * tx["vanilla"]["throughput_mbit_s"].value
    assert tx["vanilla"]["air_ampdu_mpdus"].value == pytest.approx(1, abs=0.01)
    assert tx["aggregation"]["air_ampdu_mpdus"].value > 2
    assert tx["vanilla"]["rtt_p50_ms"].value > 0
    assert tx["vanilla"]["usb_interrupt_urbs_per_s"].value == pytest.approx(4000, rel=0.01)
    assert tx["aggregation"]["usb_interrupt_urbs_per_s"].value == pytest.approx(200, rel=0.02)
    per_urb = {arm: valid[arm, "rx"].metrics["usb_in_datagrams_per_urb"].value for arm in ("vanilla", "aggregation")}
    assert per_urb["vanilla"] == 1
    assert per_urb["aggregation"] > 2
    result = json.loads(done.stdout)
    assert result["origin"] == "emulated"
    page = (root / "report.html").read_text(encoding="utf-8")
    assert "emulated" in page
    assert "On the USB" in page
    assert (root / "derived" / "series.parquet").exists()
    again = txop("demo", "-o", str(tmp_path / "other"), "--blocks", "0", "--no-open")
    assert again.returncode == 2


def test_ctrl_c_leaves_nothing_and_says_how_to_go_on(program, tmp_path):
    process = subprocess.Popen(
        [program, "demo", "-o", str(tmp_path), "--no-open"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    journal = tmp_path / "archive" / "journal.jsonl"
    until = time.monotonic() + 60
    while time.monotonic() < until and not (journal.exists() and "run-started" in journal.read_text()):
        time.sleep(0.05)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "txop resume" in said
    assert read_archive(tmp_path / "archive").events[-1].event == "campaign-stopped"
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True).stdout.split()
    assert left == []
