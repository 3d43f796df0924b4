"""Documents that are only passed on: their first members, and what is not a document."""

from __future__ import annotations

import json

import pytest

from txop import _native
from txop.air.outline import Outline
from txop.air.report import AirReport
from txop.formats.error import FormatError
from txop.present.outline import first_members


def test_an_outline_says_what_the_report_says(tmp_path):
    capture = tmp_path / "cut.pcap"
    _native.write_specimen(capture, seed=1, seconds=0.2)
    capture.write_bytes(capture.read_bytes()[:-3])
    document = _native.analyze_air(capture, start=(True, 0), end=(True, 100_000_000))
    report, outline = AirReport.parse(document), Outline.parse(document)
    assert (outline.path, outline.frames) == (report.path, report.frames)
    assert report.summary.damage is not None
    assert outline.summary.damage is not None
    assert outline.summary.damage.__dict__ == report.summary.damage.model_dump()
    assert outline.summary.window == report.summary.window
    assert outline.summary.window is not None
    assert outline.summary.unreadable_examples == report.summary.unreadable_examples


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"a" 1}', '{"a": 1', '{"a": 1 "b": 2}', '{"a": 1}', "{" + '"a":[' * 100_000, "\x00{"],
)
def test_what_has_not_the_members_is_refused(text):
    with pytest.raises(FormatError, match=r"not a JSON object with a, b"):
        first_members(text.encode(), {"a", "b"})


def test_another_layout_is_refused():
    document = json.dumps({"format": "txop-air", "version": 3, "path": "", "frames": 0, "summary": {}}).encode()
    with pytest.raises(FormatError, match=r"not a txop-air document of version 2, but txop-air 3"):
        Outline.parse(document)
    with pytest.raises(FormatError, match=r"no 'damage'"):
        Outline.parse(document.replace(b"3", b"2"))
