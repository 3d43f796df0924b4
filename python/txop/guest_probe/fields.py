"""Descriptors of a device as named fields, from which descriptions and programs are written alike (USB 2.0, 9.6)."""

from __future__ import annotations

from dataclasses import dataclass

from txop.formats.usb_descriptors import CONFIGURATION, DEVICE, ENDPOINT, INTERFACE, split_descriptors
from txop.guest_probe.probe import Probe

_HEAD = (("bLength", 1), ("bDescriptorType", 1))
_DEVICE = (
    *_HEAD,
    *(("bcdUSB", 2), ("bDeviceClass", 1), ("bDeviceSubClass", 1), ("bDeviceProtocol", 1), ("bMaxPacketSize0", 1)),
    *(("idVendor", 2), ("idProduct", 2), ("bcdDevice", 2), ("iManufacturer", 1), ("iProduct", 1)),
    *(("iSerialNumber", 1), ("bNumConfigurations", 1)),
)
_CONFIGURATION = (
    *_HEAD,
    *(("wTotalLength", 2), ("bNumInterfaces", 1), ("bConfigurationValue", 1), ("iConfiguration", 1)),
    *(("bmAttributes", 1), ("bMaxPower", 1)),
)
_INTERFACE = (
    *_HEAD,
    *(("bInterfaceNumber", 1), ("bAlternateSetting", 1), ("bNumEndpoints", 1), ("bInterfaceClass", 1)),
    *(("bInterfaceSubClass", 1), ("bInterfaceProtocol", 1), ("iInterface", 1)),
)
_ENDPOINT = (*_HEAD, ("bEndpointAddress", 1), ("bmAttributes", 1), ("wMaxPacketSize", 2), ("bInterval", 1))
_KNOWN = {
    DEVICE: ("device", _DEVICE),
    CONFIGURATION: ("configuration", _CONFIGURATION),
    INTERFACE: ("interface", _INTERFACE),
    ENDPOINT: ("endpoint", _ENDPOINT),
}


@dataclass(frozen=True)
class Field:
    """A field of a descriptor, with its value."""

    name: str
    data: bytes
    is_number: bool
    """Little endian, of 1 or 2 bytes; otherwise plain bytes."""


@dataclass(frozen=True)
class Descriptor:
    """A descriptor."""

    name: str
    fields: tuple[Field, ...]


def device_descriptor(probe: Probe) -> Descriptor:
    """That of the device."""
    return _descriptor(probe.device, "device")


def configuration_descriptors(probe: Probe) -> tuple[Descriptor, ...]:
    """Those of the configuration, which itself is the first. Raises :class:`FormatError`."""
    parts = split_descriptors(probe.configuration)
    return tuple(_descriptor(part, f"part{number:02d}") for number, part in enumerate(parts))


def _descriptor(data: bytes, name: str) -> Descriptor:
    kind, layout = _KNOWN.get(data[1], ("other", _HEAD))
    if kind == "other" or sum(width for _, width in layout) != len(data):
        kind, layout = "other", _HEAD
    fields, at = [], 0
    for field, width in layout:
        fields.append(Field(field, data[at : at + width], True))
        at += width
    if at < len(data):
        fields.append(Field("data", data[at:], False))
    return Descriptor(name if name == kind else f"{name}_{kind}", tuple(fields))
