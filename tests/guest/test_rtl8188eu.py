"""The stock rtl8xxxu on a virtual RTL8188EU: it adapts rates itself, by the chip's transmit reports."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import pytest

from guests_here import built_chips, built_image
from txop.guest.chips import IN_GUEST, Chip
from txop.guest.driver_check import check_driver
from txop.guest.exactness import difference
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.error import GuestError
from txop.guest_image.firmware import firmware_files
from txop.guest_image.overlay import Overlay

OWN = "08:be:ac:0b:14:c4"
LOAD = """\
dut ping -c 3 10.80.210.1
peer iperf3 -s -D; sleep 1
dut timeout 60 iperf3 -c 10.80.210.1 -t {seconds} -J >/txop/out/up.json || exit
dut iw dev wlan0 station dump >/txop/out/station; sleep 2"""

SAME_FRAME_S = 1.0
"""A sequence number that is on the air again after this time is another frame's: 4096 of them take longer here."""


def run(folder: Path, chip: Chip, seconds: int) -> Any:
    """Boots a guest with the chip, lets TCP run up in its testbed, and gives what the chip has counted."""
    image, chips = built_image("6.12"), built_chips()
    script = f"txop-lab up || exit\n{LOAD.format(seconds=seconds)}\ntxop-lab down\n"
    files = {**chip.files(), IN_GUEST: chips}
    overlay = Overlay(script=script, environment=chip.variables(), files=files)
    computer = Computer(mode=Mode.EXACT, seed=1, limit_s=150)
    ended = asyncio.run(run_guest(image, overlay, computer, results=folder, wall_limit_s=1_800))
    assert ended.status == 0, (folder / "stderr").read_text()
    return json.loads((folder / "files" / "chip.json").read_text())["device"]


def a_chip(signal_dbm: int, faults: Path | None = None) -> Chip:
    """One whose air and transfers are recorded."""
    options = ("--signal", str(signal_dbm))
    return Chip("rtl8188eu", "rtl8xxxu", air="air.pcapng", trace="trace.jsonl", options=options, faults=faults)


def reported(trace: Path) -> list[list[int]]:
    """What each report said of station 0: five numbers of retries, and frames that were given up."""
    means = (json.loads(line).get("means") or "" for line in trace.read_text().splitlines())
    stations = (
        text.partition("station 0: ")[2].partition(";")[0] for text in means if text.startswith("transmit report")
    )
    return [[int(word) for word in re.findall(r"(?:^|, )(\d+) ", text)] for text in stations]


@dataclass
class OnAir:
    """The chip's frames to one receiver on the air."""

    frames: int = 0
    """Those that are not retries."""
    rates: list[tuple[float, int]] = field(default_factory=list)
    """When each with data was sent, by the guest's clock, retries included, and its MCS."""

    def share(self, lowest: int, highest: int, begin_s: float = 0, end_s: float = inf) -> float:
        """Part of them that was sent at an MCS from ``lowest`` to ``highest``."""
        within = [mcs for time, mcs in self.rates if begin_s <= time < end_s]
        assert within
        return sum(lowest <= mcs <= highest for mcs in within) / len(within)

    @property
    def end_s(self) -> float:
        """When the last was sent."""
        return self.rates[-1][0]


def on_air(folder: Path) -> OnAir:
    """What tshark finds in the capture."""
    capture = str(folder / "files" / "air.pcapng")
    epoch_s = json.loads((folder / "files" / "chip.json").read_text())["epoch_ns"] / 1e9
    fields = (
        "frame.time_epoch",
        "wlan.fc.type_subtype",
        "wlan.seq",
        "wlan.qos.tid",
        "wlan.fc.retry",
        "radiotap.mcs.index",
    )
    wanted = f"wlan.ta == {OWN} && wlan.fc.type != 1 && wlan.ra[0] & 1 == 0"
    argv = ["tshark", "-r", capture, "-Y", wanted, "-T", "fields", *(word for name in fields for word in ("-e", name))]
    seen: dict[tuple[str, ...], float] = {}
    found = OnAir()
    for line in subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines():
        at, kind, sequence, tid, retry, mcs = line.split("\t")
        time, key = float(at) - epoch_s, (kind, sequence, tid)
        # The first try may be missing: frames that collide cannot be read in the capture.
        found.frames += retry not in ("1", "True") or time - seen.get(key, -SAME_FRAME_S) >= SAME_FRAME_S
        seen[key] = time
        if mcs:
            found.rates.append((time, int(mcs)))
    return found


def check_reports(folder: Path, counted: Any) -> None:
    """What the reports said is what the chip counted, and that is what was on the air."""
    sums = [sum(column) for column in zip(*reported(folder / "files" / "trace.jsonl"), strict=True)]
    reports = counted["reports"]
    assert sums == [*reports["reported"]["retries"], reports["reported"]["given_up"]]
    assert reports["lost"] == 0
    assert reports["reported"] == reports["counted"], "two idle seconds have reported everything"
    assert sums[5] == counted["tx"]["given_up"]
    assert sum(sums) == on_air(folder).frames


def bitrate(folder: Path) -> int:
    """The MCS that iw names."""
    said = re.search(r"tx bitrate:.* MCS (\d)", (folder / "files" / "station").read_text())
    assert said
    return int(said[1])


def test_the_firmware_has_the_signature_that_the_driver_knows() -> None:
    """Linux rtl8xxxu/core.c, rtl8xxxu_load_firmware."""
    firmware = firmware_files()["usr/lib/firmware/rtlwifi/rtl8188eufw.bin"]
    assert int.from_bytes(firmware[:2], "little") & 0xFFF0 == 0x88E0


@pytest.mark.slow
def test_the_driver_of_6_1_does_not_know_it() -> None:
    check_driver(Chip("rtl8188eu", "rtl8xxxu"), built_image("6.12"))
    with pytest.raises(GuestError, match="does not know the rtl8188eu"):
        check_driver(Chip("rtl8188eu", "rtl8xxxu"), built_image("6.1"))


@pytest.mark.slow
def test_a_strong_signal_has_the_highest_rate_and_runs_are_identical(tmp_path: Path) -> None:
    counted = run(tmp_path / "one", a_chip(-45), 4)
    check_reports(tmp_path / "one", counted)
    assert counted["reports"]["counted"]["retries"][0] > 1_000
    assert on_air(tmp_path / "one").share(7, 7) > 0.95
    assert bitrate(tmp_path / "one") == 7
    run(tmp_path / "other", a_chip(-45), 4)
    assert difference(tmp_path / "one", tmp_path / "other") is None


@pytest.mark.slow
def test_a_weak_signal_has_a_low_rate(tmp_path: Path) -> None:
    counted = run(tmp_path, a_chip(-84), 14)
    check_reports(tmp_path, counted)
    # The driver begins at MCS 7 and goes down with each report.
    air = on_air(tmp_path)
    assert air.share(0, 3, air.end_s - 4) > 0.9
    assert bitrate(tmp_path) <= 3


@pytest.mark.slow
def test_the_rate_follows_the_noise(tmp_path: Path) -> None:
    """From 12 s to 18 s after plugging in the noise is 10 dB below the signal; TCP runs from before until after."""
    faults = tmp_path / "noise.toml"
    faults.write_text('[[fault]]\nname = "noise"\nfrom_ms = 12000\nfor_ms = 6000\nnoise_dbm = -55\naction = "noise"\n')
    counted = run(tmp_path, a_chip(-45, faults), 22)
    check_reports(tmp_path, counted)
    lines = (json.loads(line) for line in (tmp_path / "files" / "trace.jsonl").read_text().splitlines())
    times = [line["t_s"] for line in lines if line["event"] == "fault"]
    assert len(times) == 2
    air = on_air(tmp_path)
    begin_s, end_s = times
    assert air.share(7, 7, 0, begin_s) > 0.95
    # Two seconds are ten reports at the shortest time between two.
    assert air.share(0, 4, begin_s + 2, end_s) > 0.9
    assert air.share(6, 7, air.end_s - 2) > 0.9
