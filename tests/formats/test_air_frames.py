"""The preamble of a frame of the air, by its radiotap header."""

from __future__ import annotations

import struct

import pytest

from txop.formats.air_frames import _frame
from txop.formats.pcapng_records import PcapngRecord


def captured(present: int, fields: bytes) -> PcapngRecord:
    head = struct.pack("<BBHIQ", 0, 0, 16 + len(fields), present | 1, 5) + fields
    return PcapngRecord(time_ns=1, data=head + bytes(24), cut=0)


@pytest.mark.parametrize(
    ("present", "fields", "preamble_us"),
    [
        (1 << 1 | 1 << 2, bytes([0, 2]), 192),  # 1 Mbit/s, long
        (1 << 1 | 1 << 2, bytes([2, 22]), 96),  # 11 Mbit/s, short
        (1 << 1 | 1 << 2, bytes([0, 12]), 20),  # 6 Mbit/s
        (1 << 1 | 1 << 19, bytes([0, 7, 0, 7]), 36),  # HT, one stream
        (1 << 1 | 1 << 19, bytes([0, 7, 0, 15]), 40),  # HT, two
        (1 << 1 | 1 << 21, bytes([0, 0]) + bytes([0, 0, 0, 0, 0x91, 0, 0, 0, 0, 0, 0, 0]), 40),  # VHT, one
        (1 << 1 | 1 << 21, bytes([0, 0]) + bytes([0, 0, 0, 0, 0x92, 0, 0, 0, 0, 0, 0, 0]), 44),  # VHT, two
    ],
)
def test_the_preamble_is_that_of_the_format(present: int, fields: bytes, preamble_us: int) -> None:
    found = _frame(captured(present, fields))
    assert found is not None
    assert found.preamble_us == preamble_us


def test_a_header_that_is_cut_is_no_frame() -> None:
    whole = captured(1 << 1 | 1 << 21, bytes(14))
    assert _frame(PcapngRecord(1, whole.data[:18], 0)) is None
