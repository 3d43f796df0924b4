"""A campaign whose driver under test is the access point of two stations: guests that really boot."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from txop.archive.reader import read_archive
from txop.archive.run_file import RunFile
from txop.campaign import session
from txop.campaign.reporter import Quiet
from txop.plan.load import load_plan
from txop.plan.overrides import Overrides

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("image", "chips")]

PLAN = """
title = "x"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[target.fast]
kind = "guest"
[target.slow]
kind = "guest"
[guest]
device = "mt7610u"
mips = 1000
check_exact = "none"
stations = [{ name = "fast", signal_dbm = -45 }, { name = "slow", signal_dbm = -88 }]
[[arm]]
name = "only"
[[test]]
name = "down"
kind = "stations"
stations = ["fast", "slow"]
streams = 2
latency = "ping"
duration_s = 2
warm_up_s = 2
[design]
blocks = 1
idle_s = 0
max_repeats = 0
"""


def run_of(folder: Path, text: str) -> RunFile:
    folder.mkdir()
    (folder / "plan.toml").write_text(text)
    made = session.begin(load_plan(folder / "plan.toml"), folder / "archive", Overrides())
    asyncio.run(made.carry_out(Quiet(), 1))
    (run,) = read_archive(folder / "archive").runs
    assert run.state == "valid", run.void
    return run


def test_two_stations_share_the_air_of_a_real_access_point(tmp_path: Path) -> None:
    run = run_of(tmp_path / "x", PLAN)
    value = {key: each.value for key, each in run.metrics.items()}
    fast, slow = (value[f"station_{name}_throughput_mbit_s"] or 0 for name in ("fast", "slow"))
    assert fast > 3 * slow > 0
    assert (value["throughput_mbit_s"] or 0) == pytest.approx(fast + slow)
    airtime = [value[f"station_{name}_chip_airtime_percent"] or 0 for name in ("fast", "slow")]
    assert sum(airtime) <= (value["chip_airtime_percent"] or 0) * 1.02
    assert (value["chip_airtime_jain_index"] or 0) > 0.8
    assert all((value[f"station_{name}_rtt_p50_ms"] or 0) > 0 for name in ("fast", "slow"))
    gates = ("chip-traffic (dut)", "route (fast)", "route (slow)", "association-lost (dut)")
    assert {gate: run.gates[gate] for gate in gates} == dict.fromkeys(gates, "ok")


def test_the_other_end_can_be_the_access_point_and_stations_can_send(tmp_path: Path) -> None:
    text = PLAN.replace("[guest]", '[guest]\ntopology = "server"').replace("streams", 'direction = "tx"\nstreams')
    run = run_of(tmp_path / "x", text)
    assert run.gates["chip-traffic (dut)"] == "ok"
    assert (run.metrics["station_fast_throughput_mbit_s"].value or 0) > 0
