"""``/sys/kernel/debug/mmcN/ios``: how an SD, SDIO or eMMC bus is set now (``drivers/mmc/core/debugfs.c``)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from txop.core.visible import visible
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, text_of, whole

_WHAT = "mmc ios"
_CODED = re.compile(r"(?P<code>[0-9]{1,3}) \((?P<words>[^)\n]{1,60})\)")


@dataclass(frozen=True, slots=True)
class MmcBus:
    """The setting. A bus that is asleep has clock 0 and power off."""

    clock_hz: int
    """Asked for."""

    actual_clock_hz: int | None
    """What the host controller made of it; ``None`` when its driver does not say."""

    bus_width_bits: int | None
    timing: str | None
    """``legacy``, ``sd high-speed``, ``sd uhs SDR104``, ..."""

    signal_voltage: str | None
    power: str | None
    """``on``, ``off``, ``up``."""


def parse(data: str | bytes) -> MmcBus:
    """One ``ios`` file. Raises FormatError without its clock."""
    text = text_of(data, _WHAT)
    fields: dict[str, str] = {}
    for _, line in lines_of(text[:65_536]):
        key, colon, value = line.partition(":")
        if colon:
            fields.setdefault(key.strip(), value.strip())
    clock = whole(fields.get("clock", "").removesuffix(" Hz"), most=10**12)
    if clock is None:
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")

    def words(key: str) -> str | None:
        found = _CODED.fullmatch(fields.get(key, ""))
        return visible(found["words"]) if found is not None else None

    width = words("bus width")
    return MmcBus(
        clock_hz=clock,
        actual_clock_hz=whole(fields.get("actual clock", "").removesuffix(" Hz"), most=10**12),
        bus_width_bits=whole(width.removesuffix(" bits")) if width is not None else None,
        timing=words("timing spec"),
        signal_voltage=words("signal voltage"),
        power=words("power mode"),
    )
