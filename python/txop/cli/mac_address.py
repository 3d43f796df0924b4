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
