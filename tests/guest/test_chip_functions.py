"""What the virtual chip does, shown by real drivers in guests: ciphers, 40 MHz, scanning in power save, interrupts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from guests_here import built_chips, rebuilt_driver
from txop import air
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay
from txop.plan.devices import NEEDS_BUILD

pytestmark = pytest.mark.slow

TRAFFIC = """
txop-lab up || exit
exec >/txop/out/said
ip netns exec dut wpa_cli -p /run/txop-lab/wpa -i wlan0 status
ip netns exec dut iw dev wlan0 info
dut ping -c 3 -i 0.2 -W 2 10.80.210.1 || exit 1
peer iperf3 -s -D; sleep 0.5
dut iperf3 -c 10.80.210.1 -t 2 -J >/txop/out/up.json || exit 1
dut iperf3 -c 10.80.210.1 -t 2 -R -J >/txop/out/down.json || exit 1
txop-lab down
"""

SCAN = """
txop-lab up || exit
exec >/txop/out/said 2>&1
ip netns exec dut iw dev wlan0 set power_save on
ip netns exec dut iw dev wlan0 get power_save
dut ping -q -i 0.02 -c 150 -W 2 10.80.210.1 >/txop/out/ping &
sleep 0.5
ip netns exec dut iw dev wlan0 scan | grep SSID
wait
txop-lab down
"""

INTERRUPTS = """
txop-lab up || exit
for n in 1 2; do
    txop-lab counters /txop/out/$n.json
    cut -d ' ' -f 1 /proc/uptime >/txop/out/$n.s; sleep 2
done
txop-lab down
"""


@dataclass(frozen=True)
class Seen:
    """What a guest has left."""

    files: Path

    def text(self, name: str) -> str:
        """A file of it."""
        return (self.files / name).read_text()

    def json(self, name: str) -> Any:
        """A file of it, read."""
        return json.loads(self.text(name))

    def received(self, name: str) -> dict[str, float]:
        """What iperf3's receiver says."""
        received: dict[str, float] = self.json(name)["end"]["sum_received"]
        return received

    @property
    def device(self) -> Any:
        """The chip's counters."""
        return self.json("chip.json")["device"]

    def rates(self, direction: str) -> dict[str, int]:
        """Data frames by rate in the chip's capture of the air."""
        links = air.analyze(str(self.files / "air.pcapng")).links
        return {rate.label: rate.frames for link in links if link.direction == direction for rate in link.rates}


def boot(image: Image, chip: Chip, script: str, folder: Path, kernel: str = "6.12") -> Seen:
    files = {IN_GUEST: built_chips()}
    modules: tuple[Path, ...] = ()
    if (chip.device, chip.driver) in NEEDS_BUILD:
        modules = (rebuilt_driver(chip.driver, kernel).module,)
    overlay = Overlay(script=script, environment=chip.variables(), files=files, modules=modules)
    computer = Computer(mode=Mode.EXACT)
    ended = asyncio.run(run_guest(image, overlay, computer, results=folder, wall_limit_s=900))
    assert ended.status == 0, (folder / "stderr").read_text()
    return Seen(folder / "files")


def a_chip(driver: str = "rtl8192cu", security: str = "wpa2", width_mhz: int = 20, **more: Any) -> Chip:
    return Chip(
        driver=driver, security=security, width_mhz=width_mhz, options=("--air", "/txop/out/air.pcapng"), **more
    )


@pytest.mark.parametrize(
    ("driver", "security", "pairwise", "group"),
    [
        ("rtl8192cu", "wpa", "TKIP", "TKIP"),
        ("rtl8xxxu", "wpa2-tkip", "TKIP", "TKIP"),
        ("rtl8192cu", "mixed", "CCMP", "TKIP"),
        ("rtl8xxxu", "mixed", "CCMP", "TKIP"),
        ("rtl8192cu", "wep", "WEP-104", "WEP-104"),
        ("rtl8xxxu", "wep", "WEP-104", "WEP-104"),
    ],
)
def test_the_chip_encrypts_what_the_driver_gives_it(
    image: Image, tmp_path: Path, driver: str, security: str, pairwise: str, group: str
) -> None:
    seen = boot(image, a_chip(driver, security), TRAFFIC, tmp_path / "out")
    assert f"pairwise_cipher={pairwise}" in seen.text("said")
    assert f"group_cipher={group}" in seen.text("said")
    tx, rx = seen.device["tx"], seen.device["rx"]
    assert (tx["no_key"], rx["integrity_errors"]) == (0, 0)
    up, down = seen.received("up.json"), seen.received("down.json")
    # every frame of the transfers went through the cipher: 1460 bytes at most in each
    assert tx["encrypted"] > up["bytes"] / 1460
    assert rx["decrypted"] > down["bytes"] / 1460
    # with WEP and TKIP there is no HT
    if pairwise != "CCMP":
        assert not any(rate.startswith("HT") for rate in seen.rates("uplink") | seen.rates("downlink"))
        assert 1e6 < max(up["bits_per_second"], down["bits_per_second"]) < 54e6
    assert "Michael" not in seen.text("kernel.log")


def test_rtl8192cu_uses_40_mhz_both_ways(image: Image, tmp_path: Path) -> None:
    seen = boot(image, a_chip(width_mhz=40), TRAFFIC, tmp_path / "out")
    assert "width: 40 MHz" in seen.text("said")
    uplink, downlink = seen.rates("uplink"), seen.rates("downlink")
    assert max(uplink, key=uplink.__getitem__) == "HT40 MCS7 SGI", uplink
    # down, this machine is too slow to keep the chip's receive buffer empty, and the access point slows down
    assert "HT40 MCS7 SGI" in downlink, downlink
    assert seen.received("up.json")["bits_per_second"] < 150e6


def test_rtl8xxxu_receives_40_mhz_and_sends_20(image: Image, tmp_path: Path) -> None:
    chip = a_chip("rtl8xxxu", width_mhz=40, parameters=("ht40_2g=1",))
    seen = boot(image, chip, TRAFFIC, tmp_path / "out")
    assert "width: 40 MHz" in seen.text("said")
    assert any(rate.startswith("HT40") for rate in seen.rates("downlink"))
    # its descriptors of this generation never ask for more
    assert not any(rate.startswith("HT40") for rate in seen.rates("uplink"))


@pytest.mark.parametrize("driver", ["rtl8192cu", "rtl8xxxu"])
def test_power_save_is_refused_and_scanning_loses_nothing(image: Image, tmp_path: Path, driver: str) -> None:
    seen = boot(image, a_chip(driver), SCAN, tmp_path / "out")
    assert "Operation not supported (-95)" in seen.text("said")
    assert "Power save: off" in seen.text("said")
    # the access point keeps what comes while the chip listens elsewhere, and the driver fetches it
    assert "150 received, 0% packet loss" in seen.text("ping")
    longest_ms = float(seen.text("ping").split("mdev = ")[1].split("/")[2])
    assert longest_ms > 30


@pytest.mark.parametrize("kernel", ["6.1", "6.12"])
def test_the_stock_rtl8xxxu_drives_an_rtl8723au(image_of: Callable[[str], Image], tmp_path: Path, kernel: str) -> None:
    chip = a_chip("rtl8xxxu", device="rtl8723au")
    seen = boot(image_of(kernel), chip, TRAFFIC, tmp_path / "out", kernel)
    assert "RTL8723AU" in seen.text("kernel.log")
    assert min(seen.received(name)["bits_per_second"] for name in ("up.json", "down.json")) > 1e6


def test_the_interrupt_endpoint_is_polled_nearly_8000_times_a_second(image: Image, tmp_path: Path) -> None:
    """By the driver of the RTL8723AU, which asks all the time, on an idle link."""
    seen = boot(image, a_chip("rtl8xxxu", device="rtl8723au"), INTERRUPTS, tmp_path / "out")
    count = [seen.json(f"{n}.json")["device"]["chip"]["interrupts"] for n in (1, 2)]
    seconds = [float(seen.text(f"{n}.s")) for n in (1, 2)]
    rate = (count[1] - count[0]) / (seconds[1] - seconds[0])
    assert 6_500 < rate <= 8_100, rate
