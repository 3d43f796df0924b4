"""Limits of a capture: one heading in reports of air and of bus captures."""

from __future__ import annotations

import pytest

from txop import _native, air, bus
from txop.air.view import sections as sections_of_air
from txop.bus.view import sections as sections_of_bus
from txop.present.blocks import Lines
from usb_trace import OUT, Trace

HEADING = "Limits of this capture"


@pytest.fixture
def summaries(tmp_path):
    _native.write_specimen(tmp_path / "air.pcap", seed=1, seconds=0.2, scene="healthy")
    trace = Trace(220)
    trace.transfer(2_000_000, 301, OUT, bytes(90))
    reports = air.analyze(tmp_path / "air.pcap"), bus.analyze(trace.write(tmp_path / "bus.pcap"))
    return list(zip(reports, (sections_of_air(reports[0])[0], sections_of_bus(reports[1])[0]), strict=True))


def lines(section):
    return [block for block in section.blocks if isinstance(block, Lines) and block.title == HEADING]


def test_both_reports_have_them_under_one_heading(summaries):
    for report, section in summaries:
        (found,) = lines(section)
        for limit in report.summary.limits:
            assert any(item.startswith(limit.text) for item in found.items), limit.text
        assert len(found.items) == max(1, len(report.summary.limits))


def test_a_capture_without_limits_says_so(summaries):
    report, _ = summaries[1]
    report = report.model_copy(update={"summary": report.summary.model_copy(update={"limits": []})})
    (found,) = lines(sections_of_bus(report)[0])
    assert list(found.items) == ["Nothing that this report needs is missing."]
