"""``xmit`` of ath9k: the fate of MPDUs and A-MPDUs, by access category.

``/sys/kernel/debug/ieee80211/phyN/ath9k/xmit``; drivers/net/wireless/ath/ath9k/debug.c (``read_file_xmit``). The
counters are 32 bits wide and count since the driver was loaded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of

_WHAT = "xmit of ath9k"
_HEAD = re.compile(r"BE\s+BK\s+VI\s+VO")
_ROW = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9 /_-]{1,40}?):? {1,40}(?P<counts>[0-9]{1,10}(?:\s+[0-9]{1,10}){3})")


def parse_xmit(data: str | bytes) -> Mapping[str, int]:
    """Counters by name, over all access categories. Raises FormatError."""
    text = text_of(data, _WHAT)
    headed = False
    found: dict[str, int] = {}
    for _, line in lines_of(text):
        if is_head(line):
            headed = True
        elif headed and (row := _ROW.fullmatch(line[:200].strip())) is not None:
            found.setdefault(row["name"].strip(), sum(int(word) for word in row["counts"].split()))
    if not found:
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")
    return found


def is_head(line: str) -> bool:
    """Whether ``line`` names the access categories."""
    return _HEAD.fullmatch(line[:200].strip()) is not None


def is_row(line: str) -> bool:
    """Whether ``line`` is that of a counter."""
    return _ROW.fullmatch(line[:200].strip()) is not None
