"""What programs and modules need, and where it is: ELF files and trees made by hand."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.guest_image.elf import NotElfError, read_dynamic
from txop.guest_image.error import GuestError
from txop.guest_image.libraries import MissingLibraryError, libraries_of
from txop.guest_image.modules import KernelModule, MissingModuleError, alias_text, closure, dependency_text
from txop.guest_image.packages.store import FileTree


def elf(needed: list[str], *, interpreter: str | None = None, soname: str | None = None) -> bytes:
    """A 64-bit little-endian ELF file with a dynamic section and nothing else; one segment maps all of it at 0."""
    strings = b"\0"
    offsets = []
    for name in [*needed, *([soname] if soname else [])]:
        offsets.append(len(strings))
        strings += name.encode() + b"\0"
    where_strings = 64 + 3 * 56
    where_interp = where_strings + len(strings)
    path = (interpreter or "").encode() + b"\0"
    where_dynamic = (where_interp + len(path) + 7) & ~7
    entries = [(1, offset) for offset in offsets[: len(needed)]]
    entries += [(14, offsets[-1])] if soname else []
    entries += [(5, where_strings), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    total = where_dynamic + len(dynamic)

    def segment(kind: int, offset: int, size: int) -> bytes:
        return struct.pack("<IIQQQQQQ", kind, 4, offset, offset, offset, size, size, 8)

    segments = segment(1, 0, total) + segment(2, where_dynamic, len(dynamic))
    segments += segment(3, where_interp, len(path)) if interpreter else segment(0, 0, 0)
    header = (
        b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 3, 0, 0, 0)
    )
    body = header + segments + strings + path
    return body + bytes(where_dynamic - len(body)) + dynamic


def test_an_elf_file_says_what_it_needs() -> None:
    dynamic = read_dynamic(elf(["libc.so.6", "libnl-3.so.200"], interpreter="/lib64/ld.so", soname="x.so"))
    assert dynamic.needed == ("libc.so.6", "libnl-3.so.200")
    assert dynamic.soname == "x.so"
    assert dynamic.interpreter == "/lib64/ld.so"


def test_it_agrees_with_readelf_on_a_program_of_this_machine() -> None:
    program = Path("/bin/sh").resolve()
    try:
        said = subprocess.run(["readelf", "-d", str(program)], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("readelf is not here (package binutils)")
    wanted = [row.split("[")[1].rstrip("]") for row in said.splitlines() if "(NEEDED)" in row]
    assert list(read_dynamic(program.read_bytes()).needed) == wanted


@given(st.binary(max_size=400), st.integers(0, 500), st.binary(max_size=8))
def test_hostile_elf_files_are_refused_or_read(noise: bytes, at: int, patch: bytes) -> None:
    whole = elf(["a", "b"], interpreter="/ld")
    for data in (b"\x7fELF" + noise, whole[:at], whole[:at] + patch + whole[at + len(patch) :]):
        try:
            dynamic = read_dynamic(data)
        except NotElfError:
            continue
        assert len(dynamic.needed) <= 65_536


def tree_of(folder: Path, files: dict[str, bytes]) -> FileTree:
    for name, data in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return FileTree([folder])


LIB = "usr/lib/x86_64-linux-gnu"


def test_libraries_of_libraries_are_found_through_links(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        {
            "usr/bin/iw": elf(["liba.so.1"], interpreter="/lib64/ld-linux.so.2"),
            f"{LIB}/liba.so.1.5": elf(["libb.so.2"]),
            f"{LIB}/libb.so.2": elf([]),
            f"{LIB}/ld-linux.so.2": elf([]),
        },
    )
    (tmp_path / LIB / "liba.so.1").symlink_to("liba.so.1.5")
    (tmp_path / "usr/lib64").mkdir()
    (tmp_path / "usr/lib64/ld-linux.so.2").symlink_to("/lib/x86_64-linux-gnu/ld-linux.so.2")
    found = libraries_of(tree, ["usr/bin/iw"])
    assert set(found) == {f"{LIB}/liba.so.1", f"{LIB}/libb.so.2", "usr/lib64/ld-linux.so.2"}


def test_a_library_that_nobody_has_is_named_with_who_needs_it(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, {"usr/bin/iw": elf(["liba.so.1"]), f"{LIB}/liba.so.1": elf(["libgone.so.3"])})
    with pytest.raises(MissingLibraryError, match=r"libgone\.so\.3, which .*liba\.so\.1 needs"):
        libraries_of(tree, ["usr/bin/iw"])


def test_links_never_lead_out_of_a_tree_or_in_circles(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"secret")
    inside = tmp_path / "inside"
    tree = tree_of(inside, {"usr/bin/x": b""})
    (inside / "usr/bin/up").symlink_to("../../../outside")
    (inside / "usr/bin/away").symlink_to(str(outside))
    (inside / "usr/bin/round").symlink_to("round")
    assert [tree.find(f"usr/bin/{name}") for name in ("up", "away", "round", "none")] == [None] * 4


def module(name: str, depends: tuple[str, ...] = (), wants: tuple[str, ...] = ()) -> KernelModule:
    return KernelModule(name, b"", depends, wants, (f"usb:{name}",), "6.12")


def closed(wanted: list[str], modules: list[KernelModule], builtin: frozenset[str] = frozenset()) -> list[str]:
    given = {one.name: one for one in modules}

    class Find:
        def __call__(self, name: str) -> None:
            return None

    order = closure(wanted, Find(), builtin, given)
    return [one.name for one in order]


def test_modules_come_after_what_they_need() -> None:
    modules = [module("rtl8xxxu", ("mac80211", "usbcore")), module("mac80211", ("cfg80211",)), module("cfg80211")]
    assert closed(["rtl8xxxu"], modules, frozenset({"usbcore"})) == ["cfg80211", "mac80211", "rtl8xxxu"]


def test_a_module_that_is_missing_is_named_with_who_needs_it() -> None:
    with pytest.raises(MissingModuleError, match="no module mac80211, which rtl8xxxu needs"):
        closed(["rtl8xxxu"], [module("rtl8xxxu", ("mac80211",))])


def test_a_soft_dependency_may_be_missing() -> None:
    assert closed(["a"], [module("a", wants=("gone", "b")), module("b")]) == ["b", "a"]


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefgh"), max_size=4)))
def test_every_closure_ends_and_is_whole_also_in_circles(graph: dict[str, list[str]]) -> None:
    modules = [module(name, tuple(other for other in others if other in graph)) for name, others in graph.items()]
    assert sorted(closed(sorted(graph), modules)) == sorted(graph)
    rows = dependency_text(modules).splitlines() if modules else []
    for row in rows:
        name, _, needed = row.partition(":")
        assert name not in needed.split()


def test_the_index_lists_the_nearest_first_and_every_alias() -> None:
    modules = [module("c"), module("b", ("c",)), module("a", ("b",))]
    assert dependency_text(modules) == "a.ko: b.ko c.ko\nb.ko: c.ko\nc.ko:\n"
    assert alias_text(modules).splitlines()[0] == "alias usb:a a"


def test_a_file_that_is_no_module_is_refused() -> None:
    def find(name: str) -> bytes:
        return b"\x7fELF no"

    with pytest.raises(GuestError, match="x"):
        closure(["x"], find, frozenset())
