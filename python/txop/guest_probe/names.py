"""The names that a device's calls and types have in syzkaller's descriptions and programs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from txop.guest_probe.probe import CLASS, STANDARD, TYPE_BITS, VENDOR

_TYPES = {STANDARD: "standard", CLASS: "class", VENDOR: "vendor"}
WIDTHS = {1: "int8", 2: "int16", 4: "int32"}
"""Integer types of syzlang, by bytes: replies of these lengths are numbers, as registers are."""


@dataclass(frozen=True)
class Names:
    """The names of one device.

    >>> names = Names("qmi-modem")
    >>> names.base, names.call("syz_usb_connect"), names.response(0x40, 5)
    ('txop_qmi_modem', 'syz_usb_connect$txop_qmi_modem', 'vendor_05')
    """

    device: str

    @property
    def base(self) -> str:
        """With which all of them begin."""
        return f"txop_{re.sub('[^a-z0-9]', '_', self.device.lower())}"

    def call(self, name: str, *more: str) -> str:
        """A variant of a call of syzkaller."""
        return f"{name}${'_'.join((self.base, *more))}"

    def type(self, *parts: str) -> str:
        """A type or a list of values."""
        return "_".join((self.base, *parts))

    def response(self, request_type: int, request: int) -> str:
        """The field of the responses to a request."""
        return f"{_TYPES.get(request_type & TYPE_BITS, 'reserved')}_{request:02x}"


def endpoint_name(address: int) -> str:
    """Of an endpoint in names.

    >>> endpoint_name(0x81)
    'ep81'
    """
    return f"ep{address:02x}"
