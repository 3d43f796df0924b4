"""MAC addresses as they are written on a command line."""

from __future__ import annotations

import re

from txop.core.errors import UserError

_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


def mac_address(text: str) -> str:
    """The address in lower case, with colons.

    Raises:
        UserError: it is not one.

    >>> mac_address("08-BE-AC-0B-14-C4")
    '08:be:ac:0b:14:c4'
    """
    address = text.strip().lower().replace("-", ":")
    if not _MAC.fullmatch(address):
        raise UserError(f'"{text}" is not a MAC address', what_to_do="write it like 08:be:ac:0b:14:c4")
    return address


def is_group(address: str) -> bool:
    """Whether an address is that of a group: its Individual/Group bit is set (IEEE Std 802-2014, 8.2.2).

    >>> is_group("ff:ff:ff:ff:ff:ff"), is_group("08:be:ac:0b:14:c4")
    (True, False)
    """
    return int(address[:2], 16) & 1 == 1
