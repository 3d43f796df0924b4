"""What the table of devices has of each: a row of ``docs/devices.json``, which Rust writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Driver:
    """A driver that knows a device."""

    name: str
    """Its module."""
    from_kernel: str | None = None
    """The first Linux with a driver that knows the device; ``None``: that of every kernel that guests have."""
    built_alias: str | None = None
    """Where it knows the device only when it is built for that: how the alias of the device then begins."""


@dataclass(frozen=True)
class Device:
    """A virtual device; fields without a text here are described in ``docs/schema/txop-vusb-devices.json``."""

    name: str
    label: str
    """What it is called in sentences."""
    about: str
    kind: Literal["chip", "function"]
    bus: Literal["usb", "sdio", "pci"]
    ids: str
    modalias: str | None
    """What a wireless chip is called to drivers."""
    drivers: tuple[Driver, ...]
    interface: str
    """The interface that its driver makes."""
    bands_ghz: tuple[str, ...]
    streams: int | None
    """Spatial streams of a wireless chip."""
    has_he: bool
    """A wireless chip with 802.11ax: its access point in a guest has it, too."""
    securities: tuple[str, ...]
    is_access_point: bool
    """It can be the access point of stations."""
    options: tuple[str, ...]
    assumptions: tuple[str, ...]
    """Their names."""
    endpoints: tuple[tuple[int, str], ...]
    """Its control endpoint and its bulk endpoints, each with a direction."""
    statistics: str
    """The model of its counters, in :mod:`txop.guest.device_statistics.model`."""

    @property
    def stock_driver(self) -> str:
        """The driver that knows it without being built for that."""
        return next(driver.name for driver in self.drivers if driver.built_alias is None)
