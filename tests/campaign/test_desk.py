"""What of a plan will work on its machines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_target import FakeTarget, answer
from txop.campaign.desk import Row, look
from txop.plan.load import parse_plan
from txop.plan.templates import templates
from txop.targets.contract import Targets

PLAN = """
title = "t"
[target.dut]
kind = "ssh"
host = "a"
interface = "wlan0"
[target.peer]
kind = "ssh"
host = "b"
[target.sniffer]
kind = "ssh"
host = "c"
interface = "wlan2"
[[arm]]
name = "a"
[arm.build]
source = "tree"
module = "x.ko"
[[arm]]
name = "b"
load = ["true"]
[[test]]
name = "tx"
kind = "tcp-tx"
[collect]
air = true
"""
INFO = """Interface {name}
\tifindex 3
\twdev 0x1
\taddr 02:00:00:00:00:00
\ttype {mode}
\twiphy 0
\tchannel 6 (2437 MHz), width: 20 MHz, center1: 2437 MHz
"""


class Scripted(FakeTarget):
    """Answers questions by name."""

    def __init__(self, name: str, facts: dict[str, tuple[int, str]]) -> None:
        super().__init__(name, interface=f"wlan{'dps'.index(name[0])}")
        self.facts = facts
        for program in ("true", "insmod", "iperf3", "iw", "ethtool", "tcpdump"):
            self.answer(program)
        self.answer("sh", script=self._asked)
        self.answer("id", "-u", stdout="0\n")
        self.answer("date", stdout="100.000\n")

    def _asked(self, argv, stdin):
        token = argv[4]
        parts = [f"\n{token}+{key}\n{text}\n{token}-{status}\n" for key, (status, text) in self.facts.items()]
        return answer(stdout="".join(parts))


@pytest.fixture
def rows(tmp_path: Path) -> Callable[..., dict[tuple[str, str], Row]]:
    plan = parse_plan(PLAN.encode(), tmp_path / "plan.toml").plan

    def ask(change: Callable[[dict[str, Scripted]], None] = lambda machines: None) -> dict[tuple[str, str], Row]:
        machines = {
            name: Scripted(
                name,
                {
                    "kernel": (0, "6.12.1\n"),
                    "interface": (0, "3\n"),
                    "iw_info": (0, INFO.format(name="wlan0", mode="managed")),
                    "iw_phy": (0, "Supported interface modes:\n\t\t * managed\n\t\t * monitor\n"),
                    "regulatory_domain": (0, "country DE: DFS-ETSI\n"),
                    "free": (0, "Filesystem 1024-blocks Used Available Capacity Mounted\ntmpfs 9 9 90000 1% /run\n"),
                    "tool:iperf3": (0, "iperf 3.16 (cJSON 1.7.15)\n"),
                    "usb:speed": (0, "480\n"),
                    "usb:version": (0, " 2.10\n"),
                },
            )
            for name in ("dut", "peer", "sniffer")
        }
        change(machines)
        said: list[str] = []
        found = asyncio.run(look(Targets(dict(machines)), plan, tmp_path, said.append))
        assert {"dut: connecting", "peer: connecting", "sniffer: asking"} <= set(said)
        assert not any(machine.written for machine in machines.values())
        assert not any(machine.connected for machine in machines.values())
        return {(row.target, row.what): row for row in found}

    return ask


def test_each_row_says_what_was_found(rows):
    found = rows()
    assert found["dut", "interface"].found == "wlan0, managed"
    assert found["sniffer", "monitor mode"].state == "ok"
    assert found["sniffer", "channel"].found == "6, the device under test: 6"
    assert found["dut and peer", "iperf3 versions"].found == "dut: iperf 3.16, peer: iperf 3.16"
    assert found["dut", "USB speed"].state == "ok"
    assert found["dut", "clock"].state == "limited", "it says 100 s after the epoch"
    assert found["this machine", "kernel of a"].state == "fails"
    assert "linux-headers-6.12.1" in (found["this machine", "kernel of a"].what_to_do or "")
    assert all(row.what_to_do for row in found.values() if row.state in ("limited", "fails"))


CHANGES = [
    ("iperf3", "peer", lambda of: of["peer"]._scripts.pop(("iperf3",)), "fails"),
    ("iw", "sniffer", lambda of: of["sniffer"]._scripts.pop(("iw",)), "limited"),
    ("root", "dut", lambda of: of["dut"]._scripts.update({("id", "-u"): [answer(stdout="1000\n")]}), "fails"),
    ("root", "peer", lambda of: of["peer"]._scripts.update({("id", "-u"): [answer(stdout="1000\n")]}), "limited"),
    ("interface", "sniffer", lambda of: of["sniffer"].facts.update({"interface": (1, "no")}), "fails"),
    ("interface", "dut", lambda of: of["dut"].facts.update({"interface": (1, "no")}), "limited"),
    ("monitor mode", "sniffer", lambda of: of["sniffer"].facts.update({"iw_phy": (0, "* managed\n")}), "fails"),
    (
        "regulatory domain",
        "dut",
        lambda of: of["dut"].facts.update({"regulatory_domain": (0, "country 00:\n")}),
        "limited",
    ),
    ("USB speed", "dut", lambda of: of["dut"].facts.update({"usb:version": (0, " 3.00\n")}), "limited"),
    ("USB speed", "dut", lambda of: of["dut"].facts.update({"usb:speed": (0, "12\n")}), "limited"),
    ("room", "dut", lambda of: of["dut"].facts.update({"free": (0, "tmpfs 9 9 1000 99% /tmp\n")}), "limited"),
]


@pytest.mark.parametrize(("what", "target", "change", "state"), CHANGES)
def test_what_does_not_work_is_a_row_with_what_to_do(rows, what, target, change, state):
    row = rows(change)[target, what]
    assert row.state == state
    assert row.what_to_do


def test_a_target_that_is_lost_leaves_the_rows_of_the_others(rows):
    found = rows(lambda of: of["peer"].lose_at(1, for_good=True))
    assert [row.state for (target, _), row in found.items() if target == "peer"][-1] == "fails"
    assert found["dut", "interface"].state == "ok"


def test_over_ssh_nothing_is_changed(busybox_sshd, txop, tmp_path):
    server = busybox_sshd(programs=["iperf3"])
    hosts = tmp_path / "hosts"
    hosts.write_text(server.known_hosts_line)
    text = templates()["ssh-second-machine"].text.replace('"eth0"', f'"{server.interface}"')
    text = text.replace("192.0.2.20", server.address).replace('192.0.2.1"', f'{server.near_address}"')
    access = f'user = "root"\nkey = "{server.keys.user}"\nknown_hosts = "{hosts}"\nconfig = "/dev/null"\n'
    (tmp_path / "plan.toml").write_text(text.replace('user = "root"\n', access))

    def files() -> list[str]:
        folders = ("tmp", "run", "etc", "root", "var")
        return sorted(str(path) for folder in folders for path in (server.root / folder).rglob("*"))

    before = files()
    done = txop("plan", "check", str(tmp_path / "plan.toml"), "--connect", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    desk_rows = {(row["target"], row["what"]): row for row in json.loads(done.stdout)["desk"]}
    assert desk_rows["dut", "connection"]["state"] == "ok"
    assert desk_rows["dut", "root"]["state"] == "ok"
    assert desk_rows["dut", "clock"]["state"] in ("ok", "not asked")
    assert desk_rows["dut", "iw"]["state"] == "limited"
    assert "dut: connecting" in done.stderr
    assert files() == before
    assert server.wait_for_no_commands(5) == []
    hosts.write_text("")
    done = txop("plan", "check", str(tmp_path / "plan.toml"), "--connect")
    assert done.returncode == 3
    assert "the host key of" in done.stdout
