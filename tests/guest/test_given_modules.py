"""Modules that take the place of the kernel's own; files made by hand, nothing boots here."""

from __future__ import annotations

import asyncio
import io
import lzma
import struct
from pathlib import Path

import pytest

from txop.guest import rebuilt
from txop.guest_image.error import GuestError
from txop.guest_image.image import Image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay, given_modules, overlay_archive
from txop.guest_image.packages.lock import Lock

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


class Builds:
    """In place of building: hands out one module, and counts."""

    def __init__(self, module: Path) -> None:
        self.module = module
        self.count = 0

    async def __call__(self, *_: object, **__: object) -> Builds:
        self.count += 1
        return self


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Builds:
    built = tmp_path / "built" / "rtl8xxxu.ko"
    built.parent.mkdir()
    built.write_bytes(module_file("rtl8xxxu", content="built"))
    builds = Builds(built)
    monkeypatch.setattr(rebuilt, "build_driver", builds)
    return builds


def chosen(driver: str, given: list[Path], image: Image, lock: Lock | None) -> tuple[Path, ...]:
    return asyncio.run(rebuilt.modules_for("rtl8188cus", driver, given, image, lock, lambda _: None))


def test_a_driver_is_built_unless_one_of_its_name_is_given(tmp_path: Path, builds: Builds) -> None:
    image, lock = kernel(tmp_path / "kernel", module_file("rtl8xxxu")), find_lock("6.12")
    mine, other = tmp_path / "patched.ko", tmp_path / "rtl8xxxu.ko"
    mine.write_bytes(module_file("rtl8xxxu"))
    other.write_bytes(module_file("mac80211"))
    assert chosen("rtl8xxxu", [mine], image, lock) == (mine,)
    assert chosen("rtl8192cu", [], image, lock) == ()
    assert builds.count == 0
    assert chosen("rtl8xxxu", [other], image, lock) == (other, builds.module)


def test_a_kernel_of_ones_own_has_the_driver_or_it_says_what_is_missing(tmp_path: Path, builds: Builds) -> None:
    knows = kernel(tmp_path / "knows", module_file("rtl8xxxu", aliases=("usb:v0BDAp8176d*dc*dsc*dp*icFFiscFFipFFin*",)))
    debian = kernel(tmp_path / "debian", module_file("rtl8xxxu", aliases=("usb:v0BDAp1724d*",)))
    without = kernel(tmp_path / "without", module_file("cfg80211"))
    assert chosen("rtl8xxxu", [], knows, None) == ()
    with pytest.raises(GuestError, match=r"rtl8xxxu in .*debian does not know the rtl8188cus") as said:
        chosen("rtl8xxxu", [], debian, None)
    assert "CONFIG_RTL8XXXU_UNTESTED" in (said.value.what_to_do or "")
    with pytest.raises(GuestError, match="without has no rtl8xxxu"):
        chosen("rtl8xxxu", [], without, None)
    assert chosen("rtl8192cu", [], without, None) == ()
    (tmp_path / "without" / "modules.builtin").write_text("kernel/drivers/net/wireless/realtek/rtl8xxxu/rtl8xxxu.ko\n")
    assert chosen("rtl8xxxu", [], without, None) == ()
    mine = tmp_path / "mine.ko"
    mine.write_bytes(module_file("rtl8xxxu"))
    assert chosen("rtl8xxxu", [mine], debian, None) == (mine,)
    assert builds.count == 0


def test_of_several_drivers_a_given_one_goes_to_its_own_guests_and_others_to_all(
    tmp_path: Path, builds: Builds
) -> None:
    image, lock = kernel(tmp_path / "kernel", module_file("rtl8xxxu")), find_lock("6.12")
    usbcore, vendor = tmp_path / "a.ko", tmp_path / "b.ko"
    usbcore.write_bytes(module_file("usbcore"))
    vendor.write_bytes(module_file("rtl8192cu"))
    each = rebuilt.modules_of_each(
        "rtl8188cus", ("rtl8xxxu", "rtl8192cu"), [usbcore, vendor], image, lock, lambda _: None
    )
    assert asyncio.run(each) == {"rtl8xxxu": (usbcore, builds.module), "rtl8192cu": (usbcore, vendor)}
