"""The stock rtw88_8822bs on a virtual RTL8822BS: the MAC of the RTL8822BU on an SDIO card, in the slot of ushc."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cards_here import run
from txop import bus
from txop.guest.chips import COMMAND_LOG, Chip
from txop.guest.exactness import difference

PINGS = 20
LOAD_S = 2
DRIVER = "rtw88_8822bs"

TRAFFIC = f"""\
dut cat /sys/class/net/wlan0/address
peer iperf3 -s -D >/dev/null
sleep 0.3
dut ping -c {PINGS} -i 0.2 10.80.210.1 || exit
dut iperf3 -c 10.80.210.1 -t {LOAD_S} -J >/txop/out/away.json || exit
dut iperf3 -c 10.80.210.1 -t {LOAD_S} -J -R >/txop/out/back.json || exit
dmesg >/txop/out/dmesg"""


def card(**keys: Any) -> Chip:
    return Chip("rtl8822bs", DRIVER, **keys)


def mbit_s(folder: Path, name: str) -> float:
    """What iperf3 received."""
    ended = json.loads((folder / "files" / f"{name}.json").read_text())["end"]
    return float(ended["sum_received"]["bits_per_second"]) / 1e6


def check(folder: Path, counted: Any) -> None:
    """What holds of every run: nothing is lost on the bus, keys are the chip's, no complaint of the driver."""
    assert f"{PINGS} received, 0% packet loss" in (folder / "stdout").read_text()
    chip, on_bus, tx, rx = counted["chip"], counted["bus"], counted["tx"], counted["rx"]
    assert on_bus["taken"] == tx["frames"] + chip["packets"] + chip["pages_written"]
    assert on_bus["fetched"] == rx["transfers"]
    assert on_bus["page_reads"] >= on_bus["taken"], "the driver asks before each of them"
    assert on_bus["lost"] == on_bus["empty_reads"] == 0
    assert tx["malformed"] == tx["bad_checksums"] == tx["no_key"] == rx["integrity_errors"] == 0
    assert tx["encrypted"] > PINGS
    assert rx["decrypted"] > PINGS
    assert chip["reports"] >= tx["reported"] > 0
    assert counted["air"]["chip"]["ampdus"] > 0
    assert counted["sdio"]["card"]["refused_commands"] == 0
    log = (folder / "files" / "dmesg").read_text()
    complaints = [line for line in log.splitlines() if "rtw_8822bs" in line and "Firmware version" not in line]
    assert not complaints
    assert "WARNING" not in log


@pytest.mark.slow
def test_wpa2_and_tcp_both_ways_the_module_leaves_and_the_same_again(tmp_path: Path) -> None:
    chip = card(air="air.pcapng", command_log=COMMAND_LOG)
    leaves = f"{TRAFFIC} || exit\nrmmod {DRIVER} && ! dut ip link show wlan0 2>/dev/null"
    counted = run(tmp_path / "one", chip, leaves)
    check(tmp_path / "one", counted)
    assert "00:e0:4c:88:22:b5" in (tmp_path / "one" / "stdout").read_text()
    assert counted["bus"]["indirect"] > 0, "the last register before the MAC is off"
    assert counted["power"]["announced"] > 0
    assert min(mbit_s(tmp_path / "one", "away"), mbit_s(tmp_path / "one", "back")) > 5
    found = bus.analyze(tmp_path / "one" / "files" / COMMAND_LOG).sdio
    assert found is not None
    assert found.card == "024c:b822"
    run(tmp_path / "other", chip, leaves)
    assert difference(tmp_path / "one", tmp_path / "other") is None


@pytest.mark.slow
def test_wpa3_and_the_same_again(tmp_path: Path) -> None:
    command = f"dut ping -c {PINGS} -i 0.05 10.80.210.1 || exit\ndmesg >/txop/out/dmesg"
    for name in ("one", "other"):
        counted = run(tmp_path / name, card(security="wpa3", trace="trace.jsonl"), command)
        assert f"{PINGS} received, 0% packet loss" in (tmp_path / name / "stdout").read_text()
        assert counted["bus"]["lost"] == 0
    assert difference(tmp_path / "one", tmp_path / "other") is None
