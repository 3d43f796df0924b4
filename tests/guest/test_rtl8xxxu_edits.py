"""The shipped edit scripts for rtl8xxxu: what the chip and ``iw`` see of each, on each kernel."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from guests_here import built_chips, built_image, rebuilt_driver
from txop.arms.edits.script import read_script
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.driver import patch_files
from txop.guest.qemu import Computer
from txop.guest.running import run_guest
from txop.guest_image.overlay import Overlay
from txop.plan.named_file import SHIPPED, named_file, shipped_scripts

RTL8XXXU = f"{SHIPPED}rtl8xxxu/"
SCRIPT = """
txop-lab up || exit
dut iw phy >/txop/out/phy; dut iw dev wlan0 info >/txop/out/info
dut iw dev wlan0 set txpower fixed 500; sleep 0.2; dut iw dev wlan0 info >/txop/out/info-5dbm
peer iperf3 -s -D; sleep 0.5
dut timeout 20 iperf3 -c 10.80.210.1 -t 2 >/txop/out/iperf3 || exit 71
dut iw dev wlan0 station dump >/txop/out/station
txop-lab down
"""
AIR = "air.pcapng"
ADDBA_REQUEST = re.compile(rb"\xd0[\x00\x08]..\x02\x00{5}\x08\xbe\xac\x0b\x14\xc4.{8}\x03\x00", re.DOTALL)
"""Action, duration, receiver (hostapd's radio), transmitter (of the efuse), network and number, Block Ack, ADDBA."""
RATE_1M, RATE_24M = 0, 8
"""Places in the chip's count of RTS rates."""


def test_every_script_is_one_and_says_what_it_does() -> None:
    names = [name.removeprefix(RTL8XXXU) for name in shipped_scripts() if name.startswith(RTL8XXXU)]
    series = {name.rpartition("/")[2][:4] for name in names if name.rpartition("/")[2][:1].isdigit()}
    assert series == {f"{number:04}" for number in range(1, 11)}
    for name in names:
        script = read_script(named_file(Path(), RTL8XXXU + name))
        assert script.about
        assert script.kernels
        assert set(script.kernels) <= {"5.10", "6.1", "6.12"}


@dataclass(frozen=True)
class Seen:
    """What a guest with an edited driver left."""

    tx: dict[str, Any]
    interrupts: int
    addba_requests: int
    """On the air, from the station."""
    texts: dict[str, str]


def seen(kernel: str, folder: Path, *scripts: str) -> Seen:
    image, program = built_image(kernel), built_chips()
    built = rebuilt_driver("rtl8xxxu", kernel, patch_files([Path(RTL8XXXU + name) for name in scripts]))
    overlay = Overlay(
        script=SCRIPT,
        environment=Chip(driver="rtl8xxxu", air=AIR).variables(),
        files={IN_GUEST: program},
        modules=(built.module,),
    )
    ended = asyncio.run(run_guest(image, overlay, Computer(), results=folder, wall_limit_s=900))
    assert ended.status == 0, (folder / "stderr").read_text()
    files = folder / "files"
    chip = json.loads((files / "chip.json").read_text())["device"]
    texts = {path.name: path.read_text() for path in files.iterdir() if path.suffix == ""}
    requests = len(ADDBA_REQUEST.findall((files / AIR).read_bytes()))
    return Seen(chip["tx"], chip["chip"]["interrupts"], requests, texts)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "rts_rate"), [("6.12", RATE_24M), ("6.1", RATE_1M)])
def test_the_driver_as_it_is(tmp_path: Path, kernel: str, rts_rate: int) -> None:
    found = seen(kernel, tmp_path)
    tx = found.tx
    assert tx["aggregate"] > 20
    assert found.addba_requests >= 1
    assert tx["hardware_rts"] == tx["rts"] == tx["rts_rates"][rts_rate] > 20
    assert found.interrupts == 0
    assert "No RX STBC" in found.texts["phy"]
    assert "Available Antennas: TX 0x1 RX 0x1" in found.texts["phy"]
    assert "tx bitrate:\t65.0 MBit/s MCS 7" in found.texts["station"]
    assert "signal:  \t-4" in found.texts["station"]
    assert "txpower 20.00 dBm" in found.texts["info"]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "txrate"), [("6.12", "0005-txrate.toml"), ("6.1", "6.1/0005-txrate.toml")])
def test_what_iw_shows_of_patches_1_to_6(tmp_path: Path, kernel: str, txrate: str) -> None:
    names = ["0001-txpower-set.toml", "0002-txpower-get.toml", "0003-rx-stbc.toml", "0004-antennas.toml"]
    found = seen(kernel, tmp_path, *names, txrate, "0006-rx-signal.toml")
    assert "RX STBC 1-stream" in found.texts["phy"]
    assert "Available Antennas: TX 0 RX 0" in found.texts["phy"]
    assert "tx bitrate:\t(unknown)" in found.texts["station"]
    assert "signal:  \t-3" in found.texts["station"]
    assert "txpower 12.00 dBm" in found.texts["info"]
    assert "txpower 5.00 dBm" in found.texts["info-5dbm"]


@pytest.mark.slow
def test_the_driver_of_5_10_as_it_is(tmp_path: Path) -> None:
    """Stable releases have taken patch 7, and none of the others."""
    found = seen("5.10", tmp_path)
    assert found.tx["aggregate"] > 20
    assert found.addba_requests >= 1
    assert (found.tx["rts"], found.tx["hardware_rts"]) == (0, 0)
    assert found.interrupts > 1000
    assert "No RX STBC" in found.texts["phy"]
    assert "Available Antennas: TX 0 RX 0" in found.texts["phy"]
    assert "tx bitrate:\t(unknown)" in found.texts["station"]
    assert "txpower 20.00 dBm" in found.texts["info"]


@pytest.mark.slow
def test_all_patches_of_the_list_on_5_10(tmp_path: Path) -> None:
    names = ["0001-txpower-set", "0002-txpower-get", "0003-rx-stbc", "5.10/0004-antennas", "5.10/0005-txrate"]
    names += ["0006-rx-signal", "5.10/0008-hw-rts", "6.1/0009-rts-rate", "5.10/0010-interrupts"]
    found = seen("5.10", tmp_path, *(f"{name}.toml" for name in names))
    tx = found.tx
    assert tx["hardware_rts"] == tx["rts"] == tx["rts_rates"][RATE_24M] > 20
    assert found.interrupts == 0
    assert "RX STBC 1-stream" in found.texts["phy"]
    assert "Available Antennas: TX 0x1 RX 0x1" in found.texts["phy"]
    assert "tx bitrate:\t65.0 MBit/s MCS 7" in found.texts["station"]
    assert "signal:  \t-3" in found.texts["station"]
    assert "txpower 12.00 dBm" in found.texts["info"]
    assert "txpower 5.00 dBm" in found.texts["info-5dbm"]


@pytest.mark.slow
def test_rts_of_patch_8_alone_on_5_10(tmp_path: Path) -> None:
    tx = seen("5.10", tmp_path, "5.10/0008-hw-rts.toml").tx
    assert tx["hardware_rts"] == tx["rts"] == tx["rts_rates"][RATE_1M] > 20


@pytest.mark.slow
def test_5_10_as_the_wiki_measured_it(tmp_path: Path) -> None:
    found = seen("5.10", tmp_path, "5.10/as-5.10.51.toml", "0007-tx-ampdu.toml")
    assert found.tx["aggregate"] > 20
    assert found.addba_requests == 0


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["6.12", "6.1"])
def test_no_aggregation_and_interrupts(tmp_path: Path, kernel: str) -> None:
    found = seen(kernel, tmp_path, "0007-tx-ampdu-off.toml", "0010-interrupts.toml")
    assert found.tx["aggregate"] == 0
    assert found.addba_requests == 0
    assert found.tx["encrypted"] > 20
    assert found.interrupts > 1000


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["6.12", "6.1"])
def test_no_rts(tmp_path: Path, kernel: str) -> None:
    tx = seen(kernel, tmp_path, "0008-hw-rts.toml").tx
    assert (tx["rts"], tx["hardware_rts"]) == (0, 0)
    assert tx["aggregate"] > 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "name", "rate"), [("6.12", "0009-rts-rate.toml", RATE_1M), ("6.1", "6.1/0009-rts-rate.toml", RATE_24M)]
)
def test_the_rate_of_rts(tmp_path: Path, kernel: str, name: str, rate: int) -> None:
    tx = seen(kernel, tmp_path, name).tx
    assert tx["rts_rates"][rate] == tx["rts"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["6.12", "6.1"])
def test_aggregation_without_an_agreement(tmp_path: Path, kernel: str) -> None:
    found = seen(kernel, tmp_path, "0007-tx-ampdu.toml")
    assert found.tx["aggregate"] > 20
    assert found.addba_requests == 0
