"""The counters of a host: sampled on this machine for real, and from what other machines printed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import txop
from fake_target import FakeTarget
from instrument_bench import (
    CAPTURED,
    TCP,
    UPTIME_S,
    carry_out,
    context_of,
    facts_of,
    gate_states,
    make_plan,
    played_marks,
    values,
)
from txop.campaign.gates import GATES, judge, settle
from txop.campaign.joined import join
from txop.core.metrics import METRICS
from txop.measure.instrument import GateFinding, Marks, Points, Reading
from txop.measure.probes import sampler
from txop.measure.probes.host import HostCounters
from txop.measure.probes.idle_difference import above_idle
from txop.measure.probes.interface import COUNTERS, InterfaceCounters, file_name
from txop.plan.measurement import StationsTest
from txop.plan.model import Gates
from txop.targets.contract import TargetLostError
from txop.targets.local import LocalTarget

SHORT = '[[test]]\nname = "tx"\nkind = "tcp-tx"\nduration_s = 2\nwarm_up_s = 0\n'
INTERVAL = "0.2137"
"""Seconds; found again in the command line of the sampler."""
QUICK = f"[collect]\ncounters_interval_s = {INTERVAL}\n"


def stat(busy: int, idle: int, switches: int = 0, interrupts: int = 0) -> str:
    """Two CPUs: ``busy`` and ``idle`` in ticks of 10 ms over both."""
    cpu = f"{busy // 2} 0 0 {idle // 2} 0 0 0 0 0 0"
    total = f"{busy} 0 0 {idle} 0 0 0 0 0 0"
    return f"cpu  {total}\ncpu0 {cpu}\ncpu1 {cpu}\nintr {interrupts} 0\nctxt {switches}\nbtime 1\nsoftirq 0 0\n"


def softirqs(net: int) -> str:
    return (
        f"                    CPU0       CPU1\n      NET_TX:          0          0\n      NET_RX:   {net}     {net}\n"
    )


def write(folder, rows, target="dut"):
    text = "".join(
        f"@@ {UPTIME_S + 10 + t}\n@/proc/stat\n{stat_}@/proc/softirqs\n{soft}@/proc/interrupts\n{lines}"
        for t, stat_, soft, lines in rows
    )
    (folder / f"counters-{target}.txt").write_text(text + "@@ 99999\n")


def lines(count: int) -> str:
    usb = f" 44:  {count}  0  GIC-0  29 Level  musb-hdrc.1\n"
    return f"           CPU0       CPU1\n{usb} 45:  7  0  GIC-0  30 Level  eth0\n"


def test_figures_over_the_window_above_idle(tmp_path):
    # idle phase: a tenth of two CPUs busy; window: half of them
    rows = [(t, stat(20 * (t + 10), 180 * (t + 10)), softirqs(0), lines(0)) for t in range(-10, -5)]
    rows += [
        (t, stat(100 + 100 * (t + 5), 900 + 100 * (t + 5), 500 * t, 800 * t), softirqs(50 * max(t, 0)), lines(300 * t))
        for t in range(31)
    ]
    write(tmp_path, rows)
    (tmp_path / "interrupt-lines-dut.json").write_text('["44"]')
    facts = facts_of(make_plan(), tmp_path)
    reading = HostCounters("dut").read(facts)
    got = values(reading)
    assert got["cpu_busy_percent"] == pytest.approx(50.0)
    assert got["context_switches_per_s"] == pytest.approx(500.0)
    assert got["interrupts_per_s"] == pytest.approx(800.0)
    assert got["softirqs_net_per_s"] == pytest.approx(100.0)
    assert got["device_interrupts_per_s"] == pytest.approx(300.0)
    # 1 core busy, 0.2 of which would be so in any case; 40 Mbit/s for 30 s are 1.2 Gbit
    reading.put("throughput_mbit_s", 40.0, "test")
    join(facts, reading)
    assert values(reading)["cpu_s_per_gbit"] == pytest.approx(0.8 * 30 / 1.2)
    assert values(reading)["cpu_total_s_per_gbit"] == pytest.approx(1.0 * 30 / 1.2)
    assert values(reading)["idle_cpu_percent"] == pytest.approx(10.0)


def test_what_a_driver_costs_while_idle_is_a_figure_and_no_bonus_under_load(tmp_path):
    """A storm: 1.5 of 2 CPUs busy and 40,000 switches a second while idle, 2 of 2 with traffic; a driver without one: 0
    and 1. Above idle alone, the storm would be half as dear."""
    made = {}
    for name, idle, load, switches in (("storm", 150, 200, 40_000), ("calm", 0, 100, 300)):
        folder = tmp_path / name
        folder.mkdir()
        rows = [
            (t, stat(idle * (t + 10), (200 - idle) * (t + 10), switches * (t + 10)), softirqs(0), lines(0))
            for t in range(-10, -3)
        ]
        busy, rest = idle * 7, (200 - idle) * 7
        rows += [(t, stat(busy + load * t, rest + (200 - load) * t, 10**7), softirqs(0), lines(0)) for t in range(31)]
        write(folder, rows)
        facts = facts_of(make_plan(), folder)
        reading = HostCounters("dut").read(facts)
        reading.put("throughput_mbit_s", 40.0, "test")
        join(facts, reading)
        made[name] = values(reading)
    assert made["storm"]["cpu_s_per_gbit"] < made["calm"]["cpu_s_per_gbit"]
    assert METRICS["cpu_s_per_gbit"].better is None
    assert made["storm"]["cpu_total_s_per_gbit"] == pytest.approx(2 * made["calm"]["cpu_total_s_per_gbit"])
    assert [made[name]["idle_cpu_percent"] for name in made] == pytest.approx([75, 0])
    assert [made[name]["idle_context_switches_per_s"] for name in made] == pytest.approx([40_000, 300])


def test_without_an_idle_phase_the_idle_cost_is_not_available(tmp_path):
    write(tmp_path, [(t, stat(100 * t, 100 * t), softirqs(0), lines(0)) for t in range(31)])
    facts = facts_of(make_plan(), tmp_path)
    reading = HostCounters("dut").read(facts)
    reading.put("throughput_mbit_s", 40.0, "test")
    join(facts, reading)
    for key in ("idle_cpu_percent", "idle_context_switches_per_s"):
        assert reading.metrics[key].value is None
        assert "idle_s" in reading.metrics[key].reason
    assert values(reading)["cpu_total_s_per_gbit"] == pytest.approx(1.0 * 30 / 1.2)


def _cost(tmp_path, idle_busy, window_busy):
    """CPU cost of a run on two CPUs; ``idle_busy`` and ``window_busy`` give the busy ticks of each second."""
    at, busy, rows = -10, 0, []
    for ticks in [*idle_busy, 0, 0, 0, 0, *window_busy, 0]:
        rows.append((at, stat(busy, 200 * (at + 10) - busy), softirqs(0), lines(0)))
        busy, at = busy + ticks, at + 1
    write(tmp_path, rows)
    facts = facts_of(make_plan(), tmp_path)
    reading = HostCounters("dut").read(facts)
    reading.put("throughput_mbit_s", 40.0, "test")
    join(facts, reading)
    return reading.metrics["cpu_s_per_gbit"]


def test_a_cost_below_idle_is_not_distinguishable_and_never_0(tmp_path):
    cost = _cost(tmp_path, [40, 44, 36, 42, 38, 40], [38, 36] * 15)
    assert (cost.value, cost.code) == (None, "below-noise")
    assert cost.reason.startswith("not distinguishable from idle: -0.030 cores beyond those busy while idle (-0.0")
    assert cost.reason.endswith(", 95 %)")


def test_a_cost_within_the_noise_of_idle_is_not_a_figure_either(tmp_path):
    noisy = _cost(tmp_path, [20, 60, 30, 50, 20, 60], [40, 46] * 15)
    assert (noisy.value, noisy.code) == (None, "below-noise")
    assert "+0.0" in noisy.reason
    assert "(-0." in noisy.reason
    quiet = _cost(tmp_path, [40, 40, 40, 40, 40, 40], [42, 44] * 15)
    assert quiet.value == pytest.approx(0.03 * 30 / 1.2)


def test_the_interval_is_that_of_welch(tmp_path):
    """Second source: scipy's two-sample test with unequal variances."""
    from scipy.stats import ttest_ind

    idle, load = [20.0, 60, 30, 50, 22], [80.0, 90, 70] * 10
    cost = _cost(tmp_path, [int(x) for x in [*idle, 0]], [int(x) for x in load])
    marks = played_marks(make_plan())
    seconds = [-10.0 + n for n in range(6)] + [float(n) for n in range(31)]
    ticks = dict(zip(seconds, [0, *np.cumsum(idle), *np.cumsum([500.0, *load])], strict=True))
    above = above_idle(marks, seconds, lambda at: at, lambda a, b: (ticks[b] - ticks[a]) / 100 / (b - a), 0)
    assert above is not None
    expected = ttest_ind(np.array(load) / 100, np.array(idle) / 100, equal_var=False).confidence_interval(0.95)
    assert (above.low, above.high) == pytest.approx((expected.low, expected.high))
    assert cost.value is not None


def test_work_is_the_time_that_was_not_idle_whatever_ticks_saw(tmp_path):
    """Ticks saw a tenth of a core at work; by the idle time it was 1.5 of 2 cores, and 0.5 in the idle phase."""
    rows = [(t, stat(10 * (t + 10), 150 * (t + 10)), softirqs(0), lines(0)) for t in range(-10, -5)]
    rows += [(t, stat(50 + 10 * t, 600 + 50 * t), softirqs(0), lines(0)) for t in range(31)]
    write(tmp_path, rows)
    facts = facts_of(make_plan(), tmp_path)
    reading = HostCounters("dut").read(facts)
    assert values(reading)["cpu_idle_percent"] == pytest.approx(25.0)
    assert values(reading)["cpu_busy_percent"] == pytest.approx(75.0)
    reading.put("throughput_mbit_s", 40.0, "test")
    join(facts, reading)
    assert values(reading)["cpu_s_per_gbit"] == pytest.approx((1.5 - 0.5) * 30 / 1.2)


def test_idle_time_that_goes_back_is_not_available(tmp_path):
    rows = [(t, stat(100 + 100 * t, 900 - 10 * t), softirqs(0), lines(0)) for t in range(-10, 31)]
    write(tmp_path, rows)
    reading = HostCounters("dut").read(facts_of(make_plan(), tmp_path))
    for key in ("cpu_idle_percent", "cpu_busy_percent"):
        assert reading.metrics[key].value is None
        assert reading.metrics[key].reason


def test_a_busy_peer_voids_the_run_and_a_busy_device_only_if_asked(tmp_path):
    write(tmp_path, [(t, stat(190 * (t + 1), 10 * (t + 1)), "", "") for t in range(31)], "peer")
    write(tmp_path, [(t, stat(190 * (t + 1), 10 * (t + 1)), "", "") for t in range(31)])
    facts = facts_of(make_plan(), tmp_path)
    peer = HostCounters("peer").read(facts)
    assert (peer.gates[0].gate, peer.gates[0].state, peer.gates[0].target) == ("peer-cpu", "void", "peer")
    assert "busy 95 % of the time, more than the 90 % allowed" in peer.gates[0].words
    assert not HostCounters("dut").read(facts).gates
    asked = facts_of(make_plan(more="[gates]\nmax_dut_cpu_percent = 80\n"), tmp_path)
    assert gate_states(HostCounters("dut").read(asked)) == {"dut-cpu": "void"}
    assert gate_states(HostCounters("peer", shared=True).read(facts)) == {"peer-cpu": "not available"}


def test_counters_that_are_not_there(tmp_path):
    facts = facts_of(make_plan(more="[gates]\nmax_dut_cpu_percent = 80\n"), tmp_path)
    reading = HostCounters("dut").read(facts)
    assert set(values(reading).values()) == {None}
    assert all(value.reason for value in reading.metrics.values())
    assert gate_states(reading) == {"dut-cpu": "not available"}
    write(tmp_path, [(t, stat(100 * (t + 1), 100 * (t + 1)), "", "") for t in range(31)])
    reading = HostCounters("dut").read(facts)
    assert values(reading)["cpu_busy_percent"] == pytest.approx(50)
    assert reading.metrics["softirqs_net_per_s"].reason == "the target does not count them"
    assert reading.metrics["device_interrupts_per_s"].reason == "it is not known which interrupts are the device's"


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.one_of(st.sampled_from([stat(5, 5), lines(3), softirqs(4), "cpu  1 2\n", "@@ x\n"]), st.text(max_size=40))
    )
)
def test_garbage_is_not_available(tmp_path, parts):
    text = "".join(
        f"@@ {UPTIME_S + 10 + n}\n@/proc/stat\n{part}\n@/proc/softirqs\n{part}\n" for n, part in enumerate(parts)
    )
    (tmp_path / "counters-dut.txt").write_text(text, encoding="utf-8", errors="replace")
    reading = HostCounters("dut").read(facts_of(make_plan(), tmp_path))
    assert all(value.value is not None or value.reason for value in reading.metrics.values())


def test_this_machine_is_sampled_for_as_long_as_the_run_lasts(tmp_path):
    """A process that keeps a core busy is seen; the sampler is gone afterwards."""

    async def story() -> Reading:
        local = LocalTarget("dut", interface="lo")
        await local.connect()
        burner = await asyncio.create_subprocess_exec("sh", "-c", "while :; do :; done")
        try:
            run = context_of(make_plan(SHORT, QUICK), tmp_path, {"dut": local})
            going = asyncio.create_task(carry_out([HostCounters("dut"), InterfaceCounters("dut")], run))
            await asyncio.sleep(1)
            seen.append(sampling())
            return await going
        finally:
            burner.kill()
            await burner.wait()
            await local.close()

    seen: list[bool] = []
    reading = asyncio.run(story())
    seen.append(sampling())
    cores = os.cpu_count() or 1
    assert values(reading)["cpu_busy_percent"] >= 0.7 * 100 / cores
    assert values(reading)["context_switches_per_s"] > 0
    samples = list(sampler.read(tmp_path / "counters-dut.txt"))
    assert 5 <= len(samples) <= 14
    assert {"/proc/stat", "/proc/softirqs", "/proc/interrupts"} <= samples[0].files.keys()
    assert seen == [True, False]


def sampling() -> bool:
    """Whether the sampler of these tests runs on this machine."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
                if "txop-sampler" in words and INTERVAL in words:
                    return True
    return False


def test_the_sampler_ends_by_itself(tmp_path):
    async def story() -> float:
        local = LocalTarget("dut")
        await local.connect()
        begun = time.monotonic()
        argv = sampler.command(["/proc/stat"], interval_s=0.2, longest_s=1)
        running = await local.start(argv, stdout=tmp_path / "x")
        assert await running.wait(10) is not None
        await local.close()
        return time.monotonic() - begun

    assert asyncio.run(story()) < 5


# The interface, and gates over several instruments --------------------------------------------------------------------


def interface(folder, *moved: tuple[int, int]):
    target = FakeTarget()
    target.connected = True
    table = (CAPTURED / "proc" / "net-dev.txt").read_text().splitlines()
    head = "\n".join(table[:2])
    rows = [f"{head}\n wlan0: {rx} 10 0 0 0 0 0 0 {tx} 10 0 0 0 0 0 0\n".encode() for rx, tx in moved]
    target.files["/proc/net/dev"] = rows
    run = context_of(make_plan(), folder, {"dut": target})
    return asyncio.run(carry_out([InterfaceCounters("dut")], run, window_s=0))


@pytest.mark.parametrize(
    ("moved", "state"),
    [
        ([(0, 0), (5_000_000, 150_000_000)], "ok"),
        ([(0, 0), (5_000, 9_000)], "void"),
        ([(9_000_000, 0), (5_000, 9_000)], "not available"),
    ],
)
def test_traffic_that_went_another_way_voids_the_run(tmp_path, moved, state):
    reading = interface(tmp_path, *moved)
    reading.put("throughput_mbit_s", 40.0, "test")  # for 30 s: 150 MB
    assert [f.state for f in judge(facts_of(make_plan(), tmp_path), reading) if f.gate == "route"] == [state]


def test_each_station_is_asked_for_its_own_traffic(tmp_path):
    plan = make_plan()
    test = StationsTest(name="all", kind="stations", stations=["dut", "near", "far", "idle"], duration_s=10)
    facts = replace(facts_of(plan, tmp_path), test=test, marks=Marks(window=0.0, end=10.0))
    for name, rx_bytes in (("dut", 26_000_000), ("near", 26_000_000), ("far", 900_000)):
        both = {"interface": "wlan0", "before": dict.fromkeys(COUNTERS, 0), "after": dict.fromkeys(COUNTERS, 0)}
        both["after"]["rx_bytes"] = rx_bytes
        (tmp_path / file_name(name)).write_text(json.dumps(both))
    reading = Reading()
    reading.put("throughput_mbit_s", 50.0, "test")
    for number, mbit_s in enumerate((20.0, 20.0, 8.0, 2.0)):
        points: Points = [(t + 0.5, mbit_s) for t in range(10)]
        reading.series[f"flow_{number}_rx_mbit_s"] = [*points, (10.5, 1e6)]
    found = {finding.target: finding for finding in judge(facts, reading) if finding.gate == "route"}
    assert {name: finding.state for name, finding in found.items()} == {
        "dut": "ok", "near": "ok", "far": "void", "idle": "not available",
    }  # fmt: skip
    assert found["far"].words == "only 0.9 MB of 10.0 MB payload passed wlan0"


def test_a_plan_without_interface_cannot_be_judged(tmp_path):
    reading = Reading()
    reading.put("throughput_mbit_s", 40.0, "test")
    (finding,) = judge(facts_of(make_plan(), tmp_path), reading)
    assert (finding.gate, finding.state) == ("route", "not available")


def test_of_two_findings_the_worse_counts_once():
    found = settle(
        [
            GateFinding("association-lost", "ok", target="dut"),
            GateFinding("association-lost", "void", "it left", "dut"),
            GateFinding("association-lost", "void", "the log says so", "dut"),
            GateFinding("association-lost", "not available", "no iw", "sta2"),
            GateFinding("channel-changed", "not available", "no iw", "dut"),
            GateFinding("channel-changed", "ok", target="dut"),
        ]
    )
    assert [(f.gate, f.state, f.target, f.words) for f in found] == [
        ("association-lost", "void", "dut", "it left; the log says so"),
        ("association-lost", "not available", "sta2", "no iw"),
        ("channel-changed", "ok", "dut", ""),
    ]


def test_a_vanished_target_raises_and_does_not_hang(tmp_path):
    target = FakeTarget()
    target.connected = True
    target.answer("sh", forever=True)
    run = context_of(make_plan(), tmp_path, {"dut": target})

    async def story() -> None:
        probe = HostCounters("dut")
        await probe.prepare(run)
        target.lose_at(target.count + 1)
        with pytest.raises(TargetLostError):
            await target.run(["true"])
        with pytest.raises(TargetLostError):
            await probe.stop(run)

    asyncio.run(asyncio.wait_for(story(), 10))


def test_every_gate_that_is_found_is_described():
    """Names of gates in the code are keys of GATES, which the documentation is made from."""
    package = Path(txop.__file__).parent
    pattern = re.compile(r'(?:GateFinding\(|void_for\(|ArmError\(|gate=|gate = )\s*"([a-z-]+)"')
    parts = ("campaign", "measure", "measure/probes", "measure/traffic")
    used = {name for part in parts for path in (package / part).glob("*.py")
            for name in pattern.findall(path.read_text())}  # fmt: skip
    assert used - GATES.keys() == set()
    assert {"route", "association-lost", "usb-speed"} <= used


def test_every_setting_of_a_gate_is_named():
    named = {gate.setting for gate in GATES.values() if gate.setting is not None}
    settings_named = {setting for setting in named if setting.startswith("gates.")}
    assert {f"gates.{name}" for name in Gates.model_fields} == settings_named


def test_unit_of_the_lines_file(tmp_path):
    (tmp_path / "interrupt-lines-dut.json").write_text(json.dumps({"not": "a list"}))
    write(tmp_path, [(t, stat(100 * (t + 1), 100 * (t + 1)), "", lines(t)) for t in range(31)])
    reading = HostCounters("dut").read(facts_of(make_plan(TCP), tmp_path))
    assert reading.metrics["device_interrupts_per_s"].value is None
