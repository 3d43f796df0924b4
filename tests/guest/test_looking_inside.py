"""Looking into the kernel of a guest: perf, trace-cmd, and a debugger."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from guests_here import no_guest
from txop.guest.qemu import Computer, Mode
from txop.guest.running import run_guest
from txop.guest_image.error import GuestError
from txop.guest_image.extra_programs import extra_files
from txop.guest_image.image import Image
from txop.guest_image.locks import find_lock
from txop.guest_image.overlay import Overlay

SCRIPT = """
out=/txop/out
forks='n=0; while [ $n -lt 5000 ]; do n=$((n + 1)); : $(echo); done'
perf record -q -a -e cpu-clock -F 997 -o $out/perf.data sh -c "$forks"
perf report -i $out/perf.data --no-children --sort symbol --stdio 2>/dev/null >$out/profile
trace-cmd record -q -e sched:sched_process_exec -o $out/trace.dat sh -c 'uname; uname' >/dev/null
trace-cmd report -i $out/trace.dat 2>/dev/null >$out/trace
"""

WAIT_S = 300
"""For a busy machine; nothing is timed."""


def programs(*names: str) -> dict[str, Path]:
    try:
        return {there: here for name in names for there, here in extra_files(find_lock("6.12"), name).items()}
    except GuestError as error:
        no_guest(f"its packages cannot be had here: {error}")


@pytest.mark.slow
def test_the_same_guest_has_the_same_samples_and_the_same_time_stamps(image: Image, tmp_path: Path) -> None:
    overlay = Overlay(script=SCRIPT, files=programs("perf", "trace-cmd"))
    computer = Computer(mode=Mode.EXACT, memory_mb=768)
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        ended = asyncio.run(run_guest(image, overlay, computer, results=folder, wall_limit_s=1500))
        assert ended.status == 0, (folder / "stderr").read_text()
    one, two = (folder / "files" for folder in folders)
    profile = (one / "profile").read_text()
    # of some thousand, as "4K"
    assert re.search(r"^# Samples: (\d{3,}|\d+K) of event 'cpu-clock", profile, re.MULTILINE), profile
    # a shell that forks 5,000 times copies page tables; the kernel's functions have their names
    assert re.search(r"\[k\] copy_\w+", profile), profile
    trace = (one / "trace").read_text()
    assert len(re.findall(r"sched_process_exec:.*uname", trace)) == 2, trace
    for name in ("perf.data", "profile", "trace"):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


class Debugger:
    """As much of gdb's remote protocol as it takes (GDB manual, appendix E)."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(WAIT_S)
        self._socket.connect(str(path))

    def command(self, words: str) -> None:
        self._socket.sendall(f"${words}#{sum(words.encode()) % 256:02x}".encode())

    def answer(self) -> str:
        said = b""
        while (found := re.search(rb"\$([^#]*)#..", said)) is None:
            piece = self._socket.recv(4096)
            assert piece, said
            said += piece
        self._socket.sendall(b"+")
        return found[1].decode()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def waiting(image: Image, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[str], Path]]:
    """A guest that waits for a debugger: its command, what that says, and the socket."""
    place = tmp_path / "gdb"
    argv = [sys.executable, "-m", "txop", "guest", "run", "--gdb", str(place), "--", "echo", "it ran"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said: list[str] = []
    assert process.stdout is not None
    reader = threading.Thread(target=lambda rows: said.extend(rows), args=(process.stdout,))
    reader.start()
    try:
        until = time.monotonic() + WAIT_S
        while not place.is_socket() and process.poll() is None:
            assert time.monotonic() < until
            time.sleep(0.1)
        yield process, said, place
    finally:
        process.kill()
        process.wait()
        reader.join()
        process.stdout.close()


@pytest.mark.slow
def test_a_guest_waits_for_its_debugger(waiting: tuple[subprocess.Popen[str], list[str], Path]) -> None:
    process, said, place = waiting
    debugger = Debugger(place)
    debugger.command("?")
    assert debugger.answer().startswith("T05")
    debugger.command("g")
    rip = debugger.answer()[16 * 16 : 17 * 16]  # behind sixteen registers of eight bytes
    # where the processor begins (Intel SDM volume 3, "First Instruction Executed")
    assert int.from_bytes(bytes.fromhex(rip), "little") == 0xFFF0
    time.sleep(1)
    assert not any("booted" in row for row in said)
    debugger.command("c")
    assert process.wait(WAIT_S) == 0
    debugger.close()
    assert any(row.startswith("it ran") for row in said), said
    assert any("gdb -ex" in row for row in said)
    assert not place.exists()
