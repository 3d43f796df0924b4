"""The lock file of the emulator: written, read, refused; the shipped one."""

from __future__ import annotations

import dataclasses
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator_specimen import make_emulator
from txop.guest_image.emulator import recipe
from txop.guest_image.emulator.lock import (
    COMPILER,
    ROLES,
    EmulatorLock,
    SourceFile,
    find_emulator_lock,
    lock_text,
    own_emulator_lock,
    read_emulator_lock,
)
from txop.guest_image.packages.lock import EMULATOR, LockedPackage, LockError, in_order

LOWER = string.ascii_lowercase + string.digits
ALNUM = string.ascii_uppercase + LOWER

hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)
versions = st.builds(str.__add__, st.sampled_from(ALNUM), st.text(f"{ALNUM}.+~:-", max_size=30))
packages = st.builds(
    LockedPackage,
    name=st.builds(str.__add__, st.sampled_from(LOWER), st.text(f"{LOWER}+.-", min_size=1, max_size=30)),
    version=versions,
    architecture=st.sampled_from(["amd64", "all"]),
    sha256=hashes,
    size_bytes=st.integers(1, 2**40),
    role=st.sampled_from(ROLES),
)
sources = st.builds(
    SourceFile,
    name=st.builds(str.__add__, st.sampled_from(LOWER), st.text(f"{ALNUM}+.~_-", min_size=1, max_size=40)),
    size_bytes=st.integers(1, 2**40),
    sha256=hashes,
)
locks = st.builds(
    EmulatorLock,
    distribution=st.just("debian-13"),
    program_sha256=hashes,
    packages=st.lists(packages, max_size=8, unique_by=lambda package: package.name).map(lambda p: in_order(p, ROLES)),
    source_name=st.just("qemu"),
    source_version=versions,
    sources=st.lists(sources, max_size=4, unique_by=lambda file: file.name).map(lambda files: tuple(sorted(files))),
    pinned=st.sampled_from([None, "2026-11-29"]),
)


@given(locks)
def test_a_lock_is_read_as_it_was_written(lock: EmulatorLock) -> None:
    assert read_emulator_lock(lock_text(lock), "x") == lock


@given(
    locks,
    st.sampled_from([{}, {"pinned": "2026-11-28"}, {"program_sha256": "0" * 64}, {"packages": ()}, {"sources": ()}]),
)
def test_what_is_made_of_locks_has_one_name_only_where_they_pin_the_same(
    one: EmulatorLock, change: dict[str, Any]
) -> None:
    other = dataclasses.replace(one, **change)
    same = (one.program_sha256, one.packages, one.sources) == (other.program_sha256, other.packages, other.sources)
    assert same == (one.key == other.key)


GOOD = lock_text(
    EmulatorLock(
        "debian-13",
        "1" * 64,
        (LockedPackage("qemu", "10", "amd64", "0" * 64, 9, EMULATOR),),
        "qemu",
        "1:10.0.13+ds-0",
        (SourceFile("qemu.dsc", 8, "2" * 64),),
        "2026-11-29",
    )
)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("txop-emulator-lock", "txop-guest-lock", "x is not a lock file of an emulator"),
        ("\nversion = 1", "\nversion = 2", "x has version 2"),
        ('"debian-13"', '"../x"', "x: invalid distribution"),
        ("1" * 64, "1" * 63, "x: program_sha256"),
        ('name = "qemu", version = "10"', 'name = "../etc", version = "10"', "x, emulator number 1: invalid package"),
        ("size = 9", "size = 0", "x, emulator number 1: 0 is not a size"),
        ("emulator = [", "emulator = 3\nx = [", "x, emulator is not a list"),
        ('"qemu.dsc"', '"../qemu.dsc"', "x, source file number 1: invalid name"),
        ('"qemu.dsc"', '"-qemu.dsc"', "x, source file number 1: invalid name"),
        ("size = 8", "size = true", "x, source file number 1: True is not a size"),
        ("size = 8", 'size = 8, url = "x"', "x, source file number 1 must have exactly"),
        ("2" * 64, "g" * 64, "x, source file number 1: invalid SHA-256"),
        ("[source]", "[sources]", "x, source must have exactly"),
        ('version = "1:10', 'version = ";1:10', "x, source: invalid version"),
        ('pinned = "2026-11-29"', 'pinned = "soon"', "x: pinned = 'soon'"),
        ("format =", "format ==", "x: "),
    ],
)
def test_what_is_no_lock_is_refused_with_the_place_and_the_reason(old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(LockError, match=words.replace("(", r"\(")):
        read_emulator_lock(GOOD.replace(old, new), "x")


def test_a_source_file_that_is_there_twice_is_refused() -> None:
    row = next(row for row in GOOD.splitlines() if "qemu.dsc" in row)
    with pytest.raises(LockError, match=r"qemu\.dsc more than once"):
        read_emulator_lock(GOOD.replace(row, f"{row}\n{row}"), "x")


@given(st.text(max_size=300) | st.lists(st.sampled_from(GOOD.splitlines()), max_size=20).map("\n".join))
def test_any_text_is_a_lock_or_is_refused(text: str) -> None:
    refused = None
    try:
        read_emulator_lock(text, "x")
    except LockError as error:
        refused = error
    assert refused is None or refused.what.startswith("x")


def test_the_shipped_lock_has_qemu_its_firmware_the_compiler_and_the_source() -> None:
    lock = find_emulator_lock()
    assert lock.distribution == recipe.DISTRIBUTION
    assert {recipe.PACKAGE, *recipe.FIRMWARE, "libc6"} <= {package.name for package in lock.of_role(EMULATOR)}
    assert {*recipe.COMPILER, *recipe.HEADERS} <= {package.name for package in lock.of_role(COMPILER)}
    qemu = next(package for package in lock.packages if package.name == recipe.PACKAGE)
    assert qemu.version == lock.source_version
    assert lock.version in lock.source(".orig.tar.xz").name
    assert lock.source(".debian.tar.xz") != lock.source(".orig.tar.xz")
    with pytest.raises(LockError):
        lock.source(".xz")


def test_a_lock_of_ones_own_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    made = make_emulator(tmp_path / "packages")
    own_emulator_lock().parent.mkdir(parents=True)
    own_emulator_lock().write_text(lock_text(made))
    assert find_emulator_lock() == made
