"""What a campaign was made with: common facts once, arms where they differ, absence in words."""

from __future__ import annotations

import pytest

from txop.present.blocks import Facts, Grid
from txop.report import facts
from txop.report.campaign.pieces import Paragraph
from txop.report.campaign.provenance import provenance


@pytest.fixture
def known(golden, monkeypatch):
    """Sets what targets and arms are known to be."""

    def set_to(targets, arms):
        monkeypatch.setattr(facts, "targets", lambda _: targets)
        monkeypatch.setattr(facts, "loaded_arms", lambda _: arms)
        return provenance(golden)

    return set_to


def items(piece):
    return [(fact.label, fact.value) for fact in piece.items]


def test_what_targets_have_in_common_is_said_once_and_absence_in_words(known, golden):
    first, second = list(golden.plan.target)[:2]
    dut = [("kernel", "6.12"), ("driver", "x"), ("not_available.firmware version", "no ethtool")]
    peer = [("kernel", "6.12"), ("driver", "y"), ("not_available.hardware", "no DMI")]
    pieces = known({first: dut, second: peer}, {})
    common, mine, lacking, *_ = pieces
    assert isinstance(common, Facts)
    assert (common.title, items(common)) == (f"All targets ({first}, {second})", [("kernel", "6.12")])
    assert isinstance(mine, Facts)
    assert items(mine) == [("driver", "x")]
    assert isinstance(lacking, Paragraph)
    assert lacking.text == "Not available: firmware version (no ethtool)."


def test_arms_are_shown_where_they_differ(known, golden):
    names = [arm.name for arm in golden.plan.arm]
    arms = {
        name: [("srcversion", f"s{n}"), ("mcs", "7"), ("seed", " | ".join(str(9 * n + i) for i in range(9)))]
        for n, name in enumerate(reversed(names))
    }
    pieces = known({}, arms)
    (table,) = (piece for piece in pieces if isinstance(piece, Grid))
    assert [column.heading for column in table.columns] == ["fact", *names]
    (row,) = table.rows
    assert [cell.text for cell in row] == ["srcversion", *(f"s{n}" for n in reversed(range(len(names))))]
    assert table.note == "Another one in every run, or nearly: seed."
    (common,) = (piece for piece in pieces if isinstance(piece, Facts))
    assert items(common) == [("mcs", "7")]


def test_one_arm_has_nothing_to_differ_from(known, golden):
    name = golden.plan.arm[0].name
    (table,) = (piece for piece in known({}, {name: [("mcs", "7")]}) if isinstance(piece, Grid))
    assert (table.title, [cell.text for cell in table.rows[0]]) == (f"Found loaded for {name}", ["mcs", "7"])
