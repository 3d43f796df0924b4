"""The stock ath6kl_sdio on a virtual AR6004, in the stock ushc's slot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cards_here import run
from txop.guest.chips import Chip

PINGS = 20
BOTH_WAYS = "peer iperf3 -s -D >/dev/null; sleep 0.5; for way in '' -R; do dut iperf3 -c 10.80.210.1 -t 1 $way; done"


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["6.12", "6.1"])
def test_it_associates_with_hostapd_and_encrypts_in_the_card(tmp_path: Path, kernel: str) -> None:
    """Hardware 1.3, which keeps its board data where the driver says."""
    ping = f"dut ping -c {PINGS} -i 0.2 10.80.210.1"
    counted = run(tmp_path, Chip("ar6004", "ath6kl_sdio"), f"{ping}\n{BOTH_WAYS}\ndmesg", kernel)
    said = (tmp_path / "stdout").read_text()
    assert f"{PINGS} received, 0% packet loss" in said
    rates = [float(rate) for rate in re.findall(r"([\d.]+) Mbits/sec .*receiver", said)]
    assert len(rates) == 2
    assert all(rate > 5 for rate in rates), rates
    assert "ar6004 hw 1.3 sdio fw txop stand-in api 5" in said
    assert (counted["assumptions"]["revision"], counted["assumptions"]["device-id"]) == ("1.3", 0x0401)
    assert counted["tx"]["encrypted"] >= PINGS
    assert counted["rx"]["decrypted"] >= PINGS
    assert counted["rx"]["integrity_errors"] == 0
    assert counted["chip"]["bmi_bytes"] >= 64 * 1024 + 6144
    assert counted["htc"]["underflows"] == 0
    assert counted["htc"]["malformed"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "revision", "device_id"),
    [
        ("ar6003", "2.0", "0300"),
        ("ar6004", "1.0", "0400"),
        ("ar6004", "1.1", "0402"),
        ("ar6004", "1.2", "0418"),
        ("ar6004", "3.0", "0419"),
    ],
)
def test_the_driver_knows_the_other_revisions(tmp_path: Path, device: str, revision: str, device_id: str) -> None:
    """Each has files, addresses and an SDIO device ID of its own."""
    options = ("--assume", f"revision={revision}", "--assume", f"device-id={device_id}")
    chip = Chip(device, "ath6kl_sdio", security="open", ap="builtin", options=options)
    run(tmp_path, chip, f"dut ping -c {PINGS} -i 0.05 10.80.210.1\ndmesg\ncat /sys/bus/sdio/devices/*/device")
    said = (tmp_path / "stdout").read_text()
    assert f"{PINGS} received, 0% packet loss" in said
    assert f"{device} hw {revision} sdio" in said
    assert f"0x{device_id}" in said.split()
