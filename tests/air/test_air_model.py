"""The typed report takes all of the analyzer's document, and refuses anything else."""

from __future__ import annotations

import json
import re

import pytest

from txop.air import AirReport, FormatError


def test_round_trip_keeps_every_field(document):
    assert json.loads(AirReport.parse(json.dumps(document)).model_dump_json()) == document


def test_newer_fields_are_ignored(document):
    document["of_tomorrow"] = {"x": 1}
    document["summary"]["of_tomorrow"] = 2
    assert AirReport.parse(json.dumps(document)).frames == document["frames"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 1}, "version 1 is not known"),
        ({"format": "pcap"}, 'its format is "pcap"'),
        ({"frames": "many"}, "frames"),
        ({"summary": None}, "summary"),
    ],
)
def test_wrong_documents_are_refused_with_the_place(document, change, message):
    with pytest.raises(FormatError, match=re.escape(message)):
        AirReport.parse(json.dumps(document | change))


def test_waterfall_shares_sum_to_one(report):
    for fall in report.waterfalls:
        assert sum(step.share for step in fall.steps) == pytest.approx(1, abs=1e-9)
