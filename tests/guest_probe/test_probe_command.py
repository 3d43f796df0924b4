"""`txop guest probe` as a user types it, and a probe in a guest that really boots."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from probe_capture import whole_capture
from txop.formats.usb_urbs import Setup, read_usb_urbs
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_probe.document import read_probe
from txop.guest_probe.export import export
from txop.guest_probe.in_guest import Probed, probed_chip, read_probed
from txop.guest_probe.probe import collect

RunTxop = Callable[..., CompletedProcess[str]]
WALL_S = 900
"""For a busy machine; nothing is timed."""


def test_files_of_a_probe_are_written_and_the_document_is_one_of_them(tmp_path: Path) -> None:
    probe = collect(read_usb_urbs(whole_capture()))
    facts = {"driver": "made", "interface": "usb0", "speed": "480", "up": "0"}
    written = export(Probed("made-up", probe, facts, {"release": "6.12"}), tmp_path)
    assert written.files == ("probe.json", "made-up.txt", "seeds/connect.syz", "seeds/probe.syz")
    assert all((tmp_path / name).is_file() for name in written.files)
    found = json.loads((tmp_path / "probe.json").read_text())
    assert (found["format"], found["version"], found["device"]) == ("txop-guest-probe", 1, "made-up")
    assert (found["speed_mbit_s"], found["up"], found["driver"]) == (480, True, "made")
    assert found["seeds"][1] == {"file": "seeds/probe.syz", "answered": 9, "of": 9}
    assert read_probe((tmp_path / "probe.json").read_bytes()) == probe


def test_what_a_guest_left_is_read_and_what_is_missing_is_named(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    with pytest.raises(GuestError, match=r"usb\.pcapng"):
        read_probed("made", tmp_path, {})
    (files / "usb.pcapng").write_bytes(whole_capture())
    (files / "facts").write_text("interface usb0\nup 1\n")
    probed = read_probed("made", tmp_path, {})
    assert probed.provenance()["up"] is False
    (files / "usb.pcapng").write_bytes(b"no capture")
    with pytest.raises(GuestError):
        read_probed("made", tmp_path, {})


@pytest.mark.parametrize("device", ["ar6003", "ar9280"])
def test_devices_that_are_not_on_usb_are_refused(device: str) -> None:
    with pytest.raises(GuestError, match="not on USB"):
        probed_chip(device, "made")


def test_an_unknown_device_is_refused_before_anything_is_made(txop: RunTxop, tmp_path: Path) -> None:
    ran = txop("guest", "probe", "--device", "made-up", "-o", str(tmp_path / "out"))
    assert ran.returncode == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_driver_probes_a_function_and_the_seed_answers_all_of_it(
    txop: RunTxop, image: Image, chips: Path, tmp_path: Path
) -> None:
    del image, chips
    ran = txop("guest", "probe", "--device", "ncm", "-o", str(tmp_path), "--json", timeout=WALL_S)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found == json.loads((tmp_path / "probe.json").read_text())
    assert (found["driver"], found["up"], found["origin"]) == ("cdc_ncm", True, "guest-exact")
    assert (found["speed_mbit_s"], found["descriptors"]["texts"]["1"]) == (480, "txop")
    probe = read_probe(ran.stdout)
    parameters = next(one for one in probe.requests if one.setup.request == 0x80)
    # GET_NTB_PARAMETERS of interface 0: 28 bytes, which say so themselves (CDC NCM 1.0, 6.2.1)
    assert parameters.setup == Setup(0xA1, 0x80, 0, 0, 28)
    assert parameters.replies[0].data[:2] == b"\x1c\0"
    notifications = next(one for one in probe.endpoints if one.address == 0x81)
    assert [reply.data[:2] for reply in notifications.replies] == [b"\xa1\x2a", b"\xa1\0"]
    (whole,) = (seed for seed in found["seeds"] if seed["file"] == "seeds/probe.syz")
    assert 0 < whole["answered"] == whole["of"]
