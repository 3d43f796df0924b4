"""SSH against real servers: who is let in and who is not, what a lost connection does, jump hosts, odd logins."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from ssh_server import Server
from txop.targets.contract import Target, TargetError, TargetLostError, run_checked
from txop.targets.ssh_connection import Hop

from .conftest import Recorder, running_here, ssh_target, tell

StartServer = Callable[..., Server]


@pytest.fixture
def server(busybox_sshd: StartServer) -> Server:
    return busybox_sshd()


def refused(server: Server, tmp_path: Path, kind: type[TargetError], **table: object) -> str:
    """The message with which a target cannot be used."""

    async def nothing(_: Target) -> None:
        raise AssertionError("it was let in")

    with pytest.raises(TargetError) as caught:
        tell(ssh_target(server, tmp_path, Recorder(), **table), nothing)
    assert type(caught.value) is kind
    return caught.value.what


def greet(server: Server, tmp_path: Path, **table: object) -> None:
    async def story(target: Target) -> None:
        assert (await target.run(["echo", "hello"])).stdout == "hello\n"

    tell(ssh_target(server, tmp_path, Recorder(), **table), story)


def test_an_unknown_host_is_refused(server: Server, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    message = refused(server, tmp_path, TargetError, known_hosts=str(tmp_path / "empty"))
    shown = subprocess.check_output(["ssh-keygen", "-l", "-f", server.host_key], text=True).split()[1]
    assert f"is not known (it shows {shown})" in message
    assert f"ssh-keyscan -p 22 {server.address} >> {tmp_path}/empty" in message
    assert (tmp_path / "empty").read_text() == ""


def test_a_changed_host_key_is_refused(server: Server, tmp_path: Path) -> None:
    greet(server, tmp_path)
    server.new_host_key()
    message = refused(server, tmp_path, TargetError)
    assert "is not the one in" in message
    assert f"ssh-keygen -f {tmp_path}/known_hosts -R '{server.address}'" in message


def test_the_configuration_cannot_turn_the_check_off(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for setting in ("none", "/dev/null"):
        config = tmp_path / "config"
        config.write_text(f"Host *\n  UserKnownHostsFile {setting}\n  StrictHostKeyChecking no\n")
        assert "is not known" in refused(server, tmp_path, TargetError, config=str(config), known_hosts=None)


def test_a_foreign_key_is_refused(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    foreign = server.keys.make("foreign")
    message = refused(server, tmp_path, TargetError, key=str(foreign))
    assert f"refuses {foreign} for user root" in message
    assert "authorized_keys" in message
    assert "cannot be read" in refused(server, tmp_path, TargetError, key=str(tmp_path / "none"))
    (tmp_path / "garbage").write_bytes(b"\x00garbage\xff")
    assert "cannot be used" in refused(server, tmp_path, TargetError, key=str(tmp_path / "garbage"))
    locked = shutil.copy(server.keys.user, tmp_path / "locked")
    subprocess.run(["ssh-keygen", "-q", "-p", "-N", "secret", "-f", locked], check=True)
    assert "ssh-add" in refused(server, tmp_path, TargetError, key=str(locked))


def test_the_agent_opens_a_locked_key(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    socket = f"/tmp/txop-agent-{uuid.uuid4().hex[:8]}"  # noqa: S108 - a socket's path must be short
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 5
        while not Path(socket).exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        monkeypatch.setenv("SSH_AUTH_SOCK", socket)
        monkeypatch.setenv("HOME", str(tmp_path))
        refused(server, tmp_path, TargetError, key=None)
        subprocess.run(["ssh-add", "-q", server.keys.user], check=True)
        greet(server, tmp_path, key=None)
    finally:
        agent.terminate()
        agent.wait()
        Path(socket).unlink(missing_ok=True)


def test_the_configuration_file_is_followed(server: Server, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(server.known_hosts_line)
    config = tmp_path / "config"
    config.write_text(
        f"Host router\n  Hostname {server.address}\n  User root\n  IdentityFile {server.keys.user}\n"
        f"  UserKnownHostsFile {tmp_path}/hosts\n  RequestTTY force\n  RemoteCommand false\n"
    )
    greet(server, tmp_path, host="router", user=None, key=None, known_hosts=None, config=str(config))
    config.write_text("Host router\n  Port many\n")
    message = refused(server, tmp_path, TargetError, host="router", config=str(config))
    assert "configuration has an error" in message


def test_jump_hosts(busybox_sshd: StartServer, tmp_path: Path) -> None:
    first = busybox_sshd()
    second = busybox_sshd(behind=first)
    third = busybox_sshd(behind=second, server="dropbear")
    hosts = tmp_path / "all_hosts"
    hosts.write_text(first.known_hosts_line + second.known_hosts_line + third.known_hosts_line)
    jump = [f"root@{first.address}", f"root@{second.address}:22"]
    refused(third, tmp_path, TargetLostError, known_hosts=str(hosts), connect_timeout_s=1)
    greet(third, tmp_path, jump=jump, known_hosts=str(hosts))
    # The same out of a configuration file, as ssh has it.
    config = tmp_path / "config"
    config.write_text(
        f"Host far\n  Hostname {third.address}\n  ProxyJump {','.join(jump)}\nHost *\n  User root\n"
        f"  IdentityFile {third.keys.user}\n  UserKnownHostsFile {hosts}\n"
    )
    greet(third, tmp_path, host="far", user=None, key=None, known_hosts=None, config=str(config))
    # A jump host has to be known as well.
    hosts.write_text(first.known_hosts_line + third.known_hosts_line)
    message = refused(third, tmp_path, TargetError, jump=jump, known_hosts=str(hosts))
    assert f"{second.address}:22 is not known" in message
    hosts.write_text(first.known_hosts_line + second.known_hosts_line + third.known_hosts_line)

    async def story(target: Target) -> None:
        running = await target.start(["sleep", "100"], stdout=tmp_path / "out")
        first.cut_connections()
        with pytest.raises(TargetLostError):
            await running.wait(20)
        await target.connect()
        assert (await target.run(["true"])).ok

    tell(ssh_target(third, tmp_path, Recorder(), jump=jump, known_hosts=str(hosts)), story)
    (third.root / "root/.ssh/authorized_keys").write_text("")
    message = refused(third, tmp_path, TargetError, jump=jump, known_hosts=str(hosts))
    assert f"{third.address} refuses" in message
    assert third.wait_for_no_commands(6) == []


@pytest.mark.slow
def test_the_advice_for_an_unknown_key_behind_jump_hosts_leads_there(busybox_sshd: StartServer, tmp_path: Path) -> None:
    first = busybox_sshd()
    second = busybox_sshd(behind=first)
    third = busybox_sshd(behind=second)
    hosts = tmp_path / "some hosts"
    hosts.write_text(first.known_hosts_line)
    for server, jumps in ((second, [first]), (third, [first, second])):
        jump = [f"root@{each.address}:22" for each in jumps]
        message = refused(server, tmp_path, TargetError, jump=jump, known_hosts=str(hosts))
        assert "keyscan" not in message, "which would not get there from here"
        advised = shlex.split(message.partition("let ssh add it: ")[2])
        assert advised[0] == "ssh"
        unattended = ["-o", "StrictHostKeyChecking=accept-new", "-o", "BatchMode=yes"]
        argv = [*advised[:1], *unattended, *advised[1:], "true"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        greet(server, tmp_path, jump=jump, known_hosts=str(hosts))


def test_nobody_there(server: Server, tmp_path: Path) -> None:
    assert "cannot be reached" in refused(server, tmp_path, TargetLostError, port=2)
    server.set_link(up=False)
    assert "198.1" in refused(server, tmp_path, TargetLostError, connect_timeout_s=1)
    assert "cannot be reached" in refused(server, tmp_path, TargetLostError, host="no-such-host.invalid")


@pytest.mark.slow
def test_a_vanished_host_is_noticed_and_leaves_nothing(server: Server, tmp_path: Path) -> None:
    """No word from it any more: the connection is given up in time, and the target ends the command by itself."""
    recorder = Recorder()

    async def story(target: Target) -> None:
        await target.start(["sleep", "1000"], stdout=tmp_path / "out", max_seconds=5)
        endless = await target.start(["sleep", "2000"], stdout=tmp_path / "out")
        await asyncio.sleep(0.3)
        server.set_link(up=False)
        began = time.monotonic()
        with pytest.raises(TargetLostError):
            await target.run(["sleep", "60"], timeout_s=60)
        assert time.monotonic() - began < 17
        assert endless.done
        assert not any("sleep 1000" in line for line in server.commands())
        assert any("sleep 2000" in line for line in server.commands())
        server.set_link(up=True)
        await target.connect()  # ends what it could not end before
        assert server.wait_for_no_commands(3) == []
        assert (await target.run(["echo", "back"])).stdout == "back\n"

    tell(ssh_target(server, tmp_path, recorder), story, seconds=90)
    assert len(recorder.started) == len(recorder.ended)


@pytest.mark.slow
def test_a_power_cut(server: Server, tmp_path: Path) -> None:
    async def story(target: Target) -> None:
        await run_checked(target, ["touch", "/root/before"])
        server.stop()
        with pytest.raises(TargetLostError):
            await target.run(["sleep", "60"], timeout_s=60)
        with pytest.raises(TargetLostError):
            await target.connect()
        server.start()
        await target.connect()
        assert (await target.run(["ls", "/root/before"])).ok

    tell(ssh_target(server, tmp_path, Recorder(), connect_timeout_s=2), story, seconds=90)


@pytest.mark.parametrize("kind", ["openssh", "dropbear"])
def test_nothing_outlives_a_killed_txop(busybox_sshd: StartServer, tmp_path: Path, kind: str) -> None:
    server = busybox_sshd(server=kind)
    table = server.table(tmp_path / "known_hosts")
    program = tmp_path / "program.py"
    program.write_text(f"""
import asyncio
from pathlib import Path
from txop.plan import target as tables
from txop.targets.contract import Silence
from txop.targets.factory import CONSTRUCTORS

async def main():
    target = CONSTRUCTORS["ssh"]("dut", tables.SshTarget.model_validate({table!r}), Silence())
    await target.connect()
    await target.start(["sh", "-c", "trap '' INT TERM; sleep 1000 & sleep 1000"], stdout=Path("{tmp_path}/out"))
    await target.run(["sleep", "1000"], timeout_s=600)

asyncio.run(main())
""")
    process = subprocess.Popen([sys.executable, program])
    try:
        deadline = time.monotonic() + 20
        while sum(line.startswith("sleep 1000") for line in server.commands()) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert server.wait_for_no_commands(8) == []


def test_login_scripts_that_talk(server: Server, tmp_path: Path) -> None:
    # OpenSSH runs this before every command.
    (server.root / "root/.ssh/rc").write_text(
        "echo; cat /bin/busybox | head -c 20000; echo noise >&2; printf 'txop-'\n"
    )

    async def story(target: Target) -> None:
        ran = await target.run(["sh", "-c", "echo out; echo err >&2"])
        assert (ran.stdout, ran.stderr) == ("out\n", "err\n")
        await target.write("/root/file", b"data")
        assert await target.read("/root/file") == b"data"

    tell(ssh_target(server, tmp_path, Recorder()), story)
    (server.root / "root/.ssh/rc").write_text("yes\n")
    message = refused(server, tmp_path, TargetError)
    assert "login scripts" in message
    assert server.wait_for_no_commands(5) == []


@pytest.mark.parametrize("shell", ["bash", "tcsh", "fish", "zsh"])
def test_login_shells(busybox_sshd: StartServer, tmp_path: Path, shell: str) -> None:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    server = busybox_sshd(shell=f"/bin/{shell}")  # noqa: S604
    for name in (".bashrc", ".cshrc", ".zshenv"):
        (server.root / "root" / name).write_text("echo Welcome to the machine\n")
    words = ["it's", "a!b", "$x", "new\nline", "*", "~", "", "\\"]

    async def story(target: Target) -> None:
        ran = await target.run(["printf", "[%s]", *words])
        assert ran.stdout == "".join(f"[{word}]" for word in words)

    tell(ssh_target(server, tmp_path, Recorder()), story)


def test_a_login_without_a_shell(busybox_sshd: StartServer, tmp_path: Path) -> None:
    server = busybox_sshd()
    with (server.root / "etc/ssh/sshd_config").open("a") as config:
        config.write("ForceCommand echo This account is not available; false\n")
    server.stop()
    server.start()
    assert "This account is not available" in refused(server, tmp_path, TargetLostError)


def test_the_benefit_of_many_sessions(server: Server, tmp_path: Path) -> None:
    """More commands at once than a server allows sessions and connections; all of them end with close()."""

    async def story(target: Target) -> None:
        for _ in range(24):
            await target.start(["sleep", "1000"], stdout=tmp_path / "out")
        deadline = time.monotonic() + 10
        while sum(line.startswith("sleep 1000") for line in server.commands()) < 24:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)

    tell(ssh_target(server, tmp_path, Recorder()), story)
    assert server.wait_for_no_commands(3) == []


def test_traffic_to_a_target(busybox_sshd: StartServer, tmp_path: Path) -> None:
    """The second variant: a machine with measuring tools at the other end of a real link."""
    missing = [tool for tool in ("iperf3", "ping") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    server = busybox_sshd(programs=["iperf3"], interface="wlan0")

    async def story(target: Target) -> None:
        assert target.interface == "wlan0"
        assert await target.find("iperf3") == "/usr/bin/iperf3"
        serving = await target.start(["iperf3", "-s", "-1"], stdout=tmp_path / "server")
        for _ in range(100):
            if ":1451 " in ((await target.read("/proc/net/tcp6")) or b"").decode():
                break
            await asyncio.sleep(0.05)
        client = await asyncio.create_subprocess_exec(
            *["iperf3", "-c", server.address, "-t", "1", "-J"], stdout=subprocess.PIPE
        )
        out, _ = await client.communicate()
        assert b'"sum_received"' in out
        ended = await serving.wait(10)
        assert ended is not None
        assert ended.ok
        assert "receiver" in (tmp_path / "server").read_text()
        assert (await target.run(["ping", "-c", "1", server.near_address])).ok
        assert await target.read("/sys/class/net/wlan0/operstate") == b"up\n"

    tell(ssh_target(server, tmp_path, Recorder()), story)


def test_servers_leave_nothing(busybox_sshd: StartServer) -> None:
    server = busybox_sshd()
    pids = list(server.processes())
    server.stop()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}/cmdline").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}/cmdline").exists() for pid in pids)
    assert not Path(f"/sys/class/net/{server.near_interface}").exists()
    assert not running_here(str(server.root))


@pytest.mark.parametrize("text", ["", "a@", "[::1", "a:b", "[::1]x", "a:123456", "u@:22"])
def test_not_a_jump_host(text: str) -> None:
    with pytest.raises(ValueError, match="not a jump host"):
        Hop.parse(text)


def test_commands_in_a_network_namespace_of_the_machine(busybox_sshd: StartServer, tmp_path: Path) -> None:
    server = busybox_sshd(programs=["ip"])
    assert "iproute2" in refused(busybox_sshd(), tmp_path, TargetLostError, namespace="ap")
    enter = ["nsenter", "-t", str(min(server.processes())), "-m", "-n", "-p", "chroot", str(server.root)]
    (real,) = (f"/{path.relative_to(server.root)}" for path in server.root.glob("usr/*bin/ip"))
    made = subprocess.run([*enter, real, "netns", "add", "ap"], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no network namespace can be made in the server: {made.stderr}")

    async def story(target: Target) -> None:
        inside = await target.read("/proc/net/dev")
        assert b"eth0" not in (inside or b"eth0")
        running = await target.start(["sleep", "100"], stdout=tmp_path / "out")
        await running.stop()
        assert (await run_checked(target, ["sh", "-c", "echo a b"])).stdout == "a b\n"

    tell(ssh_target(server, tmp_path, Recorder(), namespace="ap"), story)
    assert server.wait_for_no_commands(6) == []
    message = refused(server, tmp_path, TargetLostError, namespace="gone")
    assert "gone" in message
