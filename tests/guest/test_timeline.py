"""Runs of real drivers on one clock: the time of their packets is attributed, on USB, PCI and SDIO."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from txop.guest_image.image import Image

PING_AND_TCP = (
    "peer iperf3 -s -D; sleep 0.3; dut ping -c 5 -i 0.05 10.80.210.1; dut iperf3 -c 10.80.210.1 -n 600K;"
    "dut iperf3 -c 10.80.210.1 -n 600K -R"
)


def recorded(folder: Path, device: str, *options: str) -> dict:
    file = folder / f"{device}.json.gz"
    command = [
        sys.executable,
        "-m",
        "txop",
        "guest",
        "run",
        "--mode",
        "exact",
        "--device",
        device,
        "--timeline",
        str(file),
    ]
    done = subprocess.run(
        [*command, *options, "--", "sh", "-c", PING_AND_TCP], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = subprocess.run(
        [sys.executable, "-m", "txop", "why", str(file), "--json"], capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "options", "stages"),
    [
        ("rtl8188cus", ["--driver", "rtl8192cu"], ["driver", "bus"]),
        ("ar9280", ["--mips", "1000"], ["driver and bus"]),
        ("sd8686", ["--security", "open"], ["driver and bus"]),
        ("ar6003", ["--security", "open"], ["driver and bus"]),
    ],
)
def test_the_time_of_packets_is_attributed(
    image: Image, tmp_path: Path, device: str, options: list[str], stages: list[str]
) -> None:
    document = recorded(tmp_path, device, *options)
    assert (document["lost_events"], document["disordered"]) == (0, 0)
    ways = {(way["by_device"], way["protocol"], way["with_payload"]): way for way in document["ways"]}
    for by_device in (True, False):
        for protocol in ("TCP", "ICMP"):
            way = ways[by_device, protocol, True]
            assert way["packets"] >= 5
            assert way["accounted"] >= 0.95, way
            assert way["unattributed"] <= 0.05, way
    names = [stage["name"] for stage in ways[True, "TCP", True]["stages"]]
    assert names[0] == "socket"
    assert "air, with retries" in names
    at = names.index(stages[0])
    assert names[at : at + len(stages)] == stages
    assert names[-1] == "reader"
