"""Bytes of any kind, in any size, from anywhere."""

from __future__ import annotations

import gzip
import io
import os
import threading
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.log import LogReport, name_faults, shipped_rules
from txop.log.lines import MAX_LINE
from txop.log.naming import read_log

RULES = shipped_rules()
LINE = b"[   12.345678] usb 1-1: USB disconnect, device number 4\n"


def read(data: bytes) -> LogReport:
    return read_log(io.BytesIO(data), rules=RULES)


class Endless(io.RawIOBase):
    """A stream of this number of bytes that is never in memory as a whole."""

    def __init__(self, piece: bytes, total: int) -> None:
        self._piece = piece
        self._left = total

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        size = min(len(buffer), len(self._piece), self._left)
        buffer[:size] = self._piece[:size]
        self._left -= size
        return size


def peak_bytes(stream: io.RawIOBase) -> tuple[LogReport, int]:
    tracemalloc.start()
    try:
        return read_log(stream, rules=RULES), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_line_of_a_hundred_megabytes():
    report, peak = peak_bytes(Endless(b"A" * (1 << 18), 100 << 20))
    assert (report.lines.read, report.lines.cut) == (1, 1)
    assert peak < 16 << 20


@pytest.mark.slow
def test_memory_does_not_grow_with_different_faults():
    lines = b"".join(
        b"[%5d.0] usb %d-%d: USB disconnect, device number 4\n" % (n, n % 250, n // 250) for n in range(9000)
    )
    report, peak = peak_bytes(Endless(lines[: 1 << 17], 3 << 17))
    assert len(report.faults) <= 2000
    assert report.faults_left_out > 0
    assert sum(fault.count for fault in report.faults) + report.faults_left_out > 5_000
    assert peak < 48 << 20


def test_the_end_of_a_cut_line_is_not_a_line():
    report = read(b"x" * (MAX_LINE * 3) + b"\n" + LINE)
    assert (report.lines.read, report.lines.cut) == (2, 1)
    assert report.faults[0].first.line == 2


def test_a_message_beyond_what_the_kernel_keeps_is_cut_for_rules():
    far = "[ 1.0] " + "x" * 2000 + " Hardware restart was requested"
    assert name_faults([far], rules=RULES).faults == []


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode("utf-8"),
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
        lambda text: gzip.compress(text.encode()),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.rstrip("\n").encode(),
        lambda text: b"\x00\x00" + text.encode() + b"\x00\x00",
    ],
    ids=["utf-8", "bom", "utf-16", "utf-16-be", "gzip", "crlf", "no newline", "nul padding"],
)
def test_encodings(encode):
    report = read(encode(LINE.decode() * 2))
    assert [(fault.key, fault.count) for fault in report.faults] == [("usb-disconnect", 2)]
    assert report.damage is None


@pytest.mark.parametrize("keep", [12, 40, -9])
def test_a_gzip_file_that_breaks_off(keep):
    report = read(gzip.compress(os.urandom(3000) + LINE * 5)[:keep])
    assert report.damage is not None
    assert "gzip" in report.damage


def test_a_pipe_that_delivers_slowly():
    reading_end, writing_end = os.pipe()

    def write() -> None:
        with os.fdopen(writing_end, "wb", buffering=0) as pipe:
            for byte in LINE * 3:
                pipe.write(bytes([byte]))

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(reading_end, "rb") as stream:
        report = read_log(stream, rules=RULES)
    writer.join()
    assert report.faults[0].count == 3


def test_a_path(tmp_path):
    file = tmp_path / "kern.log"
    file.write_bytes(LINE)
    report = read_log(file)
    assert (report.source, report.faults[0].count) == (str(file), 1)


def test_empty():
    report = read(b"")
    assert (report.lines.read, report.boots, report.faults, report.forms) == (0, [], [], [])


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=2000))
def test_arbitrary_bytes_never_raise(data):
    report = read(data)
    assert LogReport.model_validate_json(report.model_dump_json()) == report


PIECES = st.sampled_from(
    [
        "[    1.5] ",
        "<6>",
        "<999>",
        "6,1,2,-;",
        "6,99999999999999999999,99999999999999999999,-;",
        "kernel: ",
        "\n",
        "\n",
        "\n",
        "Nov 21 10:00:00 host kernel: ",
        "kern  :err   : ",
        "{",
        '{"MESSAGE":',
        '"_TRANSPORT":"kernel"}',
        "-- Boot ",
        "-- Reboot --",
        "2026-11-21T10:00:00,123456+00:00 ",
        "Linux version ",
        "** 5 printk messages dropped ** ",
        "message repeated 9 times: [ ",
        "last message repeated 999999999 times",
        "------------[ cut here ]------------",
        "WARNING: CPU: 0 PID: 1 at a.c:1 f+0x1/0x2 [m]",
        "Call Trace:",
        " f+0x1/0x2 [m]",
        "---[ end trace 0 ]---",
        "BUG: kernel NULL pointer dereference",
        "Oops[#1]:",
        " SUBSYSTEM=usb",
        "usb 1-1: new high-speed USB device number 4 using x",
        "usb 1-1: New USB device found, idVendor=7392, idProduct=7811",
        *(sample for rule in RULES.rules.values() for sample in rule.samples[:1]),
        "\x1b[31m",
        "\x00",
        "\xff",
        "]",
        "> ",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=60))
def test_pieces_of_logs_in_any_order_never_raise(pieces):
    report = name_faults("".join(pieces).split("\n"), rules=RULES)
    assert LogReport.model_validate_json(report.model_dump_json()) == report
    for fault in report.faults:
        assert fault.count == sum(entry.count for entry in fault.counts) > 0
        assert fault.first.line <= fault.last.line
