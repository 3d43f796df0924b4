"""`txop demo`: the main job on an emulated link, with real iperf3 and ping."""

from __future__ import annotations

import html
import json
import os
import shutil
import signal
import subprocess
import time

import pytest

from txop import air, bus
from txop.air.view.headline import WATERFALL_HEADING
from txop.archive.reader import read_archive
from txop.emulate import EmulationStatus
from txop.emulate.status import retry_percent
from txop.present.format import capital


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
    after = {}
    for run in valid.values():
        assert run.origin == "emulated"
        assert run.metrics["throughput_mbit_s"].value > 5
        assert run.gates["route (dut)"] == "ok"
        # What txop air says of the capture is what the link counted.
        folder = root / "runs" / run.run
        status = EmulationStatus.parse((folder / "link.json").read_bytes())
        side = status.wlan.dut if run.test == "tx" else status.wlan.ap
        assert status.air is not None
        assert status.air.dropped == 0
        whole = air.analyze(folder / "air.pcapng")
        link = next(each for each in whole.links if (each.ta, each.ra) == (run.air["ta"], run.air["ra"]))
        assert link.mpdu_retry.percent == pytest.approx(retry_percent(side), abs=0.5)
        # And txop bus finds the URBs that it counted.
        counted = status.counters["dut"]["usb"]
        completions = {each.address: each.completions for each in bus.analyze(folder / "usb.pcapng").endpoints}
        assert status.usb.dropped == 0
        assert (completions["0x02"], completions["0x81"]) == (counted["out_urbs"], counted["in_urbs"])
        assert run.metrics["usb_out_datagrams_per_urb"].value == 1
        after[run.run] = of_the_window(run, folder)
    # on a busy machine a capture may end with the window
    assert any(after.values())
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
    # Every sentence about the captures on the page is one of txop air or txop bus on the window.
    shown = html.unescape(page).replace("\u00a0", " ")  # a number and its unit
    for run in valid.values():
        for said in (*run.air["conclusions"], *run.bus["conclusions"]):
            assert said["text"].replace("\u00a0", " ") in shown
            above = " - ".join(part for part in (said["heading"], said["subject"]) if part)
            assert f"{run.arm}: {above}" in shown
        for of in (run.air, run.bus):
            assert f"{run.arm} is run {run.run}, in its folder: {of['window']['command']}" in shown
    assert (root / "derived" / "series.parquet").exists()
    again = txop("demo", "-o", str(tmp_path / "other"), "--blocks", "0", "--no-open")
    assert again.returncode == 2


def of_the_window(run, folder):
    """The figures and sentences of a run are those of `txop air --from --to` and `txop bus --from --to`; how much of
    its captures is after the window."""
    after = 0
    for name, analyze in (("air", air.analyze), ("bus", bus.analyze)):
        words = getattr(run, name)["window"]["command"].split()
        assert (words[:2], words[3], words[5]) == (["txop", name], "--from", "--to")
        report = analyze(folder / words[2], from_=words[4], to=words[6])
        cut = report.summary.window
        assert (cut.to_us - cut.from_us) / 1e6 == pytest.approx(run.window_s, abs=1e-5)
        assert cut.records_before > 0
        after += cut.records_after
        if name == "air":
            fall = next(each for each in report.waterfalls if (each.ta, each.ra) == (run.air["ta"], run.air["ra"]))
            assert [step["share"] for step in run.air["waterfall"]] == [step.share for step in fall.steps]
            flow = [each["text"] for each in run.air["conclusions"] if each["heading"] == WATERFALL_HEADING]
            assert flow == [capital(line.text) for line in fall.advice][:6]
            assert sum(step.share for step in fall.steps) == pytest.approx(1)
            # The payload that the window carried is what iperf3 says, headers of IP and TCP left out.
            assert fall.payload_mbit_s == pytest.approx(payload_mbit_s(run), rel=0.15)
        else:
            out = next(each for each in report.endpoints if (each.transfer, each.direction) == ("bulk", "out"))
            # The figure is of the window, the page's rate of the time from the first URB to the last.
            window_s = (cut.to_us - cut.from_us) / 1e6
            assert run.metrics["usb_out_urbs_per_s"].value == pytest.approx(out.completions / window_s)
            assert out.per_s == pytest.approx(out.completions / window_s, rel=0.05)
            assert [each["text"] for each in run.bus["conclusions"]] == [each.text for each in report.verdicts][:6]
            if run.test == "tx":  # one packet per URB: as many URBs as the throughput has segments, and some more
                assert out.per_s > payload_mbit_s(run) * 1e6 / 8 / 1448 * 0.95
    return after


def payload_mbit_s(run):
    return run.metrics["throughput_mbit_s"].value


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
