"""What every kind of target does alike. Each test runs on each kind: processes of this machine, behind a prefix, in a
named network namespace, and over SSH (OpenSSH and dropbear) on a machine that has BusyBox and nothing else."""

from __future__ import annotations

import asyncio
import time
import uuid
from pathlib import Path

import pytest

from txop.targets import shell
from txop.targets.contract import (
    CommandFailedError,
    CommandTimeoutError,
    Target,
    TargetError,
    TargetLostError,
    run_checked,
)

from .conftest import Place, tell


async def gone(place: Place, word: str, seconds: float = 6.0) -> bool:
    deadline = time.monotonic() + seconds
    while place.is_running(word):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True


async def there(place: Place, word: str) -> None:
    deadline = time.monotonic() + 10
    while not place.is_running(word):
        assert time.monotonic() < deadline, f"{word} never ran"
        await asyncio.sleep(0.02)


def unique() -> str:
    """A duration that no other process sleeps for."""
    return f"{300 + uuid.uuid4().int % 10**6}"


def test_runs_commands(place: Place) -> None:
    async def story(target: Target) -> None:
        assert isinstance(target, Target)
        ran = await target.run(
            ["sh", "-c", 'echo out; echo err >&2; echo "$LC_ALL-$VALUE"; exit 7'], environment={"VALUE": "a b"}
        )
        assert (ran.status, ran.stdout, ran.stderr, ran.cut) == (7, "out\nC-a b\n", "err\n", False)
        nasty = ["a b", "", "*", "$HOME", "`id`", "'\"", "\\", "new\nline", "é\udcff", "!x", "-n", "#", "~", "\t"]
        ran = await target.run(["printf", "[%s]", *nasty])
        assert ran.stdout_bytes == "".join(f"[{word}]" for word in nasty).encode("utf-8", "surrogateescape")
        assert (await target.run(["no-such-program-here"])).status == 127
        assert (await target.run(["sh", "-c", "kill -9 $$"])).status == 137
        assert (await target.run(["cat"])).stdout_bytes == b""
        data = bytes(range(256)) * 1000
        assert (await target.run(["cat"], stdin=data)).stdout_bytes == data
        # Words that mean something to a shell are programs that there are not.
        assert (await target.run(["exit", "3"])).status == 127
        assert (await target.run(["A=1"])).status == 127
        for bad in ([], [""], ["a\0b"]):
            with pytest.raises(TargetError):
                await target.run(bad)
        with pytest.raises(TargetError):
            await target.run(["true"], environment={"A;reboot": "1"})
        with pytest.raises(CommandFailedError, match="ended with 1"):
            await run_checked(target, ["false"])

    tell(place.target(), story)
    started, ended = place.recorder.started, place.recorder.ended
    assert len(started) == len(ended) == 10
    assert {name for name, *_ in started} == {"dut"}
    assert sorted(number for *_, number in started) == sorted(number for _, number, *_ in ended)
    statuses = {number: status for _, number, status, _ in ended}
    (number,) = (number for _, argv, number in started if argv[0] == "no-such-program-here")
    assert statuses[number] == 127


def test_kills_what_takes_too_long(place: Place) -> None:
    async def story(target: Target) -> None:
        child, stubborn = unique(), unique()
        for argv, stdin in (
            (["sh", "-c", f"sleep {child} & sleep {child}"], None),
            (["sh", "-c", f"trap '' INT TERM; while :; do sleep {stubborn}; done"], None),
            (["sh", "-c", f"cat; sleep {child}"], b"data"),
        ):
            began = time.monotonic()
            with pytest.raises(CommandTimeoutError, match=r"did not end in 0\.8 s"):
                await target.run(argv, timeout_s=0.8, stdin=stdin)
            assert time.monotonic() - began < 8
            assert await gone(place, child)
            assert await gone(place, stubborn)
        assert (await target.run(["echo", "on"])).stdout == "on\n"

    tell(place.target(), story)
    assert [status for *_, status, _ in place.recorder.ended].count(None) == 3


def test_cancelling_kills(place: Place) -> None:
    async def story(target: Target) -> None:
        word = unique()
        task = asyncio.create_task(target.run(["sleep", word]))
        await there(place, word)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await gone(place, word)

    tell(place.target(), story)


def test_bounds_output(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "MAX_OUTPUT_BYTES", 10_000)

    async def story(target: Target) -> None:
        ran = await target.run(["sh", "-c", "i=0; while [ $i -lt 3000 ]; do echo 0123456789; i=$((i+1)); done; exit 4"])
        assert (ran.status, len(ran.stdout_bytes), ran.cut) == (4, 10_000, True)
        flood = await target.start(["yes"], stdout=tmp_path / "flood", limit_bytes=123_457)
        ended = await flood.wait(20)
        assert ended is not None
        assert ended.cut
        assert ended.stdout_bytes == b""
        assert (tmp_path / "flood").stat().st_size == 123_457
        with pytest.raises(CommandTimeoutError):
            await target.run(["yes"], timeout_s=0.5)
        endless = await target.read("/dev/zero", limit_bytes=5000)
        assert endless == bytes(5000)

    tell(place.target(), story)


def test_streams_garbage_byte_for_byte(place: Place, tmp_path: Path) -> None:
    async def story(target: Target) -> None:
        script = r"printf '\000\377\033[2J\r\n\200'; printf '\376e' >&2; cat /dev/urandom | head -c 300000"
        running = await target.start(["sh", "-c", script], stdout=tmp_path / "out", stderr=tmp_path / "err")
        assert tuple(running.argv) == ("sh", "-c", script)
        ended = await running.wait(20)
        assert ended is not None
        assert ended.ok
        assert running.done
        content = (tmp_path / "out").read_bytes()
        assert content.startswith(b"\x00\xff\x1b[2J\r\n\x80")
        assert len(content) == 9 + 300_000
        assert (tmp_path / "err").read_bytes() == b"\xfee"
        assert (await target.run(["printf", r"\377"])).stdout == "\ufffd"

    tell(place.target(), story)


def test_stops_commands(place: Place, tmp_path: Path) -> None:
    async def story(target: Target) -> None:
        # INT is enough, and the command may say its last word.
        polite = "trap 'echo bye; exit 5' INT; echo hello; while :; do sleep 0.1; done"
        running = await target.start(["sh", "-c", polite], stdout=tmp_path / "polite")
        while "hello" not in (tmp_path / "polite").read_text():
            assert await running.wait(0.02) is None
        assert (await running.stop()).status == 5
        assert (tmp_path / "polite").read_text() == "hello\nbye\n"
        assert (await running.stop()).status == 5
        # Neither INT nor TERM is; children too.
        word = unique()
        stubborn = f"trap '' INT TERM; echo go; sleep {word} & while :; do sleep {word}; done"
        running = await target.start(["sh", "-c", stubborn], stdout=tmp_path / "stubborn")
        while "go" not in (tmp_path / "stubborn").read_text():
            assert await running.wait(0.02) is None
        await there(place, word)
        assert (await running.stop(grace_s=0.2)).status == 137
        assert await gone(place, word)
        # A shell ends, its background child ignored INT as POSIX has it: the child ends too.
        running = await target.start(["sh", "-c", f"sleep {word} & wait"], stdout=tmp_path / "background")
        await there(place, word)
        await running.stop(grace_s=2)
        assert await gone(place, word)
        # Stopped at once.
        running = await target.start(["sleep", word], stdout=tmp_path / "soon")
        await running.stop(grace_s=0.3)
        assert await gone(place, word)

    tell(place.target(), story)


def test_ends_by_itself_in_time(place: Place, tmp_path: Path) -> None:
    async def story(target: Target) -> None:
        word = unique()
        running = await target.start(["sh", "-c", f"sleep {word}"], stdout=tmp_path / "out", max_seconds=0.7)
        assert await running.wait(0.3) is None
        ended = await running.wait(15)
        assert ended is not None
        assert ended.status in (143, 137)
        assert await gone(place, word)

    tell(place.target(), story)


def test_close_leaves_nothing(place: Place, tmp_path: Path) -> None:
    words = [unique() for _ in range(12)]  # more than an OpenSSH connection has sessions

    async def story(target: Target) -> None:
        for word in words:
            await target.start(["sleep", word], stdout=tmp_path / "out")
        for word in words:
            await there(place, word)
        began = time.monotonic()
        await target.close()
        assert time.monotonic() - began < 6
        for word in words:
            assert await gone(place, word)

    tell(place.target(), story)


def test_reads_and_writes_files(place: Place) -> None:
    async def story(target: Target) -> None:
        folder = place.folder
        await run_checked(target, ["mkdir", folder])
        assert await target.read(f"{folder}/none") is None
        assert await target.read(folder) is None
        assert await target.read("") is None
        data = bytes(range(256)) * 4000
        odd = f"{folder}/-a 'b'\n"
        for content in (data, b"", b"short"):
            await target.write(odd, content)
            assert await target.read(odd) == content
        await target.write(f"{folder}/big", data)
        several = (f"{folder}/big", f"{folder}/none", folder, odd, "/proc/self/mem", "/proc/sys/kernel/ostype")
        assert await target.read_several(*several) == [data, None, None, b"short", None, b"Linux\n"]
        assert await target.read_several(*several[:4], limit_bytes=1000) == [data[:1000], None, None, b"short"]
        assert await target.read_several() == []
        assert await target.read(f"{folder}/big", limit_bytes=1000) == data[:1000]
        assert await target.read(f"{folder}/big") == data
        # A new file is private, an old one keeps its mode; nothing else is left in the folder.
        assert (await target.run(["stat", "-c", "%a", f"{folder}/big"])).stdout == "600\n"
        await run_checked(target, ["chmod", "755", f"{folder}/big"])
        await target.write(f"{folder}/big", b"new")
        assert (await target.run(["stat", "-c", "%a", f"{folder}/big"])).stdout == "755\n"
        assert (await target.run(["sh", "-c", 'ls -a "$1" | grep txop', "sh", folder])).status == 1
        with pytest.raises(CommandFailedError):
            await target.write(f"{folder}/none/file", b"x")
        stat = await target.read("/proc/stat")
        assert stat is not None
        assert stat.startswith(b"cpu ")
        assert await target.read("/proc/self/mem") is None
        devices = await target.read("/proc/net/dev")
        assert devices is not None
        assert b"lo:" in devices

    tell(place.target(), story)


def test_finds_programs(place: Place) -> None:
    async def story(target: Target) -> None:
        assert await target.find("no-such-program-here") is None
        path = await target.find("cat")
        assert path is not None
        assert path.startswith("/")
        assert (await target.run([path, "/dev/null"])).ok
        assert await target.find(path) == path
        assert await target.find("/no/such/program") is None
        assert await target.find("$(reboot)") is None
        before = len(place.recorder.started)
        assert await target.find("cat") == path
        assert len(place.recorder.started) == before
        # sbin is searched, also where the login's PATH lacks it.
        assert "/usr/sbin" in (await target.run(["sh", "-c", "echo $PATH"])).stdout.strip().split(":")

    tell(place.target(), story)


def test_many_commands_at_once(place: Place) -> None:
    async def story(target: Target) -> None:
        ran = await asyncio.gather(*(target.run(["sh", "-c", f"sleep 0.3; echo {n}"]) for n in range(25)))
        assert [one.stdout for one in ran] == [f"{n}\n" for n in range(25)]

    tell(place.target(), story)


def test_a_daemon_left_behind_delays_nothing_for_long(place: Place) -> None:
    async def story(target: Target) -> None:
        began = time.monotonic()
        assert (await target.run(["sh", "-c", "sleep 5 & echo started"])).stdout == "started\n"
        assert time.monotonic() - began < 4.5

    tell(place.target(), story)


def test_says_when_it_is_lost(place: Place, tmp_path: Path) -> None:
    if place.lose is None:
        pytest.skip("the machine txop runs on cannot be lost")
    lose = place.lose

    async def story(target: Target) -> None:
        word = unique()
        running = await target.start(["sleep", word], stdout=tmp_path / "out")
        await there(place, word)
        lose()
        with pytest.raises(TargetLostError):
            await target.run(["true"])
        if "ssh" in type(target).__module__:
            with pytest.raises(TargetLostError):
                await running.wait(20)
            with pytest.raises(TargetLostError):
                await running.stop()
            assert await gone(place, word)
            await target.connect()
            assert (await target.run(["echo", "back"])).stdout == "back\n"
        else:
            with pytest.raises(TargetLostError):
                await target.connect()

    tell(place.target(), story)
