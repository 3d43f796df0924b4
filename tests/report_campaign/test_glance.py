"""What the first screen shows, as data: effects, bars, lines, the testbed, and the two overviews."""

from __future__ import annotations

from dataclasses import replace

import pytest

from txop.archive.reader import Archive, read_archive
from txop.compare.archive import compare
from txop.compare.result import CompareResult
from txop.report.campaign.glance import MOST_ROWS, glance
from txop.report.campaign.plots.timeline import timeline
from txop.report.campaign.plots.tradeoff import tradeoff
from txop.report.campaign.testbed import testbed as drawn_testbed

INKS = {"vanilla": "three", "patch10": "one", "vendor": "five"}


@pytest.fixture(scope="module")
def seen(golden: Archive, golden_result: CompareResult):
    return glance(golden, golden_result)


def test_effects_are_the_rows_of_the_comparison(seen, golden_result):
    primary = [figure for figure in golden_result.figures if figure.role == "primary"]
    assert [row.primary for row in seen.effects][: len(primary)] == [True] * len(primary)
    assert len(primary) < len(seen.effects) <= MOST_ROWS
    first = next(row for row in primary[0].rows if row.arm == seen.arms[0])
    mark = seen.effects[0].cells[0].mark
    assert first.estimate is not None
    assert first.low is not None
    assert first.high is not None
    scale = (mark.at - 50) / first.estimate
    assert mark.start == pytest.approx(50 + scale * first.low, abs=0.1)
    assert mark.start + mark.width == pytest.approx(50 + scale * first.high, abs=0.1)
    assert mark.band_width == pytest.approx(2 * scale * first.margin, abs=0.1)
    for row in seen.effects:
        for cell in row.cells:
            assert cell.mark is None or 0 <= cell.mark.start <= cell.mark.at <= cell.mark.start + cell.mark.width <= 100


def test_bars_are_shares_of_the_time_on_the_air(seen):
    assert [bar.arm for bar in seen.bars] == ["vanilla", "patch10", "vendor"]
    assert seen.bars_test == "tx"
    for bar in seen.bars:
        assert 0.95 < sum(step.share for step in bar.steps) <= 1.001
    assert {step.cause for step in seen.keys} == {step.cause for bar in seen.bars for step in bar.steps}


def test_a_line_has_gains_costs_and_why(seen):
    patch, vendor = seen.lines
    assert (patch.arm, patch.sign, vendor.sign) == ("patch10", "◆", "▲")
    assert "tx throughput" in patch.gains
    assert "rx throughput" in patch.undecided
    assert patch.costs == ""
    assert len(vendor.why) == 2


def test_an_arm_that_is_worse_costs(golden, golden_result):
    turned = golden_result.model_copy(
        update={
            "figures": [
                figure.model_copy(
                    update={
                        "rows": [
                            row.model_copy(update={"verdict": "worse"}) if row.verdict == "better" else row
                            for row in figure.rows
                        ]
                    }
                )
                for figure in golden_result.figures
            ]
        }
    )
    line = next(line for line in glance(golden, turned).lines if line.arm == "vendor")
    assert (line.sign, line.tone) == ("▼", "bad")
    assert "tx throughput" in line.costs
    assert "tx throughput" not in line.gains


def test_figures_of_others_have_neither_marks_nor_bars(sample, tmp_path):
    archive = read_archive(sample.single(tmp_path / "archive"))
    found = glance(archive, compare(archive))
    assert found.bars == []
    assert all(cell.mark is None for row in found.effects for cell in row.cells)


def test_the_testbed_has_the_taps_of_the_plan(golden):
    bed = drawn_testbed(golden)
    assert [tap.number for tap in bed.taps] == [1, 2, 3]
    assert "emulated link" in bed.svg
    plan = golden.plan.model_copy(update={"collect": golden.plan.collect.model_copy(update={"air": False})})
    assert len(drawn_testbed(replace(golden, plan=plan)).taps) == 2


def test_every_run_is_on_the_time_line_and_void_ones_are_marked(golden, golden_result):
    counted = frozenset(p.run for f in golden_result.figures for v in f.arms for p in v.points)
    drawing = timeline(golden.runs, INKS, counted)
    assert drawing is not None
    bars, crosses = drawing.spec["datasets"].values()
    assert len(bars) + len(crosses) == len(golden.runs)
    assert {row["run"] for row in bars} == counted
    assert any(row["why"] == "association-lost" for row in crosses)
    assert timeline(golden.runs[:1], INKS, counted) is None


def test_a_point_is_a_run_with_both_figures(golden_result):
    drawing = tradeoff("tx", golden_result.figures, INKS)
    assert drawing is not None
    points = drawing.spec["datasets"]["table0"]
    known = {
        figure.metric.key: {p.run: p.value for v in figure.arms for p in v.points}
        for figure in golden_result.figures
        if figure.test == "tx"
    }
    assert points
    for row in points:
        assert row["x"] == known["throughput_mbit_s"][row["run"]]
        assert row["y"] == known["rtt_p50_ms"][row["run"]]
    assert tradeoff("latency", golden_result.figures, INKS) is None
