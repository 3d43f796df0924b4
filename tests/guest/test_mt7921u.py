"""The stock mt7921u on a virtual MT7921U: nearly everything is the firmware's, and HE with two streams in 80 MHz."""

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
OWN = "00:0c:e7:79:61:01"
DRIVER = "mt7921u"


def test_the_firmware_is_what_the_driver_takes() -> None:
    """Linux mt76_connac_mcu.c, mt76_connac2_load_patch, and mt792x_core.c, mt792x_get_offload_capability."""
    files = firmware_files()
    patch = files["usr/lib/firmware/mediatek/WIFI_MT7961_patch_mcu_1_2_hdr.bin"]
    (sections,) = struct.unpack_from(">I", patch, 32 + 12)
    kind, start, _, _, len_bytes = struct.unpack_from(">IIIII", patch, 96)
    assert (sections, kind & 0xFFFF, start + len_bytes) == (1, 2, len(patch))
    firmware = files["usr/lib/firmware/mediatek/WIFI_RAM_CODE_MT7961_1.bin"]
    trailer = firmware[-36:]
    region = firmware[-36 - 40 : -36]
    (len_bytes,) = struct.unpack_from("<I", region, 20)
    assert (trailer[2], min(len_bytes, len(patch)) > 4096) == (1, True), "one region, several parts of each"
    (release_bytes,) = struct.unpack_from("<H", firmware, len_bytes + 16)
    (feature_bytes, _, tag) = struct.unpack_from("<HBB", firmware, len_bytes + 20)
    assert (tag, release_bytes) == (4, 4 + feature_bytes)
    assert firmware[len_bytes + 25] & 0x80, "it manages channels"
    assert len_bytes + 20 + release_bytes + 40 + 36 == len(firmware)


@pytest.mark.slow
def test_a_kernel_without_it_is_refused() -> None:
    check_driver(Chip("mt7921u", DRIVER), built_image("6.12"))
    with pytest.raises(GuestError, match=f"no driver '{DRIVER}'"):
        check_driver(Chip("mt7921u", DRIVER), built_image("5.10"))


def run(folder: Path, chip: Chip, command: str, shift: int = 1, limit_s: int = 150, kernel: str = "6.12") -> Any:
    """Boots a guest with the chip, lets the command run in its testbed, and gives what the chip has counted."""
    image, chips = built_image(kernel), built_chips()
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


def tshark(folder: Path, wanted: str, *fields: str) -> list[list[str]]:
    """Fields of the frames in the air that fit."""
    argv = ["tshark", "-r", str(folder / "files" / "air.pcapng"), "-T", "fields", "-Y", wanted]
    argv += [word for name in fields for word in ("-e", name)]
    rows = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    return [row.split("\t") for row in rows]


DATA = f"wlan.ta == {OWN} && wlan.fc.type == 2 && wlan.fc.subtype & 4 == 0 && wlan.ra[0] & 1 == 0"


def he_rates(folder: Path) -> Counter[tuple[int, int]]:
    """MCS and streams of the chip's data frames that tshark finds in the air; (-1, 0) for others."""
    rows = tshark(folder, DATA, "radiotap.he.data_3.data_mcs", "radiotap.he.data_6.nsts")
    return Counter((int(mcs, 0), int(nsts, 0)) if mcs else (-1, 0) for mcs, nsts in rows)


def check(folder: Path, counted: Any) -> None:
    """What holds of every run: keys and headers are the chip's, no complaint of the driver."""
    assert f"{PINGS} received, 0% packet loss" in (folder / "stdout").read_text()
    tx, rx, chip = counted["tx"], counted["rx"], counted["chip"]
    assert tx["encrypted"] > PINGS
    assert rx["decrypted"] > PINGS
    assert tx["ethernet"] > PINGS
    assert rx["ethernet"] > PINGS
    assert rx["integrity_errors"] == tx["dropped"] == tx["malformed"] == chip["malformed"] == 0
    assert tx["reported"] > 0
    assert chip["scans"] > 0
    assert (chip["boots"], chip["beacon_losses"], chip["events_lost"]) == (1, 0, 0)
    dmesg = (folder / "files" / "dmesg").read_text()
    complaints = [line for line in dmesg.splitlines() if f"{DRIVER} " in line]
    known = ("registered new interface driver", "HW/SW Version", "WM Firmware Version", "direct-loading firmware")
    assert not [line for line in complaints if not any(word in line for word in known)], complaints
    assert "WARNING" not in dmesg


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["6.12", "6.1"])
def test_wpa2_and_tcp_both_ways_and_the_same_again(tmp_path: Path, kernel: str) -> None:
    chip = Chip("mt7921u", DRIVER, air="air.pcapng")
    counted = run(tmp_path / "one", chip, TRAFFIC, kernel=kernel)
    check(tmp_path / "one", counted)
    assert counted["air"]["chip"]["ampdus"] > 0
    assert min(mbit_s(tmp_path / "one", "away"), mbit_s(tmp_path / "one", "back")) > 10
    found = he_rates(tmp_path / "one")
    assert found[11, 2] > 0.9 * found.total(), "MCS 11 of two streams, as nothing is lost at 50 dB"
    if kernel == "6.12":
        run(tmp_path / "other", chip, TRAFFIC)
        assert difference(tmp_path / "one", tmp_path / "other") is None


@pytest.mark.slow
def test_in_5_ghz_it_sends_he_in_80_mhz(tmp_path: Path) -> None:
    """A processor of 1,000 million instructions a second does not fill the air."""
    chip = Chip("mt7921u", DRIVER, width_mhz=80, channel=36, air="air.pcapng", power_save=False)
    counted = run(tmp_path, chip, TRAFFIC, shift=0)
    check(tmp_path, counted)
    said = (tmp_path / "files" / "rates").read_text()
    assert "channel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz" in said
    assert rate_of(tmp_path, "tx").startswith("1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0")
    assert rate_of(tmp_path, "rx").startswith("1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0")
    found = he_rates(tmp_path)
    assert found[11, 2] > 0.9 * found.total()


@pytest.mark.slow
def test_a_weak_signal_has_a_low_rate_and_the_module_leaves(tmp_path: Path) -> None:
    chip = Chip("mt7921u", DRIVER, options=("--signal", "-84"), air="air.pcapng", power_save=False)
    leaves = f"{TRAFFIC} || exit\nrmmod {DRIVER} && ! dut ip link show wlan0 2>/dev/null"
    run(tmp_path, chip, leaves)
    found = he_rates(tmp_path)
    assert sum(count for (mcs, _), count in found.items() if mcs <= 3) > 0.5 * found.total()
