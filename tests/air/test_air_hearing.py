"""When silence in a capture is evidence: the sentence names only what there was enough of to show missing frames."""

from __future__ import annotations

import pytest

from txop.air import AirReport
from txop.air.view.options import Options
from txop.air.view.sections.summary import section
from txop.present.blocks import Lines
from txop.present.report_parts import Sentence


def _heard(report: AirReport, responses: int, acknowledged: int) -> str:
    """What the report says of a steady raster of beacons, beside this many responses and acknowledged MPDUs."""
    hearing = report.hearing.model_copy(
        update={
            "silence_is_evidence": True,
            "proof": Sentence(text="60 of the 60 beacons were captured", figures=[]),
            "responses": responses,
        }
    )
    flow = report.block_acks[0].model_copy(update={"newly_acked": acknowledged, "acked_not_captured": 0})
    changed = report.model_copy(update={"hearing": hearing, "block_acks": [flow] if acknowledged else []})
    lines = [b for b in section(changed, Options()).blocks if isinstance(b, Lines)]
    (text,) = next(b.items for b in lines if b.title == "What the sniffer captured")
    return text


@pytest.mark.parametrize(
    ("responses", "acknowledged", "expected"),
    [
        (1234, 20, ", and neither the 1,234 captured responses nor the 20 MPDUs that Block Acks acknowledge show that"),
        (20, 19, ", and the 20 captured responses do not show that many frames are missing: while nothing"),
        (19, 56, ", and the 56 MPDUs that Block Acks acknowledge do not show that many frames are missing: while"),
        (1, 0, " (1 response and 0 MPDUs that Block Acks acknowledge are too few to show whether others are missing):"),
    ],
)
def test_only_what_there_was_enough_of_shows_that_nothing_is_missing(
    report: AirReport, responses: int, acknowledged: int, expected: str
) -> None:
    assert expected in _heard(report, responses, acknowledged)
