"""A guest's device as the access point of several stations: the script of a run, and what is made of its files."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from txop.campaign.guest_script import run_script, take_over
from txop.campaign.instruments import in_guest
from txop.core.metrics import describe, station_key
from txop.guest.device_statistics.layout import FORMAT
from txop.guest.wireless_stack import VIRTUAL, StackBuild, asked, copied
from txop.guest_image.locks import find_lock
from txop.measure.instrument import Marks, Reading, RunContext, RunFacts
from txop.measure.probes import chip
from txop.measure.probes.interface import growth as interface_growth
from txop.measure.probes.station_account import named_stations
from txop.measure.probes.wireless_reading import read_wireless
from txop.measure.traffic.ping import pings_of
from txop.plan.load import LoadedPlan, parse_plan
from txop.plan.model import Plan
from txop.plan.problem import PlanError
from txop.plan_check.check import check
from txop.plan_check.figures import figures_of
from txop.plan_check.guest_builds import stack_of
from txop.plan_check.guest_chip import chip_of
from txop.targets.contract import Targets

STATIONS = """stations = [
    { name = "near", signal_dbm = -45 },
    { name = "far-off", signal_dbm = -88, airtime_weight = 128 },
]"""
BOTH = 'stations = ["near", "far-off"]'
TEXT = f"""
title = "x"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[target.near]
kind = "guest"
[target.far-off]
kind = "guest"
[guest]
device = "mt7610u"
{STATIONS}
[[arm]]
name = "stock"
[[arm]]
name = "no-aql"
[arm.guest.queues]
aql_enable = false
[[test]]
name = "down"
kind = "stations"
stations = ["near", "far-off"]
streams = 4
duration_s = 4
warm_up_s = 2
latency = "ping"
[design]
idle_s = 0
"""
ADDRESSES = {"near": "02:00:00:00:00:00", "far-off": "02:00:00:00:01:00"}


def loaded(text: str = TEXT) -> LoadedPlan:
    return parse_plan(text.encode(), Path("plan.toml"))


def script_of(plan: Plan, arm: int = 0) -> str:
    run = RunContext(plan, plan.arm[arm], plan.test[0], Targets(), Path(), Marks(), "192.0.2.1", 100)
    return run_script(run, in_guest(plan, plan.test[0]))


def facts_of(folder: Path, plan: Plan | None = None) -> RunFacts:
    plan = plan or loaded().plan
    marks = Marks(idle=10.0, load=10.0, window=12.0, end=16.0, uptime_minus_monotonic_s={"dut": 0.0})
    return RunFacts(plan, plan.arm[0], plan.test[0], folder, marks)


def test_traffic_and_pings_run_at_each_station_to_the_host_behind_the_access_point() -> None:
    script = script_of(loaded().plan)
    subprocess.run([shutil.which("dash") or "sh", "-n"], input=script.encode(), check=True)
    rows = script.splitlines()
    assert [row.split("exec ")[1].split(" -i")[0] for row in rows if "iperf3 -c" in row] == [
        "station 1 iperf3 -c 10.80.211.1 -p 5210 -J",
        "station 2 iperf3 -c 10.80.211.1 -p 5211 -J",
    ]
    assert sum(" -P 4" in row for row in rows) == 2
    pings = [row for row in rows if " ping -D" in row]
    assert [row.split(">", 1)[1].split()[0] for row in pings] == ["ping-near.txt", "ping-far-off.txt"]
    assert 'echo "far-off $(station 2 cat /sys/class/net/wlan0/address)" >>stations.txt' in rows
    assert sum("peer iperf3 -s" in row for row in rows) == 2


def test_the_other_end_can_be_the_access_point_itself() -> None:
    script = script_of(loaded(TEXT.replace("[guest]", '[guest]\ntopology = "server"')).plan)
    assert "station 1 iperf3 -c 10.80.210.2 " in script
    assert script.count("dut iperf3 -s") == 2
    assert "waiting 10 listening 145B dut || exit " in script
    assert "peer" not in script.split("txop-lab up")[1]


def test_queues_and_weights_come_to_the_testbed() -> None:
    limits = (
        "aql_txq_limit_us = [1500, 5000]\naql_threshold_us = 5000\nfixed_mcs = 3\ntxq_quantum_bytes = 300\n[[test]]"
    )
    plan = loaded(TEXT.replace("[[test]]", limits)).plan
    stock, changed = (chip_of(spec).variables() for arm in plan.arm if (spec := plan.guest_of(arm)))
    assert (stock["LAB_STATIONS"], stock["LAB_WEIGHTS"], stock["LAB_DEBUGFS"]) == ("-45,-88", ",128", "")
    limits = " ".join(f"aql_txq_limit={category},1500,5000" for category in range(4))
    assert changed["LAB_DEBUGFS"] == f"{limits} aql_threshold=5000 aql_enable=0 rc/fixed_rate_idx=3"
    assert changed["LAB_TXQ"] == "quantum=300"


def test_rates_of_40_mhz_are_another_group() -> None:
    text = TEXT.replace("[guest]", "[guest]\nwidth_mhz = 40").replace("aql_enable = false", "fixed_mcs = 3")
    plan = loaded(text).plan
    _, changed = (chip_of(spec).variables() for arm in plan.arm if (spec := plan.guest_of(arm)))
    assert (changed["LAB_DEBUGFS"], changed["LAB_WIDTH"]) == ("rc/fixed_rate_idx=131", "40")


@pytest.mark.parametrize(("width_mhz", "index"), [(20, 18 << 4 | 8), (40, 26 << 4 | 8), (80, 34 << 4 | 8)])
def test_rates_of_5_ghz_are_those_of_vht(width_mhz: int, index: int) -> None:
    text = TEXT.replace("[guest]", f"[guest]\nchannel = 36\nwidth_mhz = {width_mhz}")
    plan = loaded(text.replace("aql_enable = false", "fixed_mcs = 8")).plan
    _, changed = (chip_of(spec).variables() for arm in plan.arm if (spec := plan.guest_of(arm)))
    assert changed["LAB_DEBUGFS"] == f"rc/fixed_rate_idx={index}"


def test_a_link_has_two_directions_and_a_station_limits_of_its_own() -> None:
    near = '{ name = "near", signal_dbm = -45, signal_up_dbm = -80 }'
    far = '{ name = "far-off", signal_dbm = -88, aql_limit_us = [1500, 3000] }'
    text = TEXT.replace("aql_enable = false", "").replace(
        "[arm.guest.queues]", f"[arm.guest]\nstations = [{near}, {far}]"
    )
    plan = loaded(text).plan
    assert problems(text) == ""
    stock, changed = (spec for arm in plan.arm if (spec := plan.guest_of(arm)))
    assert (stock.needs_debugfs, changed.needs_debugfs) == (False, True)
    variables = chip_of(changed).variables()
    assert (variables["LAB_STATIONS"], variables["LAB_OPTIONS"]) == ("-45,-88", "--stations-up=-80,-88")
    assert (chip_of(stock).variables()["LAB_LIMITS"], variables["LAB_LIMITS"]) == ("", ",1500/3000")
    with pytest.raises(PlanError, match="the low limit and then the high one"):
        loaded(text.replace("[1500, 3000]", "[3000, 1500]"))


def test_a_station_has_queues_too() -> None:
    alone = TEXT.replace(STATIONS, "").replace(f'kind = "stations"\n{BOTH}', 'kind = "tcp-tx"')
    for name in ("near", "far-off"):
        alone = alone.replace(f'[target.{name}]\nkind = "guest"\n', "")
    plan = loaded(alone).plan
    assert problems(alone) == ""
    stock, changed = (chip_of(spec).variables() for arm in plan.arm if (spec := plan.guest_of(arm)))
    assert (stock["LAB_DEBUGFS"], changed["LAB_DEBUGFS"], changed["LAB_STATIONS"]) == ("", "aql_enable=0", "")
    assert "rtl8192cu is not rebuilt" in problems(alone.replace('"mt7610u"', '"rtl8188cus"'))
    assert "is of an access point of stations" in problems(alone.replace("[guest]", '[guest]\ntopology = "server"'))


def test_an_arm_can_assume_another_chip() -> None:
    arm = 'name = "no-aql"\nguest = { assume = { tx-queue-frames = 8, aggregates = "neighbours" } }\n'
    text = TEXT.replace('name = "no-aql"\n[arm.guest.queues]\naql_enable = false\n', arm)
    plan = loaded(text).plan
    stock, other = (chip_of(spec).variables()["LAB_OPTIONS"] for each in plan.arm if (spec := plan.guest_of(each)))
    assert (stock, other) == ("", "--assume tx-queue-frames=8 --assume aggregates=neighbours")
    assert problems(text) == ""
    assert "no such key" not in problems(text)
    wrong = text.replace("tx-queue-frames = 8", '"tx queue" = 8')
    with pytest.raises(PlanError):
        loaded(wrong)


def test_debugfs_is_read_where_it_is_there_only() -> None:
    plan = loaded().plan
    stock, rebuilt = (script_of(plan, arm) for arm in (0, 1))
    assert "debugfs debugfs" not in stock
    assert "debugfs-dut.txt" not in stock
    mount, loop = (rebuilt.index(words) for words in ("mount -t debugfs", 'while [ "$k"'))
    assert mount < loop
    assert ">debugfs-dut.txt" in rebuilt
    subprocess.run([shutil.which("dash") or "sh", "-n"], input=rebuilt.encode(), check=True)


def test_figures_of_each_station_have_keys_of_their_own() -> None:
    plan = loaded().plan
    figures = figures_of(plan, plan.test[0])
    assert {
        "chip_airtime_jain_index", "station_near_throughput_mbit_s", "station_far_off_rtt_p95_ms",
        "station_near_rtt_min_ms", "station_near_rtt_mean_ms", "station_far_off_rtt_max_ms",
        "station_near_rtt_stddev_ms",
        "station_far_off_chip_airtime_percent", "station_near_airtime_percent", "station_near_aql_pending_ms",
    } <= set(figures)  # fmt: skip
    metric = describe(station_key("far-off", "rtt_p50_ms"))
    assert (metric.title, metric.unit, metric.better) == ("RTT p50, far_off", "ms", "lower")
    assert describe("station_far_off").unit == ""


def problems(text: str) -> str:
    return "\n".join(f"{problem.message} {problem.what_to_do}" for problem in check(loaded(text)).problems)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('device = "mt7610u"', 'device = "rtl8188cus"', "the rtl8188cus is not an access point"),
        ("[target.far-off]\nkind", "[target.other]\nkind", "the station far-off is not a target"),
        ('name = "far-off", s', 'name = "peer", s', '"peer" cannot be the name of a station here'),
        (f'kind = "stations"\n{BOTH}\nstreams = 4', 'kind = "tcp-rx"', "dut is the access point"),
        (BOTH, 'stations = ["near", "dut"]', '"dut" is not a station'),
        ("aql_enable = false", 'aql_enable = false\n[arm.guest]\nsource = "driver"', "from the kernel's own source"),
        ("aql_enable = false", 'aql_enable = false\n[arm.guest]\nmodule = "rtl8xxxu"', "not among what is rebuilt"),
        ("aql_enable = false", 'aql_enable = false\n[arm.guest]\nswitches = ["CONFIG_X"]', "as it is configured"),
        (STATIONS, "", "needs stations of its device"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_found_before_a_guest_boots(before: str, after: str, words: str) -> None:
    assert before in TEXT
    assert words in problems(TEXT.replace(before, after))


@pytest.mark.parametrize("module", ["", '\nmodule = "mt76x0-common"', '\nmodule = "mac80211"'])
def test_a_patch_goes_into_what_is_rebuilt(module: str) -> None:
    patch = f'[[arm.patches]]\nfile = "txop:mt76x0/mac-work.toml"{module}'
    plan = loaded(text := TEXT.replace("aql_enable = false", f"aql_enable = false\n{patch}")).plan
    assert problems(text) == ""
    first, second = plan.arm
    spec = plan.guest_of(second)
    assert spec is not None
    stack = stack_of(second, spec, Path())
    assert [path.name for path in stack.patches] == ["mac-work.toml"]
    # two stacks: with the patch, and without
    assert stack_of(first, spec, Path()) == StackBuild() != stack
    lock = find_lock("6.12")
    assert len({asked(lock, each) for each in (stack, StackBuild(), StackBuild(stack.patches, reverse=True))}) == 3


def test_the_simulated_radios_of_older_kernels_are_found(tmp_path: Path) -> None:
    tree, work = tmp_path / "linux", tmp_path / "work"
    (tree / "drivers/net/wireless").mkdir(parents=True)
    for name in ("mac80211_hwsim.c", "mac80211_hwsim.h", "other.c"):
        (tree / "drivers/net/wireless" / name).write_text(name)
    copied(tree, VIRTUAL, work)
    names = sorted(path.name for path in (work / VIRTUAL).iterdir())
    assert names == ["Makefile", "mac80211_hwsim.c", "mac80211_hwsim.h"]
    with pytest.raises(FileNotFoundError):
        copied(tree, "net/mac80211", work)


def test_arms_have_the_same_stations() -> None:
    other = TEXT.replace(
        "[arm.guest.queues]\naql_enable = false", "[arm.guest]\nstations = [{ name = 'a', signal_dbm = -50 }]"
    )
    assert "the stations of no-aql are a, and those of [guest] near, far-off" in problems(other)
    assert problems(TEXT) == ""


def side(mpdus: int = 0, airtime_ns: int = 0, amount: int = 0) -> dict[str, int]:
    return {"mpdus": mpdus, "ppdus": mpdus // 10, "retries": mpdus // 20, "airtime_ns": airtime_ns, "bytes": amount}


def counters(factor: int) -> str:
    near = {"signal_dbm": -45, "down": side(1000 * factor, 10**9 * factor, 10**7 * factor), "up": side(50 * factor)}
    far = {"signal_dbm": -88, "down": side(100 * factor, 10**9 * factor, 10**6 * factor), "up": side(10 * factor)}
    air = {"chip": side(1100 * factor, 2 * 10**9 * factor, 11 * 10**6 * factor), "busy_ns": 2 * 10**9 * factor}
    device = {"air": air | {"stations": [near, far]}}
    urbs = {"out_bytes": 12 * 10**6 * factor, "in_bytes": 10**5 * factor}
    return json.dumps({"format": FORMAT, "monotonic_ns": 4 * 10**9 * factor, "device": device, "urbs": urbs})


def test_the_air_says_what_each_station_had(tmp_path: Path) -> None:
    (tmp_path / chip.WINDOW_FILE).write_text(counters(1))
    (tmp_path / chip.END_FILE).write_text(counters(2))
    (tmp_path / chip.TOTAL_FILE).write_text(counters(3))
    reading = chip.ChipCounters().read(facts_of(tmp_path))
    value = {key: each.value for key, each in reading.metrics.items()}
    assert (value["station_near_chip_airtime_percent"], value["station_far_off_chip_airtime_percent"]) == (25.0, 25.0)
    assert value["chip_airtime_jain_index"] == pytest.approx(1)
    assert (value["chip_ppdu_mpdus"], value["station_near_chip_ppdu_mpdus"]) == (10, 10)
    gates = chip.judge(facts_of(tmp_path), {"downlink": 10.9e6}, {"downlink": 32.9e6}, 20)
    assert {gate.gate: gate.state for gate in gates} == {"chip-traffic": "ok", "above-phy": "ok"}
    wrong = chip.judge(facts_of(tmp_path), {"downlink": 10.9e6}, {"downlink": 33.1e6}, 20)
    assert next(gate.state for gate in wrong if gate.gate == "chip-traffic") == "void"
    up = chip.judge(facts_of(tmp_path), {"uplink": 1e6}, {"uplink": 1e6}, 20)
    assert next(gate.words for gate in up if gate.gate == "chip-traffic").startswith("1.00 MB of payload moved uplink")


def test_without_counters_nothing_is_said_of_them(tmp_path: Path) -> None:
    reading = chip.ChipCounters().read(facts_of(tmp_path))
    assert reading.metrics["chip_airtime_percent"].value is None
    assert "chip_airtime_jain_index" not in reading.metrics or reading.metrics["chip_airtime_jain_index"].value is None


LOOK = """\
@@ {at}
@/iw/info
Interface wlan0
	ifindex 3
	wdev 0x1
	addr 00:0c:43:10:61:00
	ssid txop-lab
	type AP
	wiphy 0
	channel 6 (2437 MHz), width: 20 MHz, center1: 2437 MHz
	txpower 20.00 dBm
@/iw/station
@/sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations/02:00:00:00:00:00/airtime
RX: {rx} us
TX: {tx} us
Weight: 256
Deficit: VO: 256 us VI: 256 us BE: -12 us BK: 256 us
@/sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations/02:00:00:00:00:00/aqm
target 19999us interval 99999us ecn yes
tid ac backlog-bytes backlog-packets new-flows drops marks overlimit collisions tx-bytes tx-packets flags
0 2 30280 {waiting} 17 {drops} 0 0 0 1000 100 0x1(RUN)
6 0 0 0 0 0 0 0 0 0 0 0x0(RUN)
@/sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations/02:00:00:00:00:00/aql
Q depth: VO: 0 us VI: 0 us BE: {pending} us BK: 0 us
Q limit[low/high]: VO: 5000/12000 VI: 5000/12000 BE: 5000/12000 BK: 5000/12000
"""


def test_the_kernel_says_what_each_station_had(tmp_path: Path) -> None:
    looks = [
        LOOK.format(at=at, rx=1000 * n, tx=499_000 * n, waiting=20 * n, drops=3 * n, pending=4000 * n)
        for n, at in enumerate((11.5, 12.5, 13.5, 14.5, 16.5))
    ]
    (tmp_path / "wireless-dut.txt").write_text("".join(looks))
    (tmp_path / "wireless-dut.json").write_text('{"interface": "wlan0", "missing": null}')
    (tmp_path / chip.STATIONS_FILE).write_text("".join(f"{name} {at}\n" for name, at in ADDRESSES.items()))
    assert named_stations(tmp_path) == ADDRESSES
    reading: Reading = read_wireless(facts_of(tmp_path), "dut")
    value = {key: each.value for key, each in reading.metrics.items()}
    assert value["station_near_airtime_percent"] == pytest.approx(50)
    assert value["station_near_aql_pending_ms"] == pytest.approx(8)
    assert value["station_near_txq_backlog_packets"] == pytest.approx(40)
    assert value["station_near_txq_drops_per_s"] == pytest.approx(3)
    assert value["station_far_off_airtime_percent"] is None
    assert "station_far_off_aql_pending_ms" not in value
    assert [point[1] for point in reading.series["station_near_aql_pending_ms"]] == [4.0, 8.0, 12.0]


def test_the_kernel_says_what_a_station_had_in_a_test_of_it_alone(tmp_path: Path) -> None:
    looks = [LOOK.format(at=at, rx=0, tx=0, waiting=20, drops=0, pending=9000) for at in (11.5, 12.5, 13.5, 16.5)]
    (tmp_path / "wireless-dut.txt").write_text("".join(looks))
    (tmp_path / "wireless-dut.json").write_text('{"interface": "wlan0", "missing": null}')
    (tmp_path / chip.STATIONS_FILE).write_text(f"near {ADDRESSES['near']}\n")
    alone = 'kind = "tcp-rx"\nstation = "near"\nstreams = 4'
    plan = loaded(TEXT.replace(f'kind = "stations"\n{BOTH}\nstreams = 4', alone)).plan
    reading = read_wireless(facts_of(tmp_path, plan), "dut")
    assert reading.metrics["station_near_aql_pending_ms"].value == pytest.approx(9)
    assert "airtime_jain_index" not in reading.metrics


PING = """\
PING 10.80.211.1 (10.80.211.1) 56(84) bytes of data.
[1767225600.000000] 64 bytes from 10.80.211.1: icmp_seq=1 ttl=63 time={0} ms
[1767225603.000000] 64 bytes from 10.80.211.1: icmp_seq=2 ttl=63 time={1} ms
[1767225604.000000] 64 bytes from 10.80.211.1: icmp_seq=3 ttl=63 time={2} ms
"""


def test_round_trips_of_each_station_and_of_all(tmp_path: Path) -> None:
    (tmp_path / "ping-near.txt").write_text(PING.format(9, 10, 20))
    (tmp_path / "ping-far-off.txt").write_text(PING.format(9, 100, 200))
    plan = loaded(TEXT.replace('latency = "ping"', 'latency = "ping"\nlatency_interval_s = 1')).plan
    reading = Reading().merge(ping.read(facts_of(tmp_path, plan)) for ping in pings_of(plan.test[0]))
    value = {key: each.value for key, each in reading.metrics.items()}
    assert (value["station_near_rtt_p50_ms"], value["station_far_off_rtt_p50_ms"]) == (10, 100)
    assert value["rtt_p50_ms"] == 20
    assert len(reading.series["rtt_ms"]) == 6
    assert len(reading.series["station_far_off_rtt_ms"]) == 3
    (tmp_path / "ping-far-off.txt").unlink()
    reading = Reading().merge(ping.read(facts_of(tmp_path, plan)) for ping in pings_of(plan.test[0]))
    assert reading.metrics["rtt_p50_ms"].value is None
    assert reading.metrics["rtt_p50_ms"].reason == "far-off: there was no ping"
    assert reading.metrics["station_near_rtt_p50_ms"].value == 10


def test_counters_of_each_station_are_kept(tmp_path: Path) -> None:
    left, folder = tmp_path / "left", tmp_path / "run"
    left.mkdir()
    folder.mkdir()
    head = (
        "Inter-|   Receive |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets\n"
    )
    for file, count in (("before", 100), ("after", 400)):
        text = head + f"wlan0: {count} 1 0 0 0 0 0 0 {2 * count} 1 0 0 0 0 0 0\n"
        for name in ("", "-near", "-far-off"):
            (left / f"net-dev-{file}{name}.txt").write_text(text)
    spec = loaded().plan.guest_of(loaded().plan.arm[0])
    assert spec is not None
    take_over(left, folder, spec)
    grown = interface_growth(folder, "far-off")
    assert grown is not None
    assert grown.counters["rx_bytes"] == 300
    assert sorted(path.name for path in folder.iterdir()) == [
        "interface-dut.json", "interface-far-off.json", "interface-near.json", "wireless-dut.json"]  # fmt: skip


def test_rates_and_bursts_come_to_the_testbed() -> None:
    queues = "aql_enable = false\nburst_ms = 2\nrates = { mcs = [0, 7] }"
    plan = loaded(TEXT.replace("aql_enable = false", queues)).plan
    changed = chip_of(plan.guest_of(plan.arm[1]) or pytest.fail("an arm in a guest")).variables()
    assert (changed["LAB_BITRATES"], changed["LAB_BURST_MS"]) == ("legacy-2.4 6 ht-mcs-2.4 0 7", "2.0")
