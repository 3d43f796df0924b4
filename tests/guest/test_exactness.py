"""What two exact guests left, compared; and which QEMU was tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from txop.guest.exactness import difference, results_sha256
from txop.guest.qemu import TESTED_QEMU, untested_qemu


def results(folder: Path, **files: bytes) -> Path:
    (folder / "files").mkdir(parents=True)
    content = {"console": b"boot\n", "kernel": b"[ 1.0] one\n[ 11.784366] random: crng init done\n", "air": bytes(9)}
    for name, data in {**content, **files}.items():
        place = {"console": "console", "kernel": "files/kernel.log", "air": "files/air.pcapng"}.get(
            name, f"files/{name}"
        )
        (folder / place).write_bytes(data)
    return folder


def test_the_same_bytes_are_no_difference_and_have_the_same_hash(tmp_path: Path) -> None:
    one, other = results(tmp_path / "a"), results(tmp_path / "b")
    assert difference(one, other) is None
    assert results_sha256(one) == results_sha256(other)


def test_three_microseconds_of_the_guest_are_found_and_said_where(tmp_path: Path) -> None:
    one = results(tmp_path / "a")
    other = results(tmp_path / "b", kernel=b"[ 1.0] one\n[ 11.784369] random: crng init done\n", air=b"12345678\0")
    said = difference(one, other) or ""
    assert "2 of 3 files differ (files/kernel.log, files/air.pcapng)" in said
    assert "first in files/kernel.log at line 2: '[ 11.784366] random: crng init done' or '[ 11.784369]" in said
    assert results_sha256(one) != results_sha256(other)


@pytest.mark.parametrize(
    ("mine", "its", "place"),
    [
        (b"\0\1\2\3", b"\0\1\2\4", "at byte 3"),
        (b"\0\1\n\2\3", b"\0\1\n\2", "at byte 4"),
        (b"a\nb\n", b"a\nb\nc\n", "at line 3: its end or 'c'"),
        (b"a\n\x1b[2Jb", b"a\n\x1b[2Jc", "at line 2: "),
        (bytes(3 << 20) + b"x", bytes(3 << 20) + b"y", f"at byte {3 << 20}"),
    ],
)
def test_the_place_is_a_line_of_text_and_else_a_byte(tmp_path: Path, mine: bytes, its: bytes, place: str) -> None:
    said = difference(results(tmp_path / "a", air=mine), results(tmp_path / "b", air=its)) or ""
    assert f"files/air.pcapng {place}" in said
    assert "\x1b" not in said


def test_a_file_that_only_one_has_is_a_difference(tmp_path: Path) -> None:
    one, other = results(tmp_path / "a"), results(tmp_path / "b", late=b"")
    assert difference(one, other) == "only one has files/late"
    assert results_sha256(one) != results_sha256(other)


def test_what_this_machine_notes_beside_the_results_is_not_the_guest_s(tmp_path: Path) -> None:
    one, other = results(tmp_path / "a"), results(tmp_path / "b")
    (other / "trial.json").write_text('{"seconds": 12.5}')
    assert difference(one, other) is None
    assert results_sha256(one) == results_sha256(other)


@pytest.mark.parametrize("version", TESTED_QEMU)
def test_the_tested_qemu_is_silent(version: str) -> None:
    assert untested_qemu(f"QEMU emulator version {version} (Debian 1:7.2+dfsg-7+deb12u18+b3)") is None


@pytest.mark.parametrize(
    ("said", "words"),
    [("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)", "this is 10.0.2"),
     ("QEMU emulator version 7.2.0", "this is 7.2.0"), ("unknown", "does not report its version")],
)  # fmt: skip
def test_another_qemu_is_said_to_be_untested(said: str, words: str) -> None:
    assert words in (untested_qemu(said) or "")
