"""``_native.write_specimen``: reproducible files whose truth is reported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from txop import _native

PCAPNG_SECTION_HEADER = bytes.fromhex("0a0d0d0a")


@pytest.mark.parametrize("scene", [name for name, _ in _native.specimen_scenes()])
def test_the_same_scene_and_seed_give_the_same_bytes(tmp_path, scene):
    truths = [
        _native.write_specimen(tmp_path / name, seed=seed, seconds=0.3, scene=scene)
        for name, seed in (("a.pcap", 5), ("b.pcap", 5), ("c.pcap", 6))
    ]
    first, again, other = ((tmp_path / name).read_bytes() for name in ("a.pcap", "b.pcap", "c.pcap"))
    assert truths[0] == truths[1]
    assert first == again
    assert first != other
    assert json.loads(truths[0])["frames"] > 10


def test_pcapng_by_name(tmp_path):
    _native.write_specimen(tmp_path / "x.pcapng", seed=1, seconds=0.1)
    assert (tmp_path / "x.pcapng").read_bytes()[:4] == PCAPNG_SECTION_HEADER


@pytest.mark.parametrize("seconds", [-1.0, 0.0, float("nan"), float("inf")])
def test_impossible_lengths_are_value_errors_and_leave_no_file(tmp_path, seconds):
    with pytest.raises(ValueError, match=r"time|second|scene"):
        _native.write_specimen(tmp_path / "x.pcap", seed=1, seconds=seconds)
    assert list(tmp_path.iterdir()) == []


def test_unknown_scene(tmp_path):
    with pytest.raises(ValueError, match="no scene"):
        _native.write_specimen(tmp_path / "x.pcap", seed=1, seconds=1.0, scene="nonsense")


def test_a_folder_that_is_not_there_is_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        _native.write_specimen(tmp_path / "no" / "x.pcap", seed=1, seconds=1.0)
    assert caught.value.filename == str(tmp_path / "no" / "x.pcap")
    assert caught.value.strerror == "No such file or directory"


def test_ctrl_c_ends_the_writing_and_removes_the_file(tmp_path):
    path = tmp_path / "long.pcap"
    code = (
        "import sys; from txop import _native\n"
        "print('ready', flush=True)\n"
        "try: _native.write_specimen(sys.argv[1], seed=1, seconds=100000.0)\n"
        "except KeyboardInterrupt: sys.exit(42)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, os.fspath(path)], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 30
        while not (path.exists() and path.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        start = time.monotonic()
        assert running.wait(timeout=30) == 42
        assert time.monotonic() - start < 5
    assert not path.exists()
