"""Which format a file is of, by what is in it and not by its name."""

from __future__ import annotations

import re
from collections.abc import Callable

from txop.exchange import (
    from_crusader,
    from_flent,
    from_iperf2,
    from_iperf3,
    from_irtt,
    from_netperf,
    from_nuttcp,
    from_ping,
    from_speedtest,
    from_tables,
)
from txop.exchange.imported import Direction, FileReading
from txop.exchange.not_for_import import what_it_is
from txop.formats import (
    betterspeedtest,
    crusader,
    fping,
    iperf2,
    iperf2_bounceback,
    iperf2_csv,
    irtt_text,
    netperf,
    nuttcp,
    ping_windows,
    speedtest,
)
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import TEXT_LIMIT_BYTES, json_documents, text_of, unpacked

_HEAD = 65_536
_TABLE = re.compile(rb"^[|^][^\n]{0,2000}?\bDriver\b[^\n]{0,2000}?Throughput", re.MULTILINE)
_TTCP = re.compile(rb"=> *-{2,} +=>")
_PING = re.compile(
    rb"^[ \t>]*(?:\[[0-9.]{1,24}\] ?)?(?:[0-9:.]{8,18} )?(?:PING |PING6\(|[0-9]{1,6} bytes from |Request timeout for )"
    rb"|icmp_seq=|packets transmitted, [0-9]",
    re.MULTILINE,
)
_IPERF = re.compile(rb"\[ ID\]|\[(?: *\*?[0-9]+|SUM)\][^\n]{0,300}bits/sec|iperf3: |Connecting to host")
_BROKEN_UP = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16, in which PowerShell writes what it redirects."""

_Reader = Callable[[bytes, Direction], FileReading]


def _alone(read: Callable[[bytes], FileReading]) -> _Reader:
    return lambda data, _given: read(data)


def _iperf2(head: bytes) -> bool:
    return iperf2.looks_like(head) or iperf2_csv.looks_like(head)


def _fping(head: bytes) -> bool:
    return fping.looks_like(head.decode("utf-8", "replace"))


_Recognised = tuple[Callable[[bytes], object], _Reader]

_TEXTS: tuple[tuple[_Recognised, ...], ...] = (
    (
        (iperf2_bounceback.looks_like, _alone(from_iperf2.read_bounceback)),
        (_iperf2, from_iperf2.read),
        (_IPERF.search, from_iperf3.read),
    ),
    ((irtt_text.looks_like, _alone(from_irtt.read_text)),),
    ((nuttcp.looks_like, from_nuttcp.read),),
    ((netperf.looks_like, from_netperf.read),),
    (
        (betterspeedtest.looks_like, _alone(from_speedtest.read_betterspeedtest)),
        (speedtest.looks_like, _alone(from_speedtest.read_text)),
    ),
    (
        (_PING.search, _alone(from_ping.read_ping)),
        (ping_windows.looks_like, _alone(from_ping.read_windows)),
        (_fping, _alone(from_ping.read_fping)),
    ),
)
"""Who reads a text, by its beginning. Of tools with similar outputs the first that fits does; a paste may
hold those of several others."""


def read_file(data: bytes, given: Direction) -> FileReading:
    """What is in a file. Raises FormatError when it is of no format that can be imported, or damaged so that nothing is
    left."""
    if data.startswith(crusader.RAW_MAGIC):
        raise FormatError(
            "a raw file of crusader, in a format that is not documented; `crusader export FILE` makes JSON of it"
        )
    plain = _as_utf8(unpacked(data, "the file", limit_bytes=TEXT_LIMIT_BYTES))
    if not plain.strip():
        raise FormatError("it is empty")
    head = plain[:_HEAD]
    if plain.lstrip()[:1] in (b"{", b"[") and plain.lstrip()[:3] != b"[ I" and _is_json(head):
        return _json(plain, given)
    if (other := what_it_is(head)) is not None:
        raise FormatError(other)
    if _TABLE.search(plain):
        return from_tables.read_driver_tables(plain)
    if _TTCP.search(plain):
        return from_tables.read_ttcp(plain, given)
    if b'"round_trips"' in plain and b"\n{" in plain:  # irtt client -o -: its text, then its JSON
        return _json(plain, given)
    readers = [found for alike in _TEXTS if (found := next((read for fits, read in alike if fits(head)), None))]
    if readers:
        return _together([(read, plain) for read in readers], given)
    if b"\n{" in head:  # what a tool wrote before its JSON
        return _json(plain, given)
    if head.count(0) or b"\xef\xbf\xbd" in head.decode("utf-8", "replace")[:2000].encode():
        raise FormatError("of no format that can be imported: not text")
    start = quoted_start(head.decode("utf-8", "replace"))
    raise FormatError(
        f"of no format that can be imported (`txop log` reads logs, `txop air` and `txop bus` captures); {start}"
    )


def _together(parts: list[tuple[_Reader, bytes]], given: Direction) -> FileReading:
    """What several tools printed into one text."""
    if len(parts) == 1:
        read, plain = parts[0]
        return read(plain, given)
    readings: list[FileReading] = []
    failed: list[FormatError] = []
    for read, plain in parts:
        try:
            readings.append(read(plain, given))
        except FormatError as error:
            failed.append(error)
    if not readings:
        raise failed[0]
    whole = FileReading(" and ".join(reading.format for reading in readings))
    for reading in readings:
        whole.runs += reading.runs
        whole.problems += reading.problems
        whole.notes += reading.notes
    whole.problems += [(error.line, error.what) for error in failed]
    return whole


def _as_utf8(data: bytes) -> bytes:
    """Text without a byte order mark, in UTF-8."""
    if data.startswith(_BROKEN_UP):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(b"\xef\xbb\xbf")


def _is_json(head: bytes) -> bool:
    """Whether it begins as JSON does; ``[`` also begins rows of iperf and stamps of ping."""
    return re.match(rb"\s*(?:\{|\[\s*[\[{\]])", head) is not None


def _json(plain: bytes, given: Direction) -> FileReading:
    """JSON by its own words: they stand near the start in irtt's and iperf3's, anywhere in flent's sorted one."""
    if b'"stream_groups"' in plain:
        return from_crusader.read(plain, given)
    if b'"round_trips"' in plain or b'"json_format"' in plain[:_HEAD]:
        return from_irtt.read_json(plain)
    if b'"metadata"' in plain and (b'"x_values"' in plain or b'"raw_values"' in plain):
        return from_flent.read(plain)
    if b'"icmp_seq"' in plain or (b'"seq"' in plain and b'"ttl"' in plain):
        return from_ping.read_ping(plain)
    if b'"test_start"' in plain or b'"start"' in plain or b'"event"' in plain:
        return from_iperf3.read(plain, given)
    if speedtest.looks_like_json(plain):
        return from_speedtest.read_json(plain)
    if b'"error"' in plain:
        return from_iperf3.read(plain, given)
    for _ in json_documents(text_of(plain, "the file"), "the file"):
        pass  # a document that is cut off or damaged says where
    if (made := re.search(rb'"format": *"(txop-[a-z-]{1,40})"', plain[:_HEAD])) is not None:
        raise FormatError(f"a result of txop itself ({made[1].decode()}), not of another tool")
    start = quoted_start(plain[:300].decode("utf-8", "replace"))
    raise FormatError(f"JSON, but not of flent, iperf3, crusader, irtt, ping or a speed test; {start}")
