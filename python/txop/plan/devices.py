"""The devices that a guest can have, and their drivers: views of the table that Rust writes (docs/virtual-chips.md)."""

from __future__ import annotations

from txop.plan.device_table import DEVICES, SECURITIES

LAST_CHANNEL_2_GHZ = 14
"""What is beyond is in 5 GHz."""

ROWS = {device.name: device for device in DEVICES}
"""By name."""
CHIPS = tuple(device.name for device in DEVICES if device.kind == "chip")
"""Wireless chips."""
FUNCTIONS = tuple(device.name for device in DEVICES if device.kind == "function")
"""Network functions without a radio; see docs/virtual-functions.md."""
ON_PCI = tuple(device.name for device in DEVICES if device.bus == "pci")
"""Chips on PCI."""
SDIO_CARDS = tuple(device.name for device in DEVICES if device.bus == "sdio")
"""Chips on an SDIO card, in a virtual host controller; see docs/virtual-sdio.md."""
WITH_BUNDLES = tuple(device.name for device in DEVICES if "bundle" in device.assumptions)
"""Those with firmware and a host that exchange several packets at once."""
IN_5_GHZ = tuple(device.name for device in DEVICES if "5" in device.bands_ghz)
"""Devices that are also in 5 GHz, with 80 MHz."""
ACCESS_POINT_DEVICES = tuple(device.name for device in DEVICES if device.is_access_point)
"""Devices that can be the access point themselves."""

SECURITIES_OF_CHIPS = {
    device.name: device.securities
    for device in DEVICES
    if device.kind == "chip" and device.securities != SECURITIES
}  # fmt: skip
"""By wireless chip: those that it is modelled for, where that is not all."""

DRIVERS = {device.name: device.stock_driver for device in DEVICES}
"""By device: the driver in a stock Debian that knows it."""
STOCK_DRIVERS = {name: tuple(driver.name for driver in ROWS[name].drivers) for name in CHIPS}
"""By wireless chip: the drivers of Linux 6.1 and 6.12 that list its USB or SDIO ids."""
NEEDS_BUILD = {
    (device.name, driver.name): driver.built_alias
    for device in DEVICES
    for driver in device.drivers
    if driver.built_alias is not None
}
"""By device and driver: what begins the alias by which the driver knows the device, where it only has it when built
with :data:`txop.guest.driver.SWITCHES`."""
