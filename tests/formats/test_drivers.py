"""What a driver says of itself: ethtool, modinfo, ELF notes, sysfs, USB and MMC."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from txop.formats import elf_notes, ethtool, mmc_ios, modinfo, sysfs, usb
from txop.formats.error import FormatError

FOLDER = Path(__file__).with_name("captured")
Read = Callable[[str], str]


def test_ethtool_driver(captured: Read) -> None:
    radio = ethtool.parse_driver(captured("ethtool/i-hwsim.txt"))
    assert (radio.driver, radio.version, radio.bus_info) == ("mac80211_hwsim", "6.12.107+deb13-amd64", "hwsim0")
    assert radio.firmware_version is None
    assert ethtool.parse_driver(captured("ethtool/i-veth.txt")).bus_info is None
    with pytest.raises(FormatError, match="ethtool says: no device matches name"):
        ethtool.parse_driver(captured("ethtool/nodev.txt"))


def test_ethtool_statistics(captured: Read) -> None:
    radio = ethtool.parse_statistics(captured("ethtool/S-hwsim.txt"))
    assert radio["rx_packets"] == 860
    assert radio["ch_time_busy"] == 14
    assert radio["ch_time_ext_busy"] is None  # all ones
    assert radio["noise"] == 164  # -92 dBm in eight bits
    assert ethtool.parse_statistics(captured("ethtool/S-veth.txt"))["peer_ifindex"] == 2
    assert len(ethtool.parse_statistics(captured("ethtool/S-eth0.txt"))) == 20
    with pytest.raises(FormatError, match="no stats available"):
        ethtool.parse_statistics(captured("ethtool/S-lo.txt"))
    twice = ethtool.parse_statistics("NIC statistics:\n     drops: 1\n     drops: 2\n     [0]: tx: 3\n")
    assert twice == {"drops": 1, "drops#2": 2, "[0]: tx": 3}


def test_ethtool_coalescing_and_link(captured: Read) -> None:
    settings = ethtool.parse_coalescing(captured("ethtool/c-eth0.txt"))
    assert settings["rx-frames"] == 1
    assert settings["rx-usecs-irq"] is None
    assert settings["adaptive-rx"] == 0
    assert settings["adaptive-tx"] is None
    with pytest.raises(FormatError, match="Operation not supported"):
        ethtool.parse_coalescing(captured("ethtool/c-veth.txt"))
    assert ethtool.parse_link(captured("ethtool/link-veth.txt")).speed_mbit_s == 10_000
    unknown = ethtool.parse_link(captured("ethtool/link-eth0.txt"))
    assert (unknown.speed_mbit_s, unknown.full_duplex, unknown.link_detected) == (None, None, True)
    assert ethtool.parse_link(captured("ethtool/link-hwsim.txt")).link_detected is True


def test_modinfo(captured: Read) -> None:
    module = modinfo.parse(captured("modinfo/kmod-30-rtl8xxxu-6.1.txt"))
    assert module.name == "rtl8xxxu"
    assert module.in_tree
    assert module.depends == ("usbcore", "mac80211", "cfg80211")
    assert module.srcversion is None
    assert module.vermagic == "6.1.0-56-amd64 SMP preempt mod_unload modversions"
    assert "rtlwifi/rtl8192cufw_TMSC.bin" in module.firmware
    assert [parameter.name for parameter in module.parameters] == [
        "debug", "ht40_2g", "dma_aggregation", "dma_agg_timeout", "dma_agg_pages"]  # fmt: skip
    assert module.parameters[4].type == "int"
    assert module.parameters[4].description == "Set DMA aggregation pages (range 1-127, 0 to disable)"
    assert module.fields["signature"][0].count(":") > 500
    assert len(module.aliases) == 9
    core = modinfo.parse(captured("modinfo/kmod-30-mac80211-6.1.txt"))
    assert core.license == "GPL"
    with pytest.raises(FormatError, match="Module nosuchmodule not found"):
        modinfo.parse(captured("modinfo/kmod-30-nosuch.txt"))


def test_the_build_identifier_is_the_one_that_readelf_prints() -> None:
    module = (FOLDER / "modinfo/rtl8xxxu-6.1.note.gnu.build-id").read_bytes()
    assert elf_notes.build_id(module) == "e6dd9896f2931aa94bfbd155bcab6659a2b1efb2"
    kernel = (FOLDER / "modinfo/kernel-6.18.notes").read_bytes()
    assert elf_notes.build_id(kernel) == "e4f18d9dc1d0e6fc2b17e93e885a647b3c0a6fc1"
    words = [module[at : at + 4][::-1] for at in (0, 4, 8)]
    assert elf_notes.build_id(b"".join(words) + module[12:]) == elf_notes.build_id(module)  # a big-endian machine


@pytest.mark.parametrize(
    "notes", [b"", b"\0" * 12, b"\xff" * 64, bytes(range(64)), b"\4\0\0\0\xff\xff\xff\xff\3\0\0\0GNU\0"]
)
def test_notes_without_a_build_identifier(notes: bytes) -> None:
    with pytest.raises(FormatError, match="no GNU build identifier"):
        elf_notes.build_id(notes)


USB_DUMP = r"""
/sys/bus/usb/devices/1-1/idVendor:0bda
/sys/bus/usb/devices/1-1/idProduct:8176
/sys/bus/usb/devices/1-1/bcdDevice:0200
/sys/bus/usb/devices/1-1/manufacturer:Realtek
/sys/bus/usb/devices/1-1/product:802.11n WLAN Adapter: with/colon
/sys/bus/usb/devices/1-1/serial:00e04c000001
/sys/bus/usb/devices/1-1/speed:480
/sys/bus/usb/devices/1-1/version: 2.00
/sys/bus/usb/devices/1-1/busnum:1
/sys/bus/usb/devices/1-1/devnum:7
/sys/bus/usb/devices/1-1/bMaxPower:500mA
/sys/bus/usb/devices/1-1:1.0/bInterfaceClass:ff
/sys/bus/usb/devices/usb1/speed:480
/sys/bus/usb/devices/usb1/idVendor:1d6b
/sys/bus/usb/devices/1-2/speed:1.5
grep: /sys/bus/usb/devices/2-1/serial: No such file or directory
"""


def test_usb_devices() -> None:
    hub = {device.name: device for device in usb.devices(sysfs.parse_dump(USB_DUMP))}
    assert set(hub) == {"1-1", "usb1", "1-2"}
    adapter = hub["1-1"]
    assert (adapter.vendor_id, adapter.product_id, adapter.speed_mbit_s) == (0x0BDA, 0x8176, 480.0)
    assert adapter.product == "802.11n WLAN Adapter: with/colon"
    assert adapter.max_power_ma == 500
    assert [interface.interface_class for interface in adapter.interfaces] == [0xFF]
    assert hub["1-2"].speed_mbit_s == 1.5
    assert hub["1-2"].vendor_id is None


def test_a_hostile_usb_string_is_made_visible() -> None:
    (device,) = usb.devices(sysfs.parse_dump("/sys/bus/usb/devices/1-1/product:evil \x1b[2J\n"))
    assert device.product == "evil \\x1b[2J"


def test_this_machines_own_sysfs() -> None:
    files = [path for path in Path("/sys/class/net/lo").iterdir() if path.is_file()]
    lines, expected = [], {}
    for path in files:
        try:
            text = path.read_text().rstrip("\n")
        except OSError:
            continue
        if text and "\n" not in text:
            lines.append(f"{path}:{text}")
            expected[path.name] = text
    assert "mtu" in expected
    assert sysfs.attributes(sysfs.parse_dump("\n".join(lines)), "/sys/class/net/lo") == expected


def test_mmc_bus() -> None:
    bus = mmc_ios.parse(
        "clock:\t\t50000000 Hz\nactual clock:\t49500000 Hz\nvdd:\t\t21 (3.3 ~ 3.4 V)\nbus mode:\t2 (push-pull)\n"
        "chip select:\t0 (don't care)\npower mode:\t2 (on)\nbus width:\t2 (4 bits)\ntiming spec:\t2 (sd high-speed)\n"
        "signal voltage:\t0 (3.30 V)\ndriver type:\t0 (driver type B)\n"
    )
    assert (bus.clock_hz, bus.actual_clock_hz, bus.bus_width_bits) == (50_000_000, 49_500_000, 4)
    assert (bus.timing, bus.signal_voltage, bus.power) == ("sd high-speed", "3.30 V", "on")
    old = mmc_ios.parse("clock:\t\t0 Hz\nbus width:\t0 (1 bits)\ntiming spec:\t0 (legacy)\n")
    assert (old.clock_hz, old.actual_clock_hz, old.bus_width_bits, old.power) == (0, None, 1, None)
    with pytest.raises(FormatError, match="mmc ios expected"):
        mmc_ios.parse("cat: ios: No such file or directory")
