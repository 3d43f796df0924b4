"""What is kept in the state folder: one writer at a time, and damage is set aside."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from txop.plan.stored import Stored, rewriting, state_folder

KIND = Stored("txop-test", 2, "rows", max_bytes=200)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    store = tmp_path / "new" / "rows.json"
    with rewriting(store, KIND.read) as rows:
        assert rows == {}
        KIND.write(store, {"a": [1]})
    assert KIND.read(store) == {"a": [1]}
    with rewriting(store, KIND.read) as rows:
        assert rows == {"a": [1]}
    assert not store.with_suffix(".damaged").exists()


@pytest.mark.parametrize(
    "other",
    [
        b'{"format": "txop-other", "version": 2, "rows": {"a": 1}}',
        b'{"format": "txop-test", "version": 3, "rows": {"a": 1}}',
        b'{"format": "txop-test", "version": 2, "rows": [1]}',
        b'{"format": "txop-test", "version": 2, "rows": {"a": "' + b"x" * 200 + b'"}}',
        b"[" * 100,
        b"\xff",
    ],
)
def test_what_is_no_such_file_knows_nothing_and_is_set_aside(tmp_path: Path, other: bytes) -> None:
    store = tmp_path / "rows.json"
    store.write_bytes(other)
    assert KIND.read(store) == {}
    with rewriting(store, KIND.read) as rows:
        assert rows == {}
    assert store.with_suffix(".damaged").read_bytes() == other


def test_a_second_writer_waits_and_sees_what_the_first_wrote(tmp_path: Path) -> None:
    store = tmp_path / "rows.json"
    seen: list[dict[str, object]] = []

    def second() -> None:
        with rewriting(store, KIND.read) as rows:
            seen.append(rows)

    with rewriting(store, KIND.read):
        other = threading.Thread(target=second)
        other.start()
        lock = os.open(store.with_suffix(".lock"), os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(lock)
        KIND.write(store, {"a": 1})
    other.join(timeout=60)
    assert seen == [{"a": 1}]


def test_a_state_folder_is_named_by_its_whole_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "txop"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder() == tmp_path / ".local/state/txop"
