"""Modules that take the place of the kernel's own; files made by hand, nothing boots here."""

from __future__ import annotations

import io
import lzma
import struct
from pathlib import Path

import pytest

from txop.guest.error import GuestError
from txop.guest.image import Image
from txop.guest.overlay import Overlay, given_modules, overlay_archive

RELEASE = "6.12.1-txop"


def module_file(name: str, *, content: str = "", aliases: tuple[str, ...] = (), release: str = RELEASE) -> bytes:
    """A 64-bit relocatable with a ``.modinfo`` section and nothing else. ``content`` tells one from another."""
    entries = [f"name={name}", f"vermagic={release} SMP", f"description={content}", "depends="]
    modinfo = b"".join(f"{entry}\0".encode() for entry in (*entries, *(f"alias={alias}" for alias in aliases)))
    names = b"\0.modinfo\0.shstrtab\0"
    sections = [(0, 0, 0, 0, 0, 0), (1, 1, 2, 0, 64, len(modinfo)), (10, 3, 0, 0, 64 + len(modinfo), len(names))]
    table = 64 + len(modinfo) + len(names)
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 2)
    return header + modinfo + names + b"".join(struct.pack("<IIQQQQIIQQ", *entry, 0, 0, 1, 0) for entry in sections)


def kernel(folder: Path, *modules: bytes) -> Image:
    """An image whose kernel has these modules."""
    folder.mkdir()
    for data in modules:
        (folder / f"{name_of(data)}.ko").write_bytes(data)
    return Image(folder, RELEASE, folder, tuple(map(name_of, modules)), "key", cached=True)


def name_of(data: bytes) -> str:
    return data.split(b"name=")[1].split(b"\0")[0].decode()


def archive(overlay: Overlay, image: Image) -> bytes:
    out = io.BytesIO()
    overlay_archive(overlay, image).write(out)
    return out.getvalue()


@pytest.mark.parametrize("file_name", ["rtl8xxxu.ko", "patched.ko", "rtl8xxxu.ko.xz", "rtl8xxxu-fix.o"])
def test_a_module_is_the_one_that_it_says_whatever_its_file_is_called(tmp_path: Path, file_name: str) -> None:
    image = kernel(tmp_path / "kernel", module_file("rtl8xxxu", content="stock"), module_file("cfg80211"))
    mine = module_file("rtl8xxxu", content="patched")
    given = tmp_path / file_name
    given.write_bytes(lzma.compress(mine) if file_name.endswith(".xz") else mine)
    assert set(given_modules([given])) == {"rtl8xxxu"}
    written = archive(Overlay(modules=(given,)), image)
    assert mine in written
    assert b"stock" not in written


def test_two_modules_of_one_name_are_refused(tmp_path: Path) -> None:
    image = kernel(tmp_path / "kernel", module_file("rtl8xxxu"))
    one, two = tmp_path / "one.ko", tmp_path / "two.ko"
    one.write_bytes(module_file("rtl8xxxu", content="one"))
    two.write_bytes(module_file("rtl8xxxu", content="two"))
    with pytest.raises(GuestError, match=r"one\.ko and .*two\.ko both are the module rtl8xxxu"):
        archive(Overlay(modules=(one, two)), image)


def test_a_module_of_another_kernel_is_refused(tmp_path: Path) -> None:
    image = kernel(tmp_path / "kernel", module_file("rtl8xxxu"))
    old = tmp_path / "old.ko"
    old.write_bytes(module_file("rtl8xxxu", release="6.1.0"))
    with pytest.raises(GuestError, match=rf"built for the kernel 6\.1\.0; the guest has {RELEASE}"):
        archive(Overlay(modules=(old,)), image)
