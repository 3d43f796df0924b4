"""Which format a file is of, by what is in it and not by its name."""

from __future__ import annotations

import re

from txop.exchange import from_crusader, from_flent, from_iperf2, from_iperf3, from_probes, from_tables
from txop.exchange.imported import Direction, FileReading
from txop.formats import crusader, iperf2, iperf2_bounceback, iperf2_csv
from txop.formats.error import FormatError, quoted_start
from txop.formats.reading import TEXT_LIMIT_BYTES, json_documents, text_of, unpacked

_HEAD = 65_536
_TABLE = re.compile(rb"^[|^].*\bDriver\b.*Throughput", re.MULTILINE)
_TTCP = re.compile(rb"=> *-{2,} +=>")
_PING = re.compile(
    rb"^(?:\[[0-9.]+\] ?)?(?:PING |[0-9]+ bytes from |\S+ +: \[[0-9]+\]|\S+ +: xmt/rcv)|icmp_seq=", re.MULTILINE
)
_IPERF = re.compile(rb"\[ ID\]|\[(?: *\*?[0-9]+|SUM)\].*bits/sec|iperf3: |Connecting to host|Client connecting to ")


def read_file(data: bytes, given: Direction) -> FileReading:
    """What is in a file. Raises FormatError when it is of no format that can be imported, or damaged so that nothing is
    left."""
    if data.startswith(crusader.RAW_MAGIC):
        raise FormatError(
            "a raw file of crusader, whose format is not documented; `crusader export FILE` makes JSON of it"
        )
    plain = unpacked(data, "the file", limit_bytes=TEXT_LIMIT_BYTES)
    if not plain.strip():
        raise FormatError("it is empty")
    head = plain[:_HEAD]
    if plain.lstrip()[:1] == b"{" or b'"format": "txop' in head:
        return _json(plain, given)
    if _TABLE.search(plain):
        return from_tables.read_driver_tables(plain)
    if _TTCP.search(plain):
        return from_tables.read_ttcp(plain, given)
    if iperf2_bounceback.looks_like(head):
        return from_iperf2.read_bounceback(plain)
    if iperf2.looks_like(head) or iperf2_csv.looks_like(head):
        return from_iperf2.read(plain, given)
    if _IPERF.search(head):
        return from_iperf3.read(plain, given)
    if _PING.search(head):
        return from_probes.read_ping(plain)
    if b"\n{" in head:  # what a tool wrote before its JSON
        return _json(plain, given)
    raise FormatError(f"of no format that can be imported; {quoted_start(head.decode('utf-8', 'replace'))}")


def _json(plain: bytes, given: Direction) -> FileReading:
    """JSON by its own words: they stand near the start in irtt's and iperf3's, anywhere in flent's sorted one."""
    if b'"stream_groups"' in plain:
        return from_crusader.read(plain, given)
    if b'"round_trips"' in plain or b'"json_format"' in plain[:_HEAD]:
        return from_probes.read_irtt(plain)
    if b'"metadata"' in plain and (b'"x_values"' in plain or b'"raw_values"' in plain):
        return from_flent.read(plain)
    if b'"icmp_seq"' in plain or (b'"seq"' in plain and b'"ttl"' in plain):
        return from_probes.read_ping(plain)
    if b'"test_start"' in plain or b'"start"' in plain or b'"event"' in plain or b'"error"' in plain:
        return from_iperf3.read(plain, given)
    for _ in json_documents(text_of(plain, "the file"), "the file"):
        pass  # a document that is cut off or damaged says where
    start = quoted_start(plain[:300].decode("utf-8", "replace"))
    raise FormatError(f"JSON, but not of flent, iperf3, crusader, irtt or ping; {start}")
