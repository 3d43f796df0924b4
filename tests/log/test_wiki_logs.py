"""Both logs of the rtl8xxxu wiki page are named exactly."""

from __future__ import annotations


def test_firmware_upload_failure(name, values, wiki):
    report = name(wiki["firmware-upload-failure"])
    block, probe = (fault for fault in report.faults if fault.severity != "info")
    assert (block.key, block.severity, block.device, block.driver, block.count) == (
        "rtl8xxxu-firmware-block",
        "error",
        "usb 1-1.5.4",
        "rtl8xxxu",
        1,
    )
    assert values(block) == {"address": [("1c00", None)], "size": [("0080", None)]}
    assert (block.first.line, block.first.time_s, block.first.clock) == (30, None, None)
    assert block.examples == ["kernel: usb 1-1.5.4: rtl8xxxu_writeN: Failed to write block at addr: 1c00 size: 0080"]
    assert (probe.key, probe.severity, probe.device, probe.driver, probe.count) == (
        "probe-failed",
        "error",
        "usb 1-1.5.4",
        "rtl8xxxu",
        1,
    )
    assert values(probe) == {"errno": [("-11", "EAGAIN")]}
    assert report.lines.read == report.lines.kernel + 1 == 32  # the last newline
    assert [form.form for form in report.forms] == ["kernel-prefix"]
    assert report.unnamed is None, "the log has no levels"


def test_rx_iqk_failed(name, values, wiki):
    report = name(wiki["rx-iqk-failed"])
    (iqk,) = (fault for fault in report.faults if fault.severity != "info")
    assert (iqk.key, iqk.device, iqk.driver, iqk.function, iqk.count) == (
        "rtl8xxxu-iqk-failed",
        "usb 1-1.5.4",
        "rtl8xxxu",
        "rtl8xxxu_iqk_path_a",
        2,
    )
    assert values(iqk) == {"path": [("A", None)], "direction": [("RX IQK", None)]}
    assert [(entry.boot, entry.count) for entry in iqk.counts] == [(0, 2)]
    assert (iqk.first.line, iqk.last.line) == (24, 25)


def test_what_is_only_information_is_there_too(name, wiki):
    informed = {
        fault.key: fault.device for fault in name(wiki["firmware-upload-failure"]).faults if fault.severity == "info"
    }
    assert informed == {"usb-new-device": "usb 1-1.5.4", "rtl8xxxu-firmware-version": "usb 1-1.5.4"}
