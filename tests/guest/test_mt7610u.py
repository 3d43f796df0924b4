"""The stock mt76x0u on a virtual MT7610U."""

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
from txop.guest_image.firmware import firmware_files
from txop.guest_image.overlay import Overlay

PINGS = 20
LOAD_S = 4


def test_the_firmware_is_as_long_as_its_header_says() -> None:
    """mt76x0u refuses it else (Linux mt76x0/usb_mcu.c, mt76x0u_load_firmware)."""
    firmware = firmware_files()["usr/lib/firmware/mediatek/mt7610u.bin"]
    instructions, data = (int.from_bytes(firmware[at : at + 4], "little") for at in (0, 4))
    assert len(firmware) == 32 + instructions + data
    assert instructions > 64, "the vectors of interrupts are taken off"


def run(folder: Path, chip: Chip, command: str, shift: int = 1, seed: int = 0) -> Any:
    """Boots a guest with the chip, lets the command run in its testbed, and gives what the chip has counted."""
    image, chips = built_image("6.12"), built_chips()
    script = f"txop-lab up || exit\n{command} || exit\ntxop-lab down\n"
    overlay = Overlay(script=script, environment=chip.variables(), files={IN_GUEST: chips})
    computer = Computer(mode=Mode.EXACT, shift=shift, seed=seed, limit_s=150)
    ended = asyncio.run(run_guest(image, overlay, computer, results=folder, wall_limit_s=1_800))
    assert ended.status == 0, (folder / "stderr").read_text()
    return json.loads((folder / "files" / "chip.json").read_text())["device"]


@pytest.mark.slow
def test_it_associates_and_encrypts_in_the_chip(tmp_path: Path) -> None:
    counted = run(tmp_path, Chip("mt7610u", "mt76x0u"), f"dut ping -c {PINGS} -i 0.2 10.80.210.1")
    assert f"{PINGS} received, 0% packet loss" in (tmp_path / "stdout").read_text()
    assert counted["tx"]["encrypted"] >= PINGS
    assert counted["rx"]["decrypted"] >= PINGS
    assert counted["rx"]["integrity_errors"] == 0
    assert counted["tx"]["reports"] > PINGS
    assert counted["tx"]["reports_lost"] == 0


@pytest.mark.slow
def test_it_is_the_access_point_of_a_near_and_a_far_station(tmp_path: Path) -> None:
    pings = [f"peer ping -c {PINGS} -i 0.2 10.80.210.{10 + number}" for number in (1, 2)]
    counted = run(tmp_path, Chip("mt7610u", "mt76x0u", stations=(-45, -88)), " && ".join(pings))
    assert (tmp_path / "stdout").read_text().count(f"{PINGS} received, 0% packet loss") == 2
    near, far = counted["air"]["stations"]
    assert (near["signal_dbm"], far["signal_dbm"]) == (-45, -88)
    for station in (near, far):
        assert station["down"]["acknowledged"] >= PINGS
        assert station["up"]["acknowledged"] >= PINGS
    # What the far one needs more of is what it loses, and the rates that rate control finds for it.
    assert far["down"]["airtime_ns"] + far["up"]["airtime_ns"] > near["down"]["airtime_ns"] + near["up"]["airtime_ns"]
    assert counted["tx"]["beacons"] > 0
    assert "ap" not in counted["air"]


LOAD = f"""\
for n in 1 2; do station $n iperf3 -s -D >/dev/null; done
sleep 0.3
for n in 1 2; do peer iperf3 -c 10.80.210.1$n -t 1 >/dev/null 2>&1; done
sleep 0.3
txop-lab counters /txop/out/before.json
for n in 1 2; do peer iperf3 -c 10.80.210.1$n -t {LOAD_S} -O 1 -P 4 -J >/txop/out/iperf$n.json 2>&1 & done
sleep {LOAD_S}
txop-lab counters /txop/out/after.json
wait"""


@pytest.mark.slow
def test_rate_control_finds_the_rate_of_each_station_and_airtime_is_shared(tmp_path: Path) -> None:
    """Four TCP flows to each of a near and a far station, forwarded; and the same again, to the byte."""
    chip = Chip("mt7610u", "mt76x0u", stations=(-45, -88))
    run(tmp_path / "one", chip, LOAD, shift=0, seed=1)
    files = tmp_path / "one" / "files"
    flows = [json.loads((files / f"iperf{number}.json").read_text()) for number in (1, 2)]
    near, far = (flow["end"]["sum_received"]["bits_per_second"] / 1e6 for flow in flows)
    # MCS 7 and 0 or 1: ten or five times the rate, less what the preambles of short A-MPDUs cost.
    assert near > 3 * far > 1
    before, after = (json.loads((files / f"{name}.json").read_text())["device"] for name in ("before", "after"))
    airtime = [
        sum(last[way]["airtime_ns"] - first[way]["airtime_ns"] for way in ("down", "up"))
        for first, last in zip(before["air"]["stations"], after["air"]["stations"], strict=True)
    ]
    assert 0.3 < airtime[0] / sum(airtime) < 0.7
    run(tmp_path / "other", chip, LOAD, shift=0, seed=1)
    assert difference(tmp_path / "one", tmp_path / "other") is None
