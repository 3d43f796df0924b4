"""From a plan's tables to targets."""

from __future__ import annotations

import asyncio
import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fake_target import FakeTarget
from ssh_server import Server
from txop.plan import target as tables
from txop.plan.model import Plan
from txop.targets.contract import Silence, Target, TargetError, TargetLostError
from txop.targets.factory import CONSTRUCTORS, make_targets
from txop.targets.local import LocalTarget
from txop.targets.namespace import NamespaceTarget

from .conftest import Recorder, tell


def plan(**targets: dict[str, Any]) -> Plan:
    return Plan.model_validate(
        {
            "title": "t",
            "target": targets,
            "arm": [{"name": "a"}],
            "test": [{"name": "tx", "kind": "tcp-tx"}],
        }
    )


def test_makes_every_kind() -> None:
    targets = make_targets(
        plan(
            dut={"kind": "namespace", "name": "lab", "interface": "wlan0", "address": "192.0.2.1"},
            peer={"kind": "ssh", "host": "peer", "address": "192.0.2.2"},
            sniffer={"kind": "local", "interface": "mon0"},
            other={"kind": "labgrid", "place": "shelf"},
        ),
        Silence(),
    )
    assert all(isinstance(target, Target) for target in targets.by_name.values())
    assert (targets.dut.name, targets.dut.interface, targets.dut.address) == ("dut", "wlan0", "192.0.2.1")
    assert targets.peer.address == "192.0.2.2"
    assert targets.sniffer is not None
    assert targets.sniffer.interface == "mon0"


def test_kinds_that_need_more_than_the_plan() -> None:
    for table, needs in (({"kind": "emulated", "side": "dut"}, "emulated link"), ({"kind": "guest"}, "guest")):
        with pytest.raises(TargetError, match=needs):
            make_targets(plan(dut=table), Silence())
    fake = FakeTarget()
    targets = make_targets(plan(dut={"kind": "guest"}), Silence(), {"guest": lambda *_: fake})
    assert targets.dut is fake
    assert set(CONSTRUCTORS) == {"local", "namespace", "ssh", "labgrid", "emulated", "guest"}


def test_a_namespace_needs_root_and_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    async def connect(**settings: Any) -> None:
        await NamespaceTarget("dut", namespace="no-such-namespace-here", **settings).connect()

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(TargetError, match=r"needs root.*sudo = true"):
        asyncio.run(connect())
    with pytest.raises(TargetLostError, match="ip netns add no-such-namespace-here"):
        asyncio.run(connect(sudo=True))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(TargetLostError, match="there is no network namespace"):
        asyncio.run(connect())


def test_root_goes_through_sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for sudo that notes how it was called."""
    sudo = tmp_path / "sudo"
    sudo.write_text(f"""#!/bin/sh
printf '%s\n' "$*" >>{tmp_path}/log
[ "$1 $2" = "-n --" ] || exit 9
shift 2
exec "$@"
""")
    sudo.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    recorder = Recorder()

    async def story(target: Target) -> None:
        assert (await target.run(["echo", "a"])).ok
        assert not (tmp_path / "log").exists()
        assert (await target.run(["echo", "b"], root=True)).stdout == "b\n"
        assert (await target.run(["cat"], root=True, stdin=b"c")).stdout == "c"
        await target.write(str(tmp_path / "file"), b"d", root=True)
        assert (tmp_path / "log").read_text().count("-n -- sh -c") == 3
        running = await target.start(["sleep", "100"], stdout=tmp_path / "out", root=True)
        assert await running.wait(0.3) is None
        assert (await running.stop()).status == 130
        sudo.write_text("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
        with pytest.raises(TargetError, match="NOPASSWD") as caught:
            await target.run(["true"], root=True)
        assert not isinstance(caught.value, TargetLostError)

    tell(LocalTarget("dut", sudo=True, listener=recorder), story)
    assert ("dut", ("echo", "b")) in [(name, argv) for name, argv, _ in recorder.started]


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    async def story(target: Target) -> None:
        running = await target.start(["yes"], stdout=Path("/dev/full"))
        with pytest.raises(TargetError, match="cannot write /dev/full: No space left"):
            await running.wait(20)
        with pytest.raises(TargetError, match="No space left"):
            await running.stop()
        with pytest.raises(TargetError, match=f"cannot write {tmp_path}/none/out"):
            await target.start(["yes"], stdout=tmp_path / "none" / "out")
        with pytest.raises(TargetError, match=f"cannot write {tmp_path}/none/err"):
            await target.start(["yes"], stdout=tmp_path / "out", stderr=tmp_path / "none" / "err")

    tell(LocalTarget("dut"), story)


# labgrid: the part of its client that is used, as labgrid 26.0 has it (remote/client.py: start_session,
# ClientSession.get_acquired_place, get_target_resources, stop, close; Error and UserError).


class LabgridError(Exception):
    pass


class LabgridUserError(LabgridError):
    pass


@dataclass
class Entry:
    cls: str
    args: dict[str, Any]


class Session:
    def __init__(self, resources: dict[tuple[str, str], Entry]) -> None:
        self.resources = resources
        self.left: list[str] = []

    def get_acquired_place(self, place: str) -> str:
        if place != "shelf-3":
            raise LabgridUserError(f"place pattern {place} matches nothing")
        return place

    def get_target_resources(self, place: str) -> dict[tuple[str, str], Entry]:
        return self.resources

    async def stop(self) -> None:
        self.left.append("stop")

    async def close(self) -> None:
        self.left.append("close")


@pytest.fixture
def labgrid(monkeypatch: pytest.MonkeyPatch) -> Callable[[Session], None]:
    def use(session: Session) -> None:
        client = types.ModuleType("labgrid.remote.client")

        def start_session(address: str, *, loop: asyncio.AbstractEventLoop) -> Session:
            assert asyncio.get_event_loop() is loop  # gRPC asks for it
            loop.run_until_complete(asyncio.sleep(0))  # as the real one does: not possible in a running loop
            if address != "coordinator:20408":
                raise ConnectionRefusedError(address)
            return session

        client.start_session = start_session  # type: ignore[attr-defined]
        client.Error = LabgridError  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "labgrid", types.ModuleType("labgrid"))
        monkeypatch.setitem(sys.modules, "labgrid.remote", types.ModuleType("labgrid.remote"))
        monkeypatch.setitem(sys.modules, "labgrid.remote.client", client)

    return use


def place(**table: str) -> Target:
    parsed = tables.LabgridTarget.model_validate({"kind": "labgrid", "place": "shelf-3", **table})
    return CONSTRUCTORS["labgrid"]("dut", parsed, Silence())


def test_a_labgrid_place(
    labgrid: Callable[[Session], None],
    busybox_sshd: Callable[..., Server],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = busybox_sshd()
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh/known_hosts").write_text(server.known_hosts_line)
    (home / ".ssh/config").write_text(f"IdentityFile {server.keys.user}\n")
    monkeypatch.setenv("HOME", str(home))
    service = Entry("NetworkService", {"address": server.address, "username": "root", "port": 22, "password": None})
    session = Session({("usb", "USBSerialPort"): Entry("USBSerialPort", {}), ("net", "NetworkService"): service})
    labgrid(session)

    async def story(target: Target) -> None:
        assert (await target.run(["uname"])).stdout == "Linux\n"
        server.cut_connections()
        await target.connect()
        assert (await target.run(["uname"])).ok

    tell(place(coordinator="coordinator:20408"), story)  # type: ignore[arg-type]
    assert session.left == ["stop", "close"] * 2


def test_labgrid_says_what_is_wrong(labgrid: Callable[[Session], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "labgrid.remote.client", None)
    with pytest.raises(TargetError, match=r"pip install 'txop\[labgrid\]'"):
        asyncio.run(place().connect())
    labgrid(Session({}))
    monkeypatch.delenv("LG_COORDINATOR", raising=False)
    with pytest.raises(TargetLostError, match=r"127\.0\.0\.1:20408"):
        asyncio.run(place().connect())
    monkeypatch.setenv("LG_COORDINATOR", "coordinator:20408")
    with pytest.raises(TargetError, match="no NetworkService"):
        asyncio.run(place().connect())
    with pytest.raises(TargetError, match="matches nothing"):
        asyncio.run(place(place="shelf-4").connect())
