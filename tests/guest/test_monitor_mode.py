"""Monitor mode of real drivers in a guest: frames for others are received, and frames of one's own are sent."""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path

import pytest

from guests_here import built_chips, built_image, rebuilt_driver
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.extra_programs import extra_files
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay

SCRIPT = """\
txop-lab up && txop-lab serve || exit
ip link set wlan0 down
iw dev wlan0 set type monitor && ip link set wlan0 up && iw dev wlan0 set channel 6 || exit
tcpdump -i wlan0 -s 0 -U -w /txop/out/monitor.pcap & tcpdump=$!
sleep 1
timeout 60 aireplay-ng -9 wlan0 >/txop/out/injection-test || exit
sleep 2; kill $tcpdump; wait $tcpdump
txop-lab down
"""

ACCESS_POINT, OWN = "02:00:00:00:00:00", "08:be:ac:0b:14:c4"


@pytest.mark.slow
@pytest.mark.parametrize("device", ["rtl8188cus", "mt7610u"])
def test_a_monitor_receives_what_is_for_others_and_sends_what_it_is_given(tmp_path: Path, device: str) -> None:
    image, chips = built_image("6.12"), built_chips()
    driver = {"rtl8188cus": "rtl8xxxu", "mt7610u": "mt76x0u"}[device]
    modules = (rebuilt_driver(driver).module,) if driver == "rtl8xxxu" else ()
    chip = Chip(device, driver, security="open", air="air.pcapng", plug_only=True)
    files = {**chip.files(), **extra_files(find_lock("6.12"), "aireplay-ng"), IN_GUEST: chips}
    overlay = Overlay(script=SCRIPT, environment=chip.variables(), files=files, modules=modules)
    computer = Computer(mode=Mode.EXACT, seed=1, limit_s=150)
    ended = asyncio.run(run_guest(image, overlay, computer, results=tmp_path, wall_limit_s=1_800))
    assert ended.status == 0, (tmp_path / "stderr").read_text()

    # by the injection test of aircrack-ng: 30 directed probe requests, answered
    words = (tmp_path / "files" / "injection-test").read_text()
    assert "Injection is working!" in words
    answered = max(int(found) for found in re.findall(r"(\d+)/30:", words))
    assert answered >= 20, words[-300:]

    air, seen = tmp_path / "files" / "air.pcapng", tmp_path / "files" / "monitor.pcap"
    for_others = f"wlan.fc.type_subtype == 5 && wlan.sa == {ACCESS_POINT} && wlan.da != {OWN}"
    sent, received = (frames(capture, for_others) for capture in (air, seen))
    assert 0.5 * sent < received <= sent, (received, sent)
    assert frames(seen, "wlan.fc.type_subtype == 8") >= 10, "and beacons"


def frames(capture: Path, what: str) -> int:
    """How many frames are like these."""
    command = ["tshark", "-r", str(capture), "-Y", what]
    return len(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())
