"""QEMU and its devices, of small packages of our own, with shell scripts for programs."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
import time
from pathlib import Path

import pytest

import emulator_specimen as specimen
from emulator_specimen import make_emulator
from txop.guest_image.emulator import qemu as qemu_module
from txop.guest_image.emulator import recipe
from txop.guest_image.emulator.lock import EmulatorLock
from txop.guest_image.emulator.obtain import Part, needs, obtain
from txop.guest_image.emulator.prepare import prepare
from txop.guest_image.emulator.qemu import Emulator, adopt, emulator
from txop.guest_image.emulator.shim import ShimError, build_shim
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.packages import archive as archive_module


@pytest.fixture(autouse=True)
def no_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An APT that offers nothing."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("apt-get", "apt-cache"):
        (folder / name).write_text("#!/bin/sh\nexit 0\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TXOP_DEBIAN_MIRROR", "http://mirror.invalid/debian")
    monkeypatch.delenv("TXOP_DEBIAN_ARCHIVE", raising=False)
    (tmp_path / "keyring.gpg").touch()
    monkeypatch.setattr(archive_module, "KEYRINGS", (tmp_path / "keyring.gpg",))


@pytest.fixture
def lock(tmp_path: Path) -> EmulatorLock:
    return make_emulator(tmp_path / "files")


def made(tmp_path: Path, lock: EmulatorLock) -> Emulator:
    return emulator(lock=lock, cache=tmp_path / "cache", packages_dir=tmp_path / "files")


def device(tmp_path: Path, text: str = "int device;\n") -> Path:
    path = tmp_path / "shim" / "txop_device.c"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_qemu_is_unpacked_of_what_a_folder_has_and_runs_by_its_own_linker(tmp_path: Path, lock: EmulatorLock) -> None:
    found = made(tmp_path, lock)
    assert (found.version, found.package_version) == ("10.0.13", "1:10.0.13+ds-0")
    assert subprocess.run(found.argv(), capture_output=True, check=True, env={}).stdout == b"emulator\n"
    assert found.argv()[0] == str(found.folder / recipe.LINKER)
    assert (found.folder / recipe.BUNDLE / recipe.PROGRAM).read_bytes() == specimen.QEMU
    again = emulator(lock=lock, cache=tmp_path / "cache")
    assert again == found


def test_objects_are_loaded_into_qemu_alone(tmp_path: Path, lock: EmulatorLock) -> None:
    argv = made(tmp_path, lock).argv([Path("/a/models.so"), Path("/b/devices.so")])
    assert argv[argv.index("--preload") + 1] == "/a/models.so:/b/devices.so"
    assert argv.index("--preload") < argv.index(str(made(tmp_path, lock).program))


def test_names_that_the_linker_cannot_be_told_are_links_with_names_that_it_can(
    tmp_path: Path, lock: EmulatorLock
) -> None:
    objects = [tmp_path / "with blank" / "a.so", tmp_path / "a:b.so", tmp_path / "plain.so"]
    argv = made(tmp_path, lock).argv(objects)
    names = argv[argv.index("--preload") + 1].split(":")
    folders = [Path(name) for name in argv[argv.index("--library-path") + 1].split(":")]
    found = [next(folder / name for folder in folders if (folder / name).is_symlink()) for name in names]
    assert [link.readlink() for link in found] == objects
    assert made(tmp_path, lock).argv(objects) == argv
    assert made(tmp_path, lock).argv(objects[:1]) != argv


def test_a_cache_whose_name_the_linker_cannot_be_told_is_refused(tmp_path: Path, lock: EmulatorLock) -> None:
    found = emulator(lock=lock, cache=tmp_path / "a:b", packages_dir=tmp_path / "files")
    with pytest.raises(GuestError, match="colon"):
        found.argv()


def test_another_qemu_is_not_started(tmp_path: Path, lock: EmulatorLock) -> None:
    found = made(tmp_path, lock)
    found.check()
    found.program.write_bytes(b"#!/bin/sh\necho another\n")
    with pytest.raises(GuestError, match="not the pinned QEMU"):
        found.argv()
    found.program.unlink()
    with pytest.raises(GuestError, match="not where it was"):
        found.argv()


def test_qemu_is_read_again_only_when_it_changed(
    tmp_path: Path, lock: EmulatorLock, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = made(tmp_path, lock)
    read: list[Path] = []

    def counting(path: Path) -> str:
        read.append(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr(qemu_module, "sha256_of", counting)
    for _ in range(3):
        found.check()
    assert len(read) == 1
    os.utime(found.program, ns=(0, time.time_ns() + 5))
    found.check()
    assert len(read) == 2


def test_a_lock_that_contradicts_itself_leaves_nothing(tmp_path: Path, lock: EmulatorLock) -> None:
    with pytest.raises(GuestError, match="contradicts itself"):
        made(tmp_path, dataclasses.replace(lock, program_sha256="0" * 64))
    assert not list((tmp_path / "cache" / "emulators").iterdir())


def test_a_package_that_lacks_a_file_is_named_by_it(tmp_path: Path, lock: EmulatorLock) -> None:
    without = tuple(package for package in lock.packages if package.name != "seabios")
    with pytest.raises(GuestError, match=r"bios-256k\.bin"):
        made(tmp_path, dataclasses.replace(lock, packages=without))


def test_another_processor_is_refused(tmp_path: Path, lock: EmulatorLock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(MissingGuestToolError, match="aarch64"):
        made(tmp_path, lock)


def test_the_object_is_compiled_once_for_what_goes_into_it(tmp_path: Path, lock: EmulatorLock) -> None:
    cache, source = tmp_path / "cache", device(tmp_path)
    adopt(lock, tmp_path / "files", cache, lambda _: None)
    said: list[str] = []
    first = build_shim(source, lock=lock, cache=cache, progress=said.append)
    assert first.read_bytes() == b"int device;\n"
    assert [path.name for path in first.parent.iterdir()] == [first.name]
    said.clear()
    assert build_shim(source, lock=lock, cache=cache, progress=said.append) == first
    assert said == []
    (source.parent / "beside.h").write_text("int x;\n")
    second = build_shim(source, lock=lock, cache=cache, progress=said.append)
    (source.parent / "part.c.inc").write_text("int y;\n")
    third = build_shim(source, lock=lock, cache=cache, progress=said.append)
    fourth = build_shim(device(tmp_path, "int other;\n"), lock=lock, cache=cache, progress=said.append)
    assert len({first, second, third, fourth}) == 4
    assert len(said) == 3, "neither the packages nor the source are unpacked again"


def test_the_source_is_not_needed_again(tmp_path: Path, lock: EmulatorLock) -> None:
    cache = tmp_path / "cache"
    adopt(lock, tmp_path / "files", cache, lambda _: None)
    build_shim(device(tmp_path), lock=lock, cache=cache)
    for path in (cache / "packages").iterdir():
        path.unlink()
    assert needs(lock, cache) == []
    assert build_shim(device(tmp_path, "int other;\n"), lock=lock, cache=cache).read_bytes() == b"int other;\n"


def test_the_headers_are_patched_and_those_of_a_build_are_beside_them(tmp_path: Path, lock: EmulatorLock) -> None:
    cache = tmp_path / "cache"
    adopt(lock, tmp_path / "files", cache, lambda _: None)
    build_shim(device(tmp_path), lock=lock, cache=cache)
    (folder,) = (cache / "emulators").glob("headers-*")
    kept = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert kept == {
        "source/include/x.h",
        "source/include/new.h",
        "generated/qapi/qapi-types.h",
        "generated/config-host.h",
        "generated/config-poison.h",
    }
    assert (folder / "source/include/x.h").read_text() == "one\n2\nthree\n"
    assert '"10.0.13"' in (folder / "generated/config-host.h").read_text()


def test_a_device_that_does_not_compile_says_where(tmp_path: Path, lock: EmulatorLock) -> None:
    cache = tmp_path / "cache"
    adopt(lock, tmp_path / "files", cache, lambda _: None)
    with pytest.raises(ShimError, match=r"txop_device\.c:1:1: error: expected something"):
        build_shim(device(tmp_path, "syntax error\n"), lock=lock, cache=cache)
    assert not list((cache / "emulators").glob("*shim*"))
    with pytest.raises(ShimError, match="No such file"):
        build_shim(tmp_path / "nowhere.c", lock=lock, cache=cache)


def test_what_takes_long_is_said_before_it_begins(tmp_path: Path, lock: EmulatorLock) -> None:
    def preparing(files: Path) -> list[str]:
        said: list[str] = []
        prepare(lock, cache=tmp_path / "cache", progress=said.append, packages_dir=files, source=device(tmp_path))
        return said

    (tmp_path / "some").mkdir()
    with pytest.raises(GuestError, match="missing"):
        preparing(tmp_path / "some")
    assert len(needs(lock, tmp_path / "cache")) == len(lock.packages) + 2
    done = prepare(
        lock, cache=tmp_path / "cache", packages_dir=tmp_path / "files", source=device(tmp_path)
    )  # fmt: skip
    assert done.shim.is_file()
    assert done.emulator.program.is_file()
    assert preparing(tmp_path / "some") == []


def test_files_that_cannot_be_had_are_listed_all_and_only_they(tmp_path: Path, lock: EmulatorLock) -> None:
    cache, files = tmp_path / "cache", tmp_path / "files"
    original = lock.source(".orig.tar.xz").name
    (files / "seabios.deb").write_bytes(b"x" * (files / "seabios.deb").stat().st_size)  # as large, and another
    (files / original).unlink()
    adopt(lock, files, cache, lambda _: None)
    assert {need.name for need in needs(lock, cache)} == {"seabios_1.0-1_amd64.deb", original}
    with pytest.raises(GuestError) as said:
        obtain(lock, cache, lambda _: None)
    assert said.value.what.endswith(f"missing: seabios_1.0-1_amd64.deb, {original}")
    assert "--packages" in (said.value.what_to_do or "")
    with pytest.raises(GuestError) as said:
        obtain(lock, cache, lambda _: None, [Part.HEADERS])
    assert said.value.what.endswith(f"missing: {original}")
    obtain(lock, cache, lambda _: None, [Part.COMPILER])


def test_a_source_that_was_damaged_in_the_cache_is_removed(tmp_path: Path, lock: EmulatorLock) -> None:
    cache = tmp_path / "cache"
    adopt(lock, tmp_path / "files", cache, lambda _: None)
    (place,) = (cache / "packages").glob("*.orig.tar.xz")
    place.write_bytes(b"x" * place.stat().st_size)
    with pytest.raises(GuestError, match="damaged"):
        build_shim(device(tmp_path), lock=lock, cache=cache)
    assert not place.exists()
