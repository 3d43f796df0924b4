"""Facts of a machine, asked for in one command."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from fake_target import FakeTarget
from txop.measure.probes import provenance as probe
from txop.measure.probes import questions
from txop.measure.probes.provenance import provenance
from txop.measure.probes.questions import Answer, ask
from txop.measure.programs import ensure_programs, needs
from txop.plan.load import parse_plan
from txop.plan.model import Plan
from txop.targets.contract import TargetError, Targets
from txop.targets.local import LocalTarget


class Counted:
    """A listener that counts."""

    count = 0

    def command_started(self, *_: object) -> None:
        self.count += 1

    def command_ended(self, *_: object) -> None:
        pass


def answers(script: str, *arguments: str) -> tuple[dict[str, Answer], int]:
    counted = Counted()

    async def story() -> dict[str, Answer]:
        target = LocalTarget("dut", listener=counted)
        await target.connect()
        counted.count = 0
        try:
            return await ask(target, script, arguments)
        finally:
            await target.close()

    return asyncio.run(story()), counted.count


def test_every_answer_is_under_its_name_with_its_status(tmp_path: Path) -> None:
    (tmp_path / "some").write_text("two\nlines without an end")
    found, commands = answers(
        'ask some cat "$1/some"\nask none cat "$1/none"\nask lacking no-such-program-here\nask silent true\n',
        str(tmp_path),
    )
    assert commands == 1
    assert found["some"] == Answer(0, "two\nlines without an end")
    assert not found["none"].ok
    assert found["none"].status != 127
    assert found["lacking"].status == 127
    assert found["silent"] == Answer(0, "")


def test_a_question_that_hangs_costs_its_own_answer_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "ONE_S", 1.0)
    os.mkfifo(tmp_path / "hangs")
    found, commands = answers('ask a echo 1\nask b cat "$1/hangs"\nask c echo 3\n', str(tmp_path))
    assert commands == 2
    assert found == {"a": Answer(0, "1\n"), "b": Answer(None, ""), "c": Answer(0, "3\n")}


def test_provenance_is_one_command() -> None:
    counted = Counted()

    async def story() -> dict[str, object]:
        target = LocalTarget("dut", interface="lo", listener=counted)
        await target.connect()
        counted.count = 0
        try:
            return await provenance(target)
        finally:
            await target.close()

    facts = asyncio.run(story())
    assert counted.count == 1
    assert facts["kernel"] == os.uname().release
    assert facts["kernel_build"] == os.uname().version
    assert facts["processors"] == os.cpu_count()
    interface = facts["interface"]
    assert isinstance(interface, dict)
    assert interface["address"] == "00:00:00:00:00:00"
    missing = facts["not_available"]
    assert isinstance(missing, dict)
    assert missing["interface driver"] == "lo has no driver in sysfs"


def of_modem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qmicli: str, interface: str) -> dict[str, object]:
    """Facts of a machine whose interface wwan0 is a QMI modem's, with rmnet0 on top of it."""
    net = tmp_path / "net"
    device = tmp_path / "devices/usb1/1-1/1-1:1.4"
    (device / "usbmisc/cdc-wdm3").mkdir(parents=True)
    (device / "bInterfaceNumber").write_text("0a\n")
    (tmp_path / "drivers/qmi_wwan").mkdir(parents=True)
    (device / "driver").symlink_to(tmp_path / "drivers/qmi_wwan")
    for name in ("wwan0", "rmnet0"):
        (net / name).mkdir(parents=True)
    (net / "wwan0/device").symlink_to(device)
    (net / "rmnet0/lower_wwan0").symlink_to(net / "wwan0")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "qmicli").write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/asked\n{qmicli}\n')
    (programs / "qmicli").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(probe, "_SCRIPT", probe._SCRIPT.replace("/sys/class/net/", f"{net}/"))

    async def story() -> dict[str, object]:
        target = LocalTarget("dut", interface=interface)
        await target.connect()
        try:
            return await provenance(target)
        finally:
            await target.close()

    return asyncio.run(story())


@pytest.mark.parametrize("interface", ["wwan0", "rmnet0"])
def test_the_limits_of_a_modem_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interface: str) -> None:
    said = "       Uplink data aggregation protocol: 'qmap'\n  Uplink data aggregation max datagrams: '11'\n"
    facts = of_modem(tmp_path, monkeypatch, f'printf "%s" "{said}"', interface)
    about = facts["interface"]
    assert isinstance(about, dict)
    assert about["modem_data_format"] == {"uplink": "qmap", "uplink_datagrams": 11}
    asked = (tmp_path / "asked").read_text()
    assert asked == "-p -d /dev/cdc-wdm3 --wda-get-data-format=ep-type=hsusb,ep-iface-number=10\n"


@pytest.mark.parametrize(("qmicli", "reason"), [("exit 1", "ended with 1"), ("echo hello", "does not report it")])
def test_a_modem_that_does_not_tell_its_limits_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qmicli: str, reason: str
) -> None:
    facts = of_modem(tmp_path, monkeypatch, qmicli, "wwan0")
    missing = facts["not_available"]
    assert isinstance(missing, dict)
    assert missing["modem data format"].endswith(reason)


PLAN = b"""
title = "t"
[target.dut]
kind = "local"
interface = "wlan0"
[target.peer]
kind = "local"
[target.sniffer]
kind = "local"
interface = "mon0"
[[arm]]
name = "a"
[arm.module]
name = "rtl8xxxu"
[[arm]]
name = "b"
[arm.qdisc]
discipline = ["fq_codel"]
[[test]]
name = "tx"
kind = "tcp-tx"
latency = "ping"
[[test]]
name = "idle"
kind = "latency"
[collect]
air = true
"""


def plan() -> Plan:
    return parse_plan(PLAN, Path("plan.toml")).plan


def test_what_a_plan_needs_is_named_once_for_each_target() -> None:
    found = {(need.target, need.shown): (need.essential, need.what_for) for need in needs(plan())}
    assert found["dut", "iperf3"] == found["peer", "iperf3"] == (True, "the test tx")
    assert found["dut", "ping"] == (True, "the test tx, the test idle")
    assert found["dut", "modprobe"] == (True, "the arm a")
    assert found["dut", "tc"] == (True, "the arm b")
    assert found["sniffer", "tcpdump or dumpcap"] == (False, "collect.air")


def test_what_is_missing_is_said_before_anything_is_done() -> None:
    machines = {name: FakeTarget(name) for name in ("dut", "peer", "sniffer")}
    for target in machines.values():
        target.connected = True
        target.programs = {program: f"/bin/{program}" for program in ("ping", "modprobe", "tc")}
    targets = Targets(dict(machines))
    machines["dut"].programs["iperf3"] = "/bin/iperf3"
    with pytest.raises(TargetError) as caught:
        asyncio.run(ensure_programs(targets, plan()))
    assert caught.value.target == "peer"
    assert caught.value.what == (
        "it has no iperf3, which is needed for the test tx: install it there (on Debian: apt-get install iperf3)"
    )
    machines["peer"].programs["iperf3"] = "/bin/iperf3"
    asyncio.run(ensure_programs(targets, plan()))
