"""The fallback registers of real drivers at work: retries keep the first rate, and fall, as DARFRC says."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from guests_here import built_chips, built_image, rebuilt_driver
from txop import air
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.overlay import Overlay

AP = "02:00:00:00:00:00"
SCRIPT = """
txop-lab up || exit
peer iperf3 -s -D; sleep 3
dut timeout 60 iperf3 -c 10.80.210.1 -t 3 -J >/txop/out/up.json || exit
txop-lab down
"""
REGISTERS = {"0x0430": "0x00000000", "0x0434": "0x10080404", "0x0438": "0x04030201", "0x043c": "0x08070605"}
"""What rtl8xxxu and rtl8192cu leave in DARFRC and RARFRC: for data no rate lower for four retries, then four."""


@pytest.mark.slow
@pytest.mark.parametrize("driver", ["rtl8192cu", "rtl8xxxu"])
def test_retries_keep_the_rate_for_four_tries_and_then_fall_four(tmp_path: Path, driver: str) -> None:
    image, chips = built_image("6.12"), built_chips()
    modules = (rebuilt_driver("rtl8xxxu").module,) if driver == "rtl8xxxu" else ()
    # Of five tries in a row nearly two in a hundred fail, and the adaptation of first rates has no reason to step down.
    chip = Chip(driver=driver, air="air.pcapng", trace="trace.jsonl", options=("--loss", "0.2"))
    overlay = Overlay(script=SCRIPT, environment=chip.variables(), files={IN_GUEST: chips}, modules=modules)
    computer = Computer(mode=Mode.EXACT, limit_s=150)
    ended = asyncio.run(run_guest(image, overlay, computer, results=tmp_path, wall_limit_s=1_800))
    assert ended.status == 0, (tmp_path / "stderr").read_text()
    files = tmp_path / "files"
    written: dict[str, str] = {}
    for line in (files / "trace.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["event"] == "write" and entry.get("register") in REGISTERS:
            written[entry["register"]] = entry["value"]
    assert written == REGISTERS
    report = air.analyze(files / "air.pcapng")
    station = max((one for one in report.stations if one.address != AP), key=lambda one: one.data_frames_sent)
    ht = {rate.label: rate for rate in station.rates if rate.family == "ht"}
    # MCS 7, and four rates lower: MCS 4 is the lowest of the mask near the access point, MCS 3 where it has all rates.
    assert set(ht) <= {"HT20 MCS7", "HT20 MCS4", "HT20 MCS3"}
    top = ht.pop("HT20 MCS7")
    assert top.retries > 200
    fallen = sum(rate.frames for rate in ht.values())
    assert fallen == sum(rate.retries for rate in ht.values()), "only retries fall"
    assert 0 < fallen < top.retries / 5
