"""Real TCP and ping through emulated links: the link's variants must show, and the capture must agree."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from txop import _native
from txop.emulate import Captures, EmulatedNetwork, EmulationError, EmulationStatus, link_scenario
from txop.emulate.status import retry_percent

RunTool = Callable[..., Awaitable[str]]
Tcp = Callable[..., Awaitable[float]]

DUT, AP = "02:74:78:6f:70:01", "02:74:78:6f:70:00"


@pytest.mark.slow
@pytest.mark.usefixtures("can_emulate")
def test_variants_of_a_link_show_in_tcp(run_tool: RunTool, tcp: Tcp) -> None:
    """MCS 7 with short guard interval carries 66 Mbit/s of UDP payload; TCP pays for its acknowledgements."""

    async def measure() -> None:
        async with EmulatedNetwork(link_scenario({"wlan": {}, "run": {"seed": 1}})) as network:
            interfaces = [
                await run_tool([*prefix, "ip", "-o", "addr"])
                for prefix in (network.prefix(network.hosts[1]), network.prefix(network.hosts[0]))
            ]
            device = await run_tool(
                [*network.prefix(network.hosts[1]), "ip", "-o", "link", "show", network.hosts[1].interface]
            )
            ping = await run_tool(
                [*network.prefix(network.hosts[1]), "ping", "-c", "20", "-i", "0.05", "-q", network.hosts[0].address]
            )
            up = await tcp(network)
            down = await tcp(network, "-R")
            plain = await network.replace(
                link_scenario({"wlan": {"dut": {"tx_ampdu": False}, "ap": {"tx_ampdu": False}}, "run": {"seed": 1}})
            )
            single = await tcp(network)
            await network.replace(link_scenario({"wlan": {"ap": {"late_block_ack_us": 600}}, "run": {"seed": 1}}))
            late = await tcp(network)
            late_status = await network.stop()
            assert not network.running
            with pytest.raises(EmulationError, match="not running"):
                await network.stop()

        for text, address in zip(interfaces, (network.hosts[1].address, network.hosts[0].address), strict=True):
            assert f"inet {address}/20" in text
            assert "fe80" not in text
        assert "mtu 1500" in device
        assert "qlen 1000" in device
        assert ", 0% packet loss" in ping
        minimum_ms = float(re.search(r"= ([0-9.]+)/", ping)[1])  # type: ignore[index]
        # Two exchanges of a single small MPDU: preamble, a few symbols, SIFS, ACK, AIFS.
        assert 0.1 < minimum_ms < 1.5
        assert 40 < up < 66, f"{up:.1f} Mbit/s up"
        assert 40 < down < 66, f"{down:.1f} Mbit/s down"
        assert 15 < single < 30, f"{single:.1f} Mbit/s without aggregation"
        assert late < 0.92 * up, f"{late:.1f} Mbit/s with late Block Acks, {up:.1f} without"
        assert plain is not None
        retries = [retry_percent(status.wlan.dut) or 0.0 for status in (plain, late_status)]
        assert retries[1] > 5 + retries[0], f"retry %: {retries}"
        assert late_status.wlan.ap.left_out_late > 0
        assert plain.wlan.ap.left_out_late == 0
        assert plain.timing.releases == plain.wlan.ap.packets_delivered + plain.wlan.dut.packets_delivered
        assert [(host.name, host.not_taken) for host in plain.hosts] == [("server", 0), ("dut", 0)]
        up_pair = next(pair for pair in plain.pairs if pair.from_ == 1)
        assert up_pair.packets_delivered == plain.wlan.dut.packets_delivered
        assert up_pair.bytes_delivered == plain.wlan.dut.bytes_delivered
        under_way = up_pair.packets_offered - up_pair.packets_delivered - sum(up_pair.drops.values())
        assert 0 <= under_way < 100

    asyncio.run(measure())


@pytest.mark.usefixtures("can_emulate")
def test_the_capture_agrees_with_the_link(tmp_path: Path, tcp: Tcp) -> None:
    """The analyzer and tshark, on the file of a real run, against the link's own counters."""
    file = tmp_path / "air.pcapng"

    async def measure() -> EmulationStatus:
        wlan = {"dut": {"mpdu_error_rate": 0.02}, "ap": {"late_block_ack_us": 400, "mcs": 5}}
        scenario = link_scenario({"wlan": wlan, "run": {"seed": 3}})
        async with EmulatedNetwork(scenario, Captures(air=file)) as network:
            await tcp(network, seconds=1)
            return await network.stop()

    status = asyncio.run(measure())
    report = json.loads(_native.analyze_air(file))
    assert status.air is not None
    assert (status.air.dropped, status.air.error) == (0, None)
    assert report["frames"] == status.air.records > 1000
    assert report["origin"] == "emulated"
    # One PPDU of each collision is there, damaged.
    assert (report["bad_fcs"], status.air.intact) == (status.air.damaged, 0)
    assert status.air.damaged < status.air.collided or status.wlan.collisions == 0
    assert report["summary"]["unreadable"] == 0
    assert report["summary"]["dropped_by_capture"] == 0
    counters = {DUT: status.wlan.dut, AP: status.wlan.ap}
    for link in (link for link in report["links"] if link["data_frames"] and link["direction"] != "group"):
        sent, got = counters[link["ta"]], counters[link["ra"]]
        assert link["mpdu_retry"]["frames"] == sent.mpdus - sent.mpdus_collided
        assert link["mpdu_retry"]["retries"] == sent.retries - sent.retries_collided
        assert link["mpdu_retry"]["percent"] == pytest.approx(retry_percent(sent))
        exchange = next(row for row in report["exchanges"] if (row["ta"], row["ra"]) == (link["ta"], link["ra"]))
        assert (exchange["acked"], exchange["block_acked"]) == (got.acks, got.block_acks)
    flow = next(flow for flow in report["block_acks"] if flow["originator"] == DUT)
    assert flow["left_out"] == pytest.approx(status.wlan.ap.left_out_late + status.wlan.dut.mpdus_lost, rel=0.05)
    assert report["waterfalls"][0]["ta"] == DUT
    # Each packet counts once, however often it was sent; the last ones may have been on the way still.
    delivered = status.wlan.dut.bytes_delivered
    assert report["waterfalls"][0]["payload_bytes"] == pytest.approx(delivered, rel=0.01)

    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed: the file was compared with the link only")
    fields = ["wlan.ta", "wlan.fc.retry", "wlan.fc.type_subtype", "ip.src", "tcp.dstport", "_ws.malformed"]
    out = subprocess.run(
        ["tshark", "-r", file, "-Y", "wlan.fc.type_subtype == 0x28", "-T", "fields", *(f"-e{name}" for name in fields)],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    rows = [line.split("\t") for line in out.splitlines()]
    up = [row for row in rows if row[0] == DUT]
    sent = status.wlan.dut
    assert len(up) == sent.mpdus - sent.mpdus_collided
    assert sum(row[1] in ("1", "True") for row in up) == sent.retries - sent.retries_collided
    assert sum(row[3:5] == ["10.80.208.2", "5201"] for row in up) > 0.99 * len(up)


@pytest.mark.usefixtures("can_emulate")
def test_a_full_disk_or_a_forbidden_file_is_reported(tmp_path: Path, run_tool: RunTool) -> None:
    async def into(file: Path) -> EmulationStatus:
        async with EmulatedNetwork(link_scenario({"wlan": {}}), Captures(air=file)) as network:
            await run_tool(
                [*network.prefix(network.hosts[1]), "ping", "-c", "3", "-i", "0.2", "-q", network.hosts[0].address]
            )
            return await network.stop()

    with pytest.raises(EmulationError, match="No such file or directory"):
        asyncio.run(into(tmp_path / "nowhere" / "air.pcapng"))
    full = Path("/dev/full")
    if full.is_char_device():
        with pytest.raises(EmulationError, match="No space left"):
            asyncio.run(into(full))
