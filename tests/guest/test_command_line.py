"""`txop guest run` as a user types it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from txop.cli.guest_run import _perturbation
from txop.guest.chips import Chip
from txop.guest.outside import find_library
from txop.guest.perturbation import perturbation
from txop.guest_image.emulator.shim import shim_sha256
from txop.guest_image.image import Image

RunTxop = Callable[..., CompletedProcess[str]]
WALL_S = 900
"""For a busy machine; nothing is timed."""


@pytest.mark.slow
def test_the_status_of_the_command_is_txops_own(txop: RunTxop, image: Image) -> None:
    ran = txop("guest", "run", "--", "sh", "-c", "uname -r; exit 7", timeout=WALL_S)
    assert ran.returncode == 7, ran.stderr
    assert ran.stdout == f"{image.release}\n"
    assert f"booted {image.release}" in ran.stderr
    assert "The guest ended after" in ran.stderr


def test_a_stock_driver_associates_and_its_traffic_passes_the_chip(
    txop: RunTxop, image: Image, chips: Path, tmp_path: Path
) -> None:
    # until three are answered: in fast mode a busy machine answers late
    command = ("dut", "ping", "-c", "3", "-w", "60", "-i", "0.2", "-s", "1000", "10.80.210.1")
    ran = txop(
        *("guest", "run", "--device", "rtl8188cus", "--json", "--output", str(tmp_path), "--", *command),
        timeout=WALL_S,
    )
    assert ran.returncode == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert document["origin"] == "guest-fast"
    assert document["processor"] in ("kvm", "translator")
    assert "QEMU emulator version" in document["qemu"]
    assert document["chips_sha256"] == hashlib.sha256(find_library().read_bytes()).hexdigest()
    assert document["shim_sha256"] == shim_sha256()
    assert document["emulator_said"] == []
    assert (document["modules_sha256"], document["faults_sha256"]) == ([], None)
    assert document["release"] == image.release
    assert document["perturbation"] == {"phase_us": 0, "start_us": 0, "loss": 0.0, "loss_missing": None}
    received = re.search(r" (\d+) received", document["stdout"])
    assert received is not None
    assert int(received[1]) >= 3
    assert any(event["words"].startswith("associated (wpa2") for event in document["events"])
    air = json.loads((tmp_path / "files" / "chip.json").read_text())["device"]["air"]
    # both directions went over the air: 3 echoes of 1000 bytes and what is around them
    assert air["chip"]["bytes"] > 3000
    assert air["ap"]["bytes"] > 3000


def test_kvm_where_there_is_none_is_an_error_that_says_why(txop: RunTxop, image: Image) -> None:
    from txop.guest.qemu import kvm_trouble

    del image
    trouble = kvm_trouble()
    ran = txop("guest", "run", "--kvm", "yes", "--", "true", timeout=WALL_S)
    if trouble is None:
        assert ran.returncode == 0, ran.stderr
    else:
        assert ran.returncode == 3
        assert "KVM does not work here" in ran.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--device", "rtl8188cus", "--device-option", '"'),
            "is not words as a shell reads them",
        ),
        (("--file", "/etc/hostname:/../../etc/passwd"), "is not a place for a file in a guest"),
        (("--file", "/etc/hostname:/root/a\nb"), "is not a place for a file in a guest"),
        (("--file", "/nonexistent:/root/x"), "/nonexistent is not a file"),
        (("--module", "/etc/hostname"), "hostname: it is not an ELF file"),
    ],
)
def test_what_cannot_be_is_told_and_is_no_defect(txop: RunTxop, options: tuple[str, ...], words: str) -> None:
    ran = txop("guest", "run", *options, "--", "true", timeout=WALL_S)
    assert ran.returncode == 2, ran.stderr
    assert words in ran.stderr
    assert "Booting" not in ran.stderr


def test_exact_with_kvm_is_refused(txop: RunTxop) -> None:
    ran = txop("guest", "run", "--mode", "exact", "--kvm", "yes", "--", "true")
    assert ran.returncode == 2
    assert "only QEMU's translator counts instructions" in ran.stderr


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("guest run --kernel ", {"5.10", "6.1", "6.12"}),
        (
            "guest run --device rtl8",
            {"rtl8188cus", "rtl8723au", "rtl8188eu", "rtl8822bu", "rtl8821cu", "rtl8822be", "rtl8822bs"},
        ),
        ("guest run --device mt76", {"mt7610u", "mt7601u"}),
        ("guest shell --driver rtl8x", {"rtl8xxxu"}),
    ],
)
def test_a_shell_completes_kernels_devices_and_drivers(txop: RunTxop, typed: str, words: set[str]) -> None:
    ran = txop(
        env={
            "_TXOP_COMPLETE": "complete_bash",
            "COMP_WORDS": f"txop {typed}",
            "COMP_CWORD": str(len(typed.split(" "))),
        }
    )
    assert set(ran.stdout.split()) == words, ran.stderr


def test_the_loss_that_a_seed_drew_is_told_only_where_it_counted() -> None:
    drawn = perturbation(5)
    assert _perturbation(5, None) == {
        "phase_us": drawn.phase_us, "start_us": None, "loss": None, "loss_missing": "there was no air"
    }  # fmt: skip
    assert _perturbation(5, Chip())["loss"] == drawn.loss
    for given in (("--loss", "0.1"), ("--loss=0.1",)):
        assert _perturbation(5, Chip(options=given))["loss"] is None
