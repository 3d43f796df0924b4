"""What a guest's QEMU gets of txop's devices, and what they leave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from txop.guest import outside
from txop.guest.outside import device_arguments, qemu_command, take_files, write_config


def test_options_may_name_what_the_guest_was_given_and_nothing_else(tmp_path: Path) -> None:
    efuse = tmp_path / "map.bin"
    efuse.write_bytes(b"\xff" * 8)
    path = write_config(tmp_path, {"/root/map.bin": efuse}, {"/txop/faults.toml": b"[[fault]]\n"}, exact=True)
    config = json.loads(path.read_text())
    assert {name: Path(place).read_bytes() for name, place in config["files"].items()} == {
        "/root/map.bin": b"\xff" * 8,
        "/txop/faults.toml": b"[[fault]]\n",
    }
    assert Path(config["folder"]).is_dir()
    assert config["guest_folder"] == outside.GUEST_FOLDER
    assert config.keys() == {"folder", "guest_folder", "files", "exact", "capture_limit"}, (
        "crates/qemu, config.rs takes no others"
    )


def test_a_comma_in_the_name_of_a_folder_is_no_new_option(tmp_path: Path) -> None:
    argv = device_arguments(tmp_path / "a,b" / "devices.json")
    control = next(word for word in argv if word.startswith("txop-control,"))
    assert "a,,b" in control
    assert all(argv[at - 1] == "-device" for at in range(1, len(argv), 2))


def test_what_devices_wrote_is_among_the_results_and_takes_the_place_of_files_of_its_name(tmp_path: Path) -> None:
    write_config(tmp_path, {}, {}, exact=False)
    folder, results = tmp_path / outside.FOLDER, tmp_path / "results"
    (folder / "air.pcapng").write_bytes(b"air")
    (folder / "chip.json.part").write_text("{")
    results.mkdir()
    (results / "air.pcapng").write_bytes(b"of the guest")
    assert take_files(tmp_path, results) == ["air.pcapng"]
    assert (results / "air.pcapng").read_bytes() == b"air"
    assert sorted(path.name for path in results.iterdir()) == ["air.pcapng"]


def test_a_folder_that_has_the_name_of_a_capture_does_not_hide_it(tmp_path: Path) -> None:
    write_config(tmp_path, {}, {}, exact=False)
    (tmp_path / outside.FOLDER / "usb.pcapng").write_bytes(b"usb")
    (tmp_path / "results" / "usb.pcapng" / "deep").mkdir(parents=True)
    take_files(tmp_path, tmp_path / "results")
    assert (tmp_path / "results" / "usb.pcapng").read_bytes() == b"usb"


def test_a_program_in_place_of_qemu_is_started_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(outside.VARIABLE, "/opt/qemu")
    assert qemu_command() == ("/opt/qemu",)
