"""What a comparison takes, leaves out, refuses and says."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from scipy import stats

from txop.archive.damage import Code
from txop.archive.reader import read_archive
from txop.compare.archive import compare, lacking_arms
from txop.compare.facts import NOT_RADIO
from txop.compare.result import CompareResult
from txop.compare.select import CompareError
from txop.compare.two import compare_two
from txop.core.origin import Origin
from txop.report.answer.verdicts import verdicts


def row(result, figure, arm):
    return next(row for row in result.figure(figure).rows if row.arm == arm)


def test_effects_and_p_values_are_those_of_scipy(golden_result):
    """Oracle: scipy's exact test, and the textbook definition of the Hodges-Lehmann estimate."""
    checked = 0
    for figure in golden_result.figures:
        values = {arm.arm: {p.block: p.value for p in arm.points} for arm in figure.arms}
        for found in figure.rows:
            pairs = [(values["vanilla"][p.block], values[found.arm][p.block]) for p in found.pairs]
            if any(a is None or b is None or (figure.metric.scale == "ratio" and min(a, b) <= 0) for a, b in pairs):
                continue
            ratio = figure.metric.scale == "ratio"
            d = np.array([math.log(b / a) if ratio else b - a for a, b in pairs])
            walsh = [(x + y) / 2 for x, y in itertools.combinations_with_replacement(d, 2)]
            estimate = 100 * math.expm1(np.median(walsh)) if ratio else np.median(walsh)
            assert found.estimate == pytest.approx(estimate, rel=1e-9, abs=1e-9)
            if len(set(np.abs(d).round(12))) == len(d) and not np.any(np.abs(d) < 1e-12):
                assert found.p == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=1e-9)
                checked += 1
    assert checked > 40


def test_holm_covers_every_primary_row_and_no_other(golden_result):
    primary = [r for f in golden_result.figures if f.role == "primary" for r in f.rows]
    assert len(primary) == golden_result.design.family == 6
    step_down = sorted(primary, key=lambda r: r.p)
    largest = 0.0
    for left, found in zip(range(6, 0, -1), step_down, strict=True):
        largest = max(largest, min(1.0, left * found.p))
        assert found.p_adjusted == pytest.approx(largest)
    others = [r for f in golden_result.figures if f.role == "exploratory" for r in f.rows]
    assert {r.adjustment for r in primary} == {"holm"}
    assert {(r.adjustment, r.p_adjusted is None) for r in others} == {("label-swaps", False), (None, True)}
    assert {r.verdict for r in others if r.adjustment is None} == {"not-judged"}


def test_the_p_value_of_an_exploratory_figure_is_a_share_of_label_swaps_for_each_pair_of_arms(golden_result):
    """2 arms against the baseline and one direct pair at most: a p-value is a multiple of 2 / 2^9 times the pairs."""
    pairs = len(golden_result.answers)
    for figure in golden_result.figures:
        for r in figure.rows if figure.role == "exploratory" else ():
            if r.p_adjusted not in (None, 1.0):
                blocks = {p.block for f in golden_result.figures for x in f.rows if x.arm == r.arm for p in x.pairs}
                assert (r.p_adjusted / pairs * 2 ** (len(blocks) - 1)) % 1 == pytest.approx(0, abs=1e-6)


def test_the_block_of_a_void_run_is_replaced_by_its_repeat(golden_result):
    throughput = row(golden_result, "tx.throughput_mbit_s", "vendor")
    assert [pair.block for pair in throughput.pairs] == [1, 2, 4, 5, 6, 7, 8, 9]
    assert [pair.block for pair in row(golden_result, "rx.throughput_mbit_s", "vendor").pairs] == list(range(1, 9))
    assert golden_result.design.blocks_complete == 8
    (void,) = golden_result.voided
    assert (void.run, void.gates, void.repeated_in) == ("003-patch10-tx", ["association-lost"], 9)


def test_with_the_void_run_the_interval_is_wider(golden_result):
    found = row(golden_result, "tx.throughput_mbit_s", "patch10")
    assert found.with_voided.n == 9
    assert found.with_voided.low < 0 < found.low
    assert row(golden_result, "rx.throughput_mbit_s", "patch10").with_voided is None


def test_void_runs_can_be_let_in(golden):
    result = compare(golden, include_void=True)
    assert row(result, "tx.throughput_mbit_s", "patch10").n == 9
    assert "not the result of the campaign" in result.warnings[0]


def test_an_infinite_figure_counts_as_the_largest(golden_result):
    found = row(golden_result, "tx.rtt_p99_ms", "patch10")
    assert found.n == 8
    assert found.low == pytest.approx(-100.0)  # finite over infinite
    assert found.verdict == "better"
    assert found.sd_d is found.smallest_detectable_effect is found.blocks_needed is None
    assert any("infinite (lost probes)" in warning for warning in found.warnings)
    infinite = [point for arm in golden_result.figure("tx.rtt_p99_ms").arms for point in arm.points if point.infinite]
    assert [(point.run, point.value, point.flagged) for point in infinite] == [("005-vanilla-tx", None, True)]


def test_figures_from_guests_say_that_they_are_no_radio_performance(golden_result, copied, change):
    assert NOT_RADIO not in golden_result.warnings
    for folder in (copied / "runs").iterdir():
        change(copied, folder.name, lambda run: run.update(origin="guest-exact"))
    archive = read_archive(copied)
    assert NOT_RADIO in compare(archive).warnings
    assert NOT_RADIO in compare_two(archive, archive).warnings


def test_warnings_name_blocks_not_positions(golden_result):
    found = row(golden_result, "tx.throughput_mbit_s", "vendor")
    assert any(warning.startswith("block 9 far from the others") for warning in found.warnings)


def test_a_missing_figure_takes_its_pair_out_with_the_reason(copied, change):
    change(
        copied, "004-vendor-tx", lambda run: run["metrics"]["throughput_mbit_s"].update(value=None, reason="no reply")
    )
    change(copied, "005-vanilla-tx", lambda run: run["metrics"].pop("throughput_mbit_s"))
    found = row(compare(read_archive(copied)), "tx.throughput_mbit_s", "vendor")
    assert found.n == 6
    assert found.excluded == ["block 4: vendor: no reply", "block 5: vanilla: not measured"]


def test_a_figure_that_nobody_has_is_listed_once_with_its_reason(golden_result):
    entries = [entry for entry in golden_result.not_available if entry.figure == "tx.signal_dbm"]
    assert [(entry.arm, entry.reason) for entry in entries] == [(None, "the link is emulated: there is no radio")]


def test_constant_figures_are_equivalent_and_say_so(golden_result):
    found = row(golden_result, "rx.faults", "vendor")
    assert (found.estimate, found.verdict) == (0.0, "equivalent")
    assert found.sd_d in (0.0, None)


def test_a_campaign_that_is_not_finished_says_how_far_it_is(sample, tmp_path):
    plan = sample.PLAN.replace("blocks = 8", "blocks = 4")
    result = compare(read_archive(sample.make(tmp_path / "a", plan_text=plan, finished=False)))
    assert result.headline[0] == "Preliminary, not finished, 4 of 4 blocks complete."
    assert [each.preliminary for each in verdicts(result).lead] == [True]
    assert not result.design.finished
    assert all(r.verdict in ("inconclusive", "not-judged", "equivalent") for f in result.figures for r in f.rows)
    assert any("So few runs" in warning for warning in result.warnings)


def test_an_arm_that_never_got_through_does_not_stop_the_others(copied, change):
    for path in sorted((copied / "runs").glob("*-vendor-tx")):
        change(copied, path.name, lambda run: run.update(state="void", void=[{"gate": "load", "cause": "no"}]))
    result = compare(read_archive(copied))
    assert row(result, "tx.throughput_mbit_s", "patch10").n == 8
    assert not any(r.arm == "vendor" for r in result.figure("tx.throughput_mbit_s").rows)
    assert ("tx.*", "vendor", "no valid run yet") in [(e.figure, e.arm, e.reason) for e in result.not_available]


def test_single_imported_runs_are_labelled_and_never_judged(sample, tmp_path):
    result = compare(read_archive(sample.single(tmp_path / "a")))
    found = row(result, "tx.throughput_mbit_s", "patch10")
    assert found.estimate == pytest.approx(100 * (20.6 / 12.5 - 1))
    assert (found.paired, found.n, found.low, found.high, found.confidence, found.p) == (
        False,
        1,
        None,
        None,
        None,
        None,
    )
    assert found.verdict == "inconclusive"
    assert "n=1" in result.headline[0]
    assert any("unpaired" in warning for warning in result.warnings)
    assert result.design.state == "imported"


def test_origins_are_never_mixed(copied, change, sample, tmp_path, golden):
    change(copied, "002-vendor-rx", lambda run: run.update(origin="simulated"))
    with pytest.raises(CompareError, match="different origin"):
        compare(read_archive(copied))
    hardware = sample.single(tmp_path / "b", origin=Origin.HARDWARE)
    with pytest.raises(CompareError, match="hardware figures"):
        compare_two(golden, read_archive(hardware))


def test_two_archives_are_compared_unpaired(sample, tmp_path, golden):
    first = sample.single(tmp_path / "a", arms={"vanilla": 10.0, "new": 20.0})
    second = sample.single(tmp_path / "b", arms={"vanilla": 15.0})
    result = compare_two(read_archive(first), read_archive(second))
    assert [arm.name for arm in result.arms] == ["A", "B"]
    found = row(result, "tx.throughput_mbit_s", "B")
    assert found.estimate == pytest.approx(50.0)
    assert not found.paired
    assert "drift not controlled" in result.warnings[0]
    twice = compare_two(golden, golden, "patch10")
    assert row(twice, "tx.throughput_mbit_s", "B").estimate == pytest.approx(0.0)
    with pytest.raises(CompareError, match="no arm nobody in common"):
        compare_two(golden, golden, "nobody")


def test_campaigns_of_different_lengths_are_compared(sample, tmp_path, golden):
    plan = sample.PLAN.replace("blocks = 8", "blocks = 6")
    result = compare_two(golden, read_archive(sample.make(tmp_path / "a", plan_text=plan)), "patch10")
    found = row(result, "tx.throughput_mbit_s", "B")
    assert not found.paired
    assert [values.n for values in result.figure("tx.throughput_mbit_s").arms] == [8, 6]


def test_tests_that_differ_between_archives_are_not_compared(sample, tmp_path, golden):
    plan = sample.PLAN.replace('kind = "tcp-tx"\nduration_s = 30', 'kind = "tcp-tx"\nduration_s = 60')
    other = read_archive(sample.make(tmp_path / "a", plan_text=plan))
    result = compare_two(golden, other, "vanilla")
    assert not any(figure.test == "tx" for figure in result.figures)
    assert any("duration_s 30.0 and 60.0" in entry.reason for entry in result.not_available)


def test_unknown_names_are_refused_with_the_known_ones(golden):
    with pytest.raises(CompareError) as caught:
        compare(golden, baseline="nobody")
    assert "vanilla" in caught.value.what_to_do
    with pytest.raises(CompareError, match=r"no figure tx\.speed"):
        compare(golden, metrics=["tx.speed"])
    with pytest.raises(CompareError, match="there is no radio"):
        compare(golden, metrics=["tx.signal_dbm"])


def test_another_baseline_turns_the_effect_round(golden, golden_result):
    found = row(compare(golden, baseline="vendor"), "tx.throughput_mbit_s", "vanilla")
    before = row(golden_result, "tx.throughput_mbit_s", "vendor")
    assert (1 + found.estimate / 100) * (1 + before.estimate / 100) == pytest.approx(1)
    assert found.verdict == "worse"


def test_choosing_figures_changes_neither_holm_nor_headline(golden, golden_result):
    result = compare(golden, metrics=["rx.throughput_mbit_s"])
    assert [figure.name for figure in result.figures] == ["rx.throughput_mbit_s"]
    assert result.figures[0] == golden_result.figure("rx.throughput_mbit_s")
    assert result.headline == golden_result.headline


def test_declared_primary_figures_and_margins_are_those_of_the_plan(sample, tmp_path):
    declared = 'blocks = 8\nprimary = ["tx.rtt_p95_ms", "tx.nothing"]\n[design.margins]\n"tx.rtt_p95_ms" = 60\n[x]\n'
    plan = sample.PLAN.replace("blocks = 8\nseed = 10\nwarm_up_s = 3\n", declared.replace("[x]\n", ""))
    result = compare(read_archive(sample.make(tmp_path / "a", plan_text=plan)))
    assert [f.name for f in result.figures if f.role == "primary"] == ["tx.rtt_p95_ms"]
    assert not result.design.primary_by_default
    found = row(result, "tx.rtt_p95_ms", "patch10")
    assert (found.margin, found.verdict, found.small_but_real) == (60.0, "equivalent", True)
    assert ("tx.nothing", "declared primary, but no run has it") in [(e.figure, e.reason) for e in result.not_available]


def test_the_result_survives_json(golden_result):
    text = golden_result.model_dump_json()
    assert CompareResult.model_validate_json(text) == golden_result
    assert "NaN" not in text
    assert "Infinity" not in text
    json.loads(text, parse_constant=pytest.fail)


def test_aa_campaigns_say_that_all_is_noise(copied):
    identity = json.loads((copied / "archive.json").read_text())
    (copied / "archive.json").write_text(json.dumps({**identity, "overrides": {"aa": True}}))
    result = compare(read_archive(copied))
    assert [arm.name for arm in result.arms] == ["vanilla-a", "vanilla-b"]
    assert any("A/A" in warning for warning in result.warnings)
    assert Code.RUN_UNKNOWN in {found.code for found in result.damage_found}


def test_an_arm_that_this_machine_lacked_is_named_with_its_reason(copied):
    identity = json.loads((copied / "archive.json").read_text())
    left_out = {"vendor": "there is no vendor.ko beside the plan"}
    (copied / "archive.json").write_text(json.dumps({**identity, "overrides": {"left_out": left_out}}))
    archive = read_archive(copied)
    assert lacking_arms(archive) == left_out
    assert any(left_out["vendor"] in warning for warning in compare(archive).warnings)


def test_an_empty_archive_has_nothing_to_compare(copied):
    for path in (copied / "runs").glob("*/run.json"):
        path.unlink()
    (copied / "journal.jsonl").write_text("")
    result = compare(read_archive(copied))
    assert "nothing to compare" in result.headline[-1]
    assert result.figures == []


def test_what_an_emulated_link_costs_its_machine_is_not_judged(golden_result):
    assert golden_result.origin is Origin.EMULATED
    for name in ("tx.cpu_s_per_gbit", "tx.cpu_busy_percent", "tx.context_switches_per_s"):
        figure = golden_result.figure(name)
        assert figure.metric.better is None
        assert {row.verdict for row in figure.rows} == {"not-judged"}
        assert "the cost of the emulator" in figure.metric.definition


@pytest.mark.parametrize(
    "why",
    [
        {"code": "below-noise", "reason": "whatever it says"},
        {"reason": "not distinguishable from idle: -0.01 cores"},  # of a file without codes
    ],
)
def test_runs_below_noise_are_said_to_make_the_others_look_costly(copied, change, why):
    def hide(run):
        run["metrics"]["cpu_s_per_gbit"].update(value=None, **why)

    change(copied, "005-patch10-tx", hide)
    row = compare(read_archive(copied)).figure("tx.cpu_s_per_gbit").rows[0]
    assert row.n == 7
    assert row.warnings[0].startswith("1 block left out with a run not distinguishable from idle")
