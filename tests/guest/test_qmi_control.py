"""Debian's unmodified qmicli and a virtual QMI modem: what it is told, and what happens to the data path."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from guests_here import no_guest, rebuilt_driver
from txop import bus
from txop.bus.report import BusReport
from txop.guest.chips import Chip
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.error import GuestError
from txop.guest_image.extra_programs import extra_files
from txop.guest_image.image import Image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay
from txop.plan.devices import DRIVERS

SCRIPT = Path(__file__).with_name("qmi_control.sh")

pytestmark = pytest.mark.slow


def seen(
    image: Image,
    folder: Path,
    mux: str,
    modules: tuple[Path, ...] = (),
    *,
    limits: tuple[str, ...] = (),
    computer: Computer = Computer(),  # noqa: B008 - frozen
) -> Path:
    """The folder of what the guest handed out. ``limits``: options of the modem's."""
    try:
        programs = extra_files(find_lock("6.12"), "qmicli")
    except GuestError as error:
        no_guest(f"qmicli cannot be had here: {error}")
    options = ("--framing", "negotiated", "--transfer-cost-us", "0", *limits)
    chip = Chip("qmi-modem", DRIVERS["qmi-modem"], options=options, usb="usb.pcapng", plug_only=True)
    overlay = Overlay(
        script=SCRIPT.read_text(encoding="utf-8"),
        environment={**chip.variables(), "MUX": mux},
        files={**chip.files(), **programs},
        modules=modules,
    )
    ended = asyncio.run(
        run_guest(image, overlay, computer, results=folder, wall_limit_s=3600 if computer.mode is Mode.EXACT else 600)
    )
    assert ended.status == 0, (folder / "stderr").read_text()
    return folder / "files"


def said(files: Path, name: str) -> dict[str, str]:
    """What qmicli said, by what stands before the colon."""
    rows = (files / name).read_text(encoding="utf-8").splitlines()
    pairs = (row.split(":", 1) for row in rows if ":" in row)
    return {key.strip(): value.strip().strip("'") for key, value in pairs}


def texts(report: BusReport, code: str) -> list[str]:
    return [verdict.text for verdict in report.verdicts if verdict.code == code]


def test_qmicli_sets_a_data_path_up(image: Image, chips: Path, tmp_path: Path) -> None:
    del chips
    files = seen(image, tmp_path, "qmimux")
    assert said(files, "manufacturer")["Manufacturer"] == "txop"
    assert said(files, "model")["Model"] == "virtual QMI modem (EC25)"
    can = said(files, "capabilities")
    assert (can["Max TX channel rate"], can["Max RX channel rate"]) == ("50000000", "150000000")
    assert re.fullmatch(r"\d{15}", said(files, "ids")["IMEI"])
    assert said(files, "serving")["Registration state"] == "registered"
    assert said(files, "signal")["RSRP"] == "-90 dBm"
    assert said(files, "before")["Uplink data aggregation protocol"] == "disabled"
    agreed = said(files, "format")
    assert agreed["Link layer protocol"] == "raw-ip"
    assert agreed["Uplink data aggregation protocol"] == agreed["Downlink data aggregation protocol"] == "qmap"
    limits = [agreed[f"{way} data aggregation max {what}"] for way in ("Uplink", "Downlink")
              for what in ("datagrams", "size")]  # fmt: skip
    assert limits == ["16", "8192", "20", "15872"]
    assert said(files, "status")["[/dev/cdc-wdm0] Connection status"] == "connected"
    settings = said(files, "settings")
    assert (settings["IPv4 address"], settings["MTU"]) == ("10.80.210.2", "1500")
    counted = json.loads((files / "counters.json").read_text())["device"]
    messages = counted["control"]["messages"]
    assert messages["requests"] == messages["answers"] > 20
    assert (messages["malformed"], messages["not_taken"]) == (0, 0)
    assert min(counted["qmi_modem"][way]["datagrams"] for way in ("uplink", "downlink")) >= 20

    report = bus.analyze(files / "usb.pcapng")
    (text,) = texts(report, "data-format")
    (last,) = [row for row in report.data_formats if row.request == "set"]
    assert text == (
        "The modem agreed on the link raw IP; QMAP from the host, at most 16 datagrams and 8,192 bytes in a transfer; "
        f"QMAP to the host, at most 20 datagrams and 15,872 bytes in a transfer (record {last.record})."
    )
    assert (last.uplink.beyond, last.downlink.beyond, last.downlink.asked_bytes) == (0, 0, 16_384)
    assert not texts(report, "uplink-beyond-agreed")
    rows = {(row.service, row.message): row for row in report.qmi_messages}
    assert rows["WDA", "Set Data Format"].answers == rows["WDS", "Start Network"].answers == 1
    total = sum(row.requests for row in report.qmi_messages)
    assert total == messages["requests"]


def test_a_host_that_goes_past_the_limits_crashes_the_modem(image: Image, chips: Path, tmp_path: Path) -> None:
    del chips
    files = seen(image, tmp_path, "rmnet", (rebuilt_driver("rmnet").module,))
    within = json.loads((files / "within.json").read_text())["device"]["qmi_modem"]
    assert within.get("crashes", 0) == 0
    assert 1 < max(at for at, count in enumerate(within["uplink"]["histogram"]) if count) <= 16
    assert json.loads((files / "crashed.json").read_text())["device"]["qmi_modem"]["crashes"] == 1
    assert said(files, "after")["Uplink data aggregation protocol"] == "disabled", "it has forgotten"
    report = bus.analyze(files / "usb.pcapng")
    (text,) = texts(report, "uplink-beyond-agreed")
    assert text.startswith("The host puts more into a transfer than the modem takes: ")
    assert "past 16 datagrams and 8,192 bytes" in text


def blocks(capture: Path) -> list[bytes]:
    """The blocks of a pcapng file (little-endian)."""
    data, at, found = capture.read_bytes(), 0, []
    while at < len(data):
        length = int.from_bytes(data[at + 4 : at + 8], "little")
        found.append(data[at : at + length])
        at += length
    return found


def test_another_limit_changes_one_answer_in_the_capture_of_an_exact_run(
    image: Image, chips: Path, tmp_path: Path
) -> None:
    """Two campaigns whose modems take 16 and 32 datagrams have the same figures at the same seed, and captures that
    differ: by this."""
    del chips
    sixteen, thirty_two = (
        seen(
            image,
            tmp_path / limit,
            "qmimux",
            limits=("--uplink-datagrams", limit),
            computer=Computer(mode=Mode.EXACT, shift=0),
        )
        for limit in ("16", "32")
    )
    one, other = blocks(sixteen / "usb.pcapng"), blocks(thirty_two / "usb.pcapng")
    assert len(one) == len(other) > 100
    ((first, second),) = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    assert [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]] == [(16, 32)]
