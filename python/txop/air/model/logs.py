"""Tables of what was sent when: rates over time, and Block Acks one by one. Mirrors ``report/logs.rs``."""

from __future__ import annotations

from txop.present.document import Model


class RateTimeline(Model):
    """Which station sent at which rate when."""

    bin_us: float
    """Width of a span: 100 ms, doubled as often as 8,192 rows of all stations need it."""
    rows: list[RateCell]
    """Station by station, those with the most frames first, each in time order."""
    frames_left_out: int
    """Frames without a row: there were too many stations and rates, however wide the spans."""


class RateCell(Model):
    """Frames that one station sent at one rate in one span of time, without those with a bad FCS."""

    address: str
    """Transmitter."""
    start_us: float
    """Beginning of the span, from the first frame on."""
    label: str
    """`HT40 MCS7 SGI`, `54 Mb/s`, ..."""
    family: str
    """`dsss`, `ofdm`, `ht`, `vht`, `he`, `eht`, `unknown`."""
    mbit_s: float | None
    """PHY rate."""
    frames: int
    """Frames (MPDUs) of any kind."""
    retries: int
    """Those with the retry bit."""


class BlockAckLog(Model):
    """Block Acks one by one."""

    frames: int
    """Block Ack frames with a usable FCS."""
    rows: list[BlockAckRow]
    """The first 50,000 rows, in the order of the file: one for each TID of a frame."""
    rows_left_out: int
    """Rows after those, which are left out."""


class BlockAckRow(Model):
    """What a Block Ack says of one TID."""

    number: int
    """Record number in the file."""
    at_us: float
    """When, from the first frame on."""
    recipient: str | None
    """Who sends it: the receiver of the data."""
    originator: str
    """Who gets it: the transmitter of the data."""
    tid: int | None
    """TID; Null for a Block Ack of a kind that is not read (bits for fragments, no TID that is whole)."""
    start: int | None
    """Sequence number of the first bit."""
    bits: int | None
    """Bits of the bitmap."""
    acknowledged: int | None
    """Those that are set."""
    bitmap: str | None
    """The bitmap's octets as sent, in hexadecimal; Null beyond 256 bits."""
