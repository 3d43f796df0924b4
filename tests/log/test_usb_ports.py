"""A message about a USB port is named by what it turns out to be."""

from __future__ import annotations

from collections import Counter

import pytest

from txop.log import name_faults


def new(number: int, port: str = "1-1") -> str:
    return f"usb {port}: new high-speed USB device number {number} using xhci_hcd"


def found(product: str, port: str = "1-1") -> str:
    vendor, _, device = product.partition(":")
    return f"usb {port}: New USB device found, idVendor={vendor}, idProduct={device}, bcdDevice= 2.00"


def left(number: int, port: str = "1-1") -> str:
    return f"usb {port}: USB disconnect, device number {number}"


RESET = "usb 1-1: reset high-speed USB device number 4 using xhci_hcd"


def keys(*lines: str, step_s: float | None = 0.2) -> dict[str, int]:
    stamped = [line if step_s is None else f"[{10 + at * step_s:12.6f}] {line}" for at, line in enumerate(lines)]
    quiet = {"usb-new-device", "driver-registered"}
    counts: Counter[str] = Counter()
    for fault in name_faults(stamped).faults:
        counts[fault.key] += fault.count
    return {key: count for key, count in counts.items() if key not in quiet}


@pytest.mark.parametrize("step_s", [0.2, None], ids=["times", "no times"])
@pytest.mark.parametrize(
    "speaks",
    [
        "mt76x2u 1-1:1.0: ASIC revision: 76120044",
        "mt7601u 1-1:1.0: ASIC revision: 76010001 MAC revision: 76010500",
        "r8152 1-1:1.0: load rtl8153b-2 v1 successfully",
        "ieee80211 phy0: rt2x00_set_rt: Info - RT chipset 5390, rev 0502 detected",
    ],
)
def test_a_driver_resets_its_device_in_its_probe(speaks, step_s):
    assert keys(new(4), found("0e8d:7612"), RESET, speaks, step_s=step_s) == {"usb-reset-in-probe": 1}


@pytest.mark.parametrize(
    "lines",
    [
        (RESET, "rtl8xxxu 1-1:1.0: up"),
        (RESET, "mt76x2u 2-1:1.0: ASIC revision: 76120044"),
        ("mt76x2u 1-1:1.0: up", RESET, "mt76x2u 1-1:1.0: up again"),
        (RESET, *["x: fine"] * 60, "mt76x2u 1-1:1.0: ASIC revision: 76120044"),
        (RESET,),
    ],
    ids=["another driver", "another device", "not in its probe", "too late", "end of the log"],
)
def test_other_resets_are_resets(lines):
    found_keys = keys(*lines)
    assert found_keys == {"usb-reset": 1}


def test_a_reset_after_the_driver_was_loaded_again():
    again = ("mt76x2u 1-1:1.0: up", "usbcore: deregistering interface driver mt76x2u", RESET, "mt76x2u 1-1:1.0: up")
    assert keys(*again) == {"usb-reset-in-probe": 1}


def test_a_cd_rom_that_becomes_wifi():
    lines = (new(7), found("0bda:1a2b"), "usb-storage 1-1:1.0: USB Mass Storage device detected", left(7), new(8))
    assert keys(*lines, found("0bda:c820")) == {"usb-identity-changed": 1}
    assert keys(*lines, found("2357:0138")) == {"usb-identity-changed": 1}, "another vendor, after a CD-ROM"


def test_a_modem_that_changes_its_protocol_is_known_by_its_drivers():
    lines = (
        new(7),
        "qmi_wwan 1-1:1.2 wwan0: register 'qmi_wwan' at usb-xhci-1, WWAN/QMI device, 24:f5:a2:c0:4e:b1",
        left(7),
        "qmi_wwan 1-1:1.2 wwan0: unregister 'qmi_wwan' usb-xhci-1, WWAN/QMI device",
        new(8),
        "rndis_host 1-1:1.0 usb0: register 'rndis_host' at usb-xhci-1, RNDIS device, 24:f5:a2:c0:4e:b2",
    )
    report = name_faults([f"[{10 + at / 5:.6f}] {line}" for at, line in enumerate(lines)])
    (fault,) = (fault for fault in report.faults if fault.key != "usb-new-device")
    values = {value.name: value.text for value in fault.values}
    assert (fault.key, values["before"], values["now"]) == ("usb-identity-changed", "qmi_wwan", "rndis_host")


@pytest.mark.parametrize(
    "lines",
    [
        (new(7), found("0bda:c820"), left(7)),
        (new(7), found("0bda:c820"), left(7), new(8), found("0bda:c820")),
        (new(7), found("0bda:c820"), left(7), new(8), found("148f:5370")),
        (new(7), found("0bda:1a2b"), left(7), new(8, "2-1"), found("0bda:c820", "2-1")),
        (new(7), found("0bda:1a2b"), left(7), *["x: fine"] * 100, new(8), found("0bda:c820")),
        (left(7),),
    ],
    ids=["gone", "came back", "another stick", "another port", "much later", "alone"],
)
def test_other_disconnects_are_disconnects(lines):
    assert keys(*lines) == {"usb-disconnect": 1}


def test_a_device_that_keeps_leaving():
    lines = [line for number in range(4, 9) for line in (new(number), found("1199:9071"), left(number))]
    assert keys(*lines) == {"usb-disconnect": 5, "usb-came-back": 4}
    assert keys(*lines, step_s=None) == {"usb-disconnect": 5, "usb-came-back": 4}


def test_a_device_that_keeps_leaving_from_the_first_line_of_the_log_on():
    lines = [line for number in range(5, 10) for line in (left(number), new(number + 1), found("2c7c:0125"))]
    assert keys(*lines) == {"usb-disconnect": 5, "usb-came-back": 3}
    assert keys(*lines, step_s=None)["usb-came-back"] == 3


def test_each_port_for_itself():
    lines = [new(4), found("1199:9071"), left(4), new(5, "1-2"), found("1199:9071", "1-2"), left(5, "1-2")]
    assert keys(*lines) == {"usb-disconnect": 2}


REFUSED = "qmi_wwan 1-1:1.0: probe with driver qmi_wwan failed with error -22"
TAKEN = "cdc_ether 1-1:1.0 usb0: register 'cdc_ether' at usb-xhci-1, CDC Ethernet Device, 24:f5:a2:c0:4e:b1"


def test_the_next_driver_takes_what_one_declined():
    assert keys(REFUSED, TAKEN) == {"probe-next-driver": 1}
    assert keys(REFUSED, TAKEN.replace("1-1:1.0", "1-2:1.0")) == {"probe-failed": 1}
    assert keys(REFUSED, REFUSED.replace("1-1:1.0", "1-1:1.1")) == {"probe-failed": 2}
    assert keys(REFUSED) == {"probe-failed": 1}


def test_nothing_that_is_held_is_lost_in_another_boot():
    lines = ["[   10.000000] " + left(7), "[    0.000000] Linux version 6.1", "[    0.100000] " + new(2)]
    report = name_faults(lines)
    (fault,) = (fault for fault in report.faults if fault.key == "usb-disconnect")
    assert (fault.count, fault.first.boot, fault.first.line) == (1, 0, 1)


def test_many_ports_are_bounded():
    lines = [f"usb {bus}-{port}: USB disconnect, device number 4" for bus in range(1, 40) for port in range(1, 20)]
    assert keys(*lines, step_s=None) == {"usb-disconnect": len(lines)}
