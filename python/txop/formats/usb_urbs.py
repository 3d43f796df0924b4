"""Transfers on USB from a capture with usbmon's long headers (link type 220), as virtual devices write them.

A transfer is a URB that was submitted and has ended. Facts: Linux Documentation/usb/usbmon.rst; the SETUP packet: USB
2.0, 9.3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from txop.formats.error import FormatError
from txop.formats.pcapng_records import read_pcapng_records

_HEADER = struct.Struct("<QBBBBHbbqiiII8s")
"""The part of the 64 bytes that is read here: up to the SETUP packet."""
_HEADER_BYTES = 64
_SUBMISSION, _COMPLETION, _REFUSED = b"SCE"
_IN = 0x80


class TransferKind(IntEnum):
    """How an endpoint transfers, as usbmon numbers it."""

    ISOCHRONOUS = 0
    INTERRUPT = 1
    CONTROL = 2
    BULK = 3


@dataclass(frozen=True, slots=True)
class Setup:
    """A SETUP packet."""

    request_type: int
    request: int
    value: int
    index: int
    length: int

    @property
    def is_in(self) -> bool:
        """The data go to the host."""
        return bool(self.request_type & _IN)


@dataclass(frozen=True, slots=True)
class Transfer:
    """A URB that has ended."""

    device: int
    endpoint: int
    """Address, with the direction in bit 7; 0 and 0x80 are control."""
    kind: TransferKind
    setup: Setup | None
    """The SETUP packet of a control transfer; ``None``: there is none."""
    asked: int
    """Bytes that the URB has room for, or sends."""
    status: int
    """0, or a negative error number."""
    data: bytes
    """What went over the bus, as far as the capture has it."""
    missing: int
    """Bytes of it that the capture lacks."""

    @property
    def is_in(self) -> bool:
        """The data went to the host."""
        return bool(self.endpoint & _IN)


@dataclass(slots=True)
class _Begun:
    setup: Setup | None
    asked: int
    data: bytes
    missing: int


def read_usb_urbs(capture: bytes) -> Iterator[Transfer]:
    """The transfers of a pcapng file, in the order in which they ended.

    What did not end, and what ended before the capture began, is left out. Raises :class:`FormatError` for a file that
    is no such capture.
    """
    open_urbs: dict[int, _Begun] = {}
    for record in read_pcapng_records(capture):
        if len(record.data) < _HEADER_BYTES:
            raise FormatError(f"a record of {len(record.data)} bytes is no URB: its header alone has {_HEADER_BYTES}")
        urb, event, kind, endpoint, device, _, no_setup, _, _, _, status, length, stored, setup = _HEADER.unpack_from(
            record.data
        )
        if kind not in _KINDS:
            raise FormatError(f"a record with transfer type {kind} is no URB")
        data = record.data[_HEADER_BYTES : _HEADER_BYTES + stored]
        if event == _SUBMISSION:
            packet = Setup(*struct.unpack("<BBHHH", setup)) if no_setup == 0 and kind == TransferKind.CONTROL else None
            missing = 0 if endpoint & _IN else max(0, length - len(data))
            open_urbs[urb] = _Begun(packet, length, data, missing)
        elif event == _REFUSED:
            open_urbs.pop(urb, None)
        elif event == _COMPLETION:
            begun = open_urbs.pop(urb, None)
            if begun is not None:
                came = bool(endpoint & _IN)
                yield Transfer(
                    device,
                    endpoint,
                    TransferKind(kind),
                    begun.setup,
                    begun.asked,
                    status,
                    data if came else begun.data,
                    max(0, length - len(data)) if came else begun.missing,
                )
        else:
            raise FormatError(f"a record of event {event:#x} is no URB")


_KINDS = frozenset(TransferKind)
