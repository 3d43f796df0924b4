"""Modules of one's own in a guest, and kernels of one's own: what is given is what is loaded."""

from __future__ import annotations

import asyncio
import lzma
import struct
from pathlib import Path

import pytest

from txop.cli.errors import UserError
from txop.cli.guest_device import chip_of
from txop.cli.guest_run import _overlay
from txop.guest import chip_driver as chip_drivers
from txop.guest.chip_driver import chip_driver
from txop.guest.driver import DriverBuild
from txop.guest.error import GuestError
from txop.guest.image import Image
from txop.guest.locks import find_lock
from txop.guest.overlay import Overlay, given_modules, overlay_archive

CHIP_ALIAS = "usb:v0BDAp8176d*dc*dsc*dp*icFFiscFFipFFin*"


def module(name: str, *entries: str, release: str = "6.12.1") -> bytes:
    """A 64-bit little-endian ELF relocatable with a .modinfo section and nothing else (System V ABI, chapter 4)."""
    info = b"".join(entry.encode() + b"\0" for entry in (f"name={name}", f"vermagic={release} SMP", *entries))
    names = b"\0.modinfo\0.shstrtab\0"

    def section(at: int, kind: int, offset: int, size: int) -> bytes:
        return struct.pack("<IIQQQQIIQQ", at, kind, 0, 0, offset, size, 0, 0, 1, 0)

    table = section(0, 0, 0, 0) + section(1, 1, 64, len(info)) + section(10, 3, 64 + len(info), len(names))
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64 + len(info) + len(names), 0, 64, 0, 0, 64, 3, 2)
    return header + info + names + table


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """In place of building drivers: which ones were."""
    built: list[str] = []
    stock = tmp_path / "stock" / "rtl8xxxu.ko"
    stock.parent.mkdir()
    stock.write_bytes(module("rtl8xxxu", "alias=stock"))

    class Built:
        module = stock

    async def build(what: DriverBuild, *_: object, **__: object) -> type[Built]:
        built.append(what.driver)
        return Built

    monkeypatch.setattr(chip_drivers, "build_driver", build)
    monkeypatch.setenv("TXOP_VUSB", str(stock))
    return built


def overlay_of(*modules: Path, own: Path | None = None) -> Overlay:
    chip = chip_of("rtl8188cus", "rtl8xxxu", None, None, None, "open", "hostapd", 20)
    return _overlay(["true"], list(modules), None, chip, "6.12", None, own)


@pytest.mark.parametrize("file", ["patched.ko", "rtl8xxxu.ko", "rtl8xxxu.ko.xz"])
def test_a_module_that_is_given_is_the_one_in_the_guest(builds: list[str], tmp_path: Path, file: str) -> None:
    given = tmp_path / file
    data = module("rtl8xxxu", "alias=mine")
    given.write_bytes(lzma.compress(data) if file.endswith(".xz") else data)
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "other.ko").write_bytes(module("other"))
    overlay = overlay_of(given)
    assert overlay.modules == (given,)
    assert builds == []
    image = Image(tmp_path, "6.12.1", tmp_path / "kernel", (), "key", cached=True)
    archive = overlay_archive(overlay, image)
    assert archive._members["usr/lib/modules/6.12.1/rtl8xxxu.ko"][1] == data


def test_without_one_it_is_built_beside_other_modules(builds: list[str], tmp_path: Path) -> None:
    other = tmp_path / "rtl8xxxu.ko"
    other.write_bytes(module("something_else"))
    overlay = overlay_of(other)
    assert [path.parent.name for path in overlay.modules] == [tmp_path.name, "stock"]
    assert builds == ["rtl8xxxu"]


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("a.ko", "b.ko"):
        (tmp_path / name).write_bytes(module("same"))
    with pytest.raises(GuestError, match="are both the module same"):
        given_modules([tmp_path / "a.ko", tmp_path / "b.ko"])


@pytest.mark.parametrize(
    ("files", "builtin", "complaint"),
    [
        ({"rtl8xxxu": (f"alias={CHIP_ALIAS}",)}, "", None),
        ({"other": ()}, "kernel/drivers/net/wireless/realtek/rtl8xxxu/rtl8xxxu.ko\n", None),
        ({"rtl8xxxu": ("alias=usb:v0BDAp1724d*",)}, "", "does not know an rtl8188cus"),
        ({"other": ()}, "", "has no rtl8xxxu"),
    ],
)
def test_a_kernel_of_ones_own_has_to_know_the_chip(
    builds: list[str], tmp_path: Path, files: dict[str, tuple[str, ...]], builtin: str, complaint: str | None
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "modules.builtin").write_text(builtin)
    for name, entries in files.items():
        (own / f"{name}.ko").write_bytes(module(name, *entries))
    made = chip_driver("rtl8188cus", "rtl8xxxu", find_lock("6.12"), own)
    if complaint is None:
        assert asyncio.run(made) == ()
    else:
        with pytest.raises(GuestError, match=complaint) as error:
            asyncio.run(made)
        assert "CONFIG_RTL8XXXU_UNTESTED" in str(error.value.what_to_do)
    assert builds == []


def test_a_quotation_without_end_is_wrong_usage() -> None:
    with pytest.raises(UserError, match="No closing quotation"):
        chip_of("rtl8188cus", None, None, ['"'], None, None, "hostapd", 20)


@pytest.mark.parametrize("place", ["/../../etc/passwd", "/root/..", "/root/a\nb", "/root/\x1b[2J"])
def test_places_that_cannot_be_are_refused(tmp_path: Path, place: str) -> None:
    image = Image(tmp_path, "6.12.1", tmp_path, (), "key", cached=True)
    with pytest.raises(GuestError, match="no place for a file in a guest"):
        overlay_archive(Overlay(texts={place: b""}), image)
