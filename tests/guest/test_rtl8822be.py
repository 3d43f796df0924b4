"""The stock rtw88_8822be on a virtual RTL8822BE: the MAC of the RTL8822BU behind rings and interrupts of PCI."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from guests_here import built_chips, built_image
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.exactness import difference
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.overlay import Overlay

PINGS = 20
LOAD_S = 4
DRIVER = "rtw88_8822be"

TRAFFIC = f"""\
peer iperf3 -s -D >/dev/null
sleep 0.3
dut ping -c {PINGS} -i 0.2 10.80.210.1 || exit
dut iperf3 -c 10.80.210.1 -t {LOAD_S} -J >/txop/out/away.json || exit
dut iperf3 -c 10.80.210.1 -t {LOAD_S} -J -R >/txop/out/back.json || exit
dut iw dev wlan0 station dump >/txop/out/rates
dmesg >/txop/out/dmesg"""


def run(folder: Path, chip: Chip, command: str, shift: int = 1) -> Any:
    """Boots a guest with the chip, lets the command run in its testbed, and gives what the chip has counted."""
    image = built_image("6.12")
    script = f"txop-lab up || exit\n{command} || exit\ntxop-lab down\n"
    overlay = Overlay(script=script, environment=chip.variables(), files={**chip.files(), IN_GUEST: built_chips()})
    computer = Computer(mode=Mode.EXACT, shift=shift, seed=0, limit_s=150)
    ended = asyncio.run(run_guest(image, overlay, computer, results=folder, wall_limit_s=1_800))
    assert ended.status == 0, (folder / "stderr").read_text()
    return json.loads((folder / "files" / "chip.json").read_text())["device"]


def mbit_s(folder: Path, name: str) -> float:
    """What iperf3 received."""
    ended = json.loads((folder / "files" / f"{name}.json").read_text())["end"]
    return float(ended["sum_received"]["bits_per_second"]) / 1e6


def check(folder: Path, counted: Any) -> None:
    """What holds of every run: nothing is left in a ring, keys are the chip's, no complaint of the driver."""
    assert f"{PINGS} received, 0% packet loss" in (folder / "stdout").read_text()
    chip, bus, tx, rx = counted["chip"], counted["bus"], counted["tx"], counted["rx"]
    assert bus["fetched"] == tx["frames"] + chip["packets"], "commands come by a ring, too"
    assert bus["filled"] == rx["delivered"] + chip["reports"]
    assert bus["pages"] == chip["pages_written"]
    assert bus["no_buffer"] == bus["too_long"] == tx["malformed"] == tx["no_key"] == rx["integrity_errors"] == 0
    assert tx["encrypted"] > PINGS
    assert rx["decrypted"] > PINGS
    assert chip["reports"] >= tx["reported"] > 0
    assert counted["air"]["chip"]["ampdus"] > 0
    log = (folder / "files" / "dmesg").read_text()
    known = ("Firmware version", "enabling device")
    complaints = [line for line in log.splitlines() if "rtw_8822be" in line]
    assert not [line for line in complaints if not any(word in line for word in known)], complaints
    assert "WARNING" not in log


@pytest.mark.slow
def test_wpa2_and_tcp_both_ways_the_module_leaves_and_the_same_again(tmp_path: Path) -> None:
    chip = Chip("rtl8822be", DRIVER, air="air.pcapng")
    leaves = f"{TRAFFIC} || exit\nrmmod {DRIVER} && ! dut ip link show wlan0 2>/dev/null"
    counted = run(tmp_path / "one", chip, leaves)
    check(tmp_path / "one", counted)
    assert counted["power"]["announced"] > 0
    assert min(mbit_s(tmp_path / "one", "away"), mbit_s(tmp_path / "one", "back")) > 10
    run(tmp_path / "other", chip, leaves)
    assert difference(tmp_path / "one", tmp_path / "other") is None


@pytest.mark.slow
def test_in_5_ghz_it_sends_two_streams_in_80_mhz(tmp_path: Path) -> None:
    chip = Chip("rtl8822be", DRIVER, width_mhz=80, channel=36, power_save=False)
    counted = run(tmp_path, chip, TRAFFIC, shift=0)
    check(tmp_path, counted)
    assert "866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2" in (tmp_path / "files" / "rates").read_text()


@pytest.mark.slow
def test_wpa3_and_a_driver_that_waits_for_interrupts_that_do_not_come(tmp_path: Path) -> None:
    """What was received waits in the ring: with the first interrupt the driver reads all of it."""
    faults = tmp_path / "faults.toml"
    faults.write_text('[[fault]]\nname = "lost"\nfrom_ms = 12000\nfor_ms = 3000\naction = "lost_interrupts"\n')
    chip = Chip("rtl8822be", DRIVER, security="wpa3", faults=faults)
    counted = run(tmp_path / "one", chip, "dut ping -c 20 10.80.210.1 >/txop/out/pings; dmesg >/txop/out/dmesg")
    pings = (tmp_path / "one" / "files" / "pings").read_text()
    received = int(pings.partition(" packets transmitted, ")[2].partition(" ")[0])
    assert received > 10, "the link is there again"
    assert counted["faults"][0]["struck"] == 1
    assert counted["bus"]["no_buffer"] == 0
    assert "WARNING" not in (tmp_path / "one" / "files" / "dmesg").read_text()
