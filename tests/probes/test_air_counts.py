"""What drivers are judged by in a capture: as tshark counts it, and as the scenes were made."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from txop import _native
from txop.air import analyze
from txop.air.model import Limit
from txop.core.metrics import METRICS
from txop.measure.instrument import Reading
from txop.measure.probes.air_analysis import digest_of
from txop.measure.probes.air_counts import COUNT_KEYS, OF_A_WAY, counts


def read(tmp_path, scene: str, seconds: float = 1.0):
    file = tmp_path / f"{scene}.pcap"
    _native.write_specimen(file, seed=3, seconds=seconds, scene=scene)
    report = analyze(file)
    fall = max(report.waterfalls, key=lambda each: each.payload_bytes or 0)
    return file, report, fall, {key: value for key, value, _ in counts(report, fall.ta, fall.ra, fall.direction)}


def tshark(file, wanted: str) -> list[list[str]]:
    fields = ("frame.number", "wlan.fc.type_subtype", "wlan.fc.retry")
    command = ["tshark", "-r", str(file), "-Y", wanted, "-T", "fields", *(f"-e{field}" for field in fields)]
    made = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return [line.split("\t") for line in made.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
def test_retries_of_network_and_directions_are_those_that_tshark_counts(tmp_path):
    file, report, fall, found = read(tmp_path, "late-and-lossy")
    network = max(report.bss, key=lambda row: row.packets)
    frames = tshark(file, f"wlan.bssid == {network.bssid} && wlan.fc.type != 1 && wlan.fc.type_subtype != 0x24")
    percent = 100 * sum(retry in ("1", "True") for *_, retry in frames) / len(frames)
    assert found["air_bss_retry_percent"] == pytest.approx(percent)
    ends = {"up": (fall.ta, fall.ra), "down": (fall.ra, fall.ta)}
    if fall.direction == "downlink":
        ends = {"up": ends["down"], "down": ends["up"]}
    for way, (ta, ra) in ends.items():
        mine = tshark(
            file, f"wlan.ta == {ta} && wlan.ra == {ra} && wlan.fc.type in {{0, 2}} && !(wlan.fc.subtype == 4)"
        )
        expected = 100 * sum(retry in ("1", "True") for *_, retry in mine) / len(mine)
        assert found[f"air_{way}_retry_percent"] == pytest.approx(expected, abs=0.5)


def test_scenes_show_where_they_were_made_bad(tmp_path):
    *_, late = read(tmp_path, "late-block-ack")
    *_, healthy = read(tmp_path, "healthy")
    assert late["air_down_left_out_percent"] > 15
    assert late["air_down_left_out_received_percent"] > 5
    assert late["air_down_mpdus"] > 1000
    for found, way in ((late, "up"), (healthy, "up"), (healthy, "down")):
        assert found[f"air_{way}_left_out_percent"] < 2
        assert found[f"air_{way}_left_out_received_percent"] == 0
    assert read(tmp_path, "ghosts")[-1]["air_ghost_addresses"] > healthy["air_ghost_addresses"] == 0
    responses = read(tmp_path, "late-responses")[-1]
    assert responses["air_down_late_ack_percent"] > 10
    assert responses["air_up_late_ack_percent"] == healthy["air_down_late_ack_percent"] == 0


def test_every_figure_has_its_metric_and_is_there_or_says_why_not(tmp_path):
    _, report, _, _ = read(tmp_path, "healthy", 0.3)
    reading = Reading()
    digest_of(report, None, reading)
    assert set(COUNT_KEYS) <= METRICS.keys() & reading.metrics.keys()
    assert all(value.value is not None or value.reason for value in reading.metrics.values())
    other = [reason for _, value, reason in counts(report, "no", "such", "direct") if value is None]
    assert other.count("the capture has no data between a station and its access point") == 2 * len(OF_A_WAY)


def test_a_capture_whose_times_cannot_be_true_says_so_and_not_that_it_has_no_data(tmp_path):
    _, report, *_ = read(tmp_path, "healthy", 0.3)
    words = "200 frames would take 9.0 s at the rates that the capture claims, in 5.0 s"
    limit = Limit(code="airtime-exceeds-time", text=words, figures=[], affects=["waterfall"])
    summary = report.summary.model_copy(update={"limits": [*report.summary.limits, limit]})
    reading = Reading()
    digest_of(report.model_copy(update={"waterfalls": [], "summary": summary}), "uplink", reading)
    assert {value.reason for value in reading.metrics.values()} == {words}
    nothing = Reading()
    digest_of(report.model_copy(update={"waterfalls": []}), "uplink", nothing)
    assert {value.reason for value in nothing.metrics.values()} == {"no data frames in the capture"}


def test_mpdus_that_cannot_be_grouped_cost_their_own_figure_only(tmp_path):
    _, report, fall, found = read(tmp_path, "healthy", 0.3)
    words = "0 of 90 frames have an A-MPDU status, and no time stamps repeat: MPDUs cannot be grouped to PPDUs"
    limit = Limit(code="no-ampdu-status", text=words, figures=[], affects=["aggregation"])
    loose = [flow.model_copy(update={"ppdus": None, "ampdus": None}) for flow in report.aggregation]
    assert any((flow.ta, flow.ra) == (fall.ta, fall.ra) for flow in loose)
    summary = report.summary.model_copy(update={"limits": [*report.summary.limits, limit]})
    reading = Reading()
    digest_of(report.model_copy(update={"aggregation": loose, "summary": summary}), None, reading)
    size = reading.metrics["air_ampdu_mpdus"]
    assert (size.value, size.reason) == (None, words)
    assert reading.metrics["air_retry_percent"].value is not None
    assert reading.metrics["air_up_mpdus"].value == found["air_up_mpdus"]
    assert reading.air is not None
    assert reading.air["ampdu_mpdus"] is None
