"""Driver variants compared on a lab machine, from the plan to the page, as a user does."""

from __future__ import annotations

import json

from lab_bench import STARVED, Bench
from lab_image import AP_NAMESPACE
from txop.archive.counting import counting
from txop.archive.run_file import RunFile


def has_frames(bench: Bench, run: RunFile) -> None:
    """The capture has the traffic, and the window its figure where the clock of a starved machine allows it."""
    uplink = run.metrics["air_up_ppdus"]
    if uplink.value is None:
        # Frames of simulated radios take no time, too: there may be more of them than fit into the window.
        assert any(why in uplink.reason for why in ("simulated radio", "the clock of sniffer is known to")), uplink
    else:
        assert uplink.value > 100
    air = bench.txop("air", str(bench.archive / "runs" / run.run / "air.pcap"), "--json")
    assert json.loads(air.stdout)["frames"] > 200


def test_two_variants_of_a_driver_are_compared_over_ssh(bench: Bench):
    # Long enough for several looks at the link, of which an emulated machine with a busy processor makes one in 3 s.
    plan = bench.plan({"duration_s = 5": "duration_s = 15"})
    checked = bench.txop("plan", "check", str(plan))
    assert checked.returncode == 0, checked.stderr
    done = bench.txop("run", str(plan), "-o", str(bench.archive), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["format"] == "txop-compare"
    read = bench.read()
    assert read.finished
    assert not read.damage
    counting_runs = counting(read, "tx").runs
    assert len(counting_runs) == 2
    for run in read.runs:
        if run.state == "void":  # a busy machine starves this one; such a block is repeated
            assert {cause.gate for cause in run.void} <= STARVED, run.void
            continue
        assert run.origin == "hardware"
        assert run.gates["association-lost (dut)"] == "ok"
        assert run.gates["route (dut)"] == "ok"
        assert run.verified["parameters"]["paged_rx"] == ("Y" if run.arm == "paged" else "N")
        assert run.metrics["throughput_mbit_s"].value > 0.3
        assert 0 < run.metrics["rtt_p50_ms"].value < 1000
        # The sniffer's radio comes with the arm, so the association is not in the capture; the traffic is.
        assert run.gates["capture-dropped (sniffer)"] == "ok"
        assert any("came with the arm" in warning for warning in run.warnings)
        has_frames(bench, run)
        assert (bench.archive / "runs" / run.run / "wpa_supplicant.log").read_text().count("CTRL-EVENT-CONNECTED") == 1
    assert read.provenance["dut"]["kernel"] == bench.machine.ssh("uname -r").strip()
    assert bench.machine.left_behind() == []
    assert bench.machine.ssh(f"ip -br -n {AP_NAMESPACE} link").split()[0] == "lo"

    compared = bench.txop("compare", str(bench.archive), "--json")
    assert compared.returncode == 0, compared.stderr
    report = bench.txop("report", str(bench.archive), "-o", str(bench.folder / "page.html"))
    assert report.returncode == 0, report.stderr
    assert "Paged receive buffers" in (bench.folder / "page.html").read_text()


def test_a_user_with_sudo_and_a_clock_that_is_a_minute_off(bench: Bench):
    """What needs root goes through sudo: the module, wpa_supplicant, the sniffer's tcpdump, the kernel log. A clock
    that is off is reported, and costs no figure: the frames of the window are found all the same."""
    bench.machine.ssh("date -s '+60 sec'")
    plan = bench.short_plan(
        {
            'user = "root"': 'user = "lab"\nsudo = true',
            "[gates]": "[collect]\nair = true\n[gates]",
            'latency = "ping"': 'latency = "irtt"',
        }
    )
    looked = bench.txop("plan", "check", str(plan), "--connect", "--json")
    assert looked.returncode == 0, looked.stdout
    root = {row["target"]: row["found"] for row in json.loads(looked.stdout)["desk"] if row["what"] == "root"}
    assert root.keys() == {"dut", "peer", "sniffer"}
    assert all("`sudo -n id -u` gave 0" in found for found in root.values())
    clocks = [row for row in json.loads(looked.stdout)["desk"] if row["what"] == "clock"]
    assert [(row["state"], "set it" in row["what_to_do"]) for row in clocks] == [("limited", True)] * 3
    done = bench.txop("run", str(plan), "-o", str(bench.archive))
    assert done.returncode == 0, done.stderr
    read = bench.read()
    assert read.finished
    assert not read.damage
    *starved, run = read.runs
    assert {cause.gate for each in starved for cause in each.void} <= STARVED
    assert run.state == "valid", run.void
    assert run.verified["parameters"]["paged_rx"] == "N"
    assert run.metrics["throughput_mbit_s"].value > 0.3
    assert run.metrics["rtt_p50_ms"].value > 0
    assert run.metrics["faults"].value is not None, "the kernel log needs root"
    assert run.gates["capture-dropped (sniffer)"] == "ok"
    has_frames(bench, run)
    assert bench.machine.left_behind() == []
