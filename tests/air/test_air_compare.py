"""Captures side by side."""

from __future__ import annotations

import pytest

from txop.air.compare import compare
from txop.air.view.side_by_side import grid, not_available


def test_differences_are_b_minus_a_and_ranked(report, good_report):
    result = compare([report, good_report])
    assert (result.format, result.version) == ("txop-air-compare", 1)
    assert [capture.path for capture in result.captures] == ["rtl8xxxu.pcapng", "8192cu.pcapng"]
    rows = {row.key: row for row in result.differences}
    goodput = rows["waterfall.goodput"]
    a, b = report.waterfalls[0].payload_mbit_s, good_report.waterfalls[0].payload_mbit_s
    assert goodput.values == [a, b]
    assert goodput.differences == [0, pytest.approx(b - a)]
    assert goodput.weight == pytest.approx((b - a) / b)
    retries = rows["waterfall.retries"]
    assert retries.weight == pytest.approx(abs(retries.values[0] - retries.values[1]))
    assert rows["stations.retry"].weight == pytest.approx(abs(rows["stations.retry"].differences[1]) / 100)
    weights = [row.weight for row in result.differences if row.weight is not None]
    assert weights == sorted(weights, reverse=True)
    assert all(0 <= weight <= 1 for weight in weights)


def test_equal_captures_do_not_differ(report):
    for row in compare([report, report]).differences:
        assert row.weight in (0, None)
        assert row.differences[1] in (0, None)


def test_more_than_two(report, good_report):
    result = compare([report, good_report, report])
    assert all(len(row.values) == 3 for row in result.differences)


def test_what_is_missing_is_null_not_zero(report, empty_report):
    rows = {row.key: row for row in compare([report, empty_report]).differences}
    assert rows["waterfall.goodput"].values[1] is None
    assert rows["waterfall.goodput"].differences[1] is None
    assert rows["waterfall.goodput"].weight is None


def test_figures_that_no_capture_has_are_counted_not_listed(empty_report):
    both = compare([empty_report, empty_report])
    lacking = [row for row in both.differences if row.values == [None, None]]
    assert lacking
    table = grid(both)
    assert len(table.rows) == len(both.differences) - len(lacking)
    assert f"{len(lacking)} figures that no capture has are not listed." in table.note


def test_every_waterfall_step_is_compared(report, good_report):
    keys = {row.key for row in compare([report, good_report]).differences}
    assert {f"waterfall.{step.cause}" for step in report.waterfall} <= keys


def test_one_capture_is_not_a_comparison(report):
    with pytest.raises(ValueError, match="two captures"):
        compare([report])


def test_mpdus_per_ppdu_are_not_made_up(report):
    rows = {row.key: row for row in compare([report, report]).differences}
    assert rows["aggregation.mpdus"].values[0] is not None
    ungrouped = report.model_copy(
        update={"aggregation": [a.model_copy(update={"mpdus_per_ppdu": None}) for a in report.aggregation]}
    )
    rows = {row.key: row for row in compare([report, ungrouped]).differences}
    assert rows["aggregation.mpdus"].values[1] is None
    assert rows["aggregation.mpdus"].weight is None


def test_variation_is_weighed_by_its_relative_change(report):
    def varying(variation):
        return report.model_copy(
            update={"steadiness": [s.model_copy(update={"variation": variation}) for s in report.steadiness]}
        )

    rows = {row.key: row for row in compare([varying(2.0), varying(8.0)]).differences}
    assert rows["steadiness.variation"].weight == pytest.approx(0.75)


def test_of_three_captures_the_one_without_a_figure_is_named(report, good_report):
    silent = report.model_copy(update={"waterfalls": [], "path": "silent.pcapng"})
    result = compare([report, good_report, silent])
    table = grid(result)
    assert [column.heading for column in table.columns][2:5] == ["A", "B", "C"]
    (lacking,) = [each for each in not_available(result) if each.startswith("Not available in C")]
    assert "Goodput" in lacking
    assert lacking.endswith("no data between two stations is explained in it.")
    assert table.note is not None
    assert lacking in table.note
    assert not [each for each in not_available(compare([report, report])) if "Goodput" in each]
