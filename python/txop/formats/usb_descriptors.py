"""Descriptors of a USB device, as bytes (USB 2.0, 9.6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from txop.formats.error import FormatError

DEVICE, CONFIGURATION, STRING, INTERFACE, ENDPOINT = 1, 2, 3, 4, 5
"""Types of descriptors (table 9-5)."""
DEVICE_BYTES = 18
_HEADER_BYTES = 2
_INTERFACE_BYTES = 9
_ENDPOINT_BYTES = 7


@dataclass(frozen=True)
class EndpointDescriptor:
    """An endpoint of an interface."""

    address: int
    """With the direction in bit 7."""
    attributes: int
    """The kind of transfers in bits 0 and 1."""
    max_packet: int
    interval: int


@dataclass(frozen=True)
class InterfaceDescriptor:
    """An alternate setting of an interface."""

    number: int
    alternate: int
    interface_class: int
    subclass: int
    protocol: int
    endpoints: tuple[EndpointDescriptor, ...]


def split_descriptors(configuration: bytes) -> Iterator[bytes]:
    """The descriptors, one after the other. Raises :class:`FormatError` for a length that cannot be."""
    at = 0
    while at < len(configuration):
        length = configuration[at]
        if length < _HEADER_BYTES or at + length > len(configuration):
            raise FormatError(f"a descriptor of {length} bytes does not fit", offset=at)
        yield configuration[at : at + length]
        at += length


def read_interfaces(configuration: bytes) -> tuple[InterfaceDescriptor, ...]:
    """The interfaces of a configuration with their endpoints. Raises :class:`FormatError`."""
    found: list[tuple[bytes, list[EndpointDescriptor]]] = []
    for one in split_descriptors(configuration):
        if one[1] == INTERFACE and len(one) >= _INTERFACE_BYTES:
            found.append((one, []))
        elif one[1] == ENDPOINT and len(one) >= _ENDPOINT_BYTES and found:
            max_packet = int.from_bytes(one[4:6], "little")
            found[-1][1].append(EndpointDescriptor(one[2], one[3], max_packet, one[6]))
    return tuple(InterfaceDescriptor(one[2], one[3], one[5], one[6], one[7], tuple(points)) for one, points in found)


def string_text(descriptor: bytes) -> str:
    """The text of a string descriptor (9.6.7), as far as it can be read."""
    return descriptor[_HEADER_BYTES:].decode("utf-16-le", "replace")
