"""Boots are distinguished, and missing messages are reported."""

from __future__ import annotations

import pytest

DISCONNECT = "usb 1-1: USB disconnect, device number 4"


def test_two_boots_in_one_file_by_version_line(name):
    body = "\n".join(f"Nov 21 10:00:{second:02} host kernel: {DISCONNECT}" for second in range(9))
    start = "Nov 21 10:00:00 host kernel: Linux version 6.1.{} (x@y)\n"
    report = name(start.format(1) + body + "\n" + start.format(2) + body)
    assert [boot.kernel for boot in report.boots] == ["6.1.1", "6.1.2"]
    assert [boot.lines for boot in report.boots] == [10, 10]
    assert report.boots[1].begins == '"Linux version"'
    assert [(entry.boot, entry.count) for entry in report.faults[0].counts] == [(0, 9), (1, 9)]
    assert report.faults[0].first.boot == 0
    assert report.faults[0].last.boot == 1
    assert all(boot.from_the_start for boot in report.boots)


def test_arm_boot_lines_are_one_boot(name):
    boot = "[    0.000000] Booting Linux on physical CPU 0x0\n[    0.000000] Linux version 6.1.1 (x@y)\n"
    body = "".join(f"[{second:5}.000000] {DISCONNECT}\n" for second in range(1, 20))
    report = name(boot + body + boot + body)
    assert [boot.lines for boot in report.boots] == [21, 21]
    assert report.boots[1].begins == "the kernel's clock starts again"


def test_clock_that_starts_again_without_its_first_lines(name):
    report = name(f"[  100.0] {DISCONNECT}\n[  101.0] x\n[    9.0] {DISCONNECT}\n")
    assert len(report.boots) == 2
    assert not report.boots[0].from_the_start
    assert report.boots[1].first.line == 3


def test_stamps_slightly_out_of_order_are_one_boot(name):
    report = name(f"[  100.000100] a\n[  100.000050] b\n[   99.500000] {DISCONNECT}\n[  101.0] c\n")
    assert len(report.boots) == 1


@pytest.mark.parametrize(
    "mark", ["-- Boot 0123456789abcdef0123456789abcdef --", "-- Reboot --"], ids=["named", "unnamed"]
)
def test_marks_of_journalctl(name, mark):
    line = f"Nov 21 10:00:00 host kernel: {DISCONNECT}"
    report = name(f"-- Logs begin at Fri 2026-11-20 --\n{line}\n{mark}\n{line}\n{line}")
    assert [boot.lines for boot in report.boots] == [1, 2]
    assert report.lines.marks == 2


def test_boot_ids_of_the_journal(name):
    entry = '{{"_TRANSPORT":"kernel","_BOOT_ID":"{}","MESSAGE":"' + DISCONNECT + '"}}'
    report = name("\n".join(entry.format(boot) for boot in ("a", "a", "b", "b", "b")))
    assert [(boot.id, boot.lines) for boot in report.boots] == [("a", 2), ("b", 3)]


def test_missing_records(name):
    report = name(f"6,10,1000000,-;a\n6,15,1100000,-;{DISCONNECT}\n6,16,1200000,-;c\n")
    assert [(gap.lost, gap.where.line) for gap in report.gaps] == [(4, 2)]
    assert len(report.boots) == 1


def test_sequence_that_starts_again_is_a_boot(name):
    report = name("6,1000,1000000,-;a\n6,1,9900000,-;b\n")
    assert len(report.boots) == 2
    assert report.gaps == []


@pytest.mark.parametrize(
    ("line", "lost"),
    [
        ("[ 1.0] net_ratelimit: 12 callbacks suppressed", 12),
        ("[ 1.0] usb_submit_urb: 7 callbacks suppressed", 7),
        ("** 68 printk messages dropped ** [    1.3] usb 1-1: x", 68),
        ("[ 1.0] printk: systemd: 23 output lines suppressed due to ratelimiting", 23),
        ("[ 1.0] systemd-journald[123]: Missed 5 kernel messages", 5),
        ("[ 1.0] systemd-journald[123]: /dev/kmsg buffer overrun, some messages lost.", None),
    ],
)
def test_messages_that_say_that_messages_are_missing(name, line, lost):
    assert [gap.lost for gap in name(line).gaps] == [lost]


def test_gaps_and_boots_are_bounded(name):
    report = name("\n".join(f"[ 1.{n}] a: 3 callbacks suppressed" for n in range(200)))
    assert len(report.gaps) + report.gaps_left_out == 200
    many = name("\n".join(f"[ {time}.0] x" for _ in range(2000) for time in (50, 3)))
    assert len(many.boots) == 256
    assert sum(boot.lines for boot in many.boots) == 4000


def test_serious_messages_without_a_rule(name):
    text = "<3>[ 1.0] foo: error 12\n<3>[ 2.0] foo: error 13\n<2>[ 3.0] bar\n<6>[ 4.0] fine\n<3>[ 5.0] " + DISCONNECT
    report = name(text)
    assert report.unnamed is not None
    assert report.unnamed.count == 3
    assert report.unnamed.examples == ["<3>[ 1.0] foo: error 12", "<2>[ 3.0] bar"]
