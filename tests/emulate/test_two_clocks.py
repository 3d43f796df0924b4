"""The same scenario in virtual and in real time: modelled hosts here, this machine's own TCP and ping there."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from txop import simulate

SCENARIO = """
title = "Virtual and real time"

[wlan.ap]
mcs = 3
queueing = { kind = "fq_mac" }

[wlan.dut]
mcs = 3

[path]
rate_mbit_s = 1000
delay_ms = 5

[[traffic]]
name = "down"
kind = "tcp"
from = "server"
to = "dut"

[[traffic]]
name = "ping"
kind = "ping"
from = "dut"
to = "server"
interval_ms = 20

[run]
warm_up_s = 2
duration_s = 15
"""
PROGRAM = """
ping -i 0.02 -w 17 "$1" > ping.txt &
iperf3 -c "$1" -R -t 17 -O 2 -J > iperf3.json
wait
"""


@pytest.mark.slow
@pytest.mark.usefixtures("can_emulate")
def test_both_clocks_give_the_same(tmp_path: Path):
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO)
    runs = simulate.run(str(scenario), seeds=5).points[0].runs
    goodput = statistics.mean(run.goodput_mbit_s for run in runs)
    median_ms = statistics.mean(run.flows[1].latency.p50_ms for run in runs if run.flows[1].latency is not None)

    ran = subprocess.run(
        [sys.executable, "-m", "txop", "emulate", str(scenario), "-b", "server=iperf3 -s -1", "--json", "--",
         "sh", "-c", PROGRAM, "sh", "{server}"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    emulated = json.loads(ran.stdout[ran.stdout.index("{") :])
    if not emulated["timing"]["valid"]:
        pytest.skip("this host was too slow for the link: the emulation says itself that it does not count")
    real = json.loads((tmp_path / "iperf3.json").read_text())["end"]["sum_received"]["bits_per_second"] / 1e6
    times = re.findall(r"time=([\d.]+) ms", (tmp_path / "ping.txt").read_text())
    real_ms = statistics.median(float(each) for each in times[100:])
    assert real == pytest.approx(goodput, rel=0.05)
    assert real_ms == pytest.approx(median_ms, rel=0.10)
