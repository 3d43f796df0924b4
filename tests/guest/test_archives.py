"""Archives that are written (cpio) and read (deb, tar of a guest), hostile ones among them."""

from __future__ import annotations

import hashlib
import io
import os
import posixpath
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import txop
from txop.guest.results import Event, Milestone, read_events, unpack_files
from txop.guest_image.cpio import Cpio
from txop.guest_image.error import GuestError
from txop.guest_image.packages.control import read_index
from txop.guest_image.packages.deb import DebError, unpack


def packed(archive: Cpio) -> bytes:
    out = io.BytesIO()
    archive.write(out)
    return out.getvalue()


def read_newc(data: bytes) -> dict[str, tuple[int, bytes]]:
    """A reader of its own, after the format's description: name, mode and contents."""
    found: dict[str, tuple[int, bytes]] = {}
    at = 0
    while True:
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        name = data[at + 110 : at + 110 + fields[11] - 1].decode()
        at = (at + 110 + fields[11] + 3) & ~3
        if name == "TRAILER!!!":
            assert at == len(data)
            return found
        found[name] = (fields[1], data[at : at + fields[6]])
        at = (at + fields[6] + 3) & ~3


@given(
    st.dictionaries(st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}){0,3}", fullmatch=True), st.binary(max_size=50), max_size=6)
)
def test_an_archive_holds_what_was_put_in_whatever_the_order(files: dict[str, bytes]) -> None:
    names = [name for name in files if not any(other.startswith(f"{name}/") for other in files)]
    one, two = Cpio(), Cpio()
    for name in names:
        one.add_file(name, files[name])
    for name in reversed(names):
        two.add_file(name, files[name])
    assert packed(one) == packed(two)
    members = read_newc(packed(one))
    assert {name: data for name, (mode, data) in members.items() if stat.S_ISREG(mode)} == {n: files[n] for n in names}
    folders = [name for name, (mode, _) in members.items() if stat.S_ISDIR(mode)]
    order = list(members)
    for name in members:
        above = posixpath.dirname(name)
        assert not above or (above in folders and order.index(above) < order.index(name))


def test_the_cpio_program_reads_it(tmp_path: Path) -> None:
    if shutil.which("cpio") is None:
        pytest.skip("cpio is not here")
    archive = Cpio()
    archive.add_file("a/b", b"text", program=True)
    archive.add_link("l", "a/b")
    subprocess.run(["cpio", "-idm", "--quiet"], input=packed(archive), cwd=tmp_path, check=True)
    assert (tmp_path / "l").read_bytes() == b"text"
    assert os.access(tmp_path / "a/b", os.X_OK)


@pytest.mark.parametrize("name", ["../x", "/etc/x", ".", "a\0b", "a/../../b"])
def test_names_that_lead_out_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a valid name"):
        Cpio().add_file(name, b"")


def deb(members: list[tarfile.TarInfo | tuple[str, bytes]]) -> bytes:
    """A package, its data not compressed."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as files:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                files.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size, info.mode = len(member[1]), 0o755
                files.addfile(info, io.BytesIO(member[1]))

    def ar(name: str, content: bytes) -> bytes:
        header = f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
        return header + content + b"\n" * (len(content) % 2)

    return b"!<arch>\n" + ar("debian-binary", b"2.0\n") + ar("control.tar", b"x") + ar("data.tar", data.getvalue())


def link(name: str, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info


def test_a_package_is_unpacked_with_usr_merged(tmp_path: Path) -> None:
    (tmp_path / "x.deb").write_bytes(
        deb([("./sbin/iw", b"program"), ("./usr/share/doc/iw", b"text"), link("./lib/l", "x")])
    )
    target = tmp_path / "out"
    target.mkdir()
    unpack(tmp_path / "x.deb", target, lambda name: not name.startswith("usr/share"))
    assert (target / "usr/sbin/iw").read_bytes() == b"program"
    assert str((target / "usr/lib/l").readlink()) == "x"
    assert not (target / "usr/share").exists()


@pytest.mark.parametrize("members", [[("../../escaped", b"x")], [link("usr/a", "../../.."), ("usr/a/escaped", b"x")]])
def test_a_package_that_leads_out_of_its_folder_is_refused(
    members: list[tarfile.TarInfo | tuple[str, bytes]], tmp_path: Path
) -> None:
    (tmp_path / "x.deb").write_bytes(deb(members))
    target = tmp_path / "a" / "b"
    target.mkdir(parents=True)
    with pytest.raises(DebError):
        unpack(tmp_path / "x.deb", target)
    assert not list(tmp_path.rglob("escaped"))


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(0, 2000))
def test_damaged_packages_are_refused(noise: bytes, cut: int) -> None:
    whole = deb([("./usr/bin/x", b"y" * 100)])
    for data in (noise, b"!<arch>\n" + noise, whole[:cut] + noise):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.deb"
            path.write_bytes(data)
            target = Path(folder) / "out"
            target.mkdir()
            try:
                unpack(path, target)
            except DebError:
                continue


def test_an_index_is_read_and_odd_paragraphs_are_left_out() -> None:
    digest = hashlib.sha256(b"x").hexdigest()
    text = f"Package: iw\nVersion: 5.19-1\nSize: 12\nSHA256: {digest}\nPre-Depends: a\n"
    text += "Depends: libc6 (>= 2), b | c\nDescription: x\n more\n\n"
    text += "Package: half\nVersion: 1\n\nnonsense\n"
    (entry,) = read_index(text)
    assert (entry.name, entry.size_bytes, entry.depends) == ("iw", 12, ("a", "libc6", "b"))


@given(st.text(max_size=400))
def test_any_text_is_an_index(text: str) -> None:
    list(read_index(text))


# What a guest hands out ----------------------------------------------------------------------------------------------


def tar(members: list[tarfile.TarInfo | tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as files:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                files.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                files.addfile(info, io.BytesIO(member[1]))
    return out.getvalue()


def test_the_files_of_a_guest_are_written_and_nothing_else_is(tmp_path: Path) -> None:
    hard = tarfile.TarInfo("hard")
    hard.type, hard.linkname = tarfile.LNKTYPE, "/etc/passwd"
    device = tarfile.TarInfo("device")
    device.type = tarfile.CHRTYPE
    members = [
        ("./kernel.log", b"log"),
        ("a/b", b"1"),
        link("l", "/etc"),
        ("l/x", b"2"),
        hard,
        device,
        ("../out", b"3"),
        ("/abs", b"4"),
        ("a/b", b"5"),
    ]
    (tmp_path / "t").write_bytes(tar(members))
    names = unpack_files(tmp_path / "t", tmp_path / "in" / "files")
    assert names == ["a/b", "kernel.log", "l/x"]
    assert (tmp_path / "in/files/a/b").read_bytes() == b"1"
    assert not (tmp_path / "in/files/l").is_symlink()
    assert not (tmp_path / "in/out").exists()
    assert sorted(path.name for path in (tmp_path / "in/files").iterdir()) == ["a", "kernel.log", "l"]


def test_a_header_without_end_is_never_read_as_a_whole(tmp_path: Path) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 900 << 20
    with (tmp_path / "t").open("wb") as out:
        out.write(header.tobuf())
        out.truncate(901 << 20)
    with pytest.raises(GuestError, match="header of"):
        unpack_files(tmp_path / "t", tmp_path / "in")


def test_a_file_and_a_folder_of_one_name_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(tar([("a", b"1"), ("a/b", b"2")]))
    with pytest.raises(GuestError, match="one name"):
        unpack_files(tmp_path / "t", tmp_path / "in")


@settings(deadline=None)
@given(st.binary(max_size=1500), st.integers(0, 3000))
def test_damaged_files_are_an_error_or_nothing(noise: bytes, cut: int) -> None:
    whole = tar([("a", b"x" * 600)])
    for data in (noise, whole[:cut], whole[:cut] + noise):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "t").write_bytes(data)
            try:
                unpack_files(Path(folder) / "t", Path(folder) / "in")
            except GuestError:
                continue


def test_events_are_read_and_an_incomplete_one_waits() -> None:
    data = b"stage 4.20 booted 6.12\nnoise\nend 9.10 3\nstage 9.2"
    assert read_events(data) == [Event("stage", 4.2, "booted 6.12"), Event("end", 9.1, "3")]
    assert read_events(data)[1].status == 3


@pytest.mark.parametrize(
    ("row", "milestone"),
    [
        ("stage 4.2 associated (wpa2, channel 6, 20 MHz)", Milestone.ASSOCIATED),
        ("stage 4.2 connected (ncm, ip)", Milestone.ASSOCIATED),
        ("stage 4.2 the capture of the bus is full: 64 MB; nothing after 9 ns is in it", Milestone.CAPTURE_FULL),
        ("stage 4.2 session 0 is connected", None),
        ("stage 4.2 it is associated with access point 2 already", None),
        ("end 4.2 associated (", None),
    ],
)
def test_a_stage_that_decides_something_is_recognised_where_events_are_read(
    row: str, milestone: Milestone | None
) -> None:
    (event,) = read_events(f"{row}\n".encode())
    assert event.milestone is milestone


def test_the_script_in_the_guest_reports_these_stages() -> None:
    lab = (Path(txop.__file__).parent / "guest_image" / "lab.sh").read_text(encoding="utf-8")
    for milestone in Milestone:
        for words in milestone.value:
            assert re.search(rf'stage "{re.escape(words)}|txop-vusb: {re.escape(words.strip())}', lab), words


@given(
    st.lists(st.tuples(st.sampled_from(["stage", "end"]), st.integers(0, 10**6), st.text(min_size=1, max_size=40))),
    st.binary(max_size=60),
)
def test_events_survive_whatever_stands_between_them(events: list[tuple[str, int, str]], noise: bytes) -> None:
    rows = [f"{kind} {time}.50 {words}".encode("utf-8", "replace") for kind, time, words in events]
    got = read_events(b"\n".join([*rows, noise, b""]))
    for event in got:
        assert event.words.isprintable()
    plain = [e for e in events if "\n" not in e[2]]
    assert len([e for e in got if e.uptime_s % 1 == 0.5]) >= len([e for e in plain if e[2].isprintable()])
