"""What of a plan will work on its machines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_target import FakeTarget, answer
from txop.campaign.preflight import check_targets
from txop.campaign.preflight_files import RELEASE_FILE
from txop.campaign.preflight_row import Row
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
    def ask(
        change: Callable[[dict[str, Scripted]], object] = lambda machines: None, text: str = PLAN
    ) -> dict[tuple[str, str], Row]:
        plan = parse_plan(text.encode(), tmp_path / "plan.toml").plan
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
        found = asyncio.run(check_targets(Targets(dict(machines)), plan, tmp_path, said.append))
        assert {"dut: connecting", "peer: connecting", "sniffer: asking"} <= set(said)
        assert all(row.found.startswith("not checked, because ") for row in found if row.state == "not checked")
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
    ("interface", "dut", lambda of: of["dut"].facts.update({"interface": (1, "no")}), "not checked"),
    ("USB speed", "dut", lambda of: of["dut"].facts.update({"interface": (1, "no")}), "not checked"),
    ("regulatory domain", "dut", lambda of: of["dut"].facts.pop("regulatory_domain"), "not checked"),
    ("room", "dut", lambda of: of["dut"].facts.pop("free"), "not checked"),
    ("clock", "peer", lambda of: of["peer"]._scripts.pop(("date",)), "not checked"),
    ("monitor mode", "sniffer", lambda of: of["sniffer"].facts.update({"iw_phy": (127, "")}), "not checked"),
    ("channel", "sniffer", lambda of: of["dut"].facts.pop("iw_info"), "not checked"),
    ("iperf3 versions", "dut and peer", lambda of: of["peer"].facts.pop("tool:iperf3"), "not checked"),
    ("iw", "sniffer", lambda of: of["sniffer"]._scripts.pop(("iw",)), "limited"),
    ("root", "dut", lambda of: of["dut"]._scripts.update({("id", "-u"): [answer(stdout="1000\n")]}), "fails"),
    ("root", "peer", lambda of: of["peer"]._scripts.update({("id", "-u"): [answer(stdout="1000\n")]}), "limited"),
    ("interface", "sniffer", lambda of: of["sniffer"].facts.update({"interface": (1, "no")}), "fails"),
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
    assert row.what_to_do or state in ("ok", "not checked")
    assert row.found.startswith("not checked, because ") == (state == "not checked")


def test_iperf3_is_tried_where_there_is_a_link_without_an_arm(rows):
    assert "comes up with an arm" in rows()["dut and peer", "iperf3 traffic"].found, "the arm is a build"

    def linked(said: str, status: int = 0):
        def change(of):
            of["dut"].answer("ping")
            of["dut"]._scripts[("iperf3",)] = [answer(stdout=said, status=status)]

        return change

    (found,) = [rows(linked('{"end": {"sum_received": {"bits_per_second": 3e6}}}'))["dut and peer", "iperf3 traffic"]]
    assert (found.state, found.found) == ("ok", "3.0 Mbit/s to 192.0.2.1, port 5210, in one second")
    found = rows(linked('{"error": "unable to connect to server"}', 1))["dut and peer", "iperf3 traffic"]
    assert found.state == "fails"
    assert "unable to connect to server" in found.found
    assert "5210" in (found.what_to_do or "")


def test_kernels_that_modules_are_made_for(rows, tmp_path, make_module):
    folder = tmp_path / "kernel"
    (folder / RELEASE_FILE).parent.mkdir(parents=True)
    (folder / RELEASE_FILE).write_text('#define UTS_RELEASE "6.1.9"\n')
    text = PLAN.replace('module = "x.ko"', 'module = "x.ko"\nkernel = "kernel"')
    text = text.replace('load = ["true"]', f'module = {{ file = "{make_module()}" }}')
    found = rows(text=text)
    assert found["this machine", "kernel of a"].state == "fails"
    assert "is of 6.1.9, and the device under test runs 6.12.1" in found["this machine", "kernel of a"].found
    assert found["this machine", "build of a"].state == "not checked"
    module = found["this machine", "rtl8xxxu.ko of b"]
    assert (module.state, module.what_to_do) == ("fails", "build it for 6.12.1")
    (folder / RELEASE_FILE).write_text('#define UTS_RELEASE "6.12.1"\n')
    assert rows(text=text)["this machine", "kernel of a"].state == "ok"


def test_kernels_that_arms_boot_and_hooks(rows):
    boot = '[arm.boot]\nrelease = "{}"\ncommands = ["reboot"]\n'
    text = PLAN.replace("[arm.build]", boot.format("6.12.1") + "[arm.build]")
    text = text.replace('load = ["true"]', 'load = ["true"]\n' + boot.format("6.1.9"))
    text = text.replace('host = "a"', 'host = "a"\nhooks.reset = ["true"]')
    found = rows(lambda of: of["dut"].facts.update({"kernel:6.1.9": (1, "")}), text=text)
    assert found["dut", "kernel 6.12.1"].found == "it runs now"
    assert found["dut", "kernel 6.1.9"].state == "limited"
    assert "reset the machine" in found["dut", "hooks"].found


def test_a_target_that_is_lost_leaves_the_rows_of_the_others(rows):
    found = rows(lambda of: of["peer"].lose_at(1, for_good=True))
    assert [row.state for (target, _), row in found.items() if target == "peer"][-1] == "fails"
    assert found["dut", "interface"].state == "ok"


@pytest.mark.slow
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
    preflight_rows = {(row["target"], row["what"]): row for row in json.loads(done.stdout)["desk"]}
    assert preflight_rows["dut", "connection"]["state"] == "ok"
    assert preflight_rows["dut", "root"]["state"] == "ok"
    assert preflight_rows["dut", "clock"]["state"] in ("ok", "not checked")
    assert preflight_rows["dut and peer", "iperf3 traffic"]["state"] == "ok"
    assert preflight_rows["dut", "iw"]["state"] == "limited"
    assert "dut: connecting" in done.stderr
    assert files() == before
    assert server.wait_for_no_commands(5) == []
    hosts.write_text("")
    done = txop("plan", "check", str(tmp_path / "plan.toml"), "--connect")
    assert done.returncode == 3
    assert "the host key of" in done.stdout
