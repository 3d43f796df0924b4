"""The part of a guest's capture that lies in the measured window.

A virtual chip records all of its run: the probe, the association, the idle phase. Figures of a run are of its window,
so that is what they are made of; the whole capture stays in the run's folder.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from txop.campaign.instrument import RunFacts
from txop.guest.scratch import scratch_folder

MAX_COUNTERS_BYTES = 1 << 20
"""Of the counters of a chip."""
CLOCK_FILE = "chip.json"
"""Counters of the chip; they tell its clock."""
MAX_RECORD_BYTES = 64 << 20

_PCAP = {b"\xd4\xc3\xb2\xa1": 1_000, b"\x4d\x3c\xb2\xa1": 1}
"""Magic number (little-endian), and nanoseconds of a fraction (pcap, draft-ietf-opsawg-pcap, 4)."""
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_RESOLUTION = 9
"""Option ``if_tsresol`` (pcapng, draft-ietf-opsawg-pcapng, 4.2)."""


@contextmanager
def in_window(facts: RunFacts, name: str) -> Iterator[Path]:
    """A file with what the capture ``name`` of a run has of the window, for as long as it is needed; the capture itself
    when the run was not in a guest: there it was begun with the load.

    Raises :class:`ValueError` when the window cannot be told or the capture cannot be cut, :class:`OSError`.
    """
    whole = facts.folder / name
    if all(target.kind != "guest" for target in facts.plan.target.values()):
        yield whole
        return
    span = window_ns(facts)
    if span is None:
        raise ValueError("the chip did not tell its clock, so it is not known what of it is in the window")
    with scratch_folder("window") as scratch:
        part = scratch / name
        if not cut(whole, part, *span):
            raise ValueError("damaged, so it cannot be cut to the window")
        yield part


def bounded_json(path: Path) -> object:
    """What a JSON file of a guest holds. Raises :class:`OSError`, and :class:`ValueError` for one that is too large."""
    with path.open("rb") as source:
        data = source.read(MAX_COUNTERS_BYTES + 1)
    if len(data) > MAX_COUNTERS_BYTES:
        raise ValueError(f"it is larger than {MAX_COUNTERS_BYTES >> 20} MB")
    return json.loads(data)


def window_ns(facts: RunFacts) -> tuple[int, int] | None:
    """The window by the clock of the captures, in nanoseconds since 1970; ``None`` when the chip did not tell it."""
    marks = facts.marks
    try:
        document = bounded_json(facts.folder / CLOCK_FILE)
    except (OSError, ValueError, RecursionError):
        return None
    epoch_ns = document.get("epoch_ns") if isinstance(document, dict) else None
    if marks.window is None or marks.end is None or not isinstance(epoch_ns, int) or isinstance(epoch_ns, bool):
        return None
    return epoch_ns + int(marks.window * 1e9), epoch_ns + int(marks.end * 1e9)


def cut(whole: Path, part: Path, from_ns: int, to_ns: int) -> bool:
    """Copy the records of a time span of a capture; ``False`` when it is none of the forms that ``txop-vusb`` writes
    (little-endian pcap and pcapng) or is damaged. A last record that is not whole is left out.

    Raises :class:`OSError`.
    """
    with whole.open("rb") as source, part.open("wb") as out:
        magic = source.read(4)
        source.seek(0)
        if magic in _PCAP:
            return _cut_pcap(source, out, _PCAP[magic], from_ns, to_ns)
        if magic == _SECTION.to_bytes(4, "little"):
            return _cut_pcapng(source, out, from_ns, to_ns)
    return False


def _cut_pcap(source: BinaryIO, out: BinaryIO, unit_ns: int, from_ns: int, to_ns: int) -> bool:
    header = source.read(24)
    if len(header) < 24:
        return False
    out.write(header)
    while len(head := source.read(16)) == 16:
        seconds, fraction, kept, _ = struct.unpack("<4I", head)
        if kept > MAX_RECORD_BYTES:
            return False
        body = source.read(kept)
        if len(body) == kept and from_ns <= seconds * 1_000_000_000 + fraction * unit_ns < to_ns:
            out.write(head + body)
    return True


def _cut_pcapng(source: BinaryIO, out: BinaryIO, from_ns: int, to_ns: int) -> bool:
    units_ns: list[float] = []
    while len(head := source.read(8)) == 8:
        kind, size = struct.unpack("<2I", head)
        if not 12 <= size <= MAX_RECORD_BYTES or size % 4:
            return False
        body = source.read(size - 8)
        if len(body) < size - 8:
            break
        if kind == _SECTION:
            if body[:4] != b"\x4d\x3c\x2b\x1a":
                return False
            units_ns = []
        elif kind == _INTERFACE:
            units_ns.append(_unit_ns(body))
        elif kind == _PACKET:
            if len(body) < 20:
                return False
            interface, high, low = struct.unpack_from("<3I", body)
            if interface >= len(units_ns) or not from_ns <= (high << 32 | low) * units_ns[interface] < to_ns:
                continue
        out.write(head + body)
    return True


def _unit_ns(interface: bytes) -> float:
    """Of the time stamps of an interface, from the body of its block; microseconds when it does not say."""
    at = 8
    while at + 4 <= len(interface) - 4:
        code, size = struct.unpack_from("<2H", interface, at)
        if code == _RESOLUTION and size == 1 and at + 4 < len(interface):
            value = interface[at + 4]
            return 1e9 / (2.0 ** (value & 0x7F) if value & 0x80 else 10.0**value)
        if code == 0:
            break
        at += 4 + (size + 3) // 4 * 4
    return 1e3
