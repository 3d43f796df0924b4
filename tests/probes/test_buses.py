"""The bus that the device hangs on, and the driver's own statistics."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from fake_target import FakeTarget
from instrument_bench import CAPTURED, carry_out, context_of, gate_states, make_plan
from txop.measure.instrument import Instrument, Reading
from txop.measure.probes.ethtool import EthtoolStatistics, growth
from txop.measure.probes.sdio import SdioBus
from txop.measure.probes.usb import UsbLink

USB = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1"
SDIO = "/sys/devices/platform/soc/3f300000.mmcnr/mmc_host/mmc1/mmc1:0001/mmc1:0001:1"

# The form of drivers/mmc/core/debugfs.c, mmc_ios_show
IOS = """clock:		50000000 Hz
actual clock:	41666667 Hz
vdd:		21 (3.3 ~ 3.4 V)
bus mode:	2 (push-pull)
chip select:	0 (don't care)
power mode:	2 (on)
bus width:	2 (4 bits)
timing spec:	2 (sd high-speed)
signal voltage:	0 (3.30 V)
driver type:	0 (driver type B)
"""


def usb_target(*speeds: str, number: tuple[str, ...] = ("7",), product: str = "8176") -> FakeTarget:
    target = FakeTarget()
    target.connected = True
    target.answer("readlink", stdout=f"{USB}/1-1:1.0\n")
    target.files[f"{USB}/speed"] = [f"{speed}\n".encode() for speed in speeds]
    target.files[f"{USB}/devnum"] = [f"{each}\n".encode() for each in number]
    target.files[f"{USB}/idVendor"] = b"0bda\n"
    target.files[f"{USB}/idProduct"] = f"{product}\n".encode()
    return target


def go(folder: Path, probe: Instrument, target: FakeTarget, more: str = "") -> Reading:
    folder.mkdir(exist_ok=True, parents=True)
    run = context_of(make_plan(more=more), folder, {"dut": target})
    return asyncio.run(carry_out([probe], run, window_s=0))


def test_a_steady_usb_link_is_ok_and_recorded(tmp_path):
    reading = go(tmp_path, UsbLink(), usb_target("480"))
    assert gate_states(reading) == {"usb-speed": "ok"}
    assert reading.provenance == {"dut": {"usb_mbit_s": 480.0}}
    assert not reading.warnings


def test_a_usb_link_that_falls_in_the_run_voids_it(tmp_path):
    reading = go(tmp_path, UsbLink(), usb_target("480", "12", number=("7", "8")))
    assert reading.gates[0].state == "void"
    assert reading.gates[0].words == "its USB link fell from 480 to 12 Mbit/s"
    assert reading.warnings == ["dut: the USB device left the bus and came back during the run"]


def test_a_usb_link_slower_than_in_an_earlier_run_of_the_arm_voids_the_run(tmp_path):
    go(tmp_path / "001-old-tx", UsbLink(), usb_target("480"))
    later = go(tmp_path / "002-old-tx", UsbLink(), usb_target("12"))
    assert later.gates[0].words == "its USB link fell from 480 to 12 Mbit/s"


@pytest.mark.parametrize("other", [{"product": "8178"}, {}])
def test_another_device_and_another_arm_may_be_slower(tmp_path, other):
    first = tmp_path / "001-vendor-tx"
    go(first, UsbLink(), usb_target("5000"))
    if not other:
        record = json.loads((first / "usb-dut.json").read_text())
        (first / "usb-dut.json").write_text(json.dumps({**record, "arm": "vendor"}))
    assert gate_states(go(tmp_path / "001-old-tx", UsbLink(), usb_target("480", **other))) == {"usb-speed": "ok"}


def test_a_usb_device_that_is_gone_cannot_be_judged(tmp_path):
    target = usb_target("480")
    target._scripts.clear()
    target.answer("readlink", stdout=f"{USB}/1-1:1.0\n")
    target.answer("readlink", status=1)
    reading = go(tmp_path, UsbLink(), target)
    assert (reading.gates[0].state, reading.gates[0].words) == ("not available", "the device was gone at the end")


def test_the_gate_can_be_switched_off_and_does_not_concern_other_buses(tmp_path):
    assert not go(tmp_path / "a", UsbLink(), usb_target("480", "12"), "[gates]\nusb_speed = false").gates
    pci = FakeTarget()
    pci.connected = True
    pci.answer("readlink", stdout="/sys/devices/pci0000:00/0000:02:00.0\n")
    assert go(tmp_path / "b", UsbLink(), pci) == Reading()
    assert go(tmp_path / "c", SdioBus(), pci) == Reading()


def test_an_sdio_bus_that_is_set_slower_is_reported(tmp_path):
    target = FakeTarget()
    target.connected = True
    target.answer("readlink", stdout=f"{SDIO}\n")
    target.answer("cat", "/sys/kernel/debug/mmc1/ios", stdout=IOS)
    target.answer("cat", "/sys/kernel/debug/mmc1/ios", stdout=IOS.replace("2 (4 bits)", "0 (1 bits)"))
    reading = go(tmp_path, SdioBus(), target)
    assert reading.provenance["dut"]["sdio"] == {
        "clock_hz": 50_000_000,
        "bus_width_bits": 4,
        "timing": "sd high-speed",
    }
    assert reading.warnings == ["dut: bus width bits of its SDIO bus went from 4 to 1 in the run"]
    assert ("cat", "/sys/kernel/debug/mmc1/ios") in target.root


@pytest.mark.parametrize("text", ["", "clock:\n", "\x00\xff garbage"])
def test_an_sdio_bus_that_tells_nothing_is_left_out(tmp_path, text):
    target = FakeTarget()
    target.connected = True
    target.answer("readlink", stdout=f"{SDIO}\n")
    target.answer("cat", "/sys/kernel/debug/mmc1/ios", stdout=text)
    assert not go(tmp_path, SdioBus(), target).warnings


def test_statistics_of_the_driver_that_grew(tmp_path):
    before = (CAPTURED / "ethtool" / "S-hwsim.txt").read_text()
    assert "rx_dropped: 0" in before
    after = before.replace("rx_dropped: 0", "rx_dropped: 42").replace("tx_retries: 0", "tx_retries: 7")
    target = FakeTarget()
    target.connected = True
    target.programs["ethtool"] = "ethtool"
    target.answer("ethtool", stdout=before)
    target.answer("ethtool", stdout=after)
    reading = go(tmp_path, EthtoolStatistics(), target)
    assert growth(tmp_path, "dut") is not None
    assert growth(tmp_path, "dut")["rx_dropped"] == 42
    assert reading.warnings == ["dut: the driver counted errors: rx_dropped +42"]
    assert (tmp_path / "ethtool-before-dut.txt").read_text() == before


def test_a_block_that_a_timer_ends_is_no_error(tmp_path):
    target = FakeTarget()
    target.connected = True
    target.programs["ethtool"] = "ethtool"
    for reasons, dropped in ((2, 0), (162, 3)):
        text = f"NIC statistics:\n     tx_reason_timeout: {reasons}\n     tx_dropped: {dropped}\n"
        target.answer("ethtool", stdout=text)
    reading = go(tmp_path, EthtoolStatistics(), target)
    assert growth(tmp_path, "dut") == {"tx_reason_timeout": 160, "tx_dropped": 3}
    assert reading.metrics["ncm_timer_percent"].value == 100
    assert reading.warnings == ["dut: the driver counted errors: tx_dropped +3"]


def test_no_ethtool_and_no_statistics(tmp_path):
    without = FakeTarget()
    without.connected = True
    assert go(tmp_path / "a", EthtoolStatistics(), without) == Reading()
    none = FakeTarget()
    none.connected = True
    none.programs["ethtool"] = "ethtool"
    none.answer("ethtool", stderr="no stats available\n", status=94)
    assert go(tmp_path / "b", EthtoolStatistics(), none) == Reading()
