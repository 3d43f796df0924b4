"""The stock mt76x0u on a virtual MT7610U."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections import Counter
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
OWN = "00:0c:43:76:10:01"
FASTEST_HT40_MBIT_S = 150.0
"""MCS 7, 40 MHz, short guard interval (IEEE 802.11-2020, table 19-31)."""


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


def vht_rates(folder: Path, transmitter: str) -> Counter[tuple[int, int]]:
    """Width in MHz and MCS of the data frames that tshark finds in the air, by VHT; (0, 0) for those without."""
    argv = ["tshark", "-r", str(folder / "files" / "air.pcapng"), "-T", "fields"]
    argv += ["-e", "radiotap.vht.bw", "-e", "radiotap.vht.mcs.0", "-e", "radiotap.vht.nss.0"]
    wanted = f"wlan.ta == {transmitter} && wlan.fc.type == 2 && wlan.fc.subtype & 4 == 0 && wlan.ra[0] & 1 == 0"
    rows = subprocess.run([*argv, "-Y", wanted], capture_output=True, text=True, check=True).stdout.splitlines()
    found: Counter[tuple[int, int]] = Counter()
    for row in rows:
        bandwidth, mcs, streams = row.split("\t")
        assert streams in ("", "1")
        # Codes of radiotap's VHT field.
        found[({"0": 20, "1": 40, "4": 80}[bandwidth], int(mcs)) if mcs else (0, 0)] += 1
    return found


def check_vht(folder: Path, sent: dict[str, Any], transmitter: str) -> Counter[tuple[int, int]]:
    """What the chip's air has counted is what the capture has, at rates of VHT in 80 MHz; gives their frames."""
    found = vht_rates(folder, transmitter)
    # Frames that collide cannot be read in the capture.
    assert found.total() == sent["unicast_data"] - sent["collided"]["unicast_data"] > 5_000
    # All but the handshake of WPA2, which mac80211 sends at 6 Mbit/s, and what is tried at smaller widths.
    assert sum(count for (width, _), count in found.items() if width == 80) > 0.95 * found.total()
    assert found[0, 0] < 10
    assert all(mcs <= 9 and (width, mcs) != (20, 9) for width, mcs in found)
    return found


def mbit_s_of_airtime(sent: dict[str, Any]) -> float:
    """What was acknowledged by the time that exchanges took."""
    return float(sent["bytes"]) * 8e3 / float(sent["airtime_ns"])


def rate_of(folder: Path, which: str) -> str:
    """The rate that iw names for the device."""
    said = re.search(rf"{which} bitrate:\s*(.*)", (folder / "files" / "rates").read_text())
    assert said
    return said[1]


# First so little that the driver can read the reports of all frames, and minstrel_ht learns the rates.
TRAFFIC = """\
{server} iperf3 -s -D >/dev/null
sleep 0.3
{client} iperf3 -c {address} -u -b 8M -t 2 >/dev/null || exit
{client} iperf3 -c {address} -t 2 -J >/txop/out/away.json || exit
{client} iperf3 -c {address} -t 2 -J -R >/txop/out/back.json || exit
{{ dut iw dev wlan0 station dump; dut iw dev wlan0 info; }} >/txop/out/rates
{{ station 1 iw dev wlan0 info || peer iw dev ap0 info; }} >/txop/out/other 2>/dev/null"""


@pytest.mark.slow
def test_a_station_in_5_ghz_uses_80_mhz(tmp_path: Path) -> None:
    """A processor of 1,000 million instructions a second does not fill the air: its time shows what it can carry."""
    chip = Chip("mt7610u", "mt76x0u", width_mhz=80, channel=36, air="air.pcapng")
    traffic = TRAFFIC.format(server="peer", client="dut", address="10.80.210.1")
    counted = run(tmp_path, chip, traffic, shift=0)
    air = counted["air"]
    for end in ("rates", "other"):
        said = (tmp_path / "files" / end).read_text()
        assert "channel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz" in said
    assert rate_of(tmp_path, "rx").startswith("433.3 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 1")
    assert re.match(r".* VHT-MCS [89] 80MHz .*VHT-NSS 1", rate_of(tmp_path, "tx"))
    up = check_vht(tmp_path, air["chip"], OWN)
    assert up[80, 8] + up[80, 9] > 0.8 * up.total()
    down = check_vht(tmp_path, air["ap"], "02:00:00:00:00:00")
    assert down[80, 9] > 0.9 * down.total(), "nothing is lost at 50 dB"
    for side in ("chip", "ap"):
        assert mbit_s_of_airtime(air[side]) > FASTEST_HT40_MBIT_S
    assert counted["rx"]["integrity_errors"] == counted["tx"]["not_encrypted"] == 0


@pytest.mark.slow
def test_an_access_point_in_5_ghz_uses_80_mhz_as_its_station_can(tmp_path: Path) -> None:
    chip = Chip("mt7610u", "mt76x0u", width_mhz=80, channel=157, stations=(-45,), air="air.pcapng")
    traffic = TRAFFIC.format(server="station 1", client="peer", address="10.80.210.11")
    counted = run(tmp_path, chip, traffic, shift=0)
    (station,) = counted["air"]["stations"]
    for end in ("rates", "other"):
        said = (tmp_path / "files" / end).read_text()
        assert "channel 157 (5785 MHz), width: 80 MHz, center1: 5775 MHz" in said
    assert rate_of(tmp_path, "rx").startswith("433.3 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 1")
    assert re.match(r".* VHT-MCS [89] 80MHz .*VHT-NSS 1", rate_of(tmp_path, "tx"))
    down = check_vht(tmp_path, station["down"], OWN)
    assert down[80, 8] + down[80, 9] > 0.8 * down.total()
    up = check_vht(tmp_path, station["up"], "02:00:00:00:00:00")
    assert up[80, 9] > 0.9 * up.total()
    for way in ("down", "up"):
        assert mbit_s_of_airtime(station[way]) > FASTEST_HT40_MBIT_S
    assert counted["tx"]["beacons"] > 0
