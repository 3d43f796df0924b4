"""Plans on emulated links of every kind: targets are hosts, arms are variants of the link."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tomllib
from pathlib import Path

import pytest

from txop.archive.reader import read_archive
from txop.campaign import session
from txop.campaign.emulated import EmulatedTestbed, tables_of
from txop.emulate import EmulationStatus, MissingEmulationToolError, link_scenario
from txop.emulate.namespaces import check_tools
from txop.measure.probes.emulated_link import STATUS_FILE
from txop.plan.load import load_plan
from txop.plan.model import Plan
from txop.plan.old_links import with_current_links
from txop.plan.overrides import Overrides
from txop.targets.contract import Silence, TargetError

HEAD = """
title = "emulated"
[target.dut]
kind = "emulated"
[target.peer]
kind = "emulated"
"""
TEST = """
[[test]]
name = "t"
kind = "latency"
"""


def plan_of(text: str) -> Plan:
    return Plan.model_validate(tomllib.loads(f"{HEAD}{text}{TEST}"))


@pytest.fixture
def _can_emulate() -> None:
    if shutil.which("ping") is None or not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("emulated links need ping and /dev/net/tun")
    try:
        check_tools()
    except MissingEmulationToolError as error:
        pytest.skip(f"this machine cannot emulate links: {error}")


async def _pinged(plan: Plan, folder: Path, stations: tuple[str, ...]) -> dict[str, EmulationStatus]:
    """The account of each arm's link, over which all these stations have pinged the peer."""
    found = {}
    testbed = EmulatedTestbed(plan, folder, Silence())
    try:
        await testbed.open()
        for arm in plan.arm:
            run = folder / f"001-{arm.name}"
            run.mkdir()
            await testbed.place(arm, run)
            for name in stations:
                argv = ["ping", "-c", "2", "-i", "0.2", "-W", "5", testbed.peer_address]
                ran = await testbed.targets.by_name[name].run(argv, timeout_s=30)
                assert ran.ok, f"{arm.name}, {name}: {ran.stdout}"
            assert await testbed.remove(run) == []
            found[arm.name] = EmulationStatus.parse((run / STATUS_FILE).read_bytes())
    except TargetError as error:
        if "namespaces" in error.what:
            pytest.skip(f"this machine cannot emulate links: {error}")
        raise
    finally:
        await testbed.close()
    return found


STATIONS = """
[target.slow]
kind = "emulated"
[target.second]
kind = "emulated"
host = "fast-2"
[link]
base = "ap-fifo"
[[arm]]
name = "fifo"
[[arm]]
name = "airtime"
emulated.wlan.ap.queueing.kind = "airtime"
[[arm]]
name = "codel"
emulated.base = "ap-fq-codel"
"""


@pytest.mark.usefixtures("_can_emulate")
def test_the_queues_of_an_access_point_are_arms_and_its_stations_are_targets(tmp_path):
    found = asyncio.run(_pinged(plan_of(STATIONS), tmp_path, ("dut", "second", "slow")))
    kinds = {arm: status.scenario["wlan"]["ap"]["queueing"]["kind"] for arm, status in found.items()}
    assert kinds == {"fifo": "fifo", "airtime": "airtime", "codel": "fq_codel"}
    for status in found.values():
        assert [host.name for host in status.hosts] == ["server", "fast-1", "fast-2", "slow"]
        assert {(pair.from_, pair.to) for pair in status.pairs} == {(n, 0) for n in (1, 2, 3)} | {
            (0, n) for n in (1, 2, 3)
        }
        assert all(pair.packets_delivered == 2 for pair in status.pairs)
        assert min(host.airtime_s or 0 for host in status.hosts[1:]) > 0
    seeds = [status.scenario["run"]["seed"] for status in found.values()]
    assert len(set(seeds)) == len(seeds)


KINDS = """
[link.wlan.dut]
mcs = 5
[[arm]]
name = "wlan"
[[arm]]
name = "modem"
emulated.modem.driver.aggregation = "rmnet"
[[arm]]
name = "sdio"
emulated.sdio.host.interrupts = "sdio"
[[arm]]
name = "pipe"
[arm.emulated]
pipe = { rate_mbit_s = 10 }
run.seed = 5
"""


@pytest.mark.usefixtures("_can_emulate")
def test_every_kind_of_link_is_an_arm(tmp_path):
    found = asyncio.run(_pinged(plan_of(KINDS + "[collect]\nair = true\nusbmon = true\n"), tmp_path, ("dut",)))
    assert {arm: status.link for arm, status in found.items()} == {arm: arm for arm in found}
    captured = {arm: (status.air is not None, status.usb is not None) for arm, status in found.items()}
    none = (False, False)
    assert captured == {"wlan": (True, False), "modem": (False, True), "sdio": none, "pipe": none}
    assert found["pipe"].scenario["run"]["seed"] == 5
    assert all("wlan" not in status.scenario for arm, status in found.items() if arm != "wlan")


OLD = """
[link.medium]
channel = 40
[link.dut]
mcs = 3
[link.dut.usb]
interrupts_per_second = 4000
[[arm]]
name = "a"
[[arm]]
name = "b"
[arm.emulated]
seed = 7
dut.usb.interrupts_per_second = 200
"""
NEW = OLD.replace("[link.", "[link.wlan.").replace("seed = 7\ndut", "run.seed = 7\nwlan.dut")


def test_an_archive_with_a_link_as_it_was_is_read_and_can_be_resumed(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(
        f"{HEAD}{OLD}{TEST}".replace('"emulated"\n[target.peer]', '"emulated"\nside = "dut"\n[target.peer]')
    )
    begun = session.begin(load_plan(file), tmp_path / "archive", Overrides())
    now = plan_of(NEW)
    for plan in (read_archive(begun.layout.root).plan, session.reopen(begun.layout.root).plan):
        assert (plan.link, [arm.emulated for arm in plan.arm]) == (now.link, [arm.emulated for arm in now.arm])
    # The engine gets what it got then: here with the digest of the run's name that it had then.
    arm = now.arm[0]
    assert tables_of(plan, arm, "001-a-t") == tables_of(now, arm, "001-a-t")
    made = link_scenario(tables_of(plan, arm, "001-a-t")).settings
    assert made["run"]["seed"] == 63_828_967_891_329
    assert (made["wlan"]["medium"]["channel"], made["wlan"]["dut"]["usb"]["interrupts_per_second"]) == (40, 4000.0)
    assert link_scenario(tables_of(plan, plan.arm[1], "x")).settings["run"]["seed"] == 7


def test_an_empty_link_as_it_was_is_a_station_and_its_access_point():
    plan = with_current_links(plan_of('[link]\nseed = 3\n[[arm]]\nname = "a"\n'))
    assert plan.link == {"run": {"seed": 3}, "wlan": {}}
    assert with_current_links(plan) == plan
    assert json.loads(link_scenario(tables_of(plan, None, "")).json)["run"]["seed"] == 3
