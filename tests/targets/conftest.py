"""Every kind of target, ready to be asked."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ssh_server import Server
from txop.plan import target as tables
from txop.targets.factory import CONSTRUCTORS
from txop.targets.local import LocalTarget
from txop.targets.namespace import NamespaceTarget
from txop.targets.prefix import PrefixTarget
from txop.targets.shell import ShellTarget
from txop.targets.ssh import SshTarget


@dataclass
class Recorder:
    """A listener that remembers."""

    started: list[tuple[str, tuple[str, ...], int]] = field(default_factory=list)
    ended: list[tuple[str, int, int | None, float]] = field(default_factory=list)

    def command_started(self, target: str, argv: Sequence[str], number: int) -> None:
        self.started.append((target, tuple(argv), number))

    def command_ended(self, target: str, number: int, status: int | None, seconds: float) -> None:
        self.ended.append((target, number, status, seconds))


@dataclass
class Place:
    """Where a target's commands run, seen from outside."""

    target: Callable[[], ShellTarget]
    recorder: Recorder
    folder: str
    """An empty folder over there."""
    is_running: Callable[[str], bool]
    """Whether a process with this word among its arguments runs there."""
    lose: Callable[[], None] | None
    """Break the way to it."""


def running_here(word: str) -> bool:
    """Whether a process with ``word`` among its arguments runs on this machine."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if word.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    return True
    return False


KINDS = (
    "local",
    "prefix",
    "ssh",
    pytest.param("namespace", marks=pytest.mark.slow),
    pytest.param("dropbear", marks=pytest.mark.slow),
)


def gone(holder: subprocess.Popen[bytes]) -> None:
    """End what holds a namespace."""
    holder.kill()
    holder.wait()


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path, busybox_sshd: Callable[..., Server]) -> Iterator[Place]:
    """One place of every kind."""
    recorder = Recorder()
    kind = request.param
    if kind in ("ssh", "dropbear"):
        server = busybox_sshd(server="openssh" if kind == "ssh" else "dropbear")
        yield Place(
            lambda: ssh_target(server, tmp_path, recorder),
            recorder,
            "/tmp/w",  # noqa: S108 - over there
            lambda word: any(word in line.split() for line in server.commands()),
            server.cut_connections,
        )
        return
    folder = str(tmp_path / "w")
    if kind == "local":
        yield Place(lambda: LocalTarget("dut", listener=recorder), recorder, folder, running_here, None)
    elif kind == "prefix":
        # Foreign namespaces, as the ends of an emulated link are.
        hold = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", "echo ready; exec sleep 600"]
        holder = subprocess.Popen(hold, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert holder.stdout is not None
        try:
            if holder.stdout.readline() != b"ready\n":
                pytest.skip("user namespaces are not allowed here")
            enter = ["nsenter", "-t", str(holder.pid), "-U", "--preserve-credentials", "-n"]
            yield Place(
                lambda: PrefixTarget("dut", prefix=enter, interface="lo", listener=recorder),
                recorder,
                folder,
                running_here,
                lambda: gone(holder),
            )
        finally:
            holder.kill()
            holder.wait()
            holder.stdout.close()
    else:
        if os.geteuid() != 0:
            pytest.skip("named network namespaces need root")
        name = f"txop-{uuid.uuid4().hex[:8]}"
        made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
        if made.returncode:
            pytest.skip(f"network namespaces cannot be made here: {made.stderr}")

        def remove() -> None:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)

        try:
            yield Place(
                lambda: NamespaceTarget("dut", namespace=name, listener=recorder),
                recorder,
                folder,
                running_here,
                remove,
            )
        finally:
            remove()


def ssh_target(server: Server, folder: Path, recorder: Recorder, **table: object) -> SshTarget:
    """A target for a server, made from a plan's table."""
    parsed = tables.SshTarget.model_validate(server.table(folder / "known_hosts", **table))
    made = CONSTRUCTORS["ssh"]("dut", parsed, recorder)
    assert isinstance(made, SshTarget)
    return made


Story = Callable[[ShellTarget], Awaitable[None]]


def tell(target: ShellTarget, story: Story, *, seconds: float = 60.0) -> None:
    """Run an asynchronous test on a connected target, and close it whatever happens."""

    async def whole() -> None:
        async with asyncio.timeout(seconds), connected(target):
            await story(target)

    asyncio.run(whole())


@contextlib.asynccontextmanager
async def connected(target: ShellTarget) -> AsyncIterator[ShellTarget]:
    """Connect, and close whatever happens."""
    try:
        await target.connect()
        yield target
    finally:
        await target.close()
