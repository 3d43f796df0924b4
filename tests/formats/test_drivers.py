"""What a driver says of itself: ethtool, USB and MMC."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from txop.formats import ethtool, mmc_ios, usb
from txop.formats.error import FormatError

FOLDER = Path(__file__).with_name("captured")
Read = Callable[[str], str]


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


USB_FILES = {
    f"/sys/bus/usb/devices/{path}": value
    for path, value in {
        "1-1/idVendor": "0bda",
        "1-1/idProduct": "8176",
        "1-1/bcdDevice": "0200",
        "1-1/manufacturer": "Realtek",
        "1-1/product": "802.11n WLAN Adapter: with/colon",
        "1-1/serial": "00e04c000001",
        "1-1/speed": "480",
        "1-1/version": " 2.00",
        "1-1/busnum": "1",
        "1-1/devnum": "7",
        "1-1/bMaxPower": "500mA",
        "1-1:1.0/bInterfaceClass": "ff",
        "usb1/speed": "480",
        "usb1/idVendor": "1d6b",
        "1-2/speed": "1.5",
    }.items()
}


def test_usb_devices() -> None:
    hub = {device.name: device for device in usb.devices(USB_FILES)}
    assert set(hub) == {"1-1", "usb1", "1-2"}
    adapter = hub["1-1"]
    assert (adapter.vendor_id, adapter.product_id, adapter.speed_mbit_s) == (0x0BDA, 0x8176, 480.0)
    assert adapter.product == "802.11n WLAN Adapter: with/colon"
    assert adapter.max_power_ma == 500
    assert hub["1-2"].speed_mbit_s == 1.5
    assert hub["1-2"].vendor_id is None


def test_a_hostile_usb_string_is_made_visible() -> None:
    (device,) = usb.devices({"/sys/bus/usb/devices/1-1/product": "evil \x1b[2J"})
    assert device.product == "evil \\x1b[2J"


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
