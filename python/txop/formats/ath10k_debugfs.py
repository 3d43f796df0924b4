"""``fw_stats`` of ath10k: what the firmware counts of the radio.

``/sys/kernel/debug/ieee80211/phyN/ath10k/fw_stats``; drivers/net/wireless/ath/ath10k/wmi.c
(``ath10k_wmi_fw_pdev_base_stats_fill`` and those after it). The kernel takes the counters as 32 bits and prints most of
them with a sign. Those of interfaces and peers (VDEV, PEER) come after those of the radio (PDEV).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of

NOISE = "Channel noise floor"
LEVELS = frozenset({NOISE, "Channel TX power", "HW rate"})
"""What is no counter."""
CYCLES = frozenset({"TX frame count", "RX frame count", "RX clear count", "Cycle count"})
"""Time in cycles of the radio's clock, which begins again after less than a minute: two readings have no difference."""

_WHAT = "fw_stats of ath10k"
_TITLE = re.compile(r"ath10k (?P<of>[A-Z]{4})(?: [A-Za-z]{1,12}){0,2} stats(?: \([0-9]{1,5}\))?")
_LINE = re.compile(r"={3,40}")
_ROW = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9 .,()_-]{1,40}?) {1,40}(?P<value>-?[0-9]{1,10})")
_OF_PEER = re.compile(
    r"Peer MAC address {1,40}\S{1,64}|[a-z][a-z ]{1,40} \[[0-9]{1,3}\] {1,10}(?:0x[0-9a-f]{1,8}|[0-9]{1,10})"
)
_MOST_ROWS = 500


def parse_fw_stats(data: str | bytes) -> Mapping[str, int]:
    """Values of the radio by name. Raises FormatError."""
    text = text_of(data, _WHAT)
    of_radio = False
    found: dict[str, int] = {}
    for _, line in lines_of(text):
        row = line[:200].strip()
        if (title := _TITLE.fullmatch(row)) is not None:
            of_radio = title["of"] == "PDEV"
        elif of_radio and len(found) < _MOST_ROWS and (counter := _ROW.fullmatch(row)) is not None:
            value, name = int(counter["value"]), counter["name"].strip()
            if -(2**31) <= value < 2**32:
                found.setdefault(name, value if name in LEVELS else value % 2**32)
    if not found:
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")
    return found


def is_head(line: str) -> bool:
    """Whether ``line`` is the title of one of its tables."""
    return _TITLE.fullmatch(line[:200].strip()) is not None


def is_row(line: str) -> bool:
    """Whether ``line`` is another one of it."""
    row = line[:200].strip()
    return any(each.fullmatch(row) is not None for each in (_LINE, _ROW, _OF_PEER))
