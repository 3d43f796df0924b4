"""Every form in which people keep a kernel log gives the same faults."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from txop.log import LogReport, name_faults
from txop.log.forms import FORMS, LineParser
from txop.log.record import Kind

RAW = Path(__file__).parent / "captured" / "dmesg-r.txt"


def signature(report: LogReport) -> list[tuple[object, ...]]:
    return [
        (fault.key, fault.device, fault.driver, fault.count, tuple((v.name, v.text, v.meaning) for v in fault.values))
        for fault in report.faults
    ]


EXPECTED = [
    "rtl8xxxu-firmware-block",
    "probe-failed",
    "rtl8xxxu-iqk-failed",
    "wifi-deauthenticated",
    "usb-new-device",
    "rtl8xxxu-firmware-version",
]

FORM_OF = {
    "dmesg": ("dmesg", "s"),
    "dmesg-T": ("dmesg-ctime", "clock"),
    "dmesg-color": ("dmesg", "s"),
    "dmesg-d": ("dmesg", "s"),
    "dmesg-e": ("dmesg-reltime", None),
    "dmesg-iso": ("dmesg-iso", "clock"),
    "dmesg-r": ("dmesg-raw", "s"),
    "dmesg-t": ("bare", None),
    "dmesg-x": ("dmesg", "s"),
    "dmesg-x-T": ("dmesg-ctime", "clock"),
    "journalctl-cat": ("bare", None),
    "journalctl-json": ("journal-json", "both"),
    "journalctl-json-seq": ("journal-json", "both"),
    "journalctl-short": ("syslog", "clock"),
    "journalctl-short-delta": ("journal-monotonic", "s"),
    "journalctl-short-full": ("journal", "clock"),
    "journalctl-short-iso": ("syslog-iso", "clock"),
    "journalctl-short-iso-precise": ("syslog-iso", "clock"),
    "journalctl-short-monotonic": ("journal-monotonic", "s"),
    "journalctl-short-precise": ("syslog", "clock"),
    "journalctl-short-unix": ("syslog-iso", "clock"),
}


def test_the_captures_are_all_here(captured):
    assert set(captured) == set(FORM_OF)


@pytest.mark.parametrize("capture", FORM_OF)
def test_what_the_tools_print_gives_the_same_faults(captured, name, capture):
    report = name(captured[capture])
    of_the_kernel = [fault for fault in report.faults if fault.key != "wpa-disconnected"]
    assert [fault.key for fault in of_the_kernel] == EXPECTED
    assert len(report.faults) - len(of_the_kernel) == ("CTRL-EVENT" in captured[capture]), "the journal has both"
    assert signature(report)[:4] == signature(name(captured["dmesg-r"]))[:4]
    form, time = FORM_OF[capture]
    assert report.forms[0].form == form
    assert form in FORMS
    block = report.faults[0]
    assert block.first.time_s == (14.25 if time in ("s", "both") else None)
    assert (block.first.clock is not None) == (time in ("clock", "both"))
    assert len(report.boots) == 1
    assert report.boots[0].kernel == "6.1.0-test"
    assert report.lines.not_understood == 0


@pytest.mark.parametrize(
    ("options", "form"),
    [
        (["-T"], "dmesg-ctime"),
        (["-x"], "dmesg"),
        (["-r"], "dmesg-raw"),
        (["-x", "--time-format", "iso"], "dmesg-iso"),
        (["-d", "--color=always"], "dmesg"),
    ],
)
def test_the_dmesg_of_this_machine(options, form):
    program = shutil.which("dmesg")
    if program is None or "util-linux" not in subprocess.run([program, "-V"], capture_output=True, text=True).stdout:
        pytest.skip("needs dmesg of util-linux")
    done = subprocess.run([program, "-F", str(RAW), *options], capture_output=True, text=True, timeout=60, check=True)
    report = name_faults(done.stdout.split("\n"))
    assert [fault.key for fault in report.faults] == EXPECTED
    assert report.forms[0].form == form


def parse(line: str):
    return LineParser().parse(line)


MESSAGE = "usb 1-1: USB disconnect, device number 4"


@pytest.mark.parametrize(
    ("line", "form", "time_s", "level"),
    [
        (f"6,339,5140900,-;{MESSAGE}", "kmsg", 5.1409, 6),
        (f"3,1234,98765432109,-,caller=T123;{MESSAGE}", "kmsg", 98765.432109, 3),
        (f"<6>[   12.345678][  T123] {MESSAGE}", "dmesg-raw", 12.345678, 6),
        (f"[   12.345678] [    C0] {MESSAGE}", "dmesg", 12.345678, None),
        (f"<3>{MESSAGE}", "dmesg-notime", None, 3),
        (f"kern  :err   : {MESSAGE}", "dmesg-notime", None, 3),
        (f"Nov 21 10:00:00 host kernel: [   12.345678] {MESSAGE}", "syslog", 12.345678, None),
        (f"Nov  1 10:00:00 host kernel: {MESSAGE}", "syslog", None, None),
        (f"<4>Nov 21 10:00:00 host kernel: [  0.5] {MESSAGE}", "syslog", 0.5, 4),
        (f"Nov 21 10:00:00 host kern.info kernel: [   12.345678] {MESSAGE}", "syslog", 12.345678, 6),
        (f"Nov 21 10:00:00 kernel: {MESSAGE}", "syslog", None, None),
        (f"2026-11-21T10:00:00.123456+01:00 host kernel: [   12.345678] {MESSAGE}", "syslog-iso", 12.345678, None),
        (
            f"<6>1 2026-11-21T10:00:00.123456+01:00 host kernel - - - [   12.345678] {MESSAGE}",
            "syslog-5424",
            12.345678,
            6,
        ),
        (f'1 2026-11-21T10:00:00Z host kernel - - [a b="c"] {MESSAGE}', "syslog-5424", None, None),
        (f"Sat Nov 21 10:00:00 2026 kern.err kernel: [   12.345678] {MESSAGE}", "openwrt", 12.345678, 3),
        (f"fev 21 10:00:00.299850 mimi kernel: {MESSAGE}", "syslog", None, None),
        (f"07:37:18 kernel: {MESSAGE}", "kernel-prefix", None, None),
        (f"kernel: {MESSAGE}", "kernel-prefix", None, None),
        (f"> > [   12.345678] {MESSAGE}", "dmesg", 12.345678, None),
        (f"    [   12.345678] {MESSAGE}", "dmesg", 12.345678, None),
        (f"\x1b[32m[   12.345678] \x1b[0m\x1b[33m{MESSAGE}\x1b[0m\r", "dmesg", 12.345678, None),
        (f"** 68 printk messages dropped ** [   12.345678] {MESSAGE}", "dmesg", 12.345678, None),
        (f"[lun. nov. 21 10:00:00 2026] {MESSAGE}", "dmesg-ctime", None, None),
        (f'{{"_TRANSPORT":"kernel","MESSAGE":"{MESSAGE}","PRIORITY":"3"}}', "journal-json", None, 3),
        (MESSAGE, "bare", None, None),
    ],
)
def test_one_line_of_each_form(line, form, time_s, level):
    record = parse(line)
    assert (record.form, record.message) == (form, MESSAGE)
    assert (record.time_s, record.level) == (time_s, level)
    assert record.kind is (Kind.BARE if form == "bare" else Kind.KERNEL)
    assert record.raw == line


@pytest.mark.parametrize(
    "line",
    [
        "Nov 21 10:00:00 host cron[77]: wlan0: CTRL-EVENT-DISCONNECTED bssid=24:f5:a2:c0:4e:b1 reason=7",
        "<30>[  112.000000] systemd[1]: Started foo.",
        "daemon:info  : [  112.000000] systemd[1]: Started foo.",
        "30,9,112000000,-;systemd[1]: Started foo.",
        "Sat Nov 21 10:00:00 2026 daemon.info hostapd: wlan0: disassociated from 24:f5:a2:c0:4e:b1 (Reason: 4)",
        '{"_TRANSPORT":"syslog","SYSLOG_IDENTIFIER":"hostapd","MESSAGE":"usb 1-1: USB disconnect, device number 4"}',
    ],
)
def test_other_programs_are_not_the_kernel(line, name):
    report = name(line)
    assert (report.lines.other_programs, report.lines.kernel, report.faults) == (1, 0, [])


def test_program_in_a_monotonic_journal_is_known_by_its_host(name):
    report = name(
        "[  1.000000] neo kernel: usb 1-1: USB disconnect, device number 4\n"
        "[  2.000000] neo app[7]: wlan0: deauthenticated from 24:f5:a2:c0:4e:b1 (Reason: 7)\n"
    )
    assert (report.lines.kernel, report.lines.other_programs) == (1, 1)
    assert [fault.key for fault in report.faults] == ["usb-disconnect"]


def test_kmsg_properties_and_escapes(name):
    report = name("6,339,5140900,-;usb 1-1: a\\x09b\\x1b\n SUBSYSTEM=usb\n DEVICE=c189:4\n6,340,5150900,-;c\n")
    assert (report.lines.kernel, report.lines.marks, report.gaps) == (2, 2, [])
    assert parse("6,339,5140900,-;a\\x09b\\x1b").message == "a\tb\\x1b"


def test_journal_bytes_and_odd_fields():
    record = parse(
        '{"_TRANSPORT":"kernel","MESSAGE":[117,115,98,255],"PRIORITY":"9999999999999999999999","_BOOT_ID":7}'
    )
    assert (record.message, record.level, record.boot_id) == ("usb\\xff", None, None)
    assert parse('{"_TRANSPORT":"kernel","MESSAGE":null}').message == ""
    assert parse('{"a": 1').kind is Kind.JUNK
    assert parse("{" * 5000).kind is Kind.JUNK
    assert parse('{"__REALTIME_TIMESTAMP":"99999999999999999999"}').clock is None


def test_device_out_of_the_journal_when_the_message_names_none(name):
    report = name(
        '{"_TRANSPORT":"kernel","_KERNEL_DEVICE":"+usb:1-1.5","MESSAGE":"request_firmware(rtlwifi/x.bin) failed"}'
    )
    assert report.faults[0].device == "usb 1-1.5"


def test_folded_repetitions_count(name):
    line = "Nov 21 10:00:00 host kernel: "
    iqk = "usb 1-1: rtl8xxxu_iqk_path_a: Path A RX IQK failed!"
    report = name(
        f"{line}{iqk}\n{line}message repeated 3 times: [ [   12.5] {iqk}]\n"
        f"Nov 21 10:00:01 host last message repeated 5 times\n"
        f"Nov 21 10:00:01 host cron[1]: x\nNov 21 10:00:01 host last message repeated 7 times\n"
    )
    assert [fault.count for fault in report.faults] == [9]
    assert report.faults[0].last.line == 3


def test_junk_is_counted(name):
    report = name(
        "\x00\x01\x02\x03\n[   1.0] usb 1-1: USB disconnect, device number 4\n\n{]\n\x7fELF\x02\x01\x01\x00\x00"
    )
    assert (report.lines.not_understood, report.lines.kernel, report.lines.empty, report.lines.read) == (3, 1, 1, 5)
    assert [fault.key for fault in report.faults] == ["usb-disconnect"]


def test_lines_add_up(captured, name):
    for text in captured.values():
        lines = name(text).lines
        kinds = (lines.kernel, lines.bare, lines.other_programs, lines.marks, lines.empty, lines.not_understood)
        assert sum(kinds) == lines.read


def test_times_are_those_of_the_log(captured, name):
    printed = [float(stamp) for stamp in re.findall(r"^\[ *([\d.]+)\]", captured["dmesg"], re.MULTILINE)]
    boot = name(captured["dmesg"]).boots[0]
    assert (boot.first.time_s, boot.last.time_s) == (printed[0], printed[-1])
