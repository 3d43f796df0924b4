"""The export of crusader: its phases, its probes, and what is not one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from txop.exchange.imported import Direction
from txop.exchange.recognise import read_file
from txop.formats import crusader
from txop.formats.error import FormatError

NAME = "crusader/v0.3.3-dev.json"


def test_a_real_run_has_its_three_phases(captured):
    """Crusader itself said 2,648, 2,975 and 2,174 + 1,731 Mbit/s, of its steady part; here all of the load counts."""
    reading = read_file(captured(NAME).encode(), Direction())
    assert [run.test.kind for run in reading.runs] == ["tcp-rx", "tcp-tx", "tcp-both"]
    assert {run.test.streams for run in reading.runs} == {2}
    down, up, both = (run.metrics for run in reading.runs)
    assert down["throughput_mbit_s"].value == pytest.approx(2759, abs=1)
    assert up["throughput_mbit_s"].value == pytest.approx(2877, abs=1)
    assert both["throughput_down_mbit_s"].value == pytest.approx(1961, abs=1)
    assert both["throughput_up_mbit_s"].value == pytest.approx(1794, abs=1)
    assert all(run.metrics["probe_loss_percent"].value == 0.0 for run in reading.runs)
    for run in reading.runs:
        for key, points in run.series.items():
            if key != "rtt_ms":
                mean = sum(rate or 0.0 for _, rate in points) / len(points)
                assert mean == pytest.approx(run.metrics[key].value, rel=0.1)
    mirrored = read_file(captured(NAME).encode(), Direction(dut="server"))
    assert [run.test.kind for run in mirrored.runs] == ["tcp-tx", "tcp-rx", "tcp-both"]


def at(seconds: float) -> dict[str, int]:
    return {"secs": int(seconds), "nanos": round(seconds % 1 * 1e9)}


def made(**changes: Any) -> bytes:
    """Two connections that download 1 MB/s each from 2 s to 6 s, idle before; a probe a second, that of 4 s lost."""
    stream = {"data": [{"time": at(t), "bytes": max(0, t - 2) * 1_000_000} for t in range(7)]}
    pings = [
        {"index": t, "sent": at(t), "latency": None if t == 4 else {"total": at(0.01 * t), "up": at(0)}}
        for t in range(1, 9)
    ]
    document = {
        "version": 2,
        "generated_by": "Crusader 0.3.2",
        "config": {"load_duration": at(4)},
        "stream_groups": [{"download": True, "both": False, "streams": [stream, stream]}],
        "pings": pings,
    }
    return json.dumps({**document, **changes}).encode()


def test_the_load_counts_from_its_first_byte(captured):
    (run,) = read_file(made(), Direction()).runs
    assert run.metrics["throughput_mbit_s"].value == pytest.approx(16.0)
    assert run.window_s == pytest.approx(4.0)
    assert run.metrics["probe_loss_percent"].value == pytest.approx(20.0), "the probes sent from 2 s to 6 s, one lost"
    assert run.metrics["rtt_p50_ms"].value == pytest.approx(50.0)
    assert run.metrics["rtt_p99_ms"].infinite
    assert all(rate == pytest.approx(16.0) for _, rate in run.series["throughput_mbit_s"])


def test_a_test_without_load_is_one_of_latency():
    (run,) = read_file(made(stream_groups=[]), Direction()).runs
    assert run.test.kind == "latency"
    assert run.metrics["probe_loss_percent"].value == pytest.approx(12.5)


def test_what_crusader_says_of_the_run_is_kept():
    (run,) = read_file(made(server_overload=True), Direction()).runs
    assert any("overloaded" in warning for warning in run.warnings)


@pytest.mark.parametrize(
    "data",
    [
        made()[:400],
        made(stream_groups=[], pings=[]),
        made(stream_groups={}, pings=7),
        made(stream_groups=[{"streams": [{"data": [{"time": {"secs": -1, "nanos": 0}, "bytes": 1}]}]}], pings=[]),
        crusader.RAW_MAGIC + bytes(100),
    ],
)
def test_what_is_refused_says_why(data):
    with pytest.raises(FormatError):
        read_file(data, Direction())


def test_a_raw_file_names_the_command_that_makes_json_of_it():
    with pytest.raises(FormatError, match="crusader export FILE"):
        read_file(crusader.RAW_MAGIC + bytes(100), Direction())
