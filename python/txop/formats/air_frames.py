"""MPDUs in a capture of a virtual chip's air: radiotap headers and FCS, as ``txop-vusb --air`` writes.

For captures of other programs use ``txop air``. Facts: radiotap.org, IEEE Std 802.11-2020.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from txop.formats.pcapng_records import PcapngRecord, read_pcapng_records

_FIELDS = ((1 << 1, 1, 1), (1 << 2, 1, 1), (1 << 3, 2, 4), (1 << 4, 2, 2), (1 << 5, 1, 1), (1 << 6, 1, 1))
"""Radiotap fields from the one after TSFT to the noise: bit, alignment, bytes."""
_MCS, _AMPDU, _VHT = 1 << 19, 1 << 20, 1 << 21
_FCS_BYTES = 4
_DSSS_RATES = (2, 4, 11, 22)
"""In units of 500 kbit/s."""
_SHORT_PREAMBLE = 0x02
_LTFS = (1, 2, 4, 4, 6, 6, 8, 8)
"""Long training fields for 1 to 8 streams; HT has 4 streams at most."""
_DATA, _CONTROL = 2, 1
_ACK, _BLOCK_ACK = 13, 9
_WINDOW = 64


@dataclass(frozen=True)
class AirFrame:
    """One MPDU, or a control frame."""

    end_ns: int
    """End of its PPDU, ns since 1970."""
    first_bit_us: int
    """First bit of the PPDU's MPDUs by the chip's clock (TSFT), rounded down."""
    rate: str
    """As in MCS 7 or 24 Mbit/s."""
    preamble_us: int
    """From the PPDU's start to its first MPDU (IEEE Std 802.11-2020, 15.2, 16.2, 17.3.2, 19.3.2, 21.3.2)."""
    ampdu: int | None
    """Number of its A-MPDU."""
    frame: bytes
    """From the header on, without FCS."""

    @property
    def kind(self) -> tuple[int, int]:
        """Type and subtype."""
        return (self.frame[0] >> 2 & 3, self.frame[0] >> 4) if self.frame else (3, 15)

    @property
    def is_data(self) -> bool:
        """Data with a payload (not Null)."""
        kind, subtype = self.kind
        return kind == _DATA and not subtype & 4 and len(self.frame) >= 24

    @property
    def is_response(self) -> bool:
        """ACK or Block Ack."""
        kind, subtype = self.kind
        return kind == _CONTROL and subtype in (_ACK, _BLOCK_ACK)

    @property
    def receiver(self) -> bytes:
        """Address 1."""
        return self.frame[4:10]

    @property
    def transmitter(self) -> bytes:
        """Address 2; empty in an ACK and a CTS."""
        return self.frame[10:16]

    @property
    def sequence(self) -> int:
        """Sequence number."""
        return int.from_bytes(self.frame[22:24], "little") >> 4

    @property
    def retry(self) -> bool:
        """Its Retry bit."""
        return bool(self.frame[1] & 0x08)

    @property
    def body_at(self) -> int:
        """Where the body begins: behind address 4 and the QoS field."""
        four = self.frame[1] & 3 == 3
        return 24 + 6 * four + 2 * bool(self.frame[0] & 0x80)

    @property
    def packet_number(self) -> int | None:
        """Packet number of CCMP, GCMP or TKIP (9.4 of 12.5.3.2, 12.5.2.2); ``None``: it is not protected."""
        return packet_number(self.frame)

    @property
    def packet(self) -> bytes | None:
        """The IPv4 packet in a frame that is not protected; ``None``: there is none."""
        at = self.body_at
        if self.frame[1] & 0x40 or self.frame[at : at + 8] != b"\xaa\xaa\x03\0\0\0\x08\0":
            return None
        return self.frame[at + 8 :]

    def acknowledges(self, frame: AirFrame) -> bool:
        """Whether this response is positive about a frame of the PPDU before it."""
        if self.kind[1] == _ACK:
            return True
        start = int.from_bytes(self.frame[18:20], "little") >> 4
        place = (frame.sequence - start) & 0xFFF
        return place < _WINDOW and bool(int.from_bytes(self.frame[20:28], "little") >> place & 1)


def packet_number(frame: bytes) -> int | None:
    """The number of a protected data frame, by its Ext IV bit: that of CCMP, GCMP or TKIP; ``None``: it has none."""
    if len(frame) < 24 or not frame[1] & 0x40:
        return None
    at = 24 + 6 * (frame[1] & 3 == 3) + 2 * bool(frame[0] & 0x80)
    head = frame[at : at + 8]
    if len(head) < 8 or not head[3] & 0x20:
        return None
    # TKIP has TSC1, a copy of it, TSC0 first; both count up and do not repeat
    return int.from_bytes(head[0:2] + head[4:8], "little")


def read_air_frames(data: bytes) -> Iterator[AirFrame]:
    """The frames of a capture, in its order. Raises :class:`FormatError`."""
    for record in read_pcapng_records(data):
        found = _frame(record)
        if found is not None:
            yield found


def _frame(captured: PcapngRecord) -> AirFrame | None:
    record = captured.data
    try:
        return _parsed(captured, record)
    except IndexError:  # shorter than its header says
        return None


def _parsed(captured: PcapngRecord, record: bytes) -> AirFrame | None:
    if len(record) < 8:
        return None
    length, present = struct.unpack_from("<HI", record, 2)
    if not present & 1 or length < 16 or length > len(record):
        return None
    at, flags, rate = 16, 0, 0
    for bit, alignment, size in _FIELDS:
        if not present & bit:
            continue
        at += -at % alignment
        if bit == 1 << 1:
            flags = record[at]
        elif bit == 1 << 2:
            rate = record[at]
        at += size
    words, preamble_us = "VHT", 20
    if present & 1 << 2:
        words = f"{rate / 2:g} Mbit/s"
        if rate in _DSSS_RATES:
            preamble_us = 96 if flags & _SHORT_PREAMBLE else 192
    if present & _MCS:
        mcs = record[at + 2]
        words, preamble_us = f"MCS {mcs}", 32 + 4 * _LTFS[min(mcs // 8, 3)]
        at += 3
    ampdu = None
    if present & _AMPDU:
        at += -at % 4
        ampdu = int.from_bytes(record[at : at + 4], "little")
        at += 8
    if present & _VHT:
        at += -at % 2
        preamble_us = 36 + 4 * _LTFS[min(max(record[at + 4] & 15, 1), 8) - 1]
    end = len(record) - (_FCS_BYTES if flags & 0x10 and captured.cut == 0 else 0)
    frame = record[length:end]
    if len(frame) < 10 or flags & 0x40:
        return None
    return AirFrame(captured.time_ns, int.from_bytes(record[8:16], "little"), words, preamble_us, ampdu, frame)
