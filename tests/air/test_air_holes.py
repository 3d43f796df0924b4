"""Captures that lack frames which were there: what is concluded from their silence, where the truth is known."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from txop import simulate
from txop.air import analyze
from txop.air.report import AirReport

SECONDS = 3.0
AP = "02:74:78:6f:70:00"
Holed = Callable[[str], AirReport]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated download, every frame of it."""
    path = tmp_path_factory.mktemp("holes") / "whole.pcapng"
    simulate.run("rtl8xxxu-vendor-rx", settings=[("run.duration_s", str(SECONDS))], air=path)
    return path


@pytest.fixture
def holed(whole: Path, tmp_path: Path) -> Holed:
    """The report of what a display filter leaves of that capture."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("SKIPPED: no tshark to take frames out with")

    def left(display_filter: str) -> AirReport:
        path = tmp_path / "holed.pcapng"
        subprocess.run([tshark, "-r", whole, "-Y", display_filter, "-w", path], check=True, capture_output=True)
        return analyze(path)

    return left


def _download(report: AirReport):
    return next(flow for flow in report.steadiness if flow.ta == AP)


def test_the_whole_capture_is_steady(whole: Path) -> None:
    report = analyze(whole)
    assert _download(report).events == []
    assert all(each.mbit_s is not None for each in _download(report).series)


def test_time_that_was_not_observed_has_no_throughput(holed: Holed) -> None:
    flow = _download(holed("frame.time_relative<1.2 || frame.time_relative>1.9"))
    assert [each.mbit_s for each in flow.series].count(None) in (6, 7)
    assert not [event for event in flow.events if "drop" in event.kind]
    assert flow.variation is not None
    assert flow.variation < 0.2


def test_responses_that_lack_on_one_side_are_missing_frames(holed: Holed) -> None:
    report = holed(f"!(wlan.fc.type_subtype==0x1d || wlan.fc.type_subtype==0x19) || wlan.ra=={AP[:-1]}1")
    assert not report.hearing.silence_is_evidence
    assert any("and no retransmission, as if they had been answered" in doubt.text for doubt in report.hearing.doubts)


def test_a_drop_of_what_was_captured_is_not_called_one_of_the_link(holed: Holed) -> None:
    report = holed("!(frame.time_relative>=1.5 && (frame.number % 3) && wlan.fc.type==2)")
    events = _download(report).events
    assert events
    assert not [event.text for event in events if "unexplained" in event.text]
