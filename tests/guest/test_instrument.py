"""Building a driver with counters in its blocks: what is made of its source, and what is refused. Nothing is compiled
here: make and objdump are scripts that write down what they are given."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tiny_module import LISTING
from txop.guest.coverage import instrument as module
from txop.guest.coverage.instrument import KernelBuild, instrument, kernel_build
from txop.guest.driver import DriverBuildError
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.locks import find_lock

TOP = "drivers/net/wireless/maker/chip"
CORE = """\
obj-$(CONFIG_CHIP_CORE) += chip-core.o
obj-$(CONFIG_CHIP_USB) += usb/
chip-core-y := a.o \\
\tb.o
"""
USB = "obj-$(CONFIG_CHIP_USB) += chip_usb.o\n"
MAKE = """\
#!/bin/sh
echo "$@" >>{log}
for word; do case $word in M=*) folder=${{word#M=}};; esac; done
cp {core} "$folder/chip-core.ko" && cp {usb} "$folder/usb/chip_usb.ko" && cp {counter} "$folder/txop_coverage.ko"
cp -r "$folder" {tree} && cp "$folder/../maker.h" {tree}
"""


@pytest.fixture
def image(tmp_path: Path, make_module: Callable[..., Path]) -> Image:
    """A kernel whose driver chip_usb stands on chip_core, and that on cfg80211, which is no part of it."""
    modules = tmp_path / "modules"
    modules.mkdir()
    for name, needs in (("chip_usb", b"chip-core\0"), ("chip_core", b"cfg80211\0")):
        data = make_module(name).read_bytes()
        (modules / f"{name}.ko").write_bytes(data.replace(b"mac80211,cfg80211\0", needs.ljust(18, b"\0")))
    return Image(tmp_path, "6.1.0", modules, (), "key", cached=True)


@pytest.fixture
def kernel(tmp_path: Path, make_module: Callable[..., Path]) -> KernelBuild:
    source, programs = tmp_path / "source", tmp_path / "programs"
    (source / TOP / "usb").mkdir(parents=True)
    (source / TOP / "Makefile").write_text(CORE)
    (source / TOP / "usb/Makefile").write_text(USB)
    (source / TOP / "usb/chip_usb.c").write_text("int x;\n")
    (source / TOP / "a.o").write_text("of an earlier build")
    (source / TOP / "../maker.h").write_text("int shared;\n")
    programs.mkdir()
    parts = {name: make_module(name) for name in ("chip_usb", "chip_core", "txop_coverage")}
    make = MAKE.format(
        log=tmp_path / "made",
        core=parts["chip_core"],
        usb=parts["chip_usb"],
        counter=parts["txop_coverage"],
        tree=tmp_path / "tree",
    )
    for name, text in (("make", make), ("objdump", f"#!/bin/sh\ncat <<'E'\n{LISTING}\nE\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    variables = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    return KernelBuild(tmp_path / "build", source, variables, "cc 1.0", ("CC=cc",))


def test_a_driver_of_two_modules_counts_in_both(tmp_path: Path, image: Image, kernel: KernelBuild) -> None:
    covered = asyncio.run(instrument("chip_usb", image, kernel, lambda _: None, cache=tmp_path / "cache"))
    assert [path.name for path in covered.modules] == ["chip_usb.ko", "chip-core.ko", "txop_coverage.ko"]
    assert (list(covered.blocks), covered.total) == (["chip_usb", "chip_core"], 10)
    words = (tmp_path / "made").read_text().split()
    assert words[:2] == ["-C", str(tmp_path / "build")]
    assert words[-3:] == ["chip-core.ko", "usb/chip_usb.ko", "txop_coverage.ko"]
    assert {"CC=cc", "CONFIG_CHIP_USB=m", "CONFIG_CHIP_CORE=m"} <= set(words)
    tree = tmp_path / "tree"
    assert (tree / "Makefile").read_text().removeprefix(CORE).splitlines() == [
        "",
        "obj-m += txop_coverage.o",
        "$(foreach object,$(chip-core-objs) $(chip-core-y) $(chip-core-m),"
        f"$(eval CFLAGS_$(object) += {module.INSTRUMENTED}))",
    ]
    assert (tree / "usb/Makefile").read_text().removeprefix(USB).splitlines() == [
        "",
        f"$(foreach object,chip_usb.o,$(eval CFLAGS_$(object) += {module.INSTRUMENTED}))",
    ]
    assert (tree / "txop_coverage.c").read_bytes() == (module.SOURCE / "txop_coverage.c").read_bytes()
    assert (tree / "maker.h").is_file(), "drivers of a maker share headers in the folder above"
    assert not (tree / "a.o").exists(), "what an earlier build left would not count"
    assert (kernel.source / TOP / "Makefile").read_text() == CORE, "the source stays as it is"


def test_it_is_built_once_for_the_same_source(tmp_path: Path, image: Image, kernel: KernelBuild) -> None:
    first, again = (
        asyncio.run(instrument("chip_usb", image, kernel, lambda _: None, cache=tmp_path / "cache")) for _ in range(2)
    )
    assert first == again
    assert len((tmp_path / "made").read_text().splitlines()) == 1
    (kernel.source / TOP / "usb/chip_usb.c").write_text("int y;\n")
    asyncio.run(instrument("chip_usb", image, kernel, lambda _: None, cache=tmp_path / "cache2"))
    assert len((tmp_path / "made").read_text().splitlines()) == 2


def test_a_driver_that_is_not_there_and_one_that_does_not_build(
    tmp_path: Path, image: Image, kernel: KernelBuild
) -> None:
    with pytest.raises(GuestError, match="has no module other"):
        asyncio.run(instrument("other", image, kernel, lambda _: None, cache=tmp_path / "cache"))
    (tmp_path / "programs/make").write_text("#!/bin/sh\necho 'a.c:1: error: no' >&2\nexit 2\n")
    with pytest.raises(DriverBuildError, match=r"a\.c:1: no"):
        asyncio.run(instrument("chip_usb", image, kernel, lambda _: None, cache=tmp_path / "cache"))


def test_a_build_folder_of_another_kernel_and_one_with_kcov_are_refused(tmp_path: Path) -> None:
    own, lock = tmp_path / "own", find_lock("6.12")
    (own / "arch/x86/boot").mkdir(parents=True)
    (own / "arch/x86/boot/bzImage").write_bytes(b"kernel")
    (own / ".config").write_text("CONFIG_KCOV=y\n")
    (tmp_path / "other").write_bytes(b"another kernel")
    with pytest.raises(GuestError, match="is not the folder in which"):
        kernel_build(lock, own, tmp_path / "other", progress=lambda _: None)
    with pytest.raises(GuestError, match="the kernel has KCOV"):
        kernel_build(lock, own, own / "arch/x86/boot/bzImage", progress=lambda _: None)
