"""How iw prints an SSID, and back.

iw prints printable ASCII as it is and every other octet as ``\\xNN``; also the backslash, and a space at either end
(``print_ssid_escaped`` of iw's ``util.c``). So the text is unambiguous. An SSID is 0 to 32 octets of any value (IEEE
Std 802.11-2020, 9.4.2.2).
"""

from __future__ import annotations

import re

SSID_LIMIT_OCTETS = 32
_ESCAPE = re.compile(rb"\\x([0-9a-fA-F]{2})")


def unescaped_ssid(printed: str) -> bytes | None:
    r"""The octets of an SSID that iw printed; ``None`` when they are more than 32, so not an SSID.

    >>> unescaped_ssid(r"caf\xc3\xa9 \x1b\x0a\x5c")
    b'caf\xc3\xa9 \x1b\n\\'
    """
    if len(printed) > 4 * SSID_LIMIT_OCTETS:
        return None
    raw = printed.encode("utf-8", errors="replace")
    octets = _ESCAPE.sub(lambda escape: bytes([int(escape[1], 16)]), raw)
    return octets if len(octets) <= SSID_LIMIT_OCTETS else None
