"""What no rule names and looks like trouble is listed; "no faults" is said of nothing else."""

from __future__ import annotations

import pytest

from txop.log import name_faults
from txop.log.unnamed import looks_like_trouble

TROUBLE = [
    "foo 1-1:1.0: transfer failed",
    "foo 1-1:1.0: failure of the mailbox",
    "foo 1-1:1.0: ERROR in step 7",
    "foo 1-1:1.0: error 12",
    "foo: MCU timed out",
    "foo: TX timeout",
    "foo: link time-out",
    "foo: WARN: odd state",
    "foo: BUG: odd state",
    "foo: the AP refused it",
    "foo: rejected by firmware",
    "foo: access denied",
    "foo: queue stopped",
    "foo: resetting the chip",
    "foo: chip reset",
    "foo: chip not responding",
    "foo: chip did not respond",
    "foo: chip doesn't answer",
    "foo: no response to command 7",
    "foo: unable to read",
    "foo: cannot read",
    "foo: can't read",
    "foo: couldn't read",
    "foo: could not read",
    "foo: invalid length 7",
    "foo: corrupted header",
    "foo: aborting",
    "foo: firmware crashed",
    "foo: fatal",
    "foo: stuck in state 7",
    "foo: packet dropped",
    "foo: lost sync",
    "foo: sequence mismatch",
    "foo: FIFO overrun",
    "foo: unexpected event 7",
    "foo: unknown_thing_err",
    "foo: rate 7 isn't supported",
    "foo: missing calibration",
    "foo: read returns -110",
    "foo: device busy (-16)",
    "foo: too many retries",
    "foo: MyTimeOut",
]
HARMLESS = [
    "usb 1-1: Product: WiFi",
    "wlan0: associated",
    "foo: firmware version 7.1",
    "Command line: quiet panic=5 ro",
    "foo: link is up",
    "br-lan: port 2(wlan0) entered forwarding state",
    "usbcore: registered new interface driver foo",
    "IPv6: ADDRCONF(NETDEV_UP): wlan0: link is not ready",
    "EXT4-fs (sda1): mounted filesystem, errors=remount-ro",
    "foo: 0 errors",
]


@pytest.mark.parametrize("message", TROUBLE)
@pytest.mark.parametrize("form", ["{}", "[   12.500000] {}", "kernel: {}", "<6>[   12.500000] {}"])
def test_what_looks_like_trouble_is_listed_whatever_its_level(message, form):
    report = name_faults([form.format(message)])
    assert report.faults == []
    assert report.unnamed is not None
    assert (report.unnamed.count, report.unnamed.examples) == (1, [form.format(message)])


@pytest.mark.parametrize("message", HARMLESS)
def test_ordinary_messages_are_not(message):
    assert not looks_like_trouble(message)


def test_levels_count_separately():
    report = name_faults(["<3>[ 1.0] foo: x", "<6>[ 1.1] foo: transfer failed", "<6>[ 1.2] foo: fine"])
    assert report.unnamed is not None
    assert (report.unnamed.count, report.unnamed.by_level) == (2, 1)
    without = name_faults(["[ 1.1] foo: transfer failed", "[ 1.2] foo: transfer failed"])
    assert without.unnamed is not None
    assert (without.unnamed.count, without.unnamed.by_level, without.unnamed.times) == (2, None, [2])
    assert name_faults(["[ 1.2] foo: fine"]).unnamed is None


def test_lines_of_a_report_are_not_listed_again():
    report = name_faults(
        [
            "[ 1.0] ------------[ cut here ]------------",
            "[ 1.0] Timeout waiting for the reset of unit 3",
            "[ 1.0] WARNING: CPU: 0 PID: 9 at drivers/foo.c:10 foo_reset+0x1/0x2 [foo]",
            "[ 1.0] Modules linked in: foo error_injection",
        ]
    )
    assert report.unnamed is None
    (fault,) = report.faults
    assert ("text", "Timeout waiting for the reset of unit 3") in [(value.name, value.text) for value in fault.values]


def test_a_cut_here_without_a_report_hides_nothing():
    report = name_faults(["[ 1.0] ------------[ cut here ]------------", "[ 1.0] foo: transfer failed", "[ 2.0] up"])
    assert report.unnamed is not None
    assert report.unnamed.count == 1


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("Nov 21 10:00:00 dut hostapd: wlan0: something failed", 1),
        ("Nov 21 10:00:00 dut NetworkManager[7]: <warn> something failed", 1),
        ("Nov 21 10:00:00 dut gnome-shell[7]: something failed", 0),
    ],
)
def test_programs_about_the_network_are_looked_at_and_others_are_not(line, counts):
    report = name_faults([line])
    assert (report.unnamed.count if report.unnamed is not None else 0) == counts
    assert report.faults == []


def test_memory_is_bounded():
    report = name_faults(f"[ 1.0] foo{chr(97 + n % 26)}{chr(97 + n // 26)}: failed" for n in range(600))
    assert report.unnamed is not None
    assert report.unnamed.count == 600
    assert len(report.unnamed.examples) == len(report.unnamed.times) == 20


def test_counts_of_errors_that_are_0_are_none():
    lines = [
        "mwifiex_pcie 0000:01:00.0: num_cmd_timeout = 0",
        "mwifiex_pcie 0000:01:00.0: num_data_h2c_failure = 0",
        "rtw_8822ce 0000:01:00.0: tx errors = 0",
    ]
    report = name_faults(lines)
    assert (report.faults, report.unnamed) == ([], None)
    assert [fault.key for fault in name_faults(["rtw_8822ce 0000:01:00.0: tx errors = 12"]).faults] == [
        "realtek-message"
    ]
