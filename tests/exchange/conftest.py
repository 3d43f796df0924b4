"""Archives made by rule, as the tests of comparisons have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from txop.archive.layout import Layout
from txop.archive.reader import Archive
from txop.archive.run_file import RunFile, SeriesFile
from txop.core.origin import Origin
from txop.plan.load import parse_plan

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="session")
def golden() -> Path:
    return DATA / "archive-v1"


STATIONS_PLAN = b"""
title = "two stations"
[target.dut]
kind = "guest"
[target.peer]
kind = "guest"
[target.fast]
kind = "guest"
[target.far-off]
kind = "guest"
[guest]
device = "mt7610u"
stations = [{ name = "fast", signal_dbm = -45 }, { name = "far-off", signal_dbm = -88 }]
[[arm]]
name = "all-on"
[[test]]
name = "down"
kind = "stations"
stations = ["fast", "far-off"]
streams = 4
latency = "ping"
duration_s = 4
"""


@pytest.fixture
def of_stations(tmp_path) -> Callable[[str], Archive]:
    """Makes an archive with one run of two stations, of a plan whose test has been changed: rates of 20 and 5 Mbit/s,
    round trips of 30 and 60 ms, in each direction that the test has."""

    def make(change: str) -> Archive:
        plan = parse_plan(STATIONS_PLAN.replace(b"streams = 4", change.encode()), Path("plan.toml")).plan
        layout = Layout(tmp_path / "archive")
        run = RunFile(
            run="001-all-on-down", block=1, position=1, arm="all-on", test="down", origin=Origin.GUEST_EXACT,
            state="valid", started_at="2026-01-01T00:00:00Z", seconds=9.0, window_s=4.0,
        )  # fmt: skip
        series: dict[str, list[tuple[float, float | None]]] = {}
        for name, rate, rtt in (("fast", 20.0, 30.0), ("far_off", 5.0, 60.0)):
            for key in ("throughput_mbit_s", "throughput_up_mbit_s", "throughput_down_mbit_s"):
                series[f"station_{name}_{key}"] = [(t + 0.5, rate) for t in range(-2, 4)]
            series[f"station_{name}_rtt_ms"] = [(t / 10, None if t == 5 else rtt + t / 10) for t in range(-20, 40)]
        folder = layout.run(run.run)
        folder.mkdir(parents=True)
        (folder / "series.json").write_text(SeriesFile(series=series).model_dump_json())
        return Archive(layout, plan, [], [run])

    return make
