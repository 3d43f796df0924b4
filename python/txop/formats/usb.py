"""USB devices from the attributes in ``/sys/bus/usb/devices/*/`` (as `sysfs.parse_dump` gives them).

A directory with a colon in its name (``1-1:1.0``) is an interface of the device before the colon. ``speed`` is in
Mbit/s: 1.5, 12, 480, 5000, 10000, 20000 (``drivers/usb/core/sysfs.c``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from txop.core.visible import visible
from txop.formats.reading import real, whole

_ROOT = "/sys/bus/usb/devices/"
_LONGEST_STRING = 256


@dataclass(frozen=True, slots=True)
class UsbInterface:
    """One interface of a device."""

    name: str
    """``1-1:1.0``: device, configuration, interface."""

    interface_class: int | None
    interface_subclass: int | None
    interface_protocol: int | None
    driver: str | None
    """Only when the dump has ``driver`` as text; sysfs has a link there."""


@dataclass(frozen=True, slots=True)
class UsbDevice:
    """One device or hub. ``None``: not in the dump."""

    name: str
    """``1-1.4``: bus, then ports; ``usb1`` for a root hub."""

    vendor_id: int | None
    product_id: int | None
    device_release: str | None
    """``bcdDevice``, four digits."""

    manufacturer: str | None
    product: str | None
    serial: str | None
    speed_mbit_s: float | None
    usb_version: str | None
    bus_number: int | None
    device_number: int | None
    max_power_ma: int | None
    interfaces: tuple[UsbInterface, ...]


def devices(files: Mapping[str, str]) -> tuple[UsbDevice, ...]:
    """The devices in a dump, by name."""
    directories: dict[str, dict[str, str]] = {}
    for path, value in files.items():
        name, slash, attribute = path.removeprefix(_ROOT).partition("/")
        if path.startswith(_ROOT) and slash and "/" not in attribute:
            directories.setdefault(name, {})[attribute] = value.strip()
    return tuple(
        _device(name, said, directories) for name, said in sorted(directories.items()) if ":" not in name and said
    )


def _device(name: str, said: Mapping[str, str], directories: Mapping[str, Mapping[str, str]]) -> UsbDevice:
    def text(key: str) -> str | None:
        value = said.get(key, "")[:_LONGEST_STRING]
        return visible(value) if value else None

    interfaces = tuple(
        UsbInterface(
            other,
            _hexadecimal(of.get("bInterfaceClass")),
            _hexadecimal(of.get("bInterfaceSubClass")),
            _hexadecimal(of.get("bInterfaceProtocol")),
            visible(of["driver"][:_LONGEST_STRING]) if of.get("driver") else None,
        )
        for other, of in sorted(directories.items())
        if other.startswith(f"{name}:")
    )
    return UsbDevice(
        name=name,
        vendor_id=_hexadecimal(said.get("idVendor")),
        product_id=_hexadecimal(said.get("idProduct")),
        device_release=text("bcdDevice"),
        manufacturer=text("manufacturer"),
        product=text("product"),
        serial=text("serial"),
        speed_mbit_s=real(said.get("speed"), most=1e6),
        usb_version=text("version"),
        bus_number=whole(said.get("busnum"), most=65_535),
        device_number=whole(said.get("devnum"), most=65_535),
        max_power_ma=whole((said.get("bMaxPower") or "").removesuffix("mA"), most=100_000),
        interfaces=interfaces,
    )


def _hexadecimal(value: str | None) -> int | None:
    if value is None or not 0 < len(value) <= 8:
        return None
    try:
        return int(value, 16)
    except ValueError:
        return None
