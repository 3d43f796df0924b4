"""Small files of ``/proc``: ``uptime``, ``loadavg``, ``meminfo``, ``modules``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, real, text_of, whole

_MEMINFO = re.compile(r"([A-Za-z][A-Za-z0-9_()]{0,40}):\s+([0-9]{1,20}) kB")
_MODULE = re.compile(
    r"(?P<name>[^\s]{1,80}) (?P<size>[0-9]{1,20}) (?P<references>-|[0-9]{1,10}) (?P<users>[^\s]{1,4000}) "
    r"(?P<state>Live|Loading|Unloading)(?: (?P<address>0x[0-9a-f]{1,16}|\(null\)))?(?: \((?P<taint>[A-Z+-]{1,30})\))?"
)


@dataclass(frozen=True, slots=True)
class Uptime:
    """``/proc/uptime``; ``idle_core_s`` adds up over the CPUs."""

    uptime_s: float
    idle_core_s: float


@dataclass(frozen=True, slots=True)
class LoadAverage:
    """``/proc/loadavg``."""

    one_minute: float
    five_minutes: float
    fifteen_minutes: float
    runnable: int
    tasks: int


@dataclass(frozen=True, slots=True)
class LoadedModule:
    """One line of ``/proc/modules``."""

    name: str
    size_bytes: int
    references: int | None
    """``None`` for a module that cannot be unloaded (``-``)."""

    used_by: tuple[str, ...]
    state: str
    taint: str
    """``O`` out of tree, ``E`` unsigned, ``P`` proprietary, ...; empty for a module of the kernel's own."""


def parse_uptime(data: str | bytes) -> Uptime:
    """``/proc/uptime``. Raises FormatError."""
    text = text_of(data, "/proc/uptime")
    values = [real(word) for word in text[:200].split()]
    if len(values) != 2 or values[0] is None or values[1] is None:
        raise FormatError(f"/proc/uptime expected; {quoted_start(text)}")
    return Uptime(values[0], values[1])


def parse_loadavg(data: str | bytes) -> LoadAverage:
    """``/proc/loadavg``. Raises FormatError."""
    text = text_of(data, "/proc/loadavg")
    words = text[:200].split()
    if len(words) == 5:
        one, five, fifteen = (real(word) for word in words[:3])
        runnable, _, tasks = words[3].partition("/")
        counts = whole(runnable), whole(tasks)
        if None not in (one, five, fifteen) and counts[0] is not None and counts[1] is not None:
            assert one is not None
            assert five is not None
            assert fifteen is not None
            return LoadAverage(one, five, fifteen, counts[0], counts[1])
    raise FormatError(f"/proc/loadavg expected; {quoted_start(text)}")


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


def parse_modules(data: str | bytes) -> Mapping[str, LoadedModule]:
    """``/proc/modules`` by name; empty for a kernel that has none loaded. Raises FormatError for other text."""
    text = text_of(data, "/proc/modules")
    modules = {}
    for number, line in lines_of(text):
        if not line.strip():
            continue
        found = _MODULE.fullmatch(line[:8000].rstrip())
        if found is None:
            raise FormatError(f"/proc/modules expected; {quoted_start(line)}", line=number)
        users = tuple(user for user in found["users"].split(",") if user not in ("", "-"))
        modules[found["name"]] = LoadedModule(
            found["name"],
            int(found["size"]),
            whole(found["references"]),
            users,
            found["state"],
            found["taint"] or "",
        )
    return modules
