"""``tx_stats`` and ``ampdu_stat`` of mt76: lengths of A-MPDUs, lost Block Acks, A-MSDUs.

``/sys/kernel/debug/ieee80211/phyN/mt76/``; ``mt7615_ampdu_stat_read_phy`` (drivers/net/wireless/mediatek/mt76/mt7615),
``mt7915_ampdu_stat_read_phy``, ``mt792x_ampdu_stat_read_phy``. The counters are 32 bits wide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "tx_stats of mt76"
_LENGTHS = re.compile(r"Length: +[0-9]{1,4} *\|(?P<rest>[0-9 |-]{0,400})")
_COUNTS = re.compile(r"Count: +(?P<counts>[0-9]{1,10} *\|[0-9 |]{0,400})")
_MISSES = re.compile(r"BA miss count: (?P<count>[0-9]{1,10})")
_PER = re.compile(r"PER: (?P<percent>[0-9]{1,3}\.[0-9])%")
_PACK = re.compile(r"AMSDU pack count of (?P<msdus>[0-9]) MSDU in TXD: +(?P<count>[0-9]{1,10})\b.*")
_OTHER = re.compile(r"Phy ?(?:phy)?[0-9].{0,40}|Tx .{0,200}")
_NUMBER = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class TransmitStatistics:
    """One radio."""

    longest: tuple[int, ...]
    """Longest A-MPDU of each class, in MPDUs; the first class is single MPDUs."""
    counts: tuple[int, ...]
    """A-MPDUs of each class."""
    block_ack_misses: int | None
    """A-MPDUs without a Block Ack."""
    error_percent: float | None
    """MPDUs that were not acknowledged (MT7615)."""
    amsdus: tuple[tuple[int, int], ...]
    """MSDUs in an A-MSDU, and how many of those there were."""


def parse_tx_stats(data: str | bytes) -> TransmitStatistics:
    """The first radio. Raises FormatError."""
    text = text_of(data, _WHAT)
    longest: list[int] = []
    counts: list[int] = []
    misses = per = None
    packs: list[tuple[int, int]] = []
    for _, line in lines_of(text):
        row = line[:500].strip()
        if is_head(row):
            if longest:
                break
            classes = [_NUMBER.findall(part) for part in row.removeprefix("Length:").split("|")]
            longest = [int(numbers[-1]) for numbers in classes if numbers]
        elif (found := _COUNTS.fullmatch(row)) is not None:
            counts = [int(word) for word in _NUMBER.findall(found["counts"])]
        elif (found := _MISSES.fullmatch(row)) is not None:
            misses = whole(found["count"])
        elif (found := _PER.fullmatch(row)) is not None:
            per = real(found["percent"], most=100)
        elif (found := _PACK.fullmatch(row)) is not None:
            packs.append((int(found["msdus"]), int(found["count"])))
    if not longest or len(longest) != len(counts):
        raise FormatError(f"{_WHAT} expected; {quoted_start(text)}")
    return TransmitStatistics(tuple(longest), tuple(counts), misses, per, tuple(packs))


def is_head(line: str) -> bool:
    """Whether ``line`` names the classes of lengths."""
    return _LENGTHS.fullmatch(line[:500].strip()) is not None


def is_row(line: str) -> bool:
    """Whether ``line`` is another one of it."""
    row = line[:500].strip()
    return any(each.fullmatch(row) is not None for each in (_COUNTS, _MISSES, _PER, _PACK, _OTHER))
