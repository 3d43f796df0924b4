"""A transmit or receive rate as iw prints it (``parse_bitrate`` of iw's ``station.c``).

The parts: ``866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2``; HE and EHT give the guard interval as nl80211's number
(``NL80211_RATE_INFO_HE_GI_*``: 0 is 0.8 us, 1 is 1.6 us, 2 is 3.2 us).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from txop.formats.reading import real

PhyMode = Literal["legacy", "HT", "VHT", "HE", "EHT", "S1G"]

_RATE = re.compile(r"(?:(?P<rate>[0-9]{1,7}(?:\.[0-9]{1,3})?) MBit/s|(?P<unknown>\(unknown\)))(?P<rest>[^\n]{0,200})")
_MCS = re.compile(r"(?:(?P<mode>VHT|HE|EHT|S1G|UHR)-)?MCS (?P<mcs>[0-9]{1,3})")
_WIDTH = re.compile(r" (?:(?P<width>[0-9]{1,3})|(?P<split>80P80))MHz")
_NSS = re.compile(r"-NSS (?P<nss>[0-9]{1,2})")
_GI = re.compile(r"-GI (?P<gi>[0-9])(?![0-9])")
_DCM = re.compile(r"HE-DCM (?P<dcm>[01])")
_RU = re.compile(r"-RU-ALLOC (?P<ru>[0-9]{1,3})")
_GI_US = {"0": 0.8, "1": 1.6, "2": 3.2}


@dataclass(frozen=True, slots=True)
class Rate:
    """One rate. ``None``: not printed, or not a thing of this mode."""

    mbit_s: float | None
    """``None`` when iw prints ``(unknown)``."""

    mode: PhyMode | None
    mcs: int | None
    nss: int | None
    """HT: from the MCS index, which counts the streams too."""

    width_mhz: int | None
    """20 when there is an MCS and no width; 80+80 MHz is 160."""

    guard_interval_us: float | None
    dual_carrier: bool | None
    """HE only."""

    ru_allocation: int | None
    """nl80211's number of the resource unit of an OFDMA transmission; then ``width_mhz`` is the channel's."""

    printed: str


def parse_rate(text: str) -> Rate | None:
    """The rate at the start of ``text``, or ``None``.

    >>> rate = parse_rate("866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2")
    >>> rate.mbit_s, rate.mode, rate.mcs, rate.nss, rate.width_mhz, rate.guard_interval_us
    (866.7, 'VHT', 9, 2, 80, 0.4)
    """
    found = _RATE.match(text.strip()[:300])
    if found is None:
        return None
    rest = found["rest"]
    mcs = _MCS.search(rest)
    width, nss, gi = _WIDTH.search(rest), _NSS.search(rest), _GI.search(rest)
    dcm, ru = _DCM.search(rest), _RU.search(rest)
    mode = _mode(mcs, unknown=found["unknown"] is not None)
    index = int(mcs["mcs"]) if mcs is not None else None
    streams = int(nss["nss"]) if nss is not None else None
    if mode == "HT" and index is not None and index < 32:
        streams = index // 8 + 1
    guard_us: float | None = None
    if gi is not None:
        guard_us = _GI_US.get(gi["gi"])
    elif mode in ("HT", "VHT"):
        guard_us = 0.4 if "short GI" in rest else 0.8
    width_mhz = 20 if mcs is not None and mode != "S1G" else None
    if width is not None:
        width_mhz = 160 if width["split"] is not None else int(width["width"])
    return Rate(
        mbit_s=real(found["rate"]),
        mode=mode,
        mcs=index,
        nss=streams,
        width_mhz=width_mhz,
        guard_interval_us=guard_us,
        dual_carrier=dcm["dcm"] == "1" if dcm is not None else None,
        ru_allocation=int(ru["ru"]) if ru is not None else None,
        printed=found[0].strip(),
    )


def _mode(mcs: re.Match[str] | None, *, unknown: bool) -> PhyMode | None:
    if mcs is None:
        return None if unknown else "legacy"
    match mcs["mode"]:
        case None:
            return "HT"
        case "VHT":
            return "VHT"
        case "HE":
            return "HE"
        case "EHT":
            return "EHT"
        case "S1G":
            return "S1G"
        case _:
            return None
