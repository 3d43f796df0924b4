"""Building drivers: what is refused before anything is fetched or built."""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
from pathlib import Path

import pytest

from guests_here import rebuilt_driver
from txop.guest import driver
from txop.guest.driver import DriverBuild, build_driver, check_compiler, patch_files
from txop.guest_image.compiler import compiler_folder, variables_of
from txop.guest_image.error import GuestError, MissingGuestToolError
from txop.guest_image.image import Image
from txop.guest_image.kernel_tree import build_folder, is_one_file
from txop.guest_image.locks import find_lock
from txop.plan_check.guest import UPLINK_PATCH


@pytest.mark.parametrize("name", ["", "x y", "CONFIG_X=1", "$(shell true)", "A -include /etc/passwd", "1A", "ä"])
def test_what_is_no_configuration_symbol_never_gets_to_make(tmp_path, name):
    with pytest.raises(GuestError, match="is not a configuration symbol"):
        asyncio.run(build_driver(DriverBuild("rtl8xxxu", switches=(name,)), find_lock("6.12"), cache=tmp_path))
    assert list(tmp_path.iterdir()) == []


SCRIPT = b"""\
format = "txop-edits"
title = "x"
change = "adds"
[[edit]]
file = "core.c"
delete = "x"
"""


@pytest.mark.parametrize(
    ("content", "reverse", "message"),
    [
        (SCRIPT, True, r"x.toml: an edit script cannot be taken back\. It does not"),
        (SCRIPT.replace(b"delete", b"remove"), False, r"x.toml: line 6, edit\[0\].remove: "),
        (b"--- a/x\n", False, "x.toml: it is not TOML"),
        (None, False, "x.toml: No such file"),
    ],
)
def test_an_edit_script_is_read_before_anything_is_built(tmp_path, content, reverse, message):
    path, cache = tmp_path / "x.toml", tmp_path / "cache"
    if content is not None:
        path.write_bytes(content)
    what = DriverBuild("rtl8xxxu", (path,), reverse)
    with pytest.raises(GuestError, match=message):
        asyncio.run(build_driver(what, find_lock("6.12"), cache=cache))
    assert not cache.exists()


def test_on_a_processor_that_cannot_build_the_way_round_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(MissingGuestToolError, match="this is an aarch64 one") as said:
        asyncio.run(build_driver(DriverBuild("rtl8xxxu"), find_lock("6.12"), cache=tmp_path))
    assert "--module" in said.value.what_to_do


def test_a_compiler_says_what_it_is_or_is_missing(tmp_path):
    (tmp_path / ".kernelvariables").write_text("CC = $(CROSS_COMPILE)gcc-12\n")
    variables = {"PATH": str(tmp_path)}
    with pytest.raises(MissingGuestToolError, match="built with gcc-12, which is not here"):
        check_compiler(tmp_path, variables)
    compiler = tmp_path / "gcc-12"
    compiler.write_text("#!/bin/sh\necho 'gcc-12 (Debian 12.2.0-14) 12.2.0'; echo more\n")
    compiler.chmod(0o755)
    assert check_compiler(tmp_path, variables) == "gcc-12 (Debian 12.2.0-14) 12.2.0"
    compiler.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(MissingGuestToolError, match="gcc-12 does not report its version"):
        check_compiler(tmp_path, variables)


@pytest.mark.slow
def test_the_pinned_compiler_makes_the_bytes_that_the_same_one_installed_makes(image, tmp_path, monkeypatch):
    pinned = rebuilt_driver("rtl8xxxu")
    lock = find_lock("6.12")
    kernel, own = build_folder(lock), variables_of(compiler_folder(lock))
    try:
        if check_compiler(kernel, os.environ) != check_compiler(kernel, own):
            pytest.skip("another version of the compiler is installed here")
    except MissingGuestToolError as error:
        pytest.skip(str(error))
    monkeypatch.setattr(driver, "compiler_folder", lambda *_, **__: None)
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("packages", "unpacked", "kernels"):
        (cache / name).symlink_to(image.folder.parents[1] / name)
    installed = asyncio.run(build_driver(DriverBuild("rtl8xxxu"), lock, cache=cache))
    assert not installed.cached
    assert installed.module.read_bytes() == pinned.module.read_bytes()


def test_the_pinned_compiler_takes_nothing_of_this_machine_but_its_c_library(image):
    lock = find_lock("6.12")
    folder = compiler_folder(lock)
    pinned = next(package for package in lock.of_role("compiler") if package.name.startswith("gcc-"))
    said = check_compiler(build_folder(lock), variables_of(folder))
    assert said == f"x86_64-linux-gnu-{pinned.name} (Debian {pinned.version}) 12.2.0"
    done = subprocess.run(
        [folder / "bin" / pinned.name, "-v", "-x", "c", "-c", "-", "-o", "/dev/null"],
        input=b"int x;\n", capture_output=True, check=True,
    ).stderr.decode()  # fmt: skip
    called = [row.split()[0] for row in done.splitlines() if row.startswith(" ") and " -o " in row]
    assert {Path(program).name for program in called} >= {"cc1", "as"}
    assert all(Path(program).resolve().is_relative_to(folder) for program in called), called
    for program in (*folder.glob("usr/bin/*"), *folder.glob("usr/lib/gcc/*/*/cc1")):
        linked = subprocess.run(
            ["ldd", program], env={"LD_LIBRARY_PATH": str(folder / "lib"), "PATH": os.environ["PATH"]},
            capture_output=True, check=True,
        ).stdout.decode()  # fmt: skip
        places = [words[2] for row in linked.splitlines() if len(words := row.split()) > 2 and words[1] == "=>"]
        foreign = {Path(place).name for place in places if not place.startswith(str(folder))}
        assert foreign <= {"libc.so.6", "libm.so.6", "libdl.so.2"}, (program, foreign)


@pytest.mark.slow
def test_a_driver_built_elsewhere_has_the_same_bytes(image, tmp_path):
    first = rebuilt_driver("rtl8xxxu")
    shared = image.folder.parents[1]
    elsewhere = tmp_path / "another-home"
    elsewhere.mkdir()
    for name in ("packages", "unpacked", "kernels"):
        (elsewhere / name).symlink_to(shared / name)
    second = asyncio.run(build_driver(DriverBuild("rtl8xxxu"), find_lock("6.12"), cache=elsewhere))
    assert not second.cached
    data = second.module.read_bytes()
    assert data == first.module.read_bytes()
    assert str(shared).encode() not in data
    assert len(data) < 2_000_000


@pytest.mark.slow
def test_of_a_folder_with_many_drivers_only_the_one_is_compiled(image: Image) -> None:
    del image
    built = rebuilt_driver("qmi_wwan", patches=patch_files([Path(UPLINK_PATCH)]))
    compiled = {Path(row.split()[-1]).name for row in built.log.read_text().splitlines() if row.startswith("  CC [M]")}
    assert compiled >= {"qmi_wwan.o", "qmi_wwan.mod.o"}
    assert not {name for name in compiled if not name.startswith(("qmi_wwan.", ".module-common."))}
    assert "tx_max_datagrams_mux" in built.module.read_bytes().decode("latin-1")


MAKEFILE = """\
obj-$(CONFIG_A) += one.o
obj-$(CONFIG_B) += two.o
two-y := two_a.o
two-$(CONFIG_C) += two_b.o
"""


def test_modules_of_one_file_and_of_several(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    for name in ("one", "two", "two_a"):
        (tmp_path / f"{name}.c").touch()
    assert [name for name in ("one", "two", "three") if is_one_file(tmp_path, name)] == ["one"]
