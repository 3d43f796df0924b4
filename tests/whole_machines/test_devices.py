"""Several devices under test at once on one access point: a campaign for each, which take turns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from lab_bench import STARVED, Bench
from lab_image import AP_ADDRESS, AP_NAMESPACE
from txop.archive.counting import counting
from txop.archive.reader import read_archive

DEVICES = {"first": ("wlan0", "2"), "second": ("wlan2", "3")}
UP = (
    "set -e; modprobe mac80211_hwsim radios=3; lab-radios; "
    f"ip netns exec {AP_NAMESPACE} hostapd -B -P /run/lab-hostapd.pid /etc/hostapd/lab.conf; "
    f"ip -n {AP_NAMESPACE} address replace {AP_ADDRESS}/24 dev wlan1; "
) + "".join(
    f'ip netns add {name}; iw phy "$(cat /sys/class/net/{interface}/phy80211/name)" set netns name {name}; '
    for name, (interface, _) in DEVICES.items()
)
DOWN = "lab-down; rmmod mac80211_hwsim; " + "".join(f"ip netns delete {name}; " for name in DEVICES)


@pytest.fixture
def devices(bench: Bench) -> Iterator[Bench]:
    """The machine with two stations, each in a network namespace, and an access point."""
    bench.machine.ssh(UP)
    yield bench
    bench.machine.ssh(DOWN, check=False)


def traffic(archive: Path) -> list[tuple[datetime, datetime]]:
    """From when to when each iperf3 of a campaign sent."""
    begun: dict[str, datetime] = {}
    found = []
    for line in (archive / "commands.log").read_text(errors="replace").splitlines():
        match = re.match(r"(\S+) +(\d+) dut ([$=]) (.*)", line)
        if match is None:
            continue
        at, number, kind, text = match.groups()
        if kind == "$" and "iperf3 -c" in text:
            begun[number] = datetime.fromisoformat(at)
        elif kind == "=" and number in begun:
            found.append((begun[number], datetime.fromisoformat(at)))
    return found


def test_two_devices_take_turns_on_one_access_point(devices: Bench) -> None:
    processes = {}
    for name, (interface, number) in DEVICES.items():
        plan = devices.plan_of("device.toml", {"DEVICE": name, "INTERFACE": interface, "NUMBER": number})
        renamed = plan.rename(plan.with_name(f"{name}.toml"))
        processes[name] = devices.start("run", str(renamed), "-o", str(devices.folder / name))
    windows = []
    for name, process in processes.items():
        done = devices.ended(process)
        assert done.returncode == 0, done.stderr
        read = read_archive(devices.folder / name)
        assert read.finished
        assert not read.damage
        for run in read.runs:
            assert {cause.gate for cause in run.void} <= STARVED, run.void
        assert len(counting(read, "tx").runs) == 2
        windows += [(*window, name) for window in traffic(devices.folder / name)]
    windows.sort()
    for (_, end, one), (begin, _, other) in pairwise(windows):
        assert end <= begin, f"{one} and {other} sent at once"
    names = [name for _, _, name in windows]
    assert any(one != other != third for one, other, third in zip(names, names[1:], names[2:], strict=False)), names
