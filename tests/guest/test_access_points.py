"""Both access points with both drivers in guests that really boot."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from guests_here import rebuilt_driver
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.qemu import Computer
from txop.guest.running import run_guest
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay

DRIVERS = ("rtl8192cu", "rtl8xxxu")

PROTECTED = (("wpa3", "SAE", "00-0f-ac-8"), ("owe", "OWE", "00-0f-ac-18"))
"""With management frame protection required: the key management of each (IEEE 802.11-2020 table 9-151)."""

HT20_SHORT_GI_MBIT_S = 72.2
"""IEEE 802.11-2020 table 19-27: MCS 7, 20 MHz, short guard interval: the fastest that one antenna can do there."""

EVENTS = """
[network]
amsdu_frames = 3
short_gi = true
tx_stbc = true
[[ap]]
name = "refused"
frame = "association"
times = 1
action = "refuse"
status = 17
[[ap]]
name = "no response"
frame = "association"
nth = 2
times = 1
action = "ignore"
[[ap]]
name = "deauthentication"
at_ms = 9000
action = "deauthenticate"
[[ap]]
name = "disassociation"
at_ms = 12000
action = "disassociate"
[[ap]]
name = "restart"
at_ms = 15000
action = "forget"
[[ap]]
name = "agreements ended"
at_ms = 18000
action = "delete_block_ack"
[[ap]]
name = "late Block Acks"
at_ms = 20000
times = 20
frame = "ampdu"
action = "late_block_ack"
by_us = 500
[[ap]]
name = "no Block Acks"
at_ms = 20000
nth = 30
times = 20
frame = "ampdu"
action = "no_block_ack"
[[ap]]
name = "beacon loss"
at_ms = 25000
for_ms = 9000
action = "no_beacons"
[[ap]]
name = "channel switch"
at_ms = 37000
action = "channel_switch"
channel = 11
[[ap]]
name = "silence"
at_ms = 51000
for_ms = 11000
action = "no_beacons"
"""

TRAFFIC = """
out=/txop/out
peer iperf3 -s -D
dut iperf3 -c 10.80.210.1 -t 2 -J >$out/up.json
dut iperf3 -c 10.80.210.1 -t 2 -R -J >$out/down.json
"""

THROUGH_EVENTS = (
    TRAFFIC
    + """
dut iperf3 -c 10.80.210.1 -u -b 2M -t 40 >$out/load 2>&1 &
# not -w, with which ping gives up at the first error
dut timeout 44 ping -i 0.2 10.80.210.1 >$out/ping
n=0
until dut wpa_cli -p /run/txop-lab/wpa -i wlan0 status | grep -q freq=2462 || [ $n -ge 120 ]; do
    n=$((n + 1)); sleep 0.5
done
dut wpa_cli -p /run/txop-lab/wpa -i wlan0 status >$out/status
sleep 14
"""
)

SECURED = (
    """
wpa="dut wpa_cli -p /run/txop-lab/wpa -i wlan0" hostapd="peer hostapd_cli -p /run/txop-lab/hostapd -i ap0"
completed() {
    n=0
    until $wpa status | grep -q wpa_state=COMPLETED; do
        n=$((n + 1)) && [ $n -lt 300 ] || { echo "no association after $1"; exit 1; }
        sleep 0.1
    done
    dut ping -c 2 -W 3 10.80.210.1 >/dev/null || { echo "no answer after $1"; exit 1; }
    echo "$1"
}
"""
    + TRAFFIC
    + """
$wpa status >$out/wpa.status; $hostapd all_sta >$out/hostapd.stations
$wpa reassociate >/dev/null; sleep 2; completed reassociation
$hostapd deauthenticate "$(dut cat /sys/class/net/wlan0/address)" >/dev/null; sleep 2; completed deauthentication
kill "$(cat /run/txop-lab/hostapd.pid)"; sleep 2
peer hostapd -B -t -f $out/hostapd.again -P /run/txop-lab/hostapd.pid /run/txop-lab/hostapd.conf >/dev/null
sleep 2; completed restart
txop-lab down
"""
)


def through(
    image: Image, program: Path, folder: Path, chip: Chip, script: str, files: dict[str, Path] | None = None
) -> Path:
    """Run a script in a guest with a chip; gives the folder of what it left."""
    modules: tuple[Path, ...] = ()
    if chip.driver == "rtl8xxxu":
        modules = (rebuilt_driver("rtl8xxxu").module,)
    overlay = Overlay(
        script=f"txop-lab up || exit\n{script}",
        environment=chip.variables(),
        files={IN_GUEST: program, **(files or {})},
        modules=modules,
    )
    ended = asyncio.run(run_guest(image, overlay, Computer(limit_s=200), results=folder, wall_limit_s=900))
    assert ended.status == 0, (folder / "stdout").read_text() + (folder / "stderr").read_text()
    return folder / "files"


def mbit_s(path: Path) -> float:
    """What iperf3's receiver got."""
    return float(json.loads(path.read_text())["end"]["sum_received"]["bits_per_second"]) / 1e6


def pairs(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


@pytest.mark.slow
@pytest.mark.parametrize("driver", DRIVERS)
def test_the_built_in_one_does_what_its_script_says(image: Image, chips: Path, tmp_path: Path, driver: str) -> None:
    script = tmp_path / "events.toml"
    script.write_text(EVENTS)
    chip = Chip(driver=driver, ap="builtin", security="open", options=("--faults", "/root/events.toml"))
    ending = "txop-lab down\n"
    files = through(image, chips, tmp_path / "out", chip, THROUGH_EVENTS + ending, {"/root/events.toml": script})
    for direction in ("up", "down"):
        assert 0 < mbit_s(files / f"{direction}.json") < HT20_SHORT_GI_MBIT_S, direction
    counters: dict[str, Any] = json.loads((files / "chip.json").read_text())["device"]["ap"]
    assert all(one["happened"] for one in counters["script"]), counters["script"]
    # It came in the end, and came back after each of the three partings.
    assert counters["wire"]["associations"] >= 4
    assert pairs((files / "status").read_text())["freq"] == "2462"
    log = (files / "kernel.log").read_text()
    for said in ("status=17", "(Reason: 3=DEAUTH_LEAVING)", "(Reason: 8=", "(Reason: 7="):
        assert said in log, said


@pytest.mark.slow
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("security", "key_management", "suite"), PROTECTED)
def test_protected_management_frames(
    image: Image, chips: Path, tmp_path: Path, driver: str, security: str, key_management: str, suite: str
) -> None:
    files = through(image, chips, tmp_path / "out", Chip(driver=driver, security=security), SECURED)
    said = (tmp_path / "out/stdout").read_text().split()
    assert said == ["reassociation", "deauthentication", "restart"]
    status = pairs((files / "wpa.status").read_text())
    assert (status["key_mgmt"], status["pmf"], status["pairwise_cipher"]) == (key_management, "2", "CCMP")
    stations = (files / "hostapd.stations").read_text()
    assert "[MFP]" in stations
    assert pairs(stations)["AKMSuiteSelector"] == suite
    for direction in ("up", "down"):
        assert 0 < mbit_s(files / f"{direction}.json") < HT20_SHORT_GI_MBIT_S, direction
    air = json.loads((files / "chip.json").read_text())["device"]["air"]
    # The agreements are encrypted, and made all the same.
    assert air["chip"]["ampdus"] > 10
    assert air["ap"]["ampdus"] > 10
