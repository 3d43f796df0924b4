#!/usr/bin/env python3
"""What a kernel makes of the reports of transmission that its driver has read, beside what it says it counted.

    txop guest run --device mt7610u --stations=-45,-88 --mode exact --mips 1000 --trace --memory 1024 \\
        --file bench/kernel_airtime.sh -o out -- /root/kernel_airtime.sh
    bench/kernel_airtime.py out/files

Replays mt76x02_send_tx_status (Linux mt76x02_mac.c) on the trace and prints the airtime of each station twice: with
the product of rate and length in 32 bits, as ieee80211_calc_rx_airtime (net/mac80211/airtime.c) has it, and whole.
Rates are those of one HT stream at 20 MHz with the long guard interval. See docs/bugs.md#mac80211-airtime-wraps.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BITS_PER_SYMBOL = (26, 52, 78, 104, 156, 208, 234, 260)
# 1/1024 microseconds of 1024 bytes (MCS_DURATION).
DURATION = tuple(-(-(1024 * 8 << 10) // bits) * 4 for bits in BITS_PER_SYMBOL)
OVERHEAD_US = 40
HAS_RATE, FIRST_MARK = 0x80, 3
MOST_FRAMES = 32  # of one status to mac80211
DESCRIPTOR_BYTES = 22  # that skb->len has beside the frame when its mean is taken: TXWI, padding


@dataclass
class Counted:
    """The airtime of one station."""

    wrapped_us: int = 0
    whole_us: int = 0
    statuses: int = 0
    wraps: int = 0


@dataclass
class Station:
    """What the driver keeps of it."""

    counted: Counted = field(default_factory=Counted)
    rate: int = 0
    retries: int = 0
    mark: int = 0
    frames: int = 0
    mean_len: int = 0  # exponential mean of lengths, 8 bits behind the point

    def add_len(self, length: int) -> None:
        """A frame was handed to the chip."""
        self.mean_len = ((7 * self.mean_len) + (length << 8)) >> 3 if self.mean_len else length << 8


def tries(first: int, last: int, retries: int) -> Iterator[tuple[int, int]]:
    """MCS and times that it was used, of four at most (mt76x02_mac_fill_tx_status)."""
    mcs = first
    for place in range(3):
        mcs = max(mcs - 1, 0) if place else mcs
        yield mcs, 1
        if mcs == last:
            return
    yield last, max(retries - 4, 1)


def count(station: Station, rate: int, retries: int, mark: int, length: int) -> None:
    """A status goes to mac80211 (ieee80211_calc_tx_airtime)."""
    if not length:
        return
    counted = station.counted
    counted.statuses += 1
    if rate >> 13 < 2:  # no HT: short frames at 6 Mbit/s
        counted.wrapped_us += length * 8 // 6 + 36
        counted.whole_us += length * 8 // 6 + 36
        return
    last = rate & 7
    first = mark & 7 if mark & HAS_RATE else min(7, last + retries)
    for mcs, times in tries(first, last, retries):
        product = DURATION[mcs] * length
        counted.whole_us += times * (product // 1024 // 1024 + OVERHEAD_US)
        counted.wrapped_us += times * ((product & 0xFFFF_FFFF) // 1024 // 1024 + OVERHEAD_US)
        counted.wraps += product >> 32 > 0


class Replay:
    """The driver, as far as it reads reports."""

    def __init__(self) -> None:
        self.stations: dict[int, Station] = defaultdict(Station)
        self.addresses: dict[int, str] = {}
        self._lengths: dict[tuple[int, int], int] = {}
        self._update = True
        self._extension = 0

    def line(self, line: dict[str, Any]) -> None:
        """One line of the trace."""
        for frame in line.get("frames", ()) if line["event"] == "out" else ():
            flags = dict(each.split(" ", 1) for each in frame.get("flags", ()) if " " in each)
            number = int(flags.get("station", "255"))
            self.addresses[number] = frame.get("to", "")
            self.stations[number].add_len(frame["bytes"] + DESCRIPTOR_BYTES)
            self._lengths[number, int(flags.get("mark", "0"), 16)] = frame["bytes"]
        if line["event"] == "read" and line.get("name") == "TX_STAT_FIFO_EXT":
            self._extension = int(line["value"], 16)
        elif line["event"] == "read" and line.get("name") == "TX_STAT_FIFO":
            self._report(int(line["value"], 16))

    def _report(self, word: int) -> None:
        if not word & 1:
            self._update = True  # the next reads are another round of the driver's work
            return
        number, rate, aggregated = word >> 8 & 0xFF, word >> 16, word >> 6 & 1
        retries, mark = self._extension & 0xFF, self._extension >> 8 & 0xFF
        of_frame = not mark & HAS_RATE and mark >= FIRST_MARK
        if not mark or not (of_frame or mark & HAS_RATE):
            return
        station = self.stations[number]
        if not aggregated or of_frame:
            count(station, rate, retries, mark, self._lengths.get((number, mark), 0))
            self._update = True
            return
        same = (rate, retries) == (station.rate, station.retries)
        if not self._update and same and station.frames < MOST_FRAMES:
            station.frames += 1
            return
        count(station, station.rate, station.retries, station.mark, station.frames * (station.mean_len >> 8))
        station.rate, station.retries, station.mark, station.frames = rate, retries, mark, 1
        self._update = False


def sent_us(dump: str) -> dict[str, int]:
    """By address: what ``iw station dump`` says was sent, microseconds."""
    return {
        found["address"]: int(found["us"])
        for found in re.finditer(r"Station (?P<address>\S+)(?:.|\n)*?tx duration:\s+(?P<us>[0-9]+) us", dump)
    }


def main(folder: Path) -> None:
    """Print a row for each station."""
    moments = [float((folder / f"{name}.at").read_text().split()[0]) for name in ("before", "after")]
    counted: list[dict[int, Counted]] = []
    replay = Replay()

    def look() -> None:
        counted.append({n: Counted(**vars(each.counted)) for n, each in replay.stations.items()})

    for text in (folder / "trace.jsonl").read_text().splitlines():
        line = json.loads(text)
        while len(counted) < 2 and line["t_s"] > moments[len(counted)]:
            look()
        replay.line(line)
    while len(counted) < 2:
        look()
    before, after = (sent_us((folder / f"{name}.txt").read_text()) for name in ("before", "after"))
    print("station            kernel, us  32 bits, us  whole, us  statuses  of them wrapped")
    for number, address in sorted(replay.addresses.items()):
        if address in after:
            first, last = counted[0].get(number, Counted()), counted[1].get(number, Counted())
            grown = [b - a for a, b in zip(vars(first).values(), vars(last).values(), strict=True)]
            kernel = after[address] - before.get(address, 0)
            print(f"{address}  {kernel:10}  {grown[0]:11}  {grown[1]:9}  {grown[2]:8}  {grown[3]:7}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
