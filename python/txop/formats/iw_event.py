"""``iw event``, ``-t`` (seconds since 1970) and ``-T`` (local time): what cfg80211 told user space."""

from __future__ import annotations

import re
from dataclasses import dataclass

from txop.core.visible import visible
from txop.formats.reading import lines_of, real, text_of

_EVENT = re.compile(
    r"(?:(?P<unix>[0-9]{1,12}\.[0-9]{6}): |\[(?P<local>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.]{8,15})\]: )?"
    r"(?:(?P<interface>[^ :\n]{1,64}|wdev 0x[0-9a-f]{1,16}) \(phy #(?P<phy>[0-9]{1,5})\): "
    r"|phy #(?P<phy_only>[0-9]{1,5}): |(?P<plain>[^ :\n]{1,64}): )?(?P<text>[^\n]{1,1000})"
)


@dataclass(frozen=True, slots=True)
class IwEvent:
    """One line."""

    time_unix_s: float | None
    """With ``-t``."""

    local_time: str | None
    """With ``-T``: the clock of that machine, without its zone."""

    interface: str | None
    phy: int | None
    text: str
    """iw's words: ``connected to 02:...``, ``scan started``, ``del station ...``; made visible."""


def parse(data: str | bytes) -> tuple[IwEvent, ...]:
    """Every line; indented lines continue the one before and are left out."""
    events = []
    for _, line in lines_of(text_of(data, "iw event")):
        if not line.strip() or line.startswith(("\t", " ")):
            continue
        found = _EVENT.match(line[:2000])
        if found is None:
            continue
        phy = found["phy"] or found["phy_only"]
        interface = found["interface"] or found["plain"]
        events.append(
            IwEvent(
                real(found["unix"]),
                found["local"],
                visible(interface) if interface is not None else None,
                int(phy) if phy is not None else None,
                visible(found["text"]),
            )
        )
    return tuple(events)
