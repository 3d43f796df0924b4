"""A dump of small sysfs or procfs files, one ``path:value`` line each: the output of ``grep -H . FILE ...``.

Both GNU and BusyBox grep print it; files that are empty or unreadable are simply absent. A file of several lines gives
several lines. Directories of sysfs may hold colons: those of USB interfaces, PCI functions, MMC cards and of mac80211's
stations are known to be part of the path; any other colon ends it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from txop.formats.reading import lines_of, text_of

_WITH_COLON = (
    r"[0-9]{1,5}-[0-9.]{1,20}:[0-9]{1,3}\.[0-9]{1,3}"  # a USB interface
    r"|[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"  # a PCI function
    r"|mmc[0-9]{1,3}:[0-9a-f]{4}(?::[0-9])?"  # an MMC card, an SDIO function
    r"|netdev:[^/\n]{1,40}|[0-9a-f]{2}(?::[0-9a-f]{2}){5}"  # mac80211's debugfs
)
_LINE = re.compile(rf"(?P<path>(?:/(?:(?:{_WITH_COLON})(?=/)|[^/:\n]{{1,255}})){{1,40}}):(?P<value>[^\n]{{0,65536}})")
_MAX_FILES = 1_000_000


def parse_dump(data: str | bytes) -> Mapping[str, str]:
    r"""The files by path; several lines of one file are joined by line feeds. Lines of another form are passed over.

    >>> parse_dump("/sys/bus/usb/devices/1-1:1.0/bInterfaceClass:ff\n/sys/bus/usb/devices/1-1/speed:480\n")
    {'/sys/bus/usb/devices/1-1:1.0/bInterfaceClass': 'ff', '/sys/bus/usb/devices/1-1/speed': '480'}
    """
    files: dict[str, list[str]] = {}
    for _, line in lines_of(text_of(data, "sysfs dump")):
        found = _LINE.fullmatch(line)
        if found is not None and len(files) < _MAX_FILES:
            files.setdefault(found["path"], []).append(found["value"])
    return {path: "\n".join(values) for path, values in files.items()}


def attributes(files: Mapping[str, str], directory: str) -> Mapping[str, str]:
    """The files directly in ``directory``, by name: for instance the parameters of a module.

    >>> attributes({"/sys/module/x/parameters/debug": "0", "/sys/module/x/version": "1"}, "/sys/module/x/parameters")
    {'debug': '0'}
    """
    prefix = directory.rstrip("/") + "/"
    return {
        path.removeprefix(prefix): value
        for path, value in files.items()
        if path.startswith(prefix) and "/" not in path.removeprefix(prefix)
    }
