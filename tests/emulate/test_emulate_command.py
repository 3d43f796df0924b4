"""``txop emulate``: programs over links of all kinds, with real packets; and nothing of them stays."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from processes_here import command_of, wait_for
from txop.emulate.leftovers import VARIABLE

CELL = """
[wlan.ap]
mcs = 15

[[wlan.stations]]
name = "fast"
count = 2
mcs = 15

[[wlan.stations]]
name = "slow"
mcs = 0
ap_mcs = 0
"""
SLOW_PIPE = """
[pipe]
rate_mbit_s = 8
delay_ms = 20
queue_packets = 20
"""
WIRED = """
[pipe]

[path]
rate_mbit_s = 100
delay_ms = 15
"""
LINKS = {"cell": CELL, "slow-pipe": SLOW_PIPE, "wired": WIRED, "modem": "[modem]\n"}

Emulate = Callable[..., subprocess.CompletedProcess[str]]
pytestmark = pytest.mark.usefixtures("can_emulate")


def _argv(folder: Path, link: str, arguments: Sequence[str]) -> list[str]:
    scenario = folder / f"{link}.toml"
    scenario.write_text(LINKS[link])
    return [sys.executable, "-m", "txop", "emulate", str(scenario), *arguments]


@pytest.fixture
def emulate(txop: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> Emulate:
    """Runs ``txop emulate`` with a link of :data:`LINKS`."""

    def run(link: str, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        return txop(*_argv(tmp_path, link, arguments)[3:], timeout=90, **options)

    return run


HERE = "TXOP_STARTED_BY_TEST"


@pytest.fixture(autouse=True)
def _started_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process starts is known by its environment: another user may be using txop on this machine."""
    monkeypatch.setenv(HERE, str(os.getpid()))


def _marked() -> set[int]:
    """Processes of emulations that this process started."""
    ours = f"{HERE}={os.getpid()}".encode()
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            is_dead = (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if ours in environment.split(b"\0") and f"{VARIABLE}=".encode() in environment and not is_dead:
            found.add(int(process.name))
    return found


def _sleeping() -> set[int]:
    """Those of :func:`_marked` that are sleep(1)."""
    return {pid for pid in _marked() if command_of(pid) == b"sleep"}


def _least_ms(said: str) -> float:
    return min(float(found) for found in re.findall(r"time=([0-9.]+) ms", said))


def test_a_ping_takes_as_long_as_the_link(emulate: Emulate) -> None:
    """Twice 20 ms through the pipe; twice 15 ms over the wire in front of a link that takes no time."""
    for link, round_trip_ms in (("slow-pipe", 40), ("wired", 30)):
        ran = emulate(link, "--", "ping", "-c", "10", "-i", "0.1", "{server}")
        assert ran.returncode == 0, ran.stderr
        assert " 0% packet loss" in ran.stdout
        # ping shows a tenth of a millisecond. The least is the link's; more is this machine's, when it is busy.
        assert round_trip_ms <= _least_ms(ran.stdout) < round_trip_ms + 5
        assert "Traffic" in ran.stderr
        assert "Verdict" in ran.stderr


def test_tcp_fills_the_pipe_and_what_overflows_is_counted(emulate: Emulate) -> None:
    iperf3 = ("iperf3", "-c", "{server}", "-t", "3", "-C", "cubic")
    ran = emulate("slow-pipe", "--json", "-b", "server=iperf3 -s", "--", *iperf3)
    assert ran.returncode == 0, ran.stderr
    assert "receiver" in ran.stderr  # the program's output stands aside for the document
    status = json.loads(ran.stdout)
    assert (status["format"], status["version"], status["origin"]) == ("txop-emulate", 2, "emulated")
    assert status["command"]["exit_code"] == 0
    up = next(pair for pair in status["pairs"] if pair["from"] == 1)
    assert 3 < up["goodput_mbit_s"] < 8.1  # a busy machine may give iperf3 too little time
    assert up["drops"] == {"queue_full": up["drops"]["queue_full"]}
    assert up["packets_offered"] - up["packets_delivered"] - up["drops"]["queue_full"] < 200
    assert up["delay"]["p99_us"] > 40_000
    assert [host["name"] for host in status["hosts"]] == ["server", "dut"]


def test_stations_reach_each_other_and_are_told_apart(emulate: Emulate) -> None:
    """Each of three stations exchanges packets with the server, by name."""
    script = 'ping -q -c 4 -i 0.1 "$TXOP_SERVER" && $TXOP_AT_SLOW ping -q -c 2 -i 0.1 "$TXOP_SERVER"; ip -4 -o addr'
    ran = emulate("cell", "--json", "--in", "fast-2", "--", "sh", "-c", script)
    assert ran.returncode == 0, ran.stderr
    assert "10.80.208.3/20" in ran.stderr
    status = json.loads(ran.stdout)
    assert [host["name"] for host in status["hosts"]] == ["server", "fast-1", "fast-2", "slow"]
    delivered = {(pair["from"], pair["to"]): pair["packets_delivered"] for pair in status["pairs"]}
    assert delivered == {(2, 0): 4, (0, 2): 4, (3, 0): 2, (0, 3): 2}
    airtime = [host["airtime_s"] for host in status["hosts"]]
    assert airtime[0] is None
    assert airtime[1] == 0
    assert 0 < airtime[2] < airtime[3]


def test_captures_are_read_by_air_and_bus(emulate: Emulate, tmp_path: Path) -> None:
    from txop import _native

    air, usb = tmp_path / "air.pcapng", tmp_path / "usb.pcapng"
    load = ("--json", "-b", "server=iperf3 -s", "--in", "1")
    ran = emulate("cell", *load, "--air", str(air), "--", "iperf3", "-c", "{server}", "-t", "1")
    assert ran.returncode == 0, ran.stderr
    status = json.loads(ran.stdout)
    report = json.loads(_native.analyze_air(air))
    assert (report["origin"], report["frames"]) == ("emulated", status["air"]["records"])
    ran = emulate("modem", *load, "--usb", str(usb), "--", "iperf3", "-c", "{server}", "-t", "1")
    assert ran.returncode == 0, ran.stderr
    status = json.loads(ran.stdout)
    report = json.loads(_native.analyze_bus(usb))
    assert (report["origin"], report["records"]) == ("emulated", status["usb"]["records"])
    up = next(pair for pair in status["pairs"] if pair["from"] == 1)
    carried = next(row for row in report["traffic"] if row["direction"] == "out")
    assert carried["framing"] == "qmap"
    # What is on the bus at the end has not been delivered yet.
    assert 0 <= carried["datagrams"] - up["packets_delivered"] < 200
    ran = emulate("modem", "--air", str(air), "--", "true")
    assert ran.returncode == 2
    assert "has no air to capture" in ran.stderr


def test_a_scenario_may_be_longer_than_an_argument(emulate: Emulate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LINKS, "long", f'description = "{"x" * 200_000}"\n{SLOW_PIPE}')
    ran = emulate("long", "-q", "--", "ping", "-c", "1", "{server}")
    assert ran.returncode == 0, ran.stderr


def test_the_exit_code_is_the_programs(emulate: Emulate) -> None:
    assert emulate("slow-pipe", "-q", "--", "sh", "-c", "exit 7").returncode == 7
    killed = emulate("slow-pipe", "-q", "--", "sh", "-c", "kill -TERM $$")
    assert (killed.returncode, killed.stderr) == (128 + signal.SIGTERM, "")
    echoed = emulate("slow-pipe", "-q", "--", "cat", input="through\n")
    assert (echoed.returncode, echoed.stdout) == (0, "through\n")


def test_what_cannot_be_is_refused(emulate: Emulate) -> None:
    for arguments, code, complaint in (
        (["--set", "rate_mbit_s=-1", "--", "true"], 2, "pipe.rate_mbit_s"),
        (["--in", "nobody", "--", "true"], 2, "choose from server, dut"),
        (["--", "no-such-program"], 3, "program not found: no-such-program"),
        (["-b", "server", "--", "true"], 2, "has no value"),
        (["-b", "server=sh -c 'echo broken >&2; exit 5'", "--", "true"], 2, "exit code 5: broken"),
        (["--usb", "x.pcapng", "--", "true"], 2, "has no USB bus"),
    ):
        ran = emulate("slow-pipe", *arguments)
        assert (ran.returncode, ran.stdout) == (code, ""), ran.stderr
        assert complaint in ran.stderr.lower() or complaint in ran.stderr


STAYING = "setsid sleep 1000 & setsid iperf3 -s -D; echo started; sleep 1000"
"""Programs that leave their session, and one that goes into the background."""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["Ctrl-C", "SIGTERM", "kill -9"])
def test_nothing_stays(tmp_path: Path, how: signal.Signals) -> None:
    before = _marked()
    argv = _argv(tmp_path, "cell", ["-q", "--", "sh", "-c", STAYING])
    program = subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        # What runs in the background of a script is started with it ignored, and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == b"started\n"
        # A signal that comes while dash starts a program would wait for that program's end.
        assert wait_for(lambda: len(_sleeping()) == 2)
        assert len(_marked() - before) >= 8  # four holders, the emulator, the program and what it has left
    finally:
        if how == signal.SIGINT:  # from the terminal: to the whole group
            os.killpg(program.pid, how)
        else:
            program.send_signal(how)
        try:
            program.wait(timeout=60)
        finally:
            program.kill()  # what comes here late must not disturb other tests
            program.wait()
            assert program.stdout is not None
            program.stdout.close()
    assert program.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}.get(how, -how)
    assert wait_for(lambda: not _marked() - before), _marked() - before


def test_cleanup_ends_what_is_left_when_all_was_killed(tmp_path: Path) -> None:
    before = _marked()
    argv = _argv(tmp_path, "slow-pipe", ["-q", "--", "sh", "-c", STAYING])
    program = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert program.stdout is not None
    assert program.stdout.readline() == b"started\n"
    assert wait_for(lambda: len(_sleeping()) == 2)
    others = _marked() - before
    emulators = [pid for pid in others if b"txop.emulate" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(emulators) == 1
    for pid in (*emulators, program.pid):
        os.kill(pid, signal.SIGSTOP)
    for pid in (*emulators, program.pid):
        os.kill(pid, signal.SIGKILL)
    program.wait(timeout=30)
    program.stdout.close()
    assert wait_for(lambda: 0 < len(_marked() - before) <= 3)
    cleaned = subprocess.run([sys.executable, "-m", "txop", "emulate", "--cleanup"], capture_output=True, text=True)
    assert cleaned.returncode == 0
    # One while iperf3 goes into the background, two then; another process may have left some, too.
    assert re.fullmatch(r"Ended \d+ processes\.\n", cleaned.stderr), cleaned.stderr
    assert wait_for(lambda: not _marked() - before)


def test_a_shell_with_a_terminal(tmp_path: Path) -> None:
    """As a user has it: prompt, a command, Ctrl-C that ends the command and not the shell, exit code."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    argv = _argv(tmp_path, "slow-pipe", ["--shell"])
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(SHELL=bash, TERM="dumb")
        os.execv(argv[0], argv)  # noqa: S606 - no shell is wanted
    said = b""

    def until(text: bytes) -> None:
        nonlocal said
        end = time.monotonic() + 30
        while text not in said and time.monotonic() < end:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                said += os.read(terminal, 4096)
            except OSError:
                break
        assert text in said, said
        said = said.partition(text)[2]

    try:
        os.write(terminal, b"ping -c 1 $TXOP_SERVER | grep -c ttl; sleep 1000\n")
        until(b"\r\n1\r\n")
        time.sleep(0.3)
        os.write(terminal, b"\x03")
        os.write(terminal, b"echo still $((40 + 2)); exit 9\n")
        until(b"still 42")
        until(b"Verdict")
        with contextlib.suppress(OSError):  # its end
            while select.select([terminal], [], [], 20)[0] and os.read(terminal, 4096):
                pass
    finally:
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 9
