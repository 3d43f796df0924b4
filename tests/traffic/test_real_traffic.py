"""Real iperf3, ping, irtt and BusyBox ping through an emulated link, and every way they fail."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from instrument_bench import carry_out, context_of, facts_of, gate_states, make_plan, values
from txop.campaign.instruments import instruments_of
from txop.measure.instrument import Reading
from txop.measure.traffic.iperf3 import Iperf3Traffic, ensure_free
from txop.measure.traffic.irtt import Irtt
from txop.measure.traffic.ping import Ping
from txop.targets.contract import TargetError

MORE = '[target.sta2]\nkind = "local"\n'


def instruments(plan):
    test = plan.test[0]
    made = []
    if test.latency == "ping":
        made.append(Ping(test))
    if test.latency == "irtt":
        made.append(Irtt(test, plan.warm_up_s(test)))
    if test.kind != "latency":
        made.append(Iperf3Traffic(test, plan.warm_up_s(test)))
    return made


async def until(run, seconds: float) -> None:
    """Wait for that time in the window."""
    while run.marks.window is None:
        await asyncio.sleep(0.02)
    await asyncio.sleep(max(0.0, run.marks.window + seconds - time.monotonic()))


def go(hosts, folder, test: str, *, before=None, meanwhile=None) -> Reading:
    """A run between two hosts; ``before`` it something is done to them, and something else ``meanwhile``."""
    plan = make_plan(f'[[test]]\nname = "t"\n{test}', MORE)

    async def story() -> Reading:
        async with hosts() as two:
            run = context_of(plan, folder, two.by_name, two.peer_address)
            if before is not None:
                before(two)
            disturbing = asyncio.create_task(meanwhile(two, run)) if meanwhile is not None else None
            try:
                return await carry_out(instruments(plan), run)
            finally:
                if disturbing is not None:
                    disturbing.cancel()
                    await asyncio.gather(disturbing, return_exceptions=True)

    return asyncio.run(asyncio.wait_for(story(), 90))


def ends(folder, number: int = 0):
    return [json.loads((folder / f"iperf3-{number}-{end}.json").read_text()) for end in ("client", "server")]


@pytest.mark.parametrize("kind", ["tcp-tx", pytest.param("tcp-rx", marks=pytest.mark.slow)])
def test_tcp_is_the_lower_of_both_ends(hosts, tmp_path, kind):
    reading = go(
        hosts,
        tmp_path,
        f'kind = "{kind}"\nduration_s = 3\nwarm_up_s = 1\nlatency = "ping"\nlatency_interval_s = 0.05\n',
    )
    assert gate_states(reading) == {"traffic-failed": "ok", "probe-starved": "ok"}
    client, server = ends(tmp_path)
    sent = (client if kind == "tcp-tx" else server)["end"]["sum_sent"]["bits_per_second"]
    received = (server if kind == "tcp-tx" else client)["end"]["sum_received"]["bits_per_second"]
    assert values(reading)["throughput_mbit_s"] == pytest.approx(min(sent, received) / 1e6, rel=0.02)
    assert values(reading)["throughput_mbit_s"] > 1
    assert values(reading)["tcp_rtt_ms"] > 0
    times = [t for t, _ in reading.series["throughput_mbit_s"]]
    assert times[0] == pytest.approx(-0.9, abs=0.15)
    assert times[-1] == pytest.approx(2.9, abs=0.15)
    assert 15 <= len(times) <= 21, "a point every 0.2 s, less those that a busy machine merges"
    assert values(reading)["rtt_p50_ms"] > 0
    assert reading.series["rtt_ms"][0][0] == pytest.approx(-1, abs=0.3)


@pytest.mark.slow
def test_udp_both_ways_and_n_streams(hosts, tmp_path, find_running):
    (tmp_path / "a").mkdir()
    reading = go(
        hosts,
        tmp_path / "a",
        'kind = "udp-rx"\nrate_mbit_s = 4\nduration_s = 2\nwarm_up_s = 1\n',
    )
    assert values(reading)["throughput_mbit_s"] == pytest.approx(4, rel=0.1)
    assert values(reading)["udp_loss_percent"] == pytest.approx(0, abs=1)
    (tmp_path / "b").mkdir()
    reading = go(hosts, tmp_path / "b", 'kind = "tcp-both"\nstreams = 2\nduration_s = 2\nwarm_up_s = 0\n')
    assert values(reading)["throughput_up_mbit_s"] > 0.5
    assert values(reading)["throughput_down_mbit_s"] > 0.5
    assert 0.25 <= values(reading)["jain_index"] <= 1
    assert not [line for line in find_running("iperf3") if " 521" in line]


@pytest.mark.slow
def test_rrul_has_a_flow_each_way_for_every_class_and_latency(hosts, tmp_path):
    reading = go(hosts, tmp_path, 'kind = "rrul"\nduration_s = 3\nwarm_up_s = 1\nlatency_interval_s = 0.05\n')
    assert gate_states(reading) == {"traffic-failed": "ok", "probe-starved": "ok"}
    tos = [ends(tmp_path, n)[0]["start"]["test_start"]["tos"] for n in range(8)]
    assert tos == [0, 0, 32, 32, 160, 160, 184, 184]
    total = sum(min(end["end"]["sum_received"]["bits_per_second"] for end in ends(tmp_path, n) if end["end"]["sum_received"]["bytes"])  # noqa: E501
                for n in range(0, 8, 2)) / 1e6  # fmt: skip
    assert values(reading)["throughput_up_mbit_s"] == pytest.approx(total, rel=0.05)
    assert values(reading)["rtt_p50_ms"] > 0
    assert len([key for key in reading.series if key.startswith("flow_")]) == 8


@pytest.mark.slow
def test_staggered_flows_begin_one_after_the_other(hosts, tmp_path):
    reading = go(hosts, tmp_path, 'kind = "tcp-tx"\nstreams = 3\nstagger_s = 1\nduration_s = 5\nwarm_up_s = 0\n')
    starts = [reading.series[f"flow_{n}_tx_mbit_s"][0][0] for n in range(3)]
    assert starts == pytest.approx([0.1, 1.1, 2.1], abs=0.3)
    began = [ends(tmp_path, n)[0]["start"]["timestamp"]["timesecs"] for n in range(3)]
    assert [b - began[0] for b in began] == pytest.approx([0, 1, 2], abs=1)
    assert [ends(tmp_path, n)[0]["start"]["test_start"]["duration"] for n in range(3)] == [5, 4, 3]
    # alone the first one has all; in the last two seconds three share
    assert values(reading)["jain_index"] > 0.5
    whole = sum(ends(tmp_path, n)[1]["end"]["sum_received"]["bytes"] for n in range(3)) * 8e-6 / 5
    assert values(reading)["throughput_mbit_s"] == pytest.approx(whole, rel=0.06)


@pytest.mark.slow
def test_several_stations(hosts, tmp_path):
    test = 'kind = "stations"\nstations = ["dut", "sta2"]\ndirection = "tx"\nduration_s = 2\nwarm_up_s = 0\n'
    reading = go(hosts, tmp_path, test)
    assert gate_states(reading) == {"traffic-failed": "ok"}
    assert reading.files["iperf3-1-client.json"] == "iperf3 client on sta2, tx"
    assert values(reading)["jain_index"] > 0.5


def test_a_server_that_is_on_the_port_already_voids_the_run(hosts, tmp_path):
    async def story() -> str:
        async with hosts() as two:
            other = await two.peer.start(["iperf3", "-s", "-p", "5210"], stdout=tmp_path / "other", max_seconds=30)
            for _ in range(100):
                try:
                    await ensure_free(two.peer, {5210})
                except TargetError:
                    break
                await asyncio.sleep(0.05)
            plan = make_plan('[[test]]\nname = "t"\nkind = "tcp-tx"\nduration_s = 1\n')
            with pytest.raises(TargetError) as caught:
                await carry_out(instruments(plan), context_of(plan, tmp_path, two.by_name, two.peer_address))
            await other.stop()
            return caught.value.what

    assert asyncio.run(asyncio.wait_for(story(), 60)) == (
        "something listens already on TCP port 5210, which the test's servers need"
    )


def kill(option: str) -> None:
    """Kill the iperf3 on the tests' port that was started with ``option``."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words[0].endswith(b"iperf3") and b"5210" in words and option.encode() in words:
                    os.kill(int(entry.name), signal.SIGKILL)


@pytest.mark.parametrize("option", ["-c", pytest.param("-s", marks=pytest.mark.slow)])
def test_a_killed_end_is_a_failure_of_the_traffic(hosts, tmp_path, option):
    async def murder(two, run) -> None:
        await until(run, 1)
        kill(option)

    reading = go(hosts, tmp_path, 'kind = "tcp-tx"\nduration_s = 2\nwarm_up_s = 0\n', meanwhile=murder)
    assert gate_states(reading) == {"traffic-failed": "void"}
    assert "iperf3 client of flow 0 (tx)" in reading.gates[0].words
    assert ("it ended by SIGKILL" in reading.gates[0].words) is (option == "-c")
    assert values(reading)["throughput_mbit_s"] is None


@pytest.mark.slow
def test_a_drop_out_is_told_with_its_time(hosts, tmp_path):
    async def unplug(two, run) -> None:
        await until(run, 2)
        await two.peer.run(["ip", "link", "set", "dev", two.interface, "down"])
        await asyncio.sleep(4)
        await two.peer.run(["ip", "link", "set", "dev", two.interface, "up"])

    reading = go(
        hosts,
        tmp_path,
        'kind = "soak"\ndirection = "tx"\nduration_s = 14\nwarm_up_s = 0\nlatency_interval_s = 0.1\n',
        meanwhile=unplug,
    )
    said = [warning for warning in reading.warnings if "nothing arrived for" in warning]
    assert len(said) == 1, reading
    assert values(reading)["probe_loss_percent"] > 15
    assert gate_states(reading)["traffic-failed"] == "ok"


@pytest.mark.parametrize("latency", [pytest.param("ping", marks=pytest.mark.slow), "irtt"])
def test_an_idle_link_and_losses(hosts, tmp_path, latency):
    if shutil.which(latency) is None:
        pytest.skip(f"no {latency}")

    async def unplug(two, run) -> None:
        await until(run, 2)
        await two.peer.run(["ip", "link", "set", "dev", two.interface, "down"])
        await asyncio.sleep(1)
        await two.peer.run(["ip", "link", "set", "dev", two.interface, "up"])

    test = f'kind = "latency"\nlatency = "{latency}"\nlatency_interval_s = 0.02\nduration_s = 5\nwarm_up_s = 0\n'
    reading = go(hosts, tmp_path, test, meanwhile=unplug)
    assert gate_states(reading) == {"probe-starved": "ok"}
    # one second of five, a little more or less
    assert 12 < values(reading)["probe_loss_percent"] < 35
    assert values(reading)["rtt_p95_ms"] == "infinite"
    assert 0 < values(reading)["rtt_p50_ms"] < 200
    lost = [t for t, rtt in reading.series["rtt_ms"] if rtt is None and 0 <= t < 5]
    assert max(lost) - min(lost) < 2.2


def test_busybox_ping_has_no_time_stamps_and_is_read_all_the_same(hosts, tmp_path):
    busybox = shutil.which("busybox")
    if busybox is None:
        pytest.skip("no busybox")
    test = 'kind = "latency"\nlatency_interval_s = 0.05\nduration_s = 3\nwarm_up_s = 1\n'
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "ping").symlink_to(busybox)

    def only_busybox(two) -> None:
        two.dut._found["ping"] = str(folder / "ping")

    reading = go(hosts, tmp_path, test, before=only_busybox)
    text = (tmp_path / "ping.txt").read_text()
    assert "packets transmitted" in text
    assert "icmp_seq" not in text
    assert gate_states(reading) == {"probe-starved": "ok"}
    assert values(reading)["probe_loss_percent"] == 0
    assert 0 < values(reading)["rtt_p50_ms"] < 200
    assert len([t for t, _ in reading.series["rtt_ms"] if 0 <= t < 3]) == pytest.approx(60, abs=10)


def test_tools_that_are_missing(hosts, tmp_path):
    """Without iperf3 the run is void with its name; without ping beside a load it is only not available."""

    async def story() -> tuple[str, Reading]:
        async with hosts() as two:
            two.dut._found |= {"iperf3": None, "ping": None}
            plan = make_plan('[[test]]\nname = "t"\nkind = "tcp-tx"\nduration_s = 1\nwarm_up_s = 0\nlatency = "ping"\n')
            run = context_of(plan, tmp_path, two.by_name, two.peer_address)
            ping, iperf3 = instruments(plan)
            assert not ping.essential
            with pytest.raises(TargetError) as caught:
                await ping.prepare(run)
            assert caught.value.what == "has no ping"
            await ping.start(run)
            with pytest.raises(TargetError) as caught:
                await carry_out([iperf3], run)
            return caught.value.what, ping.read(facts_of(plan, tmp_path))

    said, reading = asyncio.run(asyncio.wait_for(story(), 60))
    assert said.startswith("has no iperf3")
    assert gate_states(reading) == {"probe-starved": "not available"}


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo '{ this is no JSON'", "cut off or damaged"),
        pytest.param("head -c 300000 /dev/urandom", "iperf3", marks=pytest.mark.slow),
        pytest.param("sleep 60", "iperf3 client of flow 0", marks=pytest.mark.slow),
        pytest.param("exit 3", "it ended with status 3", marks=pytest.mark.slow),
        ("echo some library is missing >&2; kill -ABRT $$", "it ended by SIGABRT: some library is missing"),
    ],
)
def test_a_client_that_is_not_iperf3_voids_the_run(hosts, tmp_path, script, words, monkeypatch):
    monkeypatch.setattr("txop.measure.traffic.iperf3.FINISH_TIMEOUT_S", 1.0)
    fake = tmp_path / "iperf3"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)

    def replace(two) -> None:
        two.dut._found["iperf3"] = str(fake)

    reading = go(hosts, tmp_path, 'kind = "tcp-tx"\nduration_s = 1\nwarm_up_s = 0\n', before=replace)
    assert gate_states(reading) == {"traffic-failed": "void"}
    assert words in reading.gates[0].words
    assert values(reading)["throughput_mbit_s"] is None


def test_traffic_is_listed_last():
    """It is started last and stopped first, so that what it prints is not waited for by probes."""
    plan = make_plan(
        '[[test]]\nname = "t"\nkind = "tcp-tx"\nlatency = "ping"\n', "[collect]\nair = true\nusbmon = true\n"
    )
    names = [instrument.name for instrument in instruments_of(plan, plan.test[0])]
    assert names[-2:] == ["ping", "iperf3"]
    assert {"air capture", "USB capture", "kernel-log", "wireless of dut"} <= set(names)
    assert len(set(names)) == len(names)
