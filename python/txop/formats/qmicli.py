"""How host and modem agreed to fill transfers, as qmicli (libqmi-utils) reports it after WDA Set or Get Data Format."""

from __future__ import annotations

import re

_ROW = re.compile(r"^[ \t]*([A-Z][A-Za-z ]{2,60}): '([^'\n]{1,60})'$", re.MULTILINE)
_NUMBERS = {
    "Uplink data aggregation max datagrams": "uplink_datagrams",
    "Uplink data aggregation max size": "uplink_bytes",
    "Downlink data aggregation max datagrams": "downlink_datagrams",
    "Downlink data aggregation max size": "downlink_bytes",
}
_WORDS = {
    "Link layer protocol": "link",
    "Uplink data aggregation protocol": "uplink",
    "Downlink data aggregation protocol": "downlink",
}


def parse_data_format(text: str) -> dict[str, str | int]:
    """A modem's answer to WDA Set or Get Data Format, as libqmi 1.32 prints it: ``link``, ``uplink``, ``downlink`` (the
    framing) and the limits of a transfer, ``uplink_datagrams``, ``uplink_bytes`` and the same downlink. What it does
    not say is not there.

    >>> parse_data_format("    Link layer protocol: 'raw-ip'\\n  Uplink data aggregation max size: '8192'\\n")
    {'link': 'raw-ip', 'uplink_bytes': 8192}
    """
    found: dict[str, str | int] = {}
    for name, value in _ROW.findall(text):
        if name in _WORDS:
            found[_WORDS[name]] = value
        elif name in _NUMBERS and re.fullmatch(r"[0-9]{1,10}", value):
            found[_NUMBERS[name]] = int(value)
    return found
