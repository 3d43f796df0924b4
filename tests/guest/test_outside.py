"""What a guest's QEMU gets of txop's devices, and what they leave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from txop.guest import outside
from txop.guest.outside import device_arguments, find_library, qemu_command, take_files, too_much, write_config
from txop.guest_image.error import GuestError, MissingGuestToolError


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
    assert config.keys() == {"folder", "guest_folder", "files", "exact", "capture_limit", "checkpoints", "run"}, (
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


def test_files_with_names_that_cannot_be_shown_are_left_out(tmp_path: Path) -> None:
    write_config(tmp_path, {}, {}, exact=False)
    for name in ("chip.json", "a\x1b[2Jb", "two\nlines"):
        (tmp_path / outside.FOLDER / name).write_bytes(b"")
    assert take_files(tmp_path, tmp_path / "results") == ["chip.json"]
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["chip.json"]


@pytest.mark.parametrize(("limit", "most"), [("MAX_DEVICE_FILES", 2), ("MAX_DEVICE_BYTES", 5)])
def test_more_or_larger_files_than_are_taken_end_a_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    write_config(tmp_path, {}, {}, exact=False)
    for number in range(2):
        (tmp_path / outside.FOLDER / str(number)).write_bytes(b"ab")
    monkeypatch.setattr(outside, limit, most)
    assert too_much(tmp_path) is None
    (tmp_path / outside.FOLDER / "2").write_bytes(b"ab")
    trouble = too_much(tmp_path)
    assert trouble is not None
    with pytest.raises(GuestError, match=trouble):
        take_files(tmp_path, tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_another_library_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(outside.LIBRARY_VARIABLE, str(tmp_path / "devices.so"))
    with pytest.raises(MissingGuestToolError, match=outside.LIBRARY_VARIABLE):
        find_library()
    (tmp_path / "devices.so").write_bytes(b"")
    assert find_library() == tmp_path / "devices.so"
