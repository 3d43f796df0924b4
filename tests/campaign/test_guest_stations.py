"""A campaign whose driver under test is the access point of two stations: guests that really boot."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from quiet_reporter import Quiet
from txop.archive.reader import read_archive
from txop.archive.run_file import RunFile
from txop.campaign import session
from txop.exchange.flent_export import export
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


def runs_of(folder: Path, text: str) -> dict[str, RunFile]:
    """The runs of a plan, by arm."""
    folder.mkdir()
    (folder / "plan.toml").write_text(text)
    made = session.begin(load_plan(folder / "plan.toml"), folder / "archive", Overrides())
    asyncio.run(made.carry_out(Quiet(), 1))
    runs = read_archive(folder / "archive").runs
    assert [run.void for run in runs if run.state != "valid"] == []
    return {run.arm: run for run in runs}


def run_of(folder: Path, text: str) -> RunFile:
    (run,) = runs_of(folder, text).values()
    return run


def value(run: RunFile, key: str) -> float:
    found = run.metrics[key].value
    assert found is not None, (key, run.metrics[key].reason)
    return found


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


REBUILT = """
[[arm]]
name = "all-on"
[[arm]]
name = "fifo"
guest = { queues = { aql_enable = false, airtime_flags = 0 } }
[[arm]]
name = "mcs0"
guest = { queues = { fixed_mcs = 0 } }
"""


def test_the_queues_of_a_rebuilt_stack_can_be_switched_and_its_rate_pinned(tmp_path: Path) -> None:
    text = PLAN.replace('[[arm]]\nname = "only"\n', REBUILT).replace(
        "mips = 1000\n", "mips = 1000\nqueues = { debugfs = true }\n"
    )
    # At 6.5 Mbit/s a window of two seconds has too few packets for iperf3 to tell when they came.
    text = text.replace("duration_s = 2\nwarm_up_s = 2", "duration_s = 4\nwarm_up_s = 3")
    runs = runs_of(tmp_path / "x", text)
    on, off, pinned = (runs[arm] for arm in ("all-on", "fifo", "mcs0"))

    def of_both(run: RunFile, key: str) -> float:
        return value(run, f"station_fast_{key}") + value(run, f"station_slow_{key}")

    assert of_both(off, "aql_pending_ms") > 1.5 * of_both(on, "aql_pending_ms") > 0
    assert value(off, "rtt_p50_ms") > 1.5 * value(on, "rtt_p50_ms")
    assert of_both(on, "airtime_percent") > 20
    # Two stations of one rate, 6.5 Mbit/s.
    assert 4 < value(pinned, "throughput_mbit_s") < 6.5
    assert value(pinned, "chip_airtime_jain_index") > 0.9
    assert value(pinned, "station_fast_throughput_mbit_s") < 0.3 * value(on, "station_fast_throughput_mbit_s")
    done = export(read_archive(tmp_path / "x/archive"), tmp_path / "flent")
    assert (len(done.files), done.left_out) == (3, [])
    document = json.loads(gzip.decompress(done.files[0].read_bytes()))
    assert document["metadata"]["HOSTS"] == ["fast", "slow"]
    assert {"TCP download BE slow", "Ping (ms) ICMP slow", "TCP download fairness"} <= document["results"].keys()
