"""USB devices from the attributes in ``/sys/bus/usb/devices/*/``, by path.

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
class UsbDevice:
    """One device or hub. ``None``: there is no such attribute."""

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


def devices(files: Mapping[str, str]) -> tuple[UsbDevice, ...]:
    """The devices, by name."""
    directories: dict[str, dict[str, str]] = {}
    for path, value in files.items():
        name, slash, attribute = path.removeprefix(_ROOT).partition("/")
        if path.startswith(_ROOT) and slash and "/" not in attribute:
            directories.setdefault(name, {})[attribute] = value.strip()
    return tuple(_device(name, said) for name, said in sorted(directories.items()) if ":" not in name and said)


def _device(name: str, said: Mapping[str, str]) -> UsbDevice:
    def text(key: str) -> str | None:
        value = said.get(key, "")[:_LONGEST_STRING]
        return visible(value) if value else None

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
    )


def _hexadecimal(value: str | None) -> int | None:
    if value is None or not 0 < len(value) <= 8:
        return None
    try:
        return int(value, 16)
    except ValueError:
        return None
