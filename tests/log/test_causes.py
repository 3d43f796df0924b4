"""Causes stand before their consequences, and how fast something comes is told."""

from __future__ import annotations

import pytest

from txop.log import Fault, name_faults
from txop.log.clock import seconds

LINK_DOWN = "pcieport 0000:00:1c.4: pciehp: Slot(4): Link Down"
NO_ANSWER = "rtw89_8852be 0000:04:00.0: c2h reg timeout"
OTHER = "mt76x2u 2-1:1.0: rx urb failed: -71"


def at(*lines: tuple[float, str]) -> list[str]:
    return [f"[{time_s:12.6f}] {line}" for time_s, line in lines]


def after(fault: Fault) -> list[tuple[str, int]]:
    return [(cause.key, cause.count) for cause in fault.after]


def by_key(lines: list[str]) -> dict[str, Fault]:
    return {fault.key: fault for fault in name_faults(lines).faults}


def test_what_comes_shortly_after_a_cause_is_its_consequence():
    faults = name_faults(at((10, LINK_DOWN), (10.5, NO_ANSWER), (11, OTHER))).faults
    assert [fault.key for fault in faults] == ["pcie-link-down", "rtw89-firmware", "mt76-usb-error"]
    assert [after(fault) for fault in faults] == [[], [("pcie-link-down", 1)], []]
    assert [fault.is_consequence() for fault in faults] == [False, True, False]


@pytest.mark.parametrize(
    "lines",
    [
        at((10, LINK_DOWN), (75, NO_ANSWER)),
        at((10, NO_ANSWER), (11, LINK_DOWN)),
        [LINK_DOWN, *["x: up"] * 200, NO_ANSWER],
        at((10, LINK_DOWN), (1, "Linux version 6.1"), (2, NO_ANSWER)),
    ],
    ids=["long after", "before", "many lines later", "another boot"],
)
def test_what_does_not_is_not(lines):
    assert after(by_key(lines)["rtw89-firmware"]) == []


def test_wall_clock_and_lines_do_as_well():
    for lines in (
        [f"Nov 21 10:00:00 dut kernel: {LINK_DOWN}", f"Nov 21 10:00:30 dut kernel: {NO_ANSWER}"],
        [LINK_DOWN, NO_ANSWER],
    ):
        assert after(by_key(lines)["rtw89-firmware"]) == [("pcie-link-down", 1)]


def test_some_of_the_times_are_told_as_such():
    fault = by_key(at((10, NO_ANSWER), (100, LINK_DOWN), (101, NO_ANSWER)))["rtw89-firmware"]
    assert (fault.count, after(fault), fault.is_consequence()) == (2, [("pcie-link-down", 1)], False)


def test_a_chain_stands_in_its_order_however_bad_its_parts_are():
    lines = at(
        (1, "qcom-q6v5-mss 4080000.remoteproc: fatal error received: wlan_peer.c:1:Assert"),
        (2, "remoteproc remoteproc0: crash detected in 4080000.remoteproc: type fatal error"),
        (3, "ath10k_snoc 18800000.wifi: firmware crashed! (guid n/a)"),
        (4, "ieee80211 phy0: Hardware restart was requested"),
    )
    faults = name_faults(lines).faults
    assert [fault.key for fault in faults] == [
        "remoteproc-fatal",
        "remoteproc-crash",
        "ath10k-firmware-crashed",
        "wifi-hardware-restart",
    ]
    assert not faults[0].after
    assert all(fault.is_consequence() for fault in faults[1:])


def test_a_warning_that_explains_an_error_stands_before_it():
    lines = at(
        (1, OTHER), (2, "usb 1-1: USB disconnect, device number 4"), (2.1, "mt76x0u 1-1:1.0: rx urb failed: -19")
    )
    faults = name_faults(lines).faults
    assert [(fault.key, fault.device) for fault in faults] == [
        ("mt76-usb-error", "usb 2-1"),
        ("usb-disconnect", "usb 1-1"),
        ("mt76-usb-error", "usb 1-1"),
    ]


def test_everything_shortly_after_an_oops_follows_it():
    lines = at(
        (1, "BUG: kernel NULL pointer dereference, address: 0000000000000010"),
        (1.1, "RIP: 0010:foo_stop+0x1/0x2 [foo]"),
        (1.2, "---[ end trace 0 ]---"),
        (5, NO_ANSWER),
    )
    assert after(by_key(lines)["rtw89-firmware"]) == [("kernel-oops", 1)]


def test_rate_of_a_storm():
    (fault,) = name_faults(at(*((10 + n / 10, OTHER) for n in range(101)))).faults
    assert fault.rate is not None
    assert fault.count == 101
    assert fault.rate.over_s == pytest.approx(10.0)
    assert fault.rate.per_s == pytest.approx(10.1)
    assert fault.rate.busiest_10_s == 100


def test_a_burst_is_seen_in_a_long_log():
    times = [*range(0, 5000, 1000), *(3000 + n / 100 for n in range(50))]
    (fault,) = name_faults(at(*((float(time_s), OTHER) for time_s in sorted(times)))).faults
    assert fault.rate is not None
    assert fault.rate.busiest_10_s == 51
    assert fault.rate.per_s < 0.02


@pytest.mark.parametrize("lines", [[OTHER, OTHER], at((1, OTHER)), at((1, OTHER), (1, OTHER))])
def test_no_times_no_rate(lines):
    (fault,) = name_faults(lines).faults
    assert fault.rate is None


def test_spans_of_boots_are_added():
    lines = [*at((10, OTHER), (20, OTHER)), *at((1, "Linux version 6.1"), (5, OTHER), (15, OTHER))]
    (fault,) = name_faults(lines).faults
    assert fault.rate is not None
    assert (fault.rate.over_s, fault.rate.per_s) == (20.0, 0.2)


def test_what_the_kernel_left_out_is_told():
    lines = at((1, OTHER), (6, "mt76u_complete_rx: 812 callbacks suppressed"), (6, OTHER), (6.1, OTHER))
    (fault,) = name_faults(lines).faults
    assert (fault.count, fault.suppressed) == (3, 812)
    lines = at((6, "foo: 9 callbacks suppressed"), (6, "foo: fine"), (6.1, OTHER))
    (fault,) = name_faults(lines).faults
    assert fault.suppressed == 0


def test_what_to_do_depends_on_the_bus():
    usb, pci = (
        name_faults([f"{device}: driver own failed"]).faults[0].do
        for device in ("mt7921u 2-1:1.3", "mt7921e 0000:05:00.0")
    )
    assert "ASPM" in pci
    assert "ASPM" not in usb


@pytest.mark.parametrize(
    ("earlier", "later", "apart_s"),
    [
        ("Nov 21 10:00:00", "Nov 21 10:00:07.5", 7.5),
        ("Nov 21 23:59:59", "Nov 22 00:00:01", 2),
        ("Sat Nov 21 10:00:00 2026", "Sun Nov 22 10:00:00 2026", 86400),
        ("2026-11-21T10:00:00.5Z", "2026-11-21T10:00:01,500000+01:00", 1),
        ("1657009329.5", "1657009330.0", 0.5),
        ("11-21 10:00:00.001", "11-21 10:00:00.501", 0.5),
        ("10:00:00", "10:01:00", 60),
    ],
)
def test_wall_clocks(earlier, later, apart_s):
    first, second = seconds(earlier), seconds(later)
    assert first is not None
    assert second is not None
    assert second - first == pytest.approx(apart_s)


@pytest.mark.parametrize("clock", ["", "Nov 21", "+0.5", "99-99", "Foo 99 10:00"])
def test_clocks_that_are_none(clock):
    assert seconds(clock) is None


def test_one_card_explains_nothing_of_another():
    crash = "ath11k_pci 0000:03:00.0: firmware crashed: MHI_CB_EE_RDDM"
    lines = at(
        (10, crash),
        (11, "ath11k_pci 0000:03:00.0: wmi command 16387 timeout"),
        (11.1, "ath11k_pci 0000:04:00.0: failed to send WMI_PDEV_SET_PARAM cmd: -11"),
        (11.2, "ath11k_pci 0000:03:00.0: failed to send WMI_PDEV_SET_PARAM cmd: -108"),
        (11.3, "wlan0: Connection to AP 24:f5:a2:c0:4e:b1 lost"),
        (11.4, "mt7921e 0000:05:00.0: Message 00020007 (seq 3) timeout"),
        (11.5, "rtl8xxxu: probe of 1-1:1.0 failed with error -110"),
    )
    faults = {(fault.key, fault.device): after(fault) for fault in name_faults(lines).faults}
    assert faults[("ath10k-failed", "pci 0000:03:00.0")] == [("ath10k-firmware-crashed", 1)]
    assert faults[("ath10k-failed", "pci 0000:04:00.0")] == []
    assert faults[("wifi-connection-lost", "wlan0")] == [("ath10k-firmware-crashed", 1)]
    assert faults[("probe-failed", "usb 1-1")] == [], "a card says nothing of a stick"
