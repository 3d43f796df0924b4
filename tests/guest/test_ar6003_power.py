"""Power save of a virtual AR6003, as stock ath6kl_sdio chooses it for ``iw``, at an access point that keeps frames."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median

import pytest

from cards_here import run
from txop.guest.chips import Chip

PINGS = 20
# Every 300 ms: the card sleeps after 100 ms without data.
COMMAND = f"""\
dut iw dev wlan0 get power_save
peer ping -c {PINGS} -i 0.3 10.80.210.2
echo from the card; dut ping -c {PINGS} -i 0.3 10.80.210.1
dut iw dev wlan0 set power_save off; sleep 0.5
echo power save off; peer ping -c {PINGS} -i 0.3 10.80.210.2"""


@pytest.mark.slow
@pytest.mark.parametrize(("device", "ap"), [("ar6003", "hostapd"), ("ar6004", "builtin")])
def test_a_sleeping_card_answers_after_a_beacon(tmp_path: Path, device: str, ap: str) -> None:
    """The kernel asks for power save by default; echo requests of the card end its sleep at once."""
    security = "wpa2" if ap == "hostapd" else "open"
    counted = run(tmp_path, Chip(device, "ath6kl_sdio", security=security, ap=ap), COMMAND)
    said = (tmp_path / "stdout").read_text()
    assert "Power save: on" in said
    assert said.count(f"{PINGS} received, 0% packet loss") == 3
    asleep, rest = said.split("from the card")
    times = [
        [float(ms) for ms in re.findall(r"time=([0-9.]+) ms", part)] for part in (asleep, *rest.split("power save off"))
    ]
    to_card, from_card, awake = times
    # A beacon comes every 102.4 ms.
    assert median(to_card) > 20
    assert max(to_card) < 250
    assert median(from_card) < 5
    assert median(awake) < 5
    power = counted["power"]
    assert power["announced"] >= 2 * PINGS - 5
    assert power["polls"] + power["woken_by_access_point"] >= PINGS // 2
    assert power["woken_by_host"] >= PINGS
    # Of 2 x 20 x 300 ms it is awake for 100 ms after each frame: 8 s are left, and what comes before and after.
    assert 6e9 < power["asleep_ns"] < 9e9
    if ap == "builtin":
        assert counted["peers"]["wire"]["sleeps"] == power["announced"]
