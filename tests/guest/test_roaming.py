"""A station between two access points of one network, in a guest: `txop-lab roam`."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from guests_here import built_chips, built_image, rebuilt_driver
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.overlay import Overlay

SCRIPT = """\
txop-lab up || exit
dut ping -i 0.1 -c 150 10.80.210.1 >/txop/out/ping & ping=$!
sleep 2
txop-lab roam || exit
dut wpa_cli -p /run/txop-lab/wpa -i wlan0 status >/txop/out/there
sleep 2
txop-lab roam 1 || exit
dut wpa_cli -p /run/txop-lab/wpa -i wlan0 status >/txop/out/back
txop-lab roam 1 || exit
txop-lab roam 3 && exit 9
wait $ping
txop-lab down
"""

FIRST, SECOND = "02:00:00:00:00:00", "02:00:00:00:01:00"
"""Addresses that mac80211_hwsim gives its radios."""


@pytest.mark.slow
@pytest.mark.parametrize("driver", ["rtl8192cu", "rtl8xxxu"])
def test_a_station_goes_to_the_other_access_point_and_back(tmp_path: Path, driver: str) -> None:
    image, chips = built_image("6.12"), built_chips()
    modules = (rebuilt_driver(driver).module,) if driver == "rtl8xxxu" else ()
    chip = Chip("rtl8188cus", driver, access_points=(-45, -55), air="air.pcapng")
    overlay = Overlay(
        script=SCRIPT, environment=chip.variables(), files={**chip.files(), IN_GUEST: chips}, modules=modules
    )
    computer = Computer(mode=Mode.EXACT, seed=1, limit_s=150)
    ended = asyncio.run(run_guest(image, overlay, computer, results=tmp_path, wall_limit_s=1_800))
    assert ended.status == 0, (tmp_path / "stderr").read_text()
    files = tmp_path / "files"
    assert f"bssid={SECOND}" in (files / "there").read_text()
    assert f"bssid={FIRST}" in (files / "back").read_text()
    words = (files / "ping").read_text()
    assert int(words.partition(" received")[0].rpartition(" ")[2]) > 100, words[-300:]

    # tshark: who was asked for reassociation, and acknowledged data, by receiver
    fields = ["-T", "fields", "-e", "wlan.ra"]
    asked = tshark(files / "air.pcapng", "wlan.fc.type_subtype == 2", *fields)
    assert [asked[0], asked[-1]] == [SECOND, FIRST]
    for number, bssid in enumerate((FIRST, SECOND)):
        data = f"wlan.fc.type == 2 && wlan.fc.subtype != 4 && wlan.fc.subtype != 12 && wlan.ra == {bssid}"
        sent = len(tshark(files / "air.pcapng", data, *fields))
        counted = json.loads((files / "chip.json").read_text())["device"]["air"]["access_points"][number]["down"]
        assert counted["data"] - counted["collided"]["data"] == sent > 20


def tshark(capture: Path, what: str, *fields: str) -> list[str]:
    """The lines that it prints for frames like these."""
    command = ["tshark", "-r", str(capture), "-Y", what, *fields]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
