"""Debian's stock ath9k on virtual AR9280 and AR9287, on PCI: as a station, and as an access point of such chips."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from guests_here import built_chips, built_image
from txop.guest.chips import IN_GUEST, STATION_CHIPS_MAX, Chip
from txop.guest.exactness import difference
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest.shipped_faults import every_shipped_script, shipped_faults
from txop.guest_image.error import GuestError
from txop.guest_image.overlay import Overlay
from txop.plan.devices import DRIVERS, ON_PCI

BEACON_US = 102_400


def run(folder: Path, chip: Chip, commands: str, *, kernel: str = "6.12") -> Any:
    """Boots a guest with the chip, runs the commands in its testbed, and gives what the chip has counted."""
    image, chips = built_image(kernel), built_chips()
    script = f"txop-lab up || exit\n{commands}\ntxop-lab down\n"
    overlay = Overlay(script=script, environment=chip.variables(), files={**chip.files(), IN_GUEST: chips})
    computer = Computer(mode=Mode.EXACT, shift=0, seed=1, limit_s=150)
    ended = asyncio.run(run_guest(image, overlay, computer, results=folder, wall_limit_s=1_800))
    assert ended.status == 0, (folder / "stderr").read_text()
    return json.loads((folder / "files" / "chip.json").read_text())["device"]


def mbit_s(folder: Path, name: str) -> float:
    """What an iperf3's receiver got."""
    received = json.loads((folder / "files" / name).read_text())["end"]["sum_received"]
    return float(received["bits_per_second"]) / 1e6


def test_the_chips_are_on_pci_with_ath9k() -> None:
    chips = ("ar9280", "ar9220", "ar9287")
    assert set(chips) < set(ON_PCI)
    assert {DRIVERS[name] for name in chips} == {"ath9k"}
    assert Chip("ar9280", "ath9k").variables()["LAB_BUS"] == "pci"


def test_stations_can_be_chips_of_the_same_kind() -> None:
    variables = Chip("ar9280", "ath9k", stations=(-50, -60), station_chips=True).variables()
    assert "--station-chips" in variables["LAB_OPTIONS"].split()
    with pytest.raises(GuestError):
        Chip("mt7610u", "mt76x0u", stations=(-50,), station_chips=True)
    with pytest.raises(GuestError):
        Chip("ar9280", "ath9k", stations=(-50,) * (STATION_CHIPS_MAX + 1), station_chips=True)


def test_a_chip_on_pci_is_tried_with_faults_of_registers_and_without_those_of_transfers() -> None:
    of_pci, of_dongle = shipped_faults("ar9280"), shipped_faults()
    assert {"pci/dead-registers", "pci/hang", "pci/stuck-dma", "pci/lost-interrupts", "unplug"} <= set(of_pci)
    assert not {"cut-rx", "dead-registers", "sdio/read-crc"} & set(of_pci)
    assert not any(name.startswith("pci/") for name in of_dongle)
    assert set(of_pci) <= set(every_shipped_script())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "kernel"), [("ar9280", "6.12"), ("ar9220", "6.12"), ("ar9287", "6.12"), ("ar9280", "6.1")]
)
def test_a_station_moves_traffic_both_ways(device: str, kernel: str, tmp_path: Path) -> None:
    load = (
        "peer iperf3 -s -D; sleep 1\n"
        "dut iperf3 -c 10.80.210.1 -t 2 -P 2 -J >/txop/out/up.json || exit\n"
        "dut iperf3 -c 10.80.210.1 -t 2 -R -J >/txop/out/down.json || exit"
    )
    counted = run(tmp_path, Chip(device, "ath9k"), load, kernel=kernel)
    assert mbit_s(tmp_path, "up.json") > 40
    assert mbit_s(tmp_path, "down.json") > 20
    assert counted["tx"]["encrypted"] > 1_000
    assert counted["rx"]["decrypted"] > 1_000
    assert counted["rx"]["integrity_errors"] == 0


@pytest.mark.slow
def test_an_access_point_serves_chips_fast_and_with_little_latency(tmp_path: Path) -> None:
    chip = Chip("ar9280", "ath9k", stations=(-50, -50), station_chips=True, air="air.pcapng")
    load = (
        "peer iperf3 -s -p 1 -D; peer iperf3 -s -p 2 -D; sleep 1\n"
        "station 1 ping -i 0.1 -c 30 10.80.211.1 >/txop/out/ping &\n"
        "station 2 iperf3 -c 10.80.211.1 -p 2 -t 3 -P 2 -R -J >/txop/out/second.json &\n"
        "station 1 iperf3 -c 10.80.211.1 -p 1 -t 3 -P 2 -R -J >/txop/out/first.json || exit\n"
        "sleep 2; station 1 iw dev wlan0 station dump >/txop/out/station"
    )
    counted = run(tmp_path, chip, load)
    rates = mbit_s(tmp_path, "first.json"), mbit_s(tmp_path, "second.json")
    assert sum(rates) > 70
    found = re.search(r"= [0-9.]+/([0-9.]+)/", (tmp_path / "files" / "ping").read_text())
    assert found is not None
    assert float(found[1]) < 30
    air = counted["air"]
    # Timers that are set while the processor is halted would let contention begin late: four times as many.
    assert air["collisions"] < 0.1 * (air["chip"]["ppdus"] + sum(each["up"]["ppdus"] for each in air["stations"]))
    # A collision repeats a whole A-MPDU. A Block Ack that counts from the first MPDU would repeat delivered ones as
    # well: more than twice as many.
    assert air["chip"]["retries"] < 0.25 * air["chip"]["mpdus"]


@pytest.mark.slow
def test_beacons_are_at_their_times(tmp_path: Path) -> None:
    chip = Chip("ar9280", "ath9k", stations=(-50,), station_chips=True, air="air.pcapng")
    run(tmp_path, chip, "sleep 3")
    stamps = beacon_stamps(tmp_path / "files" / "air.pcapng")
    assert len(stamps) > 20
    assert all(stamp % BEACON_US < 3_000 for stamp in stamps)


def beacon_stamps(capture: Path) -> list[int]:
    """Time stamps in the beacons of a capture, µs."""
    fields = [
        "tshark",
        "-r",
        str(capture),
        "-Y",
        "wlan.fc.type_subtype==8",
        "-T",
        "fields",
        "-e",
        "wlan.fixed.timestamp",
    ]
    return [int(row, 0) for row in subprocess.run(fields, capture_output=True, text=True, check=True).stdout.split()]


@pytest.mark.slow
def test_runs_repeat_to_the_byte(tmp_path: Path) -> None:
    chip = Chip("ar9280", "ath9k", stations=(-50, -70), station_chips=True, air="air.pcapng")
    load = "peer iperf3 -s -D; sleep 1\nstation 2 iperf3 -c 10.80.211.1 -t 1 -R"
    for name in ("first", "second"):
        run(tmp_path / name, chip, load)
    assert difference(tmp_path / "first", tmp_path / "second") is None
