"""``iw dev X survey dump``: how long each channel was used and busy, as far as the driver counts it.

The times grow from some moment that the driver chose (many reset them at every scan or channel change), so only their
difference means something, and only when none of them went back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from txop.formats.iw_failure import not_iw
from txop.formats.proc_stat import increase
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "iw survey dump"
_HEAD = re.compile(r"Survey data from (?P<interface>[^\n]{1,64})")
_FREQUENCY = re.compile(r"(?P<mhz>[0-9]{1,6}(?:\.[0-9]{1,3})?) MHz(?P<use> \[in use\])?")
_NUMBER = re.compile(r"-?[0-9]{1,20}")


@dataclass(frozen=True, slots=True)
class SurveyChannel:
    """One channel. ``None``: the driver does not count it."""

    interface: str
    frequency_mhz: float | None
    in_use: bool
    noise_dbm: int | None
    active_ms: int | None
    busy_ms: int | None
    extension_busy_ms: int | None
    receive_ms: int | None
    transmit_ms: int | None
    receive_from_own_bss_ms: int | None


@dataclass(frozen=True, slots=True)
class ChannelUse:
    """Between two surveys of one channel; shares are of the time that the radio was on it."""

    active_ms: int
    busy_share: float | None
    receive_share: float | None
    transmit_share: float | None
    own_bss_share: float | None
    """Reception of frames of the own network."""


def parse(data: str | bytes) -> tuple[SurveyChannel, ...]:
    """Every channel, in the order printed; none when the driver has no survey (iw prints nothing).

    Raises FormatError for other text, such as iw's own errors.
    """
    text = text_of(data, _WHAT)
    blocks: list[tuple[str, dict[str, str]]] = []
    for _, line in lines_of(text):
        if (head := _HEAD.fullmatch(line.strip())) is not None:
            blocks.append((head["interface"], {}))
        elif blocks:
            key, colon, value = line.strip()[:300].partition(":")
            if colon:
                blocks[-1][1].setdefault(key, value.strip())
    if not blocks and text.strip():
        raise not_iw(_WHAT, text)
    return tuple(_channel(interface, fields) for interface, fields in blocks)


def is_head(line: str) -> bool:
    """Whether ``line`` is the first of a channel."""
    return _HEAD.fullmatch(line[:200].strip()) is not None


def _channel(interface: str, fields: dict[str, str]) -> SurveyChannel:
    frequency = _FREQUENCY.match(fields.get("frequency", ""))

    def milliseconds(key: str) -> int | None:
        found = _NUMBER.match(fields.get(key, ""))
        return whole(found[0]) if found is not None else None

    noise = _NUMBER.match(fields.get("noise", ""))
    return SurveyChannel(
        interface=interface,
        frequency_mhz=real(frequency["mhz"]) if frequency is not None else None,
        in_use=frequency is not None and frequency["use"] is not None,
        noise_dbm=whole(noise[0], least=-200, most=0) if noise is not None else None,
        active_ms=milliseconds("channel active time"),
        busy_ms=milliseconds("channel busy time"),
        extension_busy_ms=milliseconds("extension channel busy time"),
        receive_ms=milliseconds("channel receive time"),
        transmit_ms=milliseconds("channel transmit time"),
        receive_from_own_bss_ms=milliseconds("channel BSS receive time"),
    )


def channel_use(before: SurveyChannel, after: SurveyChannel) -> ChannelUse | None:
    """What happened on one channel; ``None`` when it is not the same, was not used in between, or was counted again."""
    if before.frequency_mhz is None or before.frequency_mhz != after.frequency_mhz:
        return None
    active = increase(before.active_ms, after.active_ms)
    if not active:
        return None

    def share(was: int | None, now: int | None) -> float | None:
        step = increase(was, now)
        return step / active if step is not None and step <= active else None

    return ChannelUse(
        active_ms=active,
        busy_share=share(before.busy_ms, after.busy_ms),
        receive_share=share(before.receive_ms, after.receive_ms),
        transmit_share=share(before.transmit_ms, after.transmit_ms),
        own_bss_share=share(before.receive_from_own_bss_ms, after.receive_from_own_bss_ms),
    )
