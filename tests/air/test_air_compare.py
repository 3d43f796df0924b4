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


def test_a_row_that_means_something_else_in_a_capture_says_so(report):
    def with_missing_frames(step):
        label = "gaps without a captured frame (idle or missing frames)" if step.cause == "idle" else step.label
        return step.model_copy(update={"label": label})

    falls = [
        fall.model_copy(update={"steps": [with_missing_frames(step) for step in fall.steps]})
        for fall in report.waterfalls
    ]
    deaf = report.model_copy(update={"waterfalls": falls})
    labels = {
        order: {row.key: row.label for row in compare(order_of).differences}["waterfall.idle"]
        for order, order_of in {
            "same": [report, report],
            "second": [report, deaf],
            "first": [deaf, report],
            "two": [report, deaf, deaf],
        }.items()
    }
    assert labels == {
        "same": "Time: Idle",
        "second": "Time: Idle; in B: gaps without a captured frame (idle or missing frames)",
        "first": "Time: gaps without a captured frame (idle or missing frames); in B: Idle",
        "two": "Time: Idle; in B, C: gaps without a captured frame (idle or missing frames)",
    }


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
    (lacking,) = [each for each in not_available(result) if each.startswith("Not available in C") and "Goodput" in each]
    assert lacking.endswith("because no direction of traffic is explained in it.")
    assert "FCS" not in lacking
    assert table.note is not None
    assert lacking in table.note
    assert not [each for each in not_available(compare([report, report])) if "Goodput" in each]


def test_what_may_be_equal_is_no_difference(report, good_report):
    def at_least(original):
        hearing = original.hearing.model_copy(update={"silence_is_evidence": False})
        return original.model_copy(update={"hearing": hearing})

    def busy(*reports):
        return next(row for row in compare(reports).differences if row.key == "airtime.busy")

    row = busy(at_least(report), at_least(good_report))
    assert (row.differences, row.weight) == ([0.0, None], None)
    assert "whether they differ can't be determined" in row.label
    sure = [each.model_copy(update={"hearing": each.hearing.model_copy(update={"silence_is_evidence": True})})
            for each in (report, good_report)]  # fmt: skip
    narrow = [each.model_copy(update={"airtime": each.airtime.model_copy(
        update={"busy_share": share, "busy_share_low": share, "busy_share_high": share})})
        for each, share in zip(sure, (0.2, 0.5), strict=True)]  # fmt: skip
    row = busy(*narrow)
    assert (row.label, row.differences, row.weight) == ("Channel busy", [0, pytest.approx(0.3)], pytest.approx(0.3))


def test_spaces_that_one_capture_does_not_tell_are_idle_in_both(report):
    fall = report.waterfalls[0]
    untimed = report.model_copy(update={"waterfalls": [fall.model_copy(update={"timing": "capture-clock"})]})
    stamped = report.model_copy(update={"waterfalls": [fall.model_copy(update={"timing": "stamps"})]})
    rows = {row.key: row for row in compare([untimed, stamped]).differences}
    share = {step.cause: step.share for step in fall.steps}
    assert rows["waterfall.ifs_backoff"].values == [None, None]
    assert rows["waterfall.idle"].values == [share["idle"], pytest.approx(share["idle"] + share["ifs_backoff"])]


def test_levels_differ_by_decibels(report, good_report):
    rows = {row.key: row for row in compare([report, good_report]).differences}
    signal = rows["stations.signal"]
    a, b = signal.values
    assert signal.weight == pytest.approx(min(1, abs(b - a) / 60))
    (row,) = [row for row in grid(compare([report, good_report])).rows if row[0].text == signal.label]
    assert row[4].text.endswith(" dB")
