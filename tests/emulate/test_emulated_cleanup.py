"""Nothing stays: after a normal end, an exception, Ctrl-C, and ``kill -9`` of the program that made the link."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pydantic
import pytest

import txop
from processes_here import command_of, wait_for
from txop.emulate import EmulatedNetwork, EmulationError, MissingEmulationToolError, link_scenario

ONE_STATION = link_scenario({"wlan": {}})

PROGRAM = """
import asyncio, os, subprocess, sys
from txop.emulate import EmulatedNetwork, link_scenario

async def main():
    async with EmulatedNetwork(link_scenario({"wlan": {}})) as network:
        children = [subprocess.Popen([*network.prefix(host), "sleep", "1000"]) for host in network.hosts]
        print(os.stat("/proc/%d/ns/net" % network._namespaces.pid(1)).st_ino, flush=True)
        try:
            await asyncio.sleep(1000)
        finally:
            for child in children:
                child.kill()
                child.wait()

asyncio.run(main())
"""


def _inside(namespace: int) -> dict[int, int]:
    """Processes in the network namespace with this inode number, and when each began (ticks since boot)."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "ns/net").stat().st_ino == namespace:
                found[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[19])
        except OSError:
            continue
    return found


def _descendants(pid: int) -> set[int]:
    parents: dict[int, int] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
    found = {pid}
    while new := {child for child, parent in parents.items() if parent in found and child not in found}:
        found |= new
    return found - {pid}


def _running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.usefixtures("can_emulate")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_nothing_stays_when_the_program_is_ended(how: signal.Signals) -> None:
    program = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert program.stdout is not None
        namespace = int(program.stdout.readline())
        children = _descendants(program.pid)
        # Two holders, the emulator, and the two programs in the namespaces.
        assert len(children) == 5
        # A program that has only just been started is not tied to this one yet.
        assert wait_for(lambda: sum(command_of(child) == b"sleep" for child in children) == 2)
        assert _inside(namespace)
    finally:
        ended = time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")
        program.send_signal(how)
        program.wait(timeout=30)
        if program.stdout is not None:
            program.stdout.close()
    assert wait_for(lambda: not any(_running(child) for child in children))
    # Another test may have a namespace with the same number by now.
    assert not [pid for pid, began in _inside(namespace).items() if began < ended]


@pytest.mark.usefixtures("can_emulate")
def test_nothing_stays_after_an_exception() -> None:
    async def fail() -> None:
        async with EmulatedNetwork(ONE_STATION):
            raise KeyError("of the test")

    before = _descendants(os.getpid())
    with pytest.raises(KeyError, match="of the test"):
        asyncio.run(fail())
    assert _descendants(os.getpid()) <= before


@pytest.mark.usefixtures("can_emulate")
def test_an_emulator_that_dies_is_noticed() -> None:
    async def lose() -> None:
        async with EmulatedNetwork(ONE_STATION) as network:
            assert network.running
            assert network._emulator is not None
            os.kill(network._emulator.pid, signal.SIGKILL)
            await network._emulator._process.wait()
            assert not network.running
            with pytest.raises(EmulationError, match="the emulator failed"):
                await network.stop()
            # Another one may take its place.
            await network.replace(link_scenario({"wlan": {"dut": {"mcs": 0}}}))
            assert network.running

    asyncio.run(lose())


@pytest.mark.usefixtures("can_emulate")
def test_sigterm_ends_the_emulator_with_its_status() -> None:
    async def terminate() -> None:
        async with EmulatedNetwork(ONE_STATION) as network:
            assert network._emulator is not None
            os.kill(network._emulator.pid, signal.SIGTERM)
            status = await network.stop()
            assert status.seconds < 10

    asyncio.run(terminate())


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def enter() -> None:
        async with EmulatedNetwork(ONE_STATION):
            pass

    with monkeypatch.context() as patched:
        patched.setattr("txop.emulate.network.TUN_DEVICE", tmp_path / "tun")
        with pytest.raises(MissingEmulationToolError, match="there is no ") as missing:
            asyncio.run(enter())
        assert missing.value.what_to_do is not None
        assert "modprobe tun" in missing.value.what_to_do
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return  # that is missing first, whatever else is
    with monkeypatch.context() as patched:
        patched.setattr("txop.emulate.namespaces._SBIN", ())
        patched.setenv("PATH", str(tmp_path))
        with pytest.raises(MissingEmulationToolError, match="needs the program unshare"):
            asyncio.run(enter())
    # A stand-in for a kernel that refuses.
    real = shutil.which("nsenter")
    for name in ("nsenter", "setpriv", "ip"):
        (tmp_path / name).symlink_to(real or "/bin/false")
    (tmp_path / "unshare").write_text(
        "#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2\nexit 1\n"
    )
    (tmp_path / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(MissingEmulationToolError, match="Operation not permitted"):
        asyncio.run(enter())


ROOTLESS = """
import asyncio, subprocess
from txop.emulate import EmulatedNetwork, link_scenario

async def main():
    async with EmulatedNetwork(link_scenario({"wlan": {}})) as network:
        assert network._namespaces.rootless
        server, dut = network.hosts
        subprocess.run([*network.prefix(dut), "ping", "-c", "3", "-i", "0.2", "-q", server.address], check=True)
        print((await network.stop()).wlan.dut.packets_delivered)

asyncio.run(main())
"""
NOBODY = ("--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all")


@pytest.mark.usefixtures("can_emulate")
def test_it_works_without_root() -> None:
    """As a user without any capability: both namespaces in a user namespace."""
    if os.geteuid() != 0:
        pytest.skip("this whole run is without root already")
    if not Path("/dev/net/tun").stat().st_mode & stat.S_IWOTH:
        pytest.skip("only root may use /dev/net/tun on this machine")
    # A shell in between: setpriv itself may still start what its user may not.
    as_nobody = ["setpriv", *NOBODY, "--", "sh", "-c", 'exec "$@"', "sh"]
    status = subprocess.run([*as_nobody, "cat", "/proc/self/status"], capture_output=True, text=True, check=True).stdout
    assert "CapEff:\t0000000000000000" in status
    packages = [Path(txop.__file__).parents[1], Path(pydantic.__file__).parents[1]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, packages))}
    for python in (sys.executable, "/usr/bin/python3"):
        imports = [*as_nobody, python, "-c", "import txop.emulate"]
        if subprocess.run(imports, capture_output=True, check=False, env=environment, cwd="/").returncode == 0:
            break
    else:
        pytest.skip("an ordinary user may not read this installation of Python and txop")
    allowed = subprocess.run([*as_nobody, "unshare", "-Urn", "true"], capture_output=True, text=True, check=False)
    if allowed.returncode:
        pytest.skip(f"user namespaces are not allowed: {allowed.stderr.strip()}")
    ran = subprocess.run(
        [*as_nobody, python, "-c", ROOTLESS],
        capture_output=True, text=True, check=False, timeout=60, cwd="/", env=environment,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.splitlines()[-1]) == 3
