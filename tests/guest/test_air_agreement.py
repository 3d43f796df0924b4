"""`txop air` and `txop bus` find in the recordings of a guest what the chip has counted, to the frame."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from guests_here import rebuilt_driver
from txop import air, bus
from txop.air.report import AirReport
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay

AP = "02:00:00:00:00:00"
"""The first radio of mac80211_hwsim (drivers/net/wireless/virtual/mac80211_hwsim.c, mac80211_hwsim_new_radio)."""

RTS_BYTES, BLOCK_ACK_BYTES = 20, 32
"""IEEE 802.11-2020, 9.3.1.2 and 9.3.1.8, with FCS."""

SECONDS = 3
SCRIPT = f"""
txop-lab up || exit
peer iperf3 -s -D; sleep 0.5
dut timeout 60 iperf3 -c 10.80.210.1 -t {SECONDS} -J >/txop/out/up.json || exit
dut timeout 60 iperf3 -c 10.80.210.1 -t {SECONDS} -R -J >/txop/out/down.json || exit
sleep 0.5
txop-lab down
"""

Side = dict[str, Any]


def of(rows: Iterable[Any], *, from_ap: bool) -> list[Any]:
    """What the access point sent, or everybody else: a chip that scans may use another address."""
    return [row for row in rows if (row.ta == AP) == from_ap]


def differences(report: AirReport, counted: Side, answered: Side, *, from_ap: bool) -> list[str]:
    """What one side has counted and the report does not have. ``answered``: the counters of the other side."""
    links, exchanges = of(report.links, from_ap=from_ap), of(report.exchanges, from_ap=from_ap)
    rows = of(report.aggregation, from_ap=from_ap)
    readable = {key: counted[key] - value for key, value in counted["collided"].items()}
    several = readable["ampdus"] - readable["single_ampdus"]
    pairs = {
        "data MPDUs": (readable["unicast_data"], sum(link.mpdu_retry.frames for link in links)),
        "retries": (readable["data_retries"], sum(link.mpdu_retry.retries for link in links)),
        "ACKs": (answered["acks"], sum(row.acked for row in exchanges)),
        "Block Acks": (answered["block_acks"], sum(row.block_acked for row in exchanges)),
        "CTS": (answered["cts"], sum(row.cts for row in exchanges)),
        "data PPDUs": (readable["data_ppdus"], sum(row.ppdus for row in rows)),
        "A-MPDUs of several MPDUs": (several, sum(row.ampdus or 0 for row in rows)),
        "bytes": (
            readable["sent_bytes"] + RTS_BYTES * readable["rts"] + BLOCK_ACK_BYTES * counted["block_acks"],
            sum(link.bytes for link in links),
        ),
        "soliciting PPDUs": (readable["soliciting"], sum(row.ppdus for row in exchanges)),
        "RTS": (readable["rts"], sum(row.rts for row in exchanges)),
    }
    return [f"{what}: counted {ours}, found {found}" for what, (ours, found) in pairs.items() if ours != found]


def bus_differences(path: Path, urbs: dict[str, int]) -> list[str]:
    """What the device counted of its URBs and the report does not have."""
    endpoints = bus.analyze(path).endpoints
    ended = sum(urbs[key] for key in ("succeeded", "stalled", "babbled", "failed", "unlinked"))
    moved = {
        way: sum(e.bytes or 0 for e in endpoints if e.direction == way and e.transfer != "control")
        for way in ("in", "out")
    }
    pairs = {
        "submitted": (urbs["submitted"], sum(e.submissions for e in endpoints)),
        "ended": (ended, sum(e.completions for e in endpoints)),
        "in": (urbs["in_bytes"], moved["in"]),
        "out": (urbs["out_bytes"], moved["out"]),
    }
    return [f"URBs {what}: counted {ours}, found {found}" for what, (ours, found) in pairs.items() if ours != found]


def agreement(files: Path) -> list[str]:
    """All differences between the recordings in a folder and the counters beside them."""
    counters = json.loads((files / "chip.json").read_text())
    counted = counters["device"]["air"]
    report = air.analyze(files / "air.pcapng")
    chip, ap = counted["chip"], counted["ap"]
    return [
        *(f"up: {each}" for each in differences(report, chip, ap, from_ap=False)),
        *(f"down: {each}" for each in differences(report, ap, chip, from_ap=True)),
        *bus_differences(files / "usb.pcapng", counters["urbs"]),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("security", ["open", "wpa2"])
@pytest.mark.parametrize("driver", ["rtl8192cu", "rtl8xxxu"])
def test_the_recordings_of_a_guest_agree_with_its_counters(
    image: Image, chips: Path, tmp_path: Path, driver: str, security: str
) -> None:
    modules: tuple[Path, ...] = ()
    if driver == "rtl8xxxu":
        modules = (rebuilt_driver("rtl8xxxu").module,)
    chip = Chip(
        driver=driver,
        security=security,
        air="air.pcapng",
        usb="usb.pcapng",
        options=("--loss", "0.05"),
    )
    overlay = Overlay(script=SCRIPT, environment=chip.variables(), files={IN_GUEST: chips}, modules=modules)
    computer = Computer(mode=Mode.EXACT, limit_s=150)
    ended = asyncio.run(run_guest(image, overlay, computer, results=tmp_path, wall_limit_s=1_800))
    assert ended.status == 0, (tmp_path / "stderr").read_text()
    files = tmp_path / "files"
    counted = json.loads((files / "chip.json").read_text())["device"]["air"]
    assert counted["lost"] > 100
    for side in ("chip", "ap"):
        assert counted[side]["unicast_data"] > 500, side
        assert counted[side]["data_retries"] > 50, side
        assert counted[side]["block_acks"] > 10, side
    assert agreement(files) == []
