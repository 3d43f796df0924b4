"""The shell program that watches over every command, in the shells it has to run in."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.process.supervisor import MAX_PREAMBLE_BYTES, Preamble, launch_line, remote_command

from .conftest import running_here

SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "busybox": ["busybox", "sh"]}
ON_ITS_OWN = "own session"
GUEST = "session of its server, no setsid"


class Supervised:
    """One supervised command."""

    def __init__(
        self, shell: list[str], argv: list[str], *, path: str | None, max_seconds: float | None = None
    ) -> None:
        _, *command = remote_command(f"txop-{uuid.uuid4().hex}")
        environment = {**os.environ, **({} if path is None else {"PATH": path})}
        program = shutil.which(shell[0])
        assert program is not None
        self.process = subprocess.Popen(
            [program, *shell[1:], *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=path is None,
            env=environment,
        )
        self.say(launch_line(argv, environment={}, max_seconds=max_seconds, input_follows=False))

    def say(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def end(self) -> int:
        try:
            return self.process.wait(20)
        finally:
            self.process.kill()
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                assert pipe is not None
                pipe.close()
            self.process.wait()


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> list[str]:
    found: list[str] = SHELLS[request.param]
    if shutil.which(found[0]) is None:
        pytest.skip(f"{found[0]} is not installed")
    return found


@pytest.fixture(params=[ON_ITS_OWN, GUEST])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """PATH: the machine's, or one without setsid, for a shell that shares the process group of these tests."""
    if request.param == ON_ITS_OWN:
        return None
    for program in ("sh", "sleep", "cat", "true"):
        found = shutil.which(program)
        assert found is not None
        (tmp_path / program).symlink_to(found)
    return str(tmp_path)


@pytest.fixture
def word() -> Iterator[str]:
    """A duration unique to this test. Whatever still sleeps for it after the test is a failure, and is killed."""
    name = f"{300 + uuid.uuid4().int % 10**6}"
    yield name
    deadline = time.monotonic() + 5
    while running_here(name) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = running_here(name)
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and name.encode() in _arguments(entry):
            os.kill(int(entry.name), signal.SIGKILL)
    assert not left


def _arguments(entry: Path) -> list[bytes]:
    try:
        return (entry / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def wait_for(word: str) -> None:
    deadline = time.monotonic() + 10
    while not running_here(word):
        assert time.monotonic() < deadline
        time.sleep(0.01)


FAMILY = "sleep {0} & sleep {0}"
STUBBORN = "trap '' INT TERM; sleep {0} & while :; do sleep {0}; done"


def test_signals_reach_the_whole_family(shell: list[str], path: str | None, word: str) -> None:
    supervised = Supervised(shell, ["sh", "-c", FAMILY.format(word)], path=path)
    wait_for(word)
    supervised.say(b"garbage\nTERM 1\n\nTERM\n")
    assert supervised.end() == 143


def test_kill_reaches_the_stubborn(shell: list[str], path: str | None, word: str) -> None:
    supervised = Supervised(shell, ["sh", "-c", STUBBORN.format(word)], path=path)
    wait_for(word)
    supervised.say(b"INT\nTERM\nKILL\n")
    assert supervised.end() in (137, -9)


def test_ends_with_its_input(shell: list[str], path: str | None, word: str) -> None:
    supervised = Supervised(shell, ["sh", "-c", FAMILY.format(word)], path=path)
    wait_for(word)
    assert supervised.process.stdin is not None
    supervised.process.stdin.close()
    assert supervised.end() == 143


def test_ends_with_its_time(shell: list[str], path: str | None, word: str) -> None:
    supervised = Supervised(shell, ["sh", "-c", FAMILY.format(word)], path=path, max_seconds=0.5)
    assert supervised.end() in (143, 137, -9)


def test_nothing_watches_on_after_the_end(shell: list[str], path: str | None) -> None:
    supervised = Supervised(shell, ["true"], path=path, max_seconds=4711)
    assert supervised.end() == 0
    deadline = time.monotonic() + 3
    while running_here("4711"):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_dies_with_txop(tmp_path: Path, word: str) -> None:
    """The whole of it: a program that runs commands is killed with SIGKILL, and its commands end."""
    program = tmp_path / "program.py"
    program.write_text(f"""
import asyncio
from pathlib import Path
from txop.targets.local import LocalTarget

async def main():
    target = LocalTarget("dut")
    await target.connect()
    await target.start(["sh", "-c", "trap '' INT TERM; sleep {word} & sleep {word}"], stdout=Path("{tmp_path}/out"))
    await target.run(["sleep", "{word}"], timeout_s=600)

asyncio.run(main())
""")
    process = subprocess.Popen([sys.executable, program])
    try:
        wait_for(word)
    finally:
        process.kill()
        process.wait()
    deadline = time.monotonic() + 6
    while running_here(word):
        assert time.monotonic() < deadline
        time.sleep(0.05)


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


@settings(deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=6))
def test_every_argument_arrives_as_it_is(words: list[str]) -> None:
    line = launch_line(["printf", "%s\\0", *words], environment={"X": words[0]}, max_seconds=None, input_follows=True)
    assert line.count(b"\n") == 1
    ran = subprocess.run(remote_command("txop-1"), input=line, capture_output=True, start_new_session=True)
    assert ran.stdout.partition(b"txop-1 ")[2].partition(b"\n")[2] == "".join(f"{word}\0" for word in words).encode()


@given(st.binary(max_size=300), st.binary(max_size=300), st.lists(st.integers(1, 40), max_size=50))
def test_finds_the_marker_however_it_is_cut(noise: bytes, output: bytes, cuts: list[int]) -> None:
    data = noise + b"\ntxop-12 99\n" + output
    preamble = Preamble("txop-12")
    seen = b""
    for cut in [*cuts, len(data)]:
        piece, data = data[:cut], data[cut:]
        seen += preamble.feed(piece)
    assert (seen, preamble.pid) == (output, 99)


@pytest.mark.parametrize("noise", [b"txop-1 ", b"txop-1 12", b"txop-1 x\n", b"txop-1 99999999999999\n", b"txop-1 1 \n"])
def test_is_not_taken_in(noise: bytes) -> None:
    preamble = Preamble("txop-1")
    assert preamble.feed(noise) == b""
    assert not preamble.found
    assert preamble.feed(b" \ntxop-1 7\nout") == b"out"
    flood = Preamble("txop-1")
    for _ in range(MAX_PREAMBLE_BYTES // 1000 + 1):
        assert flood.feed(b"y" * 1000) == b""
    assert flood.overflowed


def test_refuses_what_cannot_be_sent() -> None:
    for argv, environment in (([], {}), (["a\0"], {}), (["a"], {"A": "\0"}), (["a"], {"A=": "b"}), (["a"], {"": "b"})):
        with pytest.raises(ValueError, match=r"command|variable"):
            launch_line(argv, environment=environment, max_seconds=None, input_follows=False)
