"""Pages of the kernel's trace buffer, as ``trace_pipe_raw`` has them, and the formats of the events in them.

Facts of the layout: Linux include/linux/ring_buffer.h (``enum ring_buffer_type``), kernel/trace/ring_buffer.c
(``struct buffer_data_page``), Documentation/trace/ftrace.rst. Of x86-64: words are little-endian, pages have 4,096
bytes.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from txop.formats.error import FormatError

PAGE_BYTES = 4096
_HEADER = struct.Struct("<QQ")
_WORD = struct.Struct("<I")
_COMMIT = (1 << 30) - 1
"""Bits of a page's length; those above say that events before it are missing."""
_MISSED = 1 << 31
_PADDING, _TIME_EXTEND, _TIME_STAMP = 29, 30, 31
_DELTA_BITS = 27

_FIELD = re.compile(r"\tfield:(?P<type>.*?)(?P<name>\w+)(?:\[\w*\])?;\toffset:(?P<at>\d+);\tsize:(?P<size>\d+);")


@dataclass(frozen=True)
class EventFormat:
    """One kind of event: where its fields are."""

    number: int
    name: str
    fields: Mapping[str, tuple[int, int]]
    """By name: offset and bytes."""


@dataclass(frozen=True, slots=True)
class TracedEvent:
    """An event of the kernel."""

    time: int
    """By the clock of the trace."""
    format: EventFormat
    data: bytes

    @property
    def name(self) -> str:
        """Name of its kind."""
        return self.format.name

    @property
    def pid(self) -> int:
        """The thread that the processor was in."""
        return struct.unpack_from("<i", self.data, 4)[0]  # type: ignore[no-any-return]

    def number(self, field: str) -> int:
        """A field as a number without sign; 0 where the event is cut."""
        at, size = self.format.fields[field]
        return int.from_bytes(self.data[at : at + size], "little")

    def raw(self, field: str) -> bytes:
        """A field's bytes."""
        at, size = self.format.fields[field]
        return self.data[at : at + size]

    def text(self, field: str) -> str:
        """A field of characters, or one that says where in the event they are (``__data_loc``)."""
        found = self.raw(field)
        if len(found) == _WORD.size:
            place = self.number(field)
            at, size = place & 0xFFFF, place >> 16
            found = self.data[at : at + size]
        return found.split(b"\0", 1)[0].decode("ascii", "replace")


@dataclass(frozen=True)
class TraceRing:
    """All that was traced."""

    events: tuple[TracedEvent, ...]
    """In the order of time."""
    unknown: int
    """Events of a kind that has no format."""
    gaps: int
    """Pages before which the kernel lost events."""


def event_formats(text: str) -> dict[int, EventFormat]:
    """By number: the formats in ``events/*/*/format``, one after the other.

    >>> text = "name: queue\\nID: 7\\nformat:\\n\\tfield:u64 skb;\\toffset:16;\\tsize:8;\\tsigned:0;\\n"
    >>> event_formats(text)[7].fields
    {'skb': (16, 8)}
    """
    formats = {}
    for block in re.split(r"^name: ", text, flags=re.MULTILINE)[1:]:
        name, _, rest = block.partition("\n")
        number = re.search(r"^ID: (\d{1,5})$", rest, re.MULTILINE)
        if number is None:
            raise FormatError(f"the format of the event {name.strip()!r} has no number")
        found = {m["name"]: (int(m["at"]), int(m["size"])) for m in _FIELD.finditer(rest)}
        formats[int(number[1])] = EventFormat(int(number[1]), name.strip(), found)
    return formats


def read_ring(data: bytes, formats: Mapping[int, EventFormat]) -> TraceRing:
    """The events of one processor. A last page that is cut counts as far as it is there."""
    events: list[TracedEvent] = []
    unknown = gaps = 0
    for start in range(0, len(data) - _HEADER.size + 1, PAGE_BYTES):
        page = data[start : start + PAGE_BYTES]
        gaps += _HEADER.unpack_from(page)[1] & _MISSED != 0
        for time, payload in _of_page(page):
            known = formats.get(int.from_bytes(payload[:2], "little"))
            if known is None:
                unknown += 1
            else:
                events.append(TracedEvent(time, known, payload))
    events.sort(key=lambda event: event.time)
    return TraceRing(tuple(events), unknown, gaps)


def _of_page(page: bytes) -> Iterator[tuple[int, bytes]]:
    time, length = _HEADER.unpack_from(page)
    at, end = _HEADER.size, min(_HEADER.size + (length & _COMMIT), len(page))
    while at + _WORD.size <= end:
        word = _WORD.unpack_from(page, at)[0]
        kind, delta = word & 31, word >> 5
        at += _WORD.size
        if kind == _PADDING and delta == 0:
            return
        if kind not in (0, _PADDING, _TIME_EXTEND, _TIME_STAMP):
            time += delta
            yield time, page[at : at + 4 * kind]
            at += 4 * kind
            continue
        if at + _WORD.size > end:
            return
        more = _WORD.unpack_from(page, at)[0]
        if kind == _TIME_EXTEND:
            time += (more << _DELTA_BITS) + delta
            at += _WORD.size
        elif kind == _TIME_STAMP:
            time = (more << _DELTA_BITS) + delta
            at += _WORD.size
        else:  # a length in bytes, its own word included
            time += delta
            if kind == 0:
                yield time, page[at + _WORD.size : at + more]
            at += max(more, _WORD.size)


def dropped_events(statistics: str) -> int:
    """How many events found no room, by ``per_cpu/cpu0/stats``.

    >>> dropped_events("entries: 3\\noverrun: 0\\ncommit overrun: 2\\nbytes: 9\\ndropped events: 4\\nread events: 0\\n")
    6
    """
    counts = re.findall(r"^(?:overrun|commit overrun|dropped events): (\d+)$", statistics, re.MULTILINE)
    return sum(map(int, counts))
