"""What is taken out of the emulator's source package."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator_specimen import PATCH, SOURCE, make_tar
from txop.guest_image.emulator.headers import is_header, is_read
from txop.guest_image.emulator.source import SourceError, series, unpack_source
from txop.guest_image.emulator.unified import PatchError


def unpacked(folder: Path, source: bytes, patches: dict[str, bytes]) -> dict[str, str]:
    """What is unpacked of a source and patches, by name."""
    (folder / "x.orig.tar.xz").write_bytes(source)
    (folder / "x.debian.tar.xz").write_bytes(make_tar({f"debian/patches/{n}": d for n, d in patches.items()}, "xz"))
    target = folder / "target"
    target.mkdir()
    unpack_source(folder / "x.orig.tar.xz", folder / "x.debian.tar.xz", target, is_read)
    return {
        path.relative_to(target).as_posix(): path.read_text(errors="surrogateescape")
        for path in target.rglob("*")
        if path.is_file()
    }


def source_tar(files: dict[str, bytes]) -> bytes:
    return make_tar({f"qemu-1/{name}": data for name, data in files.items()}, "xz")


def test_what_is_read_is_unpacked_and_patched_and_the_rest_is_left(tmp_path: Path) -> None:
    found = unpacked(tmp_path, source_tar(dict(SOURCE)), {"series": b"one.patch # x\n", "one.patch": PATCH.encode()})
    assert found["include/x.h"] == "one\n2\nthree\n"
    assert found["include/new.h"] == "new\n"
    assert found.keys() == {"include/x.h", "include/new.h", "scripts/qapi-gen.py", "qapi/qapi-schema.json"}


def test_a_patch_may_take_a_file_away(tmp_path: Path) -> None:
    patch = b"--- a/include/x.h\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n"
    assert "include/x.h" not in unpacked(tmp_path, source_tar(dict(SOURCE)), {"series": b"p\n", "p": patch})


def test_a_patch_may_call_the_old_file_otherwise(tmp_path: Path) -> None:
    patch = b"--- a/include/x.h.orig\n+++ b/include/x.h\n@@ -1 +1 @@\n-one\n+1\n"
    found = unpacked(tmp_path, source_tar(dict(SOURCE)), {"series": b"p\n", "p": patch})
    assert found["include/x.h"] == "1\ntwo\nthree\n"


def test_bytes_that_are_no_utf8_stay_as_they_are(tmp_path: Path) -> None:
    source = {**SOURCE, "include/x.h": b"one\n\xff\xfe two\r\nthree\n"}
    patch = b"--- a/include/x.h\n+++ b/include/x.h\n@@ -1,2 +1,2 @@\n-one\n+\xe9\n \xff\xfe two\r\n"
    unpacked(tmp_path, source_tar(source), {"series": b"p\n", "p": patch})
    assert (tmp_path / "target/include/x.h").read_bytes() == b"\xe9\n\xff\xfe two\r\nthree\n"


def test_a_patch_of_what_is_read_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    source = {**SOURCE, "include/x.h": b"other\n"}
    with pytest.raises(PatchError, match=r"p: include/x\.h"):
        unpacked(tmp_path, source_tar(source), {"series": b"p\n", "p": PATCH.encode()})


@pytest.mark.parametrize(
    ("patches", "words"),
    [
        ({"series": b"p -p0\n", "p": b""}, "-p1"),
        ({"series": b"p -R\n", "p": b""}, "-p1"),
        ({"series": b"q\n"}, "the patch q of the series is not in"),
        ({"series": b"p\n", "p": b"--- a/include/y.h\n+++ b/include/y.h\n@@ -1 +1 @@\n-a\n+b\n"}, "include/y.h"),
    ],
)
def test_a_series_that_cannot_be_applied_says_why(tmp_path: Path, patches: dict[str, bytes], words: str) -> None:
    with pytest.raises(SourceError, match=words):
        unpacked(tmp_path, source_tar(dict(SOURCE)), patches)


@pytest.mark.parametrize(
    "name", ["../include/x.h", "/include/x.h", "qemu-1/../../include/x.h", "qemu-1/a/../../../x.h"]
)
def test_a_name_that_leads_out_of_the_source_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match="leads out"):
        unpacked(tmp_path, make_tar({name: b"x"}, "xz"), {"series": b""})
    assert {path.name for path in tmp_path.iterdir()} == {"target", "x.orig.tar.xz", "x.debian.tar.xz"}


def test_links_are_not_followed_and_not_made(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as tar:
        link = tarfile.TarInfo("qemu-1/include")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path / "outside")
        tar.addfile(link)
        inside = tarfile.TarInfo("qemu-1/include/x.h")
        inside.size = 1
        tar.addfile(inside, io.BytesIO(b"x"))
    (tmp_path / "outside").mkdir()
    assert unpacked(tmp_path, out.getvalue(), {"series": b""}) == {"include/x.h": "x"}
    assert not list((tmp_path / "outside").iterdir())


@pytest.mark.parametrize("cut", [0, 10, 100])
def test_a_damaged_tar_is_an_error(tmp_path: Path, cut: int) -> None:
    source = source_tar({"include/x.h": b"one" * 1000})
    with pytest.raises(SourceError, match="damaged"):
        unpacked(tmp_path, source[:cut], {"series": b""})


@given(st.lists(st.from_regex(r"[a-z0-9.+-]{1,20}", fullmatch=True)))
def test_a_series_is_names_in_order(names: list[str]) -> None:
    text = "# patches\n\n" + "".join(f"{name}{' -p1' if len(name) % 2 else ''} # why\n" for name in names)
    assert list(series(text)) == names


def test_headers_are_those_of_a_device() -> None:
    assert is_header("include/hw/usb.h")
    assert is_header("hw/sd/sdhci-internal.h")
    assert is_header("include/qapi/x.h.inc")
    assert not is_header("include/hw/usb.c")
    assert not is_header("target/arm/cpu.h")
    assert is_read("scripts/qapi/main.py")
    assert not is_header("scripts/qapi/x.h")
