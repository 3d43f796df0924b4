"""Network functions in the testbed of a guest."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from txop import bus
from txop.guest.chips import Chip
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay
from txop.plan.devices import DRIVERS

SCRIPT = """txop-lab up || exit
dut ip -o -4 addr show to 10.80.210.2 | cut -d ' ' -f 2 >/txop/out/interface
dut ping -q -c 20 -i 0.02 10.80.210.1 && txop-lab counters /txop/out/counters.json
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "options", "interface", "kind"),
    [
        ("ncm", (), "usb0", "ncm"),
        ("mbim", (), "wwan0", "mbim"),
        ("ecm", (), "usb0", "ecm"),
        ("qmi-modem", (), "wwan0", "qmi"),
        ("qmi-modem", ("--framing", "qmap"), "qmimux0", "qmi"),
    ],
)
def test_a_function_is_connected_and_carries(
    image: Image, chips: Path, tmp_path: Path, device: str, options: tuple[str, ...], interface: str, kind: str
) -> None:
    del chips
    chip = Chip(device, DRIVERS[device], options=options, usb="usb.pcapng")
    overlay = Overlay(script=SCRIPT, environment=chip.variables(), files=chip.files())
    ended = asyncio.run(run_guest(image, overlay, Computer(), results=tmp_path, wall_limit_s=400))
    assert ended.status == 0, (tmp_path / "stderr").read_text()
    assert (tmp_path / "files/interface").read_text().strip() == interface
    assert "20 received" in (tmp_path / "stdout").read_text()
    counted = json.loads((tmp_path / "files/counters.json").read_text())["urbs"]
    assert min(counted["out_bytes"], counted["in_bytes"]) > 20 * 84
    report = bus.analyze(tmp_path / "files/usb.pcapng")
    (seen,) = [each for each in report.devices if each.kind not in ("hub", "default-address")]
    assert (seen.kind, seen.kind_by) == (kind, "both"), "by its descriptors and by what it carries"
    for way in ("out", "in"):
        # A modem's first packets may go before the data format is agreed, in the format until then.
        rows = [row for row in report.traffic if row.direction == way and row.framing != "other"]
        carried = max(rows, key=lambda row: row.datagrams or 0)
        assert (carried.datagrams or 0) >= 20
        assert carried.faulty_transfers == 0


@pytest.mark.slow
def test_nothing_in_an_exact_guest_waits_for_entropy_under_load(image: Image, chips: Path, tmp_path: Path) -> None:
    """Unlike hostapd, a network function takes no random numbers: iperf3 would be the first that does, and a busy
    processor for half a second of its window."""
    del chips
    chip = Chip("ncm", DRIVERS["ncm"])
    overlay = Overlay(script="txop-lab up || exit\ndmesg", environment=chip.variables(), files=chip.files())
    computer = Computer(mode=Mode.EXACT, shift=0)
    ended = asyncio.run(run_guest(image, overlay, computer, results=tmp_path, wall_limit_s=900))
    assert ended.status == 0, (tmp_path / "stderr").read_text()
    assert "random: crng init done" in (tmp_path / "stdout").read_text()
