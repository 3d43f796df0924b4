"""What an exact guest is a function of: whatever changes what it leaves makes another key."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from txop.guest import inputs, outside
from txop.guest.inputs import NotExactError, boots_sha256, inputs_of, key_of
from txop.guest.outside import GivenRun
from txop.guest.qemu import Computer, Mode
from txop.guest_image.emulator.lock import find_emulator_lock
from txop.guest_image.image import Image
from txop.guest_image.overlay import Overlay

RELEASE = "6.12.1-txop"


def module_file(name: str, content: str) -> bytes:
    """A 64-bit relocatable with a ``.modinfo`` section and nothing else."""
    modinfo = f"name={name}\0vermagic={RELEASE} SMP\0description={content}\0depends=\0".encode()
    names = b"\0.modinfo\0.shstrtab\0"
    sections = [(0, 0, 0, 0, 0, 0), (1, 1, 2, 0, 64, len(modinfo)), (10, 3, 0, 0, 64 + len(modinfo), len(names))]
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    table = 64 + len(modinfo) + len(names)
    header += struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 2)
    return header + modinfo + names + b"".join(struct.pack("<IIQQQQIIQQ", *entry, 0, 0, 1, 0) for entry in sections)


@dataclass
class Guest:
    """All that a guest is made of, each of which a test changes."""

    folder: Path
    overlay: Overlay
    computer: Computer

    @property
    def image(self) -> Image:
        return Image(self.folder, RELEASE, self.folder, ("rtl8xxxu",), "key", cached=True)

    @property
    def key(self) -> str:
        return inputs_of(self.image, self.overlay, self.computer).key

    def write(self, name: str, data: bytes) -> None:
        (self.folder / name).write_bytes(data)


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guest:
    library = tmp_path / "library.so"
    library.write_bytes(b"devices")
    monkeypatch.setenv("TXOP_QEMU_DEVICES", str(library))
    overlay = Overlay(
        script="true",
        environment={"LAB_OPTIONS": "--loss 0"},
        files={"/txop/faults.toml": tmp_path / "faults.toml"},
        texts={"/root/a": b"a"},
        modules=(tmp_path / "given.ko",),
    )
    made = Guest(tmp_path, overlay, Computer(mode=Mode.EXACT, seed=1))
    made.write("vmlinuz", b"kernel")
    made.write("initramfs.gz", gzip.compress(b"files"))
    made.write("faults.toml", b"[[fault]]")
    made.write("rtl8xxxu.ko", module_file("rtl8xxxu", "stock"))
    made.write("given.ko", module_file("rtl8xxxu", "patched"))
    return made


def computer(**settings: Any) -> Callable[[Guest], None]:
    def change(guest: Guest) -> None:
        guest.computer = replace(guest.computer, **settings)

    return change


def overlay(**settings: Any) -> Callable[[Guest], None]:
    def change(guest: Guest) -> None:
        guest.overlay = replace(guest.overlay, **settings)

    return change


def file(name: str, data: bytes) -> Callable[[Guest], None]:
    return lambda guest: guest.write(name, data)


def renamed(guest: Guest) -> None:
    guest.overlay = replace(guest.overlay, files={"/txop/other.toml": guest.folder / "faults.toml"})


CHANGES = {
    "kernel": file("vmlinuz", b"another"),
    "files of the image": file("initramfs.gz", gzip.compress(b"other files")),
    "module": file("given.ko", module_file("rtl8xxxu", "patched otherwise")),
    "no module": overlay(modules=()),
    "fault script": file("faults.toml", b"[[fault]]\n"),
    "a file's name": renamed,
    "mode of a file": lambda guest: (guest.folder / "faults.toml").chmod(0o755),
    "text": overlay(texts={"/root/a": b"b"}),
    "script": overlay(script="false"),
    "settings of the chip": overlay(environment={"LAB_OPTIONS": "--loss 0.1"}),
    "virtual devices": file("library.so", b"other devices"),
    "seed": computer(seed=2),
    "memory": computer(memory_mb=256),
    "speed": computer(shift=2),
    "time limit": computer(limit_s=301),
    "arguments of the kernel": computer(append=("slub_debug=FZP",)),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_a_guest_is_made_of_is_in_its_key(guest: Guest, what: str) -> None:
    before = guest.key
    assert guest.key == before
    CHANGES[what](guest)
    assert guest.key != before


OF_TXOP = {
    "C file of the devices": (inputs, "shim_sha256", lambda: "0" * 64),
    "size of captures": (outside, "CAPTURE_LIMIT_BYTES", 1 << 20),
    "machine": ("txop.guest.qemu.MACHINE", None, "pc-i440fx-10.0"),
    "processor": ("txop.guest.qemu.CPU", None, "qemu64"),
    "ranges of the seed": ("txop.guest.perturbation.MAX_LOSS", None, 0.5),
    "meaning of the key": (inputs, "VERSION", 2),
}


@pytest.mark.parametrize("what", OF_TXOP)
def test_what_txop_makes_of_it_is_in_the_key(guest: Guest, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    before = guest.key
    place, name, value = OF_TXOP[what]
    if isinstance(place, str):
        monkeypatch.setattr(place, value)
    else:
        monkeypatch.setattr(place, name, value)
    assert guest.key != before


def test_every_package_of_the_emulator_is_in_the_key(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    before, lock = guest.key, find_emulator_lock()
    monkeypatch.setattr(inputs, "find_emulator_lock", lambda: replace(lock, program_sha256="0" * 64))
    assert guest.key != before
    packages = (replace(lock.packages[0], sha256="0" * 64), *lock.packages[1:])
    monkeypatch.setattr(inputs, "find_emulator_lock", lambda: replace(lock, packages=packages))
    assert guest.key != before


def test_names_of_this_machine_are_not_in_the_key(guest: Guest, tmp_path: Path) -> None:
    """The same files elsewhere are the same guest."""
    other = tmp_path / "elsewhere"
    other.mkdir()
    for name in ("vmlinuz", "initramfs.gz", "faults.toml", "rtl8xxxu.ko", "given.ko"):
        (other / name).write_bytes((tmp_path / name).read_bytes())
    moved = replace(guest.overlay, files={"/txop/faults.toml": other / "faults.toml"}, modules=(other / "given.ko",))
    assert Guest(other, moved, guest.computer).key == guest.key


@pytest.mark.parametrize(
    "settings",
    [
        {"mode": Mode.FAST},
        {"kvm": True},
        {"shell": True},
        {"debugger": Path("socket")},
        {"record": Path("record")},
        {"replay": Path("record")},
    ],
)
def test_a_guest_that_is_not_exact_has_no_key(guest: Guest, settings: dict[str, Any]) -> None:
    computer(**settings)(guest)
    with pytest.raises(NotExactError):
        _ = guest.key


def test_another_program_than_the_pinned_qemu_has_no_key(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TXOP_QEMU", "/bin/true")
    with pytest.raises(NotExactError):
        _ = guest.key


def test_what_boots_may_be_hashed_once(guest: Guest) -> None:
    booted = boots_sha256(guest.image, guest.overlay)
    one = inputs_of(guest.image, guest.overlay, guest.computer, booted)
    assert one.key == guest.key == key_of(one.parts)


def test_a_run_from_a_saved_guest_is_another_and_so_is_each_part_of_it(guest: Guest) -> None:
    def key(run: GivenRun | None) -> str:
        return inputs_of(guest.image, guest.overlay, guest.computer, run=run).key

    one = GivenRun(7, 0.01, "true")
    others = [None, replace(one, seed=8), replace(one, loss=None), replace(one, script="false")]
    assert key(one) == key(one)
    assert len({key(run) for run in (one, *others)}) == 5
    before = key(one)
    guest.overlay = replace(guest.overlay, script="what the guest did until it was saved")
    assert key(one) != before
