"""``_native.analyze_air``: what crosses between Python and Rust (what the report says is tested elsewhere)."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from txop import _native
from txop.core.errors import CaptureError


@pytest.fixture(scope="module")
def capture(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("capture") / "air.pcap"
    _native.write_specimen(path, seed=3, seconds=1.0)
    return path


def test_the_report_counts_the_frames_that_are_there(tmp_path):
    path = tmp_path / "air.pcap"
    truth = json.loads(_native.write_specimen(path, seed=9, seconds=1.0, scene="lossy"))
    report = json.loads(_native.analyze_air(path))
    assert report["format"] == "txop-air"
    assert report["frames"] == truth["frames"]


def test_a_path_that_is_not_utf_8(capture, tmp_path):
    odd = os.fsencode(tmp_path) + b"/caf\xe9.pcap"
    Path(os.fsdecode(odd)).write_bytes(capture.read_bytes())
    assert json.loads(_native.analyze_air(os.fsdecode(odd)))["frames"] > 0


def test_no_such_file():
    with pytest.raises(FileNotFoundError) as caught:
        _native.analyze_air("/no/such/file.pcap")
    assert caught.value.filename == "/no/such/file.pcap"
    assert caught.value.strerror == "No such file or directory"


def test_a_folder_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match=r"[Ii]s a directory|not a file|folder"):
        _native.analyze_air(tmp_path)


@pytest.mark.parametrize("content", [b"", b"this is a text file\n", b"\xd4\xc3\xb2\xa1"])
def test_what_is_no_capture_is_a_capture_error(tmp_path, content):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(CaptureError) as caught:
        _native.analyze_air(path)
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) > 20


@pytest.mark.parametrize("pair", [("x", "y"), ("00:00:00:00:00:01", "00:00:00:00:00:0")])
def test_a_pair_must_be_addresses(capture, pair):
    with pytest.raises(ValueError, match="not a MAC address"):
        _native.analyze_air(capture, pair=pair)


def fill_slowly(fifo: Path, content: bytes, seconds: float) -> threading.Thread:
    """Write half of ``content``, wait, write the rest."""

    def fill() -> None:
        # The analysis may end, and close its end, before everything is written.
        with contextlib.suppress(BrokenPipeError), fifo.open("wb") as pipe:
            pipe.write(content[: len(content) // 2])
            pipe.flush()
            time.sleep(seconds)
            pipe.write(content[len(content) // 2 :])

    thread = threading.Thread(target=fill, daemon=True)
    thread.start()
    return thread


def test_progress_is_called_while_a_pipe_fills_and_the_lock_is_free(capture, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    content = capture.read_bytes()
    calls: list[tuple[int, int | None]] = []
    filler = fill_slowly(fifo, content, 0.7)  # this thread needs the interpreter lock, too
    report = json.loads(_native.analyze_air(fifo, progress=lambda done, total: calls.append((done, total))))
    filler.join()
    assert report["frames"] == json.loads(_native.analyze_air(capture))["frames"]
    assert len(calls) >= 3
    assert all(total is None for _, total in calls)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_an_exception_in_progress_ends_the_analysis(capture, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    fill_slowly(fifo, capture.read_bytes(), 20)

    def refuse(done: int, total: int | None) -> None:
        raise LookupError("enough")

    start = time.monotonic()
    with pytest.raises(LookupError, match="enough"):
        _native.analyze_air(fifo, progress=refuse)
    assert time.monotonic() - start < 10


CTRL_C = """
import sys; from txop import _native
print('ready', flush=True)
try: sys.stdout.buffer.write(_native.analyze_air(sys.argv[1], follow=bool(int(sys.argv[2]))))
except KeyboardInterrupt: sys.exit(42)
"""


def interrupted(path: str, *, follow: bool) -> tuple[int, bytes, float]:
    """Exit status, stdout and the seconds after Ctrl-C of an analysis that does not end by itself."""
    with subprocess.Popen(
        [sys.executable, "-c", CTRL_C, path, str(int(follow))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        time.sleep(1.0)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        start = time.monotonic()
        output = running.stdout.read()
        status = running.wait(timeout=30)
        return status, output, time.monotonic() - start


def test_ctrl_c_while_waiting_for_a_pipe_that_says_nothing():
    status, output, seconds = interrupted("-", follow=False)
    assert (status, output) == (42, b"")
    assert seconds < 5


def test_ctrl_c_while_following_gives_the_report(capture):
    status, output, seconds = interrupted(os.fspath(capture), follow=True)
    assert status == 0
    assert json.loads(output)["frames"] == json.loads(_native.analyze_air(capture))["frames"]
    assert seconds < 5


@pytest.mark.parametrize("callback", ["progress", "snapshot"])
def test_ctrl_c_inside_a_callback_while_following_gives_the_report(capture, callback):
    calls = 0

    def interrupt(*_: object) -> None:
        nonlocal calls
        calls += 1
        raise KeyboardInterrupt

    def ignore(*_: object) -> None:
        pass

    callbacks = {"progress": ignore, "snapshot": ignore, callback: interrupt}
    report = json.loads(_native.analyze_air(capture, follow=True, snapshot_seconds=0.1, **callbacks))
    assert calls == 1
    assert report["frames"] == json.loads(_native.analyze_air(capture))["frames"]


def test_ctrl_c_inside_progress_ends_a_call_that_does_not_follow(capture, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    fill_slowly(fifo, capture.read_bytes(), 20)

    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _native.analyze_air(fifo, progress=interrupt)


def test_following_sees_a_growing_file(capture, tmp_path):
    content = capture.read_bytes()
    growing = tmp_path / "growing.pcap"
    growing.write_bytes(content[: len(content) // 2])
    counts: list[int] = []

    def look(snapshot: bytes) -> None:
        counts.append(json.loads(snapshot)["frames"])
        if len(counts) == 2:
            with growing.open("ab") as file:
                file.write(content[len(content) // 2 :])
        if counts[-1] > counts[0] and len(counts) > 5:
            raise StopIteration

    with pytest.raises(StopIteration):
        _native.analyze_air(growing, follow=True, snapshot=look, snapshot_seconds=0.2)
    assert counts[0] < counts[-1]
