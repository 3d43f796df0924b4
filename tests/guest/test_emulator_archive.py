"""The emulator pinned and fetched from a signed archive on this disk, with this machine's real APT."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from emulator_specimen import FILES, SOURCE, TOOLS, make_deb, make_emulator
from signed_archive import key, make_archive, needs_apt
from txop.guest_image.emulator import recipe
from txop.guest_image.emulator.lock import COMPILER, EmulatorLock, lock_text, read_emulator_lock
from txop.guest_image.emulator.offers import source_offer
from txop.guest_image.emulator.pin import resolve_emulator
from txop.guest_image.emulator.prepare import prepare
from txop.guest_image.error import GuestError
from txop.guest_image.packages import archive
from txop.guest_image.packages.lock import EMULATOR
from txop.guest_image.packages.offers import offers

__all__ = ["key"]
"""A fixture of another module."""

VERSION = "1:10.0.13+ds-0"

pytestmark = needs_apt


@pytest.fixture
def mirror(key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmulatorLock:
    """An archive that has an emulator, with packages and files that nothing needs; what pins its source."""
    monkeypatch.setattr(archive, "KEYRINGS", (key / "ring.gpg",))
    monkeypatch.delenv("TXOP_DEBIAN_ARCHIVE", raising=False)
    pinned = make_emulator(tmp_path / "made")
    names = [file.name for file in pinned.sources]
    debs = {name: make_deb(files) for name, files in {**FILES, **TOOLS}.items()}
    debs |= {name: make_deb({"usr/share/x": b"x"}) for name in recipe.HEADERS if name not in debs}
    debs["not-needed"] = make_deb({f"{recipe.LIBRARY_FOLDER}/libother.so.1": b"x"})
    tars = {name: (tmp_path / "made" / name).read_bytes() for name in names}
    url = make_archive(
        tmp_path / "debian",
        key,
        {name: (VERSION if name == recipe.PACKAGE else "1-1", data) for name, data in debs.items()},
        suite="trixie",
        depends={recipe.PACKAGE: f"{', '.join(name for name in FILES if name != recipe.PACKAGE)}, not-needed"},
        source=("qemu", VERSION, {"qemu_10.0.13+ds-0.dsc": b"description", **tars}),
    )
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", url)
    return pinned


def test_what_counts_is_pinned_fetched_and_made(mirror: EmulatorLock, tmp_path: Path) -> None:
    lock = resolve_emulator(cache=tmp_path / "first")
    assert {package.name for package in lock.of_role(EMULATOR)} == FILES.keys()
    assert {package.name for package in lock.of_role(COMPILER)} == {*recipe.COMPILER, *recipe.HEADERS}
    assert {file.sha256 for file in mirror.sources} < {file.sha256 for file in lock.sources}
    assert (lock.source_version, lock.version) == (VERSION, "10.0.13")
    assert lock.program_sha256 == mirror.program_sha256
    assert read_emulator_lock(lock_text(lock), "x") == lock

    source = tmp_path / "txop_device.c"
    source.write_text("int device;\n")
    said: list[str] = []
    made = prepare(lock, cache=tmp_path / "second", source=source, progress=said.append)
    assert made.shim.read_text() == "int device;\n"
    size = sum(p.size_bytes for p in lock.packages) + sum(f.size_bytes for f in mirror.sources)
    assert f"{len(lock.packages) + 2} files, {size / 1e6:.1f} MB" in said[0]
    assert all(row.offered and row.cached for row in [*offers(lock, cache=tmp_path / "second")])
    assert source_offer(lock, cache=tmp_path / "second").cached


def test_a_source_that_the_archive_has_dropped_is_named(mirror: EmulatorLock, tmp_path: Path) -> None:
    lock = resolve_emulator(cache=tmp_path / "cache")
    old = dataclasses.replace(lock, source_version="1:9.9+ds-0")
    offer = source_offer(old, cache=tmp_path / "cache")
    assert (offer.offered, offer.newest, offer.cached) == (False, mirror.source_version, False)
    with pytest.raises(GuestError, match=r"1:9\.9\+ds-0.*missing: .*orig\.tar\.xz"):
        prepare(old, cache=tmp_path / "cache", source=tmp_path / "x.c")


def test_a_source_that_is_not_the_pinned_one_is_not_taken(mirror: EmulatorLock, tmp_path: Path) -> None:
    pool = tmp_path / "debian" / "pool" / "source"
    lock = resolve_emulator(cache=tmp_path / "cache")
    original = lock.source(".orig.tar.xz")
    other = dataclasses.replace(original, sha256="0" * 64)
    wrong = dataclasses.replace(lock, sources=tuple(other if file == original else file for file in lock.sources))
    assert (pool / original.name).is_file()
    assert SOURCE
    with pytest.raises(GuestError, match=f"not what the lock pins.*missing: {original.name}".replace("+", r"\+")):
        prepare(wrong, cache=tmp_path / "cache", source=tmp_path / "x.c")
    assert mirror.sources


def test_an_archive_that_cannot_be_reached_is_not_taken_for_an_empty_one(
    mirror: EmulatorLock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", "http://127.0.0.1:9/debian")
    with pytest.raises(GuestError, match=r"package lists cannot be fetched: .*127\.0\.0\.1.*missing: .*seabios"):
        prepare(mirror, cache=tmp_path / "cache", source=tmp_path / "x.c")
    with pytest.raises(GuestError, match="package lists cannot be fetched"):  # nor the second time
        prepare(mirror, cache=tmp_path / "cache", source=tmp_path / "x.c")
