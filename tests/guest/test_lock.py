"""Lock files: written, read, refused."""

from __future__ import annotations

import dataclasses
import string
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.guest_image import recipe
from txop.guest_image.error import GuestError
from txop.guest_image.extra_programs import extra_files, extra_program_names
from txop.guest_image.locks import find_lock
from txop.guest_image.packages.lock import Lock, LockedPackage, LockError, in_order, lock_text, read_lock
from txop.guest_image.packages.store import PackageStore

LOWER = string.ascii_lowercase + string.digits
ALNUM = string.ascii_uppercase + LOWER

names = st.builds(str.__add__, st.sampled_from(LOWER), st.text(f"{LOWER}+.-", min_size=1, max_size=30))
packages = st.builds(
    LockedPackage,
    name=names,
    version=st.builds(str.__add__, st.sampled_from(ALNUM), st.text(f"{ALNUM}.+~:-", max_size=30)),
    architecture=st.sampled_from(["amd64", "all"]),
    sha256=st.binary(min_size=32, max_size=32).map(bytes.hex),
    size_bytes=st.integers(1, 2**40),
    role=st.sampled_from(["image", "build"]),
)
locks = st.builds(
    Lock,
    kernel=st.sampled_from(["6.1", "6.12"]),
    release=st.from_regex(r"6\.[0-9]{1,3}\.[0-9]{1,3}\+deb12-amd64", fullmatch=True),
    distribution=st.just("debian-12"),
    packages=st.lists(packages, max_size=8, unique_by=lambda package: package.name).map(in_order),
    kernel_distribution=st.sampled_from([None, "debian-11"]),
)

GOOD = lock_text(
    Lock("6.12", "6.12.1-amd64", "debian-12", (LockedPackage("iw", "5.19-1", "amd64", "0" * 64, 9, "image"),))
)


@given(locks)
def test_a_lock_is_read_as_it_was_written(lock: Lock) -> None:
    assert read_lock(lock_text(lock), "x") == lock


def test_one_package_is_one_line() -> None:
    assert sum('name = "iw"' in row and "sha256" in row for row in GOOD.splitlines()) == 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("txop-guest-lock", "something", "not a lock file"),
        ("version = 1", "version = 9", "version 9"),
        ('"6.12.1-amd64"', '"../x"', "release"),
        ('name = "iw"', 'name = "../../etc"', "invalid package name"),
        ("0" * 64, "0" * 63, "invalid SHA-256"),
        ("size = 9", "size = -9", "not a size"),
        ("size = 9", "size = true", "not a size"),
        ("size = 9", 'size = 9, url = "x"', "exactly"),
        ("image = [", "image = 1\nx = [", "not a list"),
        ("format =", "format ==", "x: "),
    ],
)
def test_what_is_no_lock_is_refused_with_the_reason(old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(LockError, match=words):
        read_lock(GOOD.replace(old, new), "x")


def test_brackets_without_end_are_refused() -> None:
    with pytest.raises(LockError, match="deep"):
        read_lock("a = " + "[" * 100_000, "deep")


def test_a_package_that_is_there_twice_is_refused() -> None:
    row = next(row for row in GOOD.splitlines() if '"iw"' in row)
    with pytest.raises(LockError, match="iw more than once"):
        read_lock(GOOD.replace(row, f"{row}\n{row}"), "x")


@given(st.text(max_size=300))
def test_any_text_is_a_lock_or_an_error(text: str) -> None:
    with suppress(LockError):
        read_lock(text, "x")


@pytest.mark.parametrize("series", recipe.KERNELS)
def test_the_shipped_locks_have_what_an_image_and_a_build_take(series: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/nonexistent")
    lock = find_lock(series)
    assert lock.kernel == series
    assert lock.release.startswith(f"{series}.")
    have = {package.name for package in lock.of_role("image")}
    assert have >= {*recipe.PROGRAMS, *recipe.FILES, f"linux-image-{lock.release}", "libc6"}
    assert len(lock.of_role("build")) == 4
    kernel = lock.find("linux-image-")
    sources = [package for package in lock.packages if package.name.startswith(("linux-source", "linux-headers"))]
    assert kernel is not None
    assert {package.version for package in sources} == {kernel.version}


def test_a_kernel_of_another_release_has_the_programs_of_the_others() -> None:
    """Figures of two kernels are those of the kernels, not of two hostapds."""
    old, new = find_lock("5.10"), find_lock("6.12")
    userland = [
        {package for package in lock.of_role("image") if not package.name.startswith("linux-image-")}
        for lock in (old, new)
    ]
    assert userland[0] == userland[1]
    found = {package.name: old.distribution_of(package) for package in old.packages}
    assert {found[name] for name in ("linux-source-5.10", "gcc-10", f"linux-image-{old.release}")} == {"debian-11"}
    assert {found[name] for name in ("hostapd", "libc6", "linux-perf")} == {"debian-12"}
    assert {new.distribution_of(package) for package in new.packages} == {"debian-12"}


@pytest.mark.parametrize("series", recipe.KERNELS)
def test_the_shipped_locks_have_the_extra_programs(series: str) -> None:
    lock = find_lock(series)
    for role, packages in recipe.EXTRA_PROGRAMS.items():
        assert {package.name for package in lock.of_role(role)} >= set(packages)


def test_a_program_that_cannot_be_added_is_refused_with_those_that_can(tmp_path: Path) -> None:
    assert extra_program_names() == ("aireplay-ng", "mbimcli", "perf", "qmicli", "trace-cmd")
    with pytest.raises(GuestError) as refused:
        extra_files(find_lock("6.12"), "strace", cache=tmp_path)
    assert "strace" in str(refused.value)
    assert "aireplay-ng, mbimcli, perf, qmicli, trace-cmd" in str(refused.value.what_to_do)


@pytest.mark.parametrize("program", ["perf", "qmicli"])
def test_a_lock_of_an_earlier_version_says_what_is_missing(tmp_path: Path, program: str) -> None:
    old = dataclasses.replace(find_lock("6.12"), packages=find_lock("6.12").of_role("image"))
    with pytest.raises(GuestError, match=f"no {program}: it was made by an earlier version"):
        extra_files(old, program, cache=tmp_path)


def test_a_program_for_modems_does_not_fetch_perf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Asked(Exception):  # noqa: N818
        pass

    def fetch(_: PackageStore, packages: Sequence[LockedPackage]) -> None:
        asked.extend(package.name for package in packages)
        raise Asked

    monkeypatch.setattr(PackageStore, "fetch", fetch)
    for program, more in (("qmicli", set()), ("perf", {"linux-perf", "libperl5.36"})):
        asked.clear()
        with pytest.raises(Asked):
            extra_files(find_lock("6.12"), program, cache=tmp_path)
        assert "libqmi-utils" in asked
        assert {"linux-perf", "libperl5.36"} & set(asked) == more
