"""What a module file says of itself, against readelf and modinfo."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import re
import shutil
import struct
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.arms.module_file import NotAModuleError, build_id, module_info, unpack


def test_every_field_is_read(make_module):
    info = module_info(make_module().read_bytes())
    assert (info.name, info.srcversion, info.version) == ("rtl8xxxu", "0123456789ABCDEF01234567", "1.2")
    assert info.depends == ("mac80211", "cfg80211")
    assert info.parameters == {"debug", "ht40"}
    assert info.kernel_release == "6.1.0-7-amd64"


def test_the_build_id_is_the_one_readelf_shows(make_module):
    if not shutil.which("readelf"):
        pytest.skip("no readelf here")
    seen = set()
    for number in range(3):
        file = make_module(number=number)
        shown = subprocess.run(["readelf", "-n", file], capture_output=True, text=True, check=True).stdout
        match = re.search(r"Build ID: ([0-9a-f]+)", shown)
        assert match is not None
        assert module_info(file.read_bytes()).build_id == match[1]
        seen.add(match[1])
    assert len(seen) == 3


def test_the_fields_are_those_modinfo_shows(make_module):
    modinfo = next(
        (path for path in ("/sbin/modinfo", "/usr/sbin/modinfo", "/bin/modinfo") if shutil.which(path)), None
    )
    if modinfo is None:
        pytest.skip("no modinfo here (package kmod)")
    file = make_module()
    shown = subprocess.run([modinfo, file], capture_output=True, text=True, check=True).stdout
    told = dict(re.findall(r"^(\w+): +(.*)$", shown, re.MULTILINE))
    info = module_info(file.read_bytes())
    for field in ("name", "srcversion", "version", "vermagic"):
        assert told[field].strip() == str(getattr(info, field)).strip()
    assert told["depends"] == ",".join(info.depends)
    parameters = subprocess.run([modinfo, "-p", file], capture_output=True, text=True, check=True).stdout
    assert {line.partition(":")[0] for line in parameters.splitlines()} == info.parameters


@pytest.mark.parametrize("bits", ["-m32", "-m64"])
def test_both_word_sizes_are_read(make_module, tmp_path, bits):
    source = make_module().with_name("m.c")
    made = subprocess.run(["gcc", bits, "-c", "-o", tmp_path / "m.o", source], capture_output=True)
    if made.returncode:
        pytest.skip(f"this gcc has no {bits}")
    assert module_info((tmp_path / "m.o").read_bytes()).name == "rtl8xxxu"


def big_endian_32() -> bytes:
    """A relocatable as a MIPS router has it, put together by hand after the ELF specification."""
    modinfo = b"name=x\0srcversion=AB\0"
    names = b"\0.modinfo\0.shstrtab\0"
    offset = 52
    sections = [
        struct.pack(">10I", *[0] * 10),
        struct.pack(">10I", 1, 1, 2, 0, offset, len(modinfo), 0, 0, 1, 0),
        struct.pack(">10I", 10, 3, 0, 0, offset + len(modinfo), len(names), 0, 0, 1, 0),
    ]
    table = offset + len(modinfo) + len(names)
    header = (
        b"\x7fELF\x01\x02\x01" + bytes(9) + struct.pack(">HHIIIIIHHHHHH", 1, 8, 1, 0, 0, table, 0, 52, 0, 0, 40, 3, 2)
    )
    return header + modinfo + names + b"".join(sections)


def test_big_endian_is_read():
    info = module_info(big_endian_32())
    assert (info.name, info.srcversion, info.build_id) == ("x", "AB", None)


def test_compressed_files_are_unpacked(make_module):
    data = make_module().read_bytes()
    for packed in (data, gzip.compress(data), lzma.compress(data)):
        assert unpack(packed, "x.ko") == data
    with pytest.raises(NotAModuleError, match="zstd"):
        unpack(b"\x28\xb5\x2f\xfd" + data, "x.ko.zst")
    for damaged in (gzip.compress(data)[:-20], lzma.compress(data)[:-20], b"\x1f\x8bxxx"):
        with pytest.raises(NotAModuleError, match="damaged"):
            unpack(damaged, "x.ko")


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"x" * 100, b"#!/bin/sh\n" * 20])
def test_what_is_no_module_is_refused(data):
    with pytest.raises(NotAModuleError):
        module_info(data)


def test_a_program_is_no_module():
    from pathlib import Path

    with pytest.raises(NotAModuleError, match="not a relocatable"):
        module_info(Path("/bin/true").read_bytes())


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damage_anywhere_is_refused_or_read_and_never_crashes(data):
    whole = bytearray(big_endian_32())
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(4, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = whole[: data.draw(st.integers(0, len(whole)))] if data.draw(st.booleans()) else whole
    with contextlib.suppress(NotAModuleError):
        module_info(bytes(cut))


@given(st.binary(max_size=80))
def test_any_note_gives_hexadecimal_or_nothing(note):
    found = build_id(note)
    assert found is None or bytes.fromhex(found) in note
