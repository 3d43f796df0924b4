"""The two drivers of the RTL8188CUS, each taken away 200 times under traffic, and the chip 200 times under each, as
`txop guest cycle` does it.

A driver takes half an hour to an hour on two processors without KVM. The table is printed, and is in pytest's folder of
the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from guests_here import built_chips, built_image

CYCLES = 200
WALL_S = 2 * 3600
"""A guard against hangs, for each guest."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "driver", "mips"),
    [
        ("rtl8188cus", "rtl8xxxu", 500),
        # It waits in loops that read the clock: what they take of the host grows with the instructions of a second.
        ("rtl8188cus", "rtl8192cu", 125),
    ],
)
def test_it_comes_back_every_time(
    txop: Callable[..., CompletedProcess[str]], device: str, driver: str, mips: int, tmp_path: Path
) -> None:
    built_image("6.12")
    built_chips()
    table = tmp_path / "cycles.md"
    where = ("--output", str(tmp_path / "out"), "--markdown", str(table))
    which = (
        "--device",
        device,
        "--driver",
        driver,
        "--cycles",
        str(CYCLES),
        "--mips",
        str(mips),
        "--wall-limit",
        str(WALL_S),
    )
    done = txop("guest", "cycle", *which, *where, "--json", timeout=3 * WALL_S)
    print(table.read_text() if table.exists() else done.stderr)  # noqa: T201 - the table is what the test is run for
    runs = json.loads(done.stdout)["runs"]
    assert [run["way"] for run in runs] == ["reload", "replug"]
    for run in runs:
        assert run["problems"] == []
        assert (run["done"], run["with_traffic"], run["recovery_s"]["n"]) == (CYCLES, CYCLES, CYCLES)
        assert run["cycles_measured"] >= CYCLES * 3 // 4
        assert run["leaks"] == []
    assert done.returncode == 0
