"""The stock rtw88_8822bu on a virtual RTL8822BU: the firmware's rates, two streams and 80 MHz, reports of frames."""

from __future__ import annotations

import asyncio
import json
import re
import struct
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from guests_here import built_chips, built_image
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.driver_check import check_driver
from txop.guest.exactness import difference
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.error import GuestError
from txop.guest_image.firmware import firmware_files
from txop.guest_image.overlay import Overlay

PINGS = 20
LOAD_S = 4
OWN = "00:e0:4c:88:22:b0"
DRIVER = "rtw88_8822bu"
HEADER_BYTES, CHECKSUM_BYTES = 64, 8
"""Linux realtek/rtw88/fw.h, FW_HDR_SIZE and FW_HDR_CHKSUM_SIZE."""


@pytest.mark.parametrize("name", ["rtw8822b_fw.bin", "rtw8821c_fw.bin"])
def test_the_firmware_is_as_long_as_its_header_says(name: str) -> None:
    """rtw88 refuses it else (Linux realtek/rtw88/mac.c, check_firmware_size)."""
    firmware = firmware_files()[f"usr/lib/firmware/rtw88/{name}"]
    (data,) = struct.unpack_from("<I", firmware, 0x24)
    instructions, more = struct.unpack_from("<II", firmware, 0x30)
    assert len(firmware) == HEADER_BYTES + data + instructions + 2 * CHECKSUM_BYTES
    assert (firmware[0x18], more) == (0, 0), "no third memory"
    assert min(data, instructions) > 4096, "several parts of each"


@pytest.mark.slow
def test_a_kernel_without_it_is_refused() -> None:
    check_driver(Chip("rtl8822bu", DRIVER), built_image("6.12"))
    with pytest.raises(GuestError, match=f"no driver '{DRIVER}'"):
        check_driver(Chip("rtl8822bu", DRIVER), built_image("6.1"))


def run(folder: Path, chip: Chip, command: str, shift: int = 1, limit_s: int = 150) -> Any:
    """Boots a guest with the chip, lets the command run in its testbed, and gives what the chip has counted."""
    image, chips = built_image("6.12"), built_chips()
    script = f"txop-lab up || exit\n{command} || exit\ntxop-lab down\n"
    overlay = Overlay(script=script, environment=chip.variables(), files={IN_GUEST: chips})
    computer = Computer(mode=Mode.EXACT, shift=shift, seed=0, limit_s=limit_s)
    ended = asyncio.run(run_guest(image, overlay, computer, results=folder, wall_limit_s=1_800))
    assert ended.status == 0, (folder / "stderr").read_text()
    return json.loads((folder / "files" / "chip.json").read_text())["device"]


TRAFFIC = f"""\
peer iperf3 -s -D >/dev/null
sleep 0.3
dut ping -c {PINGS} -i 0.2 10.80.210.1 || exit
dut iperf3 -c 10.80.210.1 -t {LOAD_S} -J >/txop/out/away.json || exit
dut iperf3 -c 10.80.210.1 -t {LOAD_S} -J -R >/txop/out/back.json || exit
{{ dut iw dev wlan0 station dump; dut iw dev wlan0 info; }} >/txop/out/rates
dmesg >/txop/out/dmesg"""


def mbit_s(folder: Path, name: str) -> float:
    """What iperf3 received."""
    ended = json.loads((folder / "files" / f"{name}.json").read_text())["end"]
    return float(ended["sum_received"]["bits_per_second"]) / 1e6


def rate_of(folder: Path, which: str) -> str:
    """The rate that iw names for the device."""
    said = re.search(rf"{which} bitrate:\s*(.*)", (folder / "files" / "rates").read_text())
    assert said
    return said[1]


def rates_on_air(folder: Path, kind: str) -> Counter[tuple[int, int]]:
    """MCS and streams of the chip's data frames that tshark finds in the air; (-1, 0) for others."""
    argv = ["tshark", "-r", str(folder / "files" / "air.pcapng"), "-T", "fields"]
    fields = ("radiotap.vht.mcs.0", "radiotap.vht.nss.0") if kind == "vht" else ("radiotap.mcs.index",)
    argv += [word for name in fields for word in ("-e", name)]
    wanted = f"wlan.ta == {OWN} && wlan.fc.type == 2 && wlan.fc.subtype & 4 == 0 && wlan.ra[0] & 1 == 0"
    rows = subprocess.run([*argv, "-Y", wanted], capture_output=True, text=True, check=True).stdout.splitlines()
    found: Counter[tuple[int, int]] = Counter()
    for row in rows:
        words = row.split("\t")
        if not words[0]:
            found[-1, 0] += 1
        elif kind == "vht":
            found[int(words[0]), int(words[1])] += 1
        else:
            found[int(words[0]) % 8, int(words[0]) // 8 + 1] += 1
    return found


def check(folder: Path, counted: Any) -> None:
    """What holds of every run: keys are the chip's, no complaint of the driver, every report arrived."""
    assert f"{PINGS} received, 0% packet loss" in (folder / "stdout").read_text()
    tx, rx, chip = counted["tx"], counted["rx"], counted["chip"]
    assert tx["encrypted"] > PINGS
    assert rx["decrypted"] > PINGS
    assert rx["integrity_errors"] == tx["no_key"] == tx["bad_checksums"] == tx["malformed"] == 0
    assert tx["reported"] > 0
    assert chip["reports"] >= tx["reported"]
    assert chip["reports_lost"] == 0
    assert chip["calibrations"] > 0
    complaints = [line for line in (folder / "files" / "dmesg").read_text().splitlines() if "rtw_88" in line]
    known = ("registered new interface driver", "Firmware version", "deregistering")
    assert not [line for line in complaints if not any(word in line for word in known)], complaints
    assert "WARNING" not in (folder / "files" / "dmesg").read_text()


@pytest.mark.slow
def test_wpa2_and_tcp_both_ways_and_the_same_again(tmp_path: Path) -> None:
    chip = Chip("rtl8822bu", DRIVER, air="air.pcapng")
    counted = run(tmp_path / "one", chip, TRAFFIC)
    check(tmp_path / "one", counted)
    assert counted["air"]["chip"]["ampdus"] > 0
    assert counted["power"]["announced"] > 0, "between the packets of ping the driver lets it sleep"
    assert min(mbit_s(tmp_path / "one", "away"), mbit_s(tmp_path / "one", "back")) > 10
    found = rates_on_air(tmp_path / "one", "ht")
    assert found[7, 2] > 0.9 * found.total(), "MCS 15, as nothing is lost at 50 dB"
    run(tmp_path / "other", chip, TRAFFIC)
    assert difference(tmp_path / "one", tmp_path / "other") is None


@pytest.mark.slow
def test_in_5_ghz_it_sends_two_streams_in_80_mhz(tmp_path: Path) -> None:
    """A processor of 1,000 million instructions a second does not fill the air."""
    chip = Chip("rtl8822bu", DRIVER, width_mhz=80, channel=36, air="air.pcapng", power_save=False)
    counted = run(tmp_path, chip, TRAFFIC, shift=0)
    check(tmp_path, counted)
    said = (tmp_path / "files" / "rates").read_text()
    assert "channel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz" in said
    assert rate_of(tmp_path, "tx").startswith("866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2")
    assert rate_of(tmp_path, "rx").startswith("780.0 MBit/s VHT-MCS 9 80MHz VHT-NSS 2"), "rtw88 does not say short GI"
    found = rates_on_air(tmp_path, "vht")
    assert found[9, 2] > 0.9 * found.total()


@pytest.mark.slow
def test_an_rtl8821cu_sends_one_stream(tmp_path: Path) -> None:
    chip = Chip("rtl8821cu", "rtw88_8821cu", width_mhz=80, channel=149, air="air.pcapng", power_save=False)
    counted = run(tmp_path, chip, TRAFFIC, shift=0)
    check(tmp_path, counted)
    assert rate_of(tmp_path, "tx").startswith("433.3 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 1")
    found = rates_on_air(tmp_path, "vht")
    assert found[9, 1] > 0.9 * found.total()


@pytest.mark.slow
def test_a_weak_signal_has_a_low_rate_and_the_module_leaves(tmp_path: Path) -> None:
    chip = Chip("rtl8822bu", DRIVER, options=("--signal", "-84"), air="air.pcapng", power_save=False)
    leaves = f"{TRAFFIC} || exit\nrmmod {DRIVER} && ! dut ip link show wlan0 2>/dev/null"
    run(tmp_path, chip, leaves)
    found = rates_on_air(tmp_path, "ht")
    assert sum(count for (mcs, _), count in found.items() if mcs <= 3) > 0.5 * found.total()
