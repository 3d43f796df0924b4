"""Fault scripts are read by the program that carries them out, before a guest is booted with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from txop.guest import chips as chips_module
from txop.guest.fault_check import check_faults
from txop.guest.shipped_faults import FaultScript, faults_file, shipped_faults
from txop.guest_image.error import GuestError

RunTxop = Callable[..., CompletedProcess[str]]
WRONG = '[[fault]]\nname = "x"\nendpoint = 0\naction = "los"\n'
ABOUT_AP = "[ap]\ndeauthenticate_at_ms = 1\n"


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    program = folder / "txop-vusb"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    monkeypatch.setenv(chips_module.VARIABLE, str(program))


def test_every_shipped_script_can_be_carried_out(chips: Path) -> None:
    del chips
    check_faults(shipped_faults().values(), "hostapd")


@pytest.mark.parametrize("command", [("survey", "--driver", "rtl8192cu"), ("run", "--device", "rtl8188cus")])
def test_a_mistake_is_told_before_anything_boots(
    txop: RunTxop, chips: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    del chips
    wrong = tmp_path / "typo.toml"
    wrong.write_text(WRONG)
    tail = ("--", "true") if command[0] == "run" else ()
    ran = txop("guest", *command, "--faults", str(wrong), *tail)
    assert ran.returncode == 2, ran.stderr
    assert "typo" in ran.stderr
    assert "los" in ran.stderr
    assert "Booting" not in ran.stderr
    assert "guests," not in ran.stderr


def test_what_the_program_says_is_told_of_the_script_and_not_of_a_file_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, 'echo "txop-vusb: $2: line 4: unknown \x1b[31mthing" >&2; exit 2')
    with pytest.raises(GuestError, match=r"^mine: line 4: unknown [^\x1b]*thing"):
        check_faults([FaultScript("mine", WRONG)], "hostapd")


def test_a_script_of_the_access_point_takes_the_built_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, """echo '{"faults":[],"access_point":true}'""")
    check_faults([FaultScript("mine", "")], "builtin")
    with pytest.raises(GuestError, match="mine is about the access point"):
        check_faults([FaultScript("mine", "")], "hostapd")


@pytest.mark.parametrize(
    "text", ["echo 'error: unrecognized subcommand' >&2; exit 2", "echo no; exit 0", "kill -9 $$", "echo '[' ; exit 0"]
)
def test_a_program_that_cannot_be_asked_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    stand_in(tmp_path, monkeypatch, text)
    check_faults([FaultScript("mine", WRONG)], "hostapd")


def test_a_shipped_script_is_found_by_its_name(tmp_path: Path) -> None:
    assert faults_file("unplug").read_text() == shipped_faults()["unplug"].text
    assert faults_file(str(tmp_path / "unplug.toml")) == tmp_path / "unplug.toml"
