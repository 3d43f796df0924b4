"""``/proc/meminfo``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of, whole

_MEMINFO = re.compile(r"([A-Za-z][A-Za-z0-9_()]{0,40}):\s+([0-9]{1,20}) kB")


def parse_meminfo(data: str | bytes) -> Mapping[str, int]:
    """``/proc/meminfo`` in bytes, by the kernel's names (``MemTotal``, ``MemAvailable``, ...). Raises FormatError."""
    text = text_of(data, "/proc/meminfo")
    sizes = {}
    for _, line in lines_of(text):
        found = _MEMINFO.match(line[:200])
        if found is not None and (size := whole(found[2], most=2**54)) is not None:
            sizes[found[1]] = size * 1024
    if "MemTotal" not in sizes:
        raise FormatError(f"/proc/meminfo expected; {quoted_start(text)}")
    return sizes
