"""Debian's unmodified mbimcli and a virtual MBIM function: what it is told, and what happens to the session."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from guests_here import no_guest
from txop import bus
from txop.guest.chips import Chip
from txop.guest.qemu import Computer
from txop.guest.running import run_guest
from txop.guest_image.error import GuestError
from txop.guest_image.extra_programs import extra_files
from txop.guest_image.image import Image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay
from txop.plan.devices import DRIVERS

SCRIPT = Path(__file__).with_name("mbim_control.sh")

pytestmark = pytest.mark.slow


def said(files: Path, name: str) -> dict[str, str]:
    """What mbimcli said, by what stands before the colon."""
    rows = (files / name).read_text(encoding="utf-8").splitlines()
    pairs = (row.split(":", 1) for row in rows if ":" in row)
    return {key.strip(): value.strip().strip("'") for key, value in pairs}


def test_mbimcli_connects_a_session(image: Image, chips: Path, tmp_path: Path) -> None:
    del chips
    try:
        programs = extra_files(find_lock("6.12"), "mbimcli")
    except GuestError as error:
        no_guest(f"mbimcli cannot be had here: {error}")
    chip = Chip("mbim", DRIVERS["mbim"], options=("--connect", "negotiated"), usb="usb.pcapng")
    assert chip.modem_program == "mbimcli"
    overlay = Overlay(
        script=SCRIPT.read_text(encoding="utf-8"), environment=chip.variables(), files={**chip.files(), **programs}
    )
    ended = asyncio.run(run_guest(image, overlay, Computer(), results=tmp_path, wall_limit_s=900))
    assert ended.status == 0, (tmp_path / "stderr").read_text()
    files = tmp_path / "files"
    caps = said(files, "mbim-caps.txt")
    assert (caps["Max sessions"], caps["Hardware info"]) == ("8", "virtual MBIM function")
    assert (caps["Device type"], caps["Data class"]) == ("removable", "lte")
    assert said(files, "mbim-connect.txt")["Activation state"] == "activated"
    address = said(files, "mbim-address.txt")
    assert (address["IP [0]"], address["Gateway"], address["MTU"]) == ("10.80.210.2/24", "10.80.210.1", "1500")
    assert said(files, "ready")["Ready state"] == "initialized"
    assert said(files, "radio")["Software radio state"] == "on"
    assert said(files, "registration")["Register state"] == "home"
    assert said(files, "service")["Packet service state"] == "attached"
    assert "basic-connect" in (files / "services").read_text()
    assert said(files, "pin")["PIN state"] == "unlocked"
    assert said(files, "provider")["Provider ID"] == "00101"
    assert said(files, "status")["Activation state"] == "activated"
    assert said(files, "disconnect")["Activation state"] == "deactivated"
    assert "20 received" in (files / "ping").read_text()
    assert "0 received" in (files / "after").read_text()

    counted = json.loads((files / "counters.json").read_text())["device"]
    messages = counted["messages"]
    assert messages["answers"] == messages["messages"] > 12
    assert (messages["refused"], messages["errors"], messages["not_taken"]) == (0, 0, 0)
    assert counted["uncarried"]["other_sessions"] > 0, "the two pings without a session"
    statistics = said(files, "statistics")
    assert int(statistics["Packets (out)"]) > 20

    report = bus.analyze(files / "usb.pcapng")
    (device,) = [device for device in report.devices if device.kind == "mbim"]
    (up,) = [row for row in report.traffic if row.direction == "out" and row.framing == "ntb16"]
    assert (device.kind, up.faulty_transfers) == ("mbim", 0)
    assert (up.transfers, up.datagrams) == (counted["mbim"]["uplink"]["blocks"], counted["mbim"]["uplink"]["datagrams"])
