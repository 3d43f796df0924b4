"""A file is there whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import threading

import pytest

from txop.core.whole_file import replacement, whole_file


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def write_half(target):
    with whole_file(target) as out:
        out.write("half")
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_whole_file_takes_its_place(tmp_path):
    target = tmp_path / "page.html"
    with whole_file(target) as out:
        out.write("é")
        assert not target.exists()
    assert target.read_text(encoding="utf-8") == "é"
    assert names_in(tmp_path) == ["page.html"]


def test_a_failed_write_leaves_nothing_and_names_the_file(tmp_path):
    target = tmp_path / "page.html"
    with pytest.raises(OSError, match="No space left") as caught:
        write_half(target)
    assert caught.value.filename == str(target)
    assert names_in(tmp_path) == []


def test_a_failed_write_leaves_the_earlier_file(tmp_path):
    target = tmp_path / "page.html"
    target.write_text("earlier")
    with pytest.raises(OSError, match="No space left"):
        write_half(target)
    assert target.read_text() == "earlier"
    assert names_in(tmp_path) == ["page.html"]


def test_permissions_and_links_stay(tmp_path):
    new, old, link = tmp_path / "new", tmp_path / "old", tmp_path / "link"
    old.write_text("earlier")
    old.chmod(0o640)
    link.symlink_to(old)
    for target in (new, link):
        with whole_file(target) as out:
            out.write("now")
    assert link.is_symlink()
    assert old.read_text() == "now"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~umask


def test_a_fifo_is_written_to_not_replaced(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    got = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_text()), daemon=True)
    reader.start()
    with whole_file(fifo) as out:
        out.write("now")
    reader.join(10)
    assert got == ["now"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError), replacement(tmp_path):
        pytest.fail("a folder cannot be replaced")
