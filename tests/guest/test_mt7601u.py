"""The stock mt7601u on a virtual MT7601U: its rates are those of the kernel's minstrel_ht, by the chip's reports."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from guests_here import built_chips, built_image
from txop.air.analysis import analyze
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.exactness import difference
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.firmware import firmware_files
from txop.guest_image.overlay import Overlay

OWN = "00:0c:43:76:01:01"
PINGS = 20
SECONDS = 4
LOAD = f"""\
peer iperf3 -s -D; sleep 1
dut timeout 60 iperf3 -c 10.80.210.1 -t {SECONDS} -J >/txop/out/up.json || exit
dut iw dev wlan0 station dump >/txop/out/station; sleep 1"""


def test_the_firmware_is_as_long_as_its_header_says() -> None:
    """mt7601u refuses it else (Linux mt7601u/mcu.c, mt7601u_load_firmware)."""
    firmware = firmware_files()["usr/lib/firmware/mt7601u.bin"]
    instructions, data = (int.from_bytes(firmware[at : at + 4], "little") for at in (0, 4))
    assert len(firmware) == 32 + instructions + data
    assert instructions > 64, "the vectors of interrupts are among them"


def run(folder: Path, chip: Chip, command: str, kernel: str = "6.12", shift: int = 1) -> Any:
    """Boots a guest with the chip, lets the command run in its testbed, and gives what the chip has counted."""
    image, chips = built_image(kernel), built_chips()
    script = f"txop-lab up || exit\n{command} || exit\ntxop-lab down\n"
    overlay = Overlay(script=script, environment=chip.variables(), files={IN_GUEST: chips})
    computer = Computer(mode=Mode.EXACT, shift=shift, seed=1, limit_s=150)
    ended = asyncio.run(run_guest(image, overlay, computer, results=folder, wall_limit_s=1_800))
    assert ended.status == 0, (folder / "stderr").read_text()
    return json.loads((folder / "files" / "chip.json").read_text())["device"]


def a_chip(signal_dbm: int) -> Chip:
    """One whose air and transfers are recorded."""
    options = ("--signal", str(signal_dbm))
    return Chip("mt7601u", "mt7601u", air="air.pcapng", trace="trace.jsonl", options=options)


def complaints(folder: Path) -> list[str]:
    """What the kernel has complained about."""
    lines = (folder / "files" / "kernel.log").read_text().splitlines()
    return [line for line in lines if re.search(r"mt7601u .*(?:Error|Warning|failed)|WARNING:", line)]


def on_air(folder: Path) -> Counter[str]:
    """The chip's data frames by MCS that tshark finds in the capture, retries included; "" without one."""
    capture = str(folder / "files" / "air.pcapng")
    argv = ["tshark", "-r", capture, "-Y", f"wlan.ta == {OWN} && wlan.fc.type == 2", "-T", "fields"]
    found = subprocess.run([*argv, "-e", "radiotap.mcs.index"], capture_output=True, text=True, check=True).stdout
    return Counter(found.splitlines())


def analyzed(folder: Path) -> Counter[str]:
    """The same by txop's own analysis."""
    counts: Counter[str] = Counter()
    for link in analyze(folder / "files" / "air.pcapng").links:
        for rate in link.rates if link.ta == OWN and link.data_frames else ():
            mcs = re.fullmatch(r"HT20 MCS(\d)", rate.label)
            counts[mcs[1] if mcs else ""] += rate.frames
    return counts


def share(counts: Counter[str], *mcs: int) -> float:
    """Part of the frames that was sent at these MCS."""
    return sum(counts[str(one)] for one in mcs) / counts.total()


def probes(folder: Path) -> int:
    """Reports of frames that tried a rate: their mark is above 8 (Linux mt7601u/tx.c, mt7601u_tx_pktid_enc)."""
    means = (
        json.loads(line).get("means") or "" for line in (folder / "files" / "trace.jsonl").read_text().splitlines()
    )
    marks = (re.search(r"station 1, .*, mark (\d+)$", text) for text in means)
    return sum(int(mark[1]) > 8 for mark in marks if mark)


def check(folder: Path, counted: Any) -> Counter[str]:
    """Three counts of the air agree, each frame is reported, and the driver has nothing to say."""
    found = on_air(folder)
    assert found == analyzed(folder)
    chip = counted["air"]["chip"]
    # Frames that collide cannot be read in the capture.
    assert found.total() == chip["data"] - chip["collided"]["data"] > 1_000
    assert counted["tx"]["reports"] == counted["tx"]["frames"]
    assert complaints(folder) == []
    return found


def bitrate(folder: Path) -> int:
    """The MCS that iw names."""
    said = re.search(r"tx bitrate:.* MCS (\d)", (folder / "files" / "station").read_text())
    assert said
    return int(said[1])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["6.1", "6.12"])
def test_it_associates_and_encrypts_in_the_chip(tmp_path: Path, kernel: str) -> None:
    counted = run(tmp_path, Chip("mt7601u", "mt7601u"), f"dut ping -c {PINGS} -i 0.2 10.80.210.1", kernel)
    assert f"{PINGS} received, 0% packet loss" in (tmp_path / "stdout").read_text()
    assert counted["tx"]["encrypted"] >= PINGS
    assert counted["rx"]["decrypted"] >= PINGS
    assert counted["rx"]["integrity_errors"] == 0
    assert counted["tx"]["reports"] == counted["tx"]["frames"]
    assert counted["tx"]["reports_lost"] == 0
    assert complaints(tmp_path) == []


@pytest.mark.slow
def test_a_channel_of_40_mhz_is_used(tmp_path: Path) -> None:
    chip = Chip("mt7601u", "mt7601u", security="open", width_mhz=40, air="air.pcapng")
    run(tmp_path, chip, f"dut ping -c {PINGS} -i 0.2 10.80.210.1\ndut iw dev wlan0 info")
    said = (tmp_path / "stdout").read_text()
    assert f"{PINGS} received, 0% packet loss" in said
    assert "width: 40 MHz" in said
    argv = ["tshark", "-r", str(tmp_path / "files" / "air.pcapng"), "-T", "fields", "-e", "radiotap.mcs.bw"]
    wide = f"wlan.ta == {OWN} && wlan.fc.type == 2 && radiotap.mcs.index"
    found = subprocess.run([*argv, "-Y", wide], capture_output=True, text=True, check=True).stdout.split()
    assert "1" in found


@pytest.mark.slow
def test_minstrel_finds_the_rate_of_each_signal_and_runs_are_identical(tmp_path: Path) -> None:
    """TCP up near the access point and far from it, and the latter again, to the byte."""
    counted = run(tmp_path / "far", a_chip(-84), LOAD, shift=0)
    far = check(tmp_path / "far", counted)
    # MCS 2 is the fastest that arrives: what is lost goes down to 1 and 0, and MCS 3 is only tried.
    assert share(far, 0, 1, 2) > 0.9
    assert bitrate(tmp_path / "far") == 2
    assert probes(tmp_path / "far") > 10
    assert counted["tx"]["reports_lost"] < counted["tx"]["reports"] / 10
    # All rates arrive, but a lost MPDU lowers the rate of what is sent with it again, which counts against MCS 7.
    near = check(tmp_path / "near", run(tmp_path / "near", a_chip(-45), LOAD, shift=0))
    assert share(near, 4, 5, 6, 7) > 0.8
    assert bitrate(tmp_path / "near") > 3
    run(tmp_path / "again", a_chip(-84), LOAD, shift=0)
    assert difference(tmp_path / "far", tmp_path / "again") is None
