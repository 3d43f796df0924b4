"""The bounce-back test of iperf 2.1 (``--bounceback``): round trips of small requests over TCP. Its rows begin as those
of throughput do, and what they have there is the little that the requests weigh."""

from __future__ import annotations

import re
from dataclasses import dataclass

from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import lines_of, real, text_of, whole

_WHAT = "bounce-back test of iperf 2"
_LIKE = re.compile(rb" BB cnt=avg/min/max/stdev|^Bounce-?back test", re.MULTILINE | re.IGNORECASE)
_BEGIN = re.compile(r"Client connecting to (?P<host>[^\s,]{1,200})")
_SIZE = re.compile(r"(?:size= ?|reply size ?= ?)(?P<bytes>[0-9]{1,9}) ?Byte")
_ROW = re.compile(
    r"\[ *\*?[0-9]{1,5}\] +(?P<start>[0-9.]{1,12})- *(?P<end>[0-9.]{1,12}) +sec +[0-9.]{1,12} [KMGT]?Bytes +"
    r"[0-9.]{1,12} [KMGT]?(?:bits|Bytes)/sec +(?P<count>[0-9]{1,12})="
    r"(?P<mean>[0-9.]{1,16})/(?P<min>[0-9.]{1,16})/(?P<max>[0-9.]{1,16})/(?P<stdev>[0-9.]{1,16}) ms"
)


@dataclass(frozen=True, slots=True)
class Bounceback:
    """One test."""

    line: int
    host: str | None
    request_bytes: int | None
    seconds: float
    count: int
    mean_ms: float | None
    min_ms: float | None
    max_ms: float | None
    stdev_ms: float | None
    complete: bool
    """There is a row over all of it."""


def looks_like(head: bytes) -> bool:
    """Whether ``head`` is of such a test."""
    return _LIKE.search(head) is not None


def parse_all(data: str | bytes) -> tuple[Bounceback, ...]:
    """The tests in ``data``. Raises FormatError when there is none, or one without its total."""
    text = text_of(data, _WHAT)
    found: list[Bounceback] = []
    host: str | None = None
    size: int | None = None
    rows = 0
    for number, line in lines_of(text):
        head = line[:1000]
        if (begun := _BEGIN.search(head)) is not None:
            host, size, rows = begun["host"], None, 0
        elif (said := _SIZE.search(head)) is not None:
            size = whole(said["bytes"])
        elif (row := _ROW.search(head)) is not None:
            start, end = real(row["start"], most=1e9), real(row["end"], most=1e9)
            if start is None or end is None or end <= start:
                continue
            rows += 1
            if start == 0 and (rows > 1 or end - start > 1.5):
                count = whole(row["count"]) or 0
                mean, least, most, stdev = (real(row[name]) for name in ("mean", "min", "max", "stdev"))
                found.append(Bounceback(number, host, size, end, count, mean, least, most, stdev, complete=True))
                rows = 0
    if not found:
        what = "no row over the whole test" if rows else "no row of its round trips"
        raise FormatError(f"{_WHAT}: {what}; {quoted_start(text)}")
    return tuple(found)
