"""The verdict: rules, wording, and what is said beside it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.stats.comparison import Comparison
from txop.stats.sentence import sentence
from txop.stats.settings import ComparisonSettings
from txop.stats.signed_rank import signed_rank
from txop.stats.verdict import compare_paired, compare_unpaired, with_holm

WOBBLE = np.array([0.3, -0.5, 0.1, 0.7, -0.2, -0.6, 0.4, -0.1, 0.55, -0.35])
WOBBLE -= signed_rank(WOBBLE).estimate


def throughput(change_percent: float, sd_percent: float = 1.0, n: int = 10, **options: object) -> Comparison:
    """Blocks whose log ratios are ``WOBBLE`` around the change."""
    baseline = 100 + 5 * np.sin(np.arange(n))
    arm = baseline * (1 + change_percent / 100) * np.exp(WOBBLE[:n] * sd_percent / 50)
    settings = {"scale": "ratio", "better": "higher", "margin": 3.0, "baseline_name": "vanilla", "arm_name": "patched"}
    return compare_paired(baseline, arm, ComparisonSettings(**{**settings, **options}))  # type: ignore[arg-type]


def test_better() -> None:
    c = throughput(31.2)
    assert (c.verdict, c.small_but_real, c.blocks_needed) == ("better", False, None)
    assert (c.n, c.p, c.p_adjusted, c.paired, c.unit) == (10, 2 / 2**10, None, True, "%")
    assert c.attained_confidence == pytest.approx(0.951171875)
    assert sentence(c) == ("patched is 31.2 % better than vanilla (95 % CI 30.2 to 32.2 %, n = 10 blocks, p = 0.002)")
    assert c.warnings == ()


def test_worse_and_lower_is_better() -> None:
    assert throughput(-20).verdict == "worse"
    assert sentence(throughput(-20)).startswith("patched is 20.0 % worse than vanilla (95 % CI 19.4 to 20.6 %")
    c = throughput(-20, better="lower")
    assert c.verdict == "better"
    assert sentence(c).startswith("patched is 20.0 % better (lower) than vanilla (95 % CI 19.4 to 20.6 %")
    assert throughput(20, better="lower").verdict == "worse"


def test_equivalent_with_and_without_a_real_difference() -> None:
    c = throughput(0, 0.5)
    assert (c.verdict, c.small_but_real) == ("equivalent", False)
    assert sentence(c).startswith("patched and vanilla are equivalent within 3.0 %: 0.0 % (95 % CI -0.4 to +0.4 %")
    c = throughput(1.5, 0.5)
    assert (c.verdict, c.small_but_real) == ("equivalent", True)
    assert sentence(c).endswith("; small but real")


@pytest.mark.parametrize("change", [0.6, -0.6])
def test_a_change_below_one_percent_can_be_real(change: float) -> None:
    c = throughput(change, 0.1)
    assert c.low is not None
    assert c.high is not None
    assert 0 < min(abs(c.low), abs(c.high)) < max(abs(c.low), abs(c.high)) < 1
    assert (c.verdict, c.small_but_real) == ("equivalent", True)
    assert throughput(change, 0.1, margin=0.2).verdict == ("better" if change > 0 else "worse")


def test_real_but_perhaps_beyond_the_margin() -> None:
    c = throughput(2.5, 1.5)
    assert c.low is not None
    assert c.high is not None
    assert 0 < c.low < c.estimate < 3 < c.high
    assert (c.verdict, c.small_but_real) == ("inconclusive", False)


def test_inconclusive_says_how_many_blocks() -> None:
    c = throughput(1, 10)
    assert c.verdict == "inconclusive"
    assert c.blocks_needed is not None
    assert c.blocks_needed > 10
    assert c.smallest_detectable_effect is not None
    assert c.smallest_detectable_effect > 3
    assert f"; about {c.blocks_needed} blocks are needed to settle a margin of 3.0 %" in sentence(c)
    assert "p = " in sentence(c)


def test_enough_to_see_the_margin_and_still_open_asks_for_more_blocks() -> None:
    c = throughput(1.8, 2.5)
    assert c.smallest_detectable_effect is not None
    assert c.low is not None
    assert c.high is not None
    assert c.smallest_detectable_effect < 3 < c.high - c.low
    assert c.verdict == "inconclusive"
    assert c.blocks_needed is not None
    assert c.blocks_needed > c.n


def test_the_closer_to_the_margin_the_more_blocks() -> None:
    needed = [throughput(effect, 1.8).blocks_needed for effect in (2.1, 2.5, 2.9)]
    assert None not in needed
    assert sorted(needed, key=lambda n: n or 0) == needed
    assert len(set(needed)) == 3


def test_too_few_blocks_have_an_estimate_and_nothing_else() -> None:
    c = throughput(31.2, n=5)
    assert (c.low, c.high, c.attained_confidence, c.smallest_detectable_effect) == (None, None, None, None)
    assert (c.verdict, c.p) == ("inconclusive", 0.0625)
    assert "5 pairs can never give p <= 0.05, so there is no interval" in c.warnings
    assert "no interval, n = 5 blocks, p = 0.062" in sentence(c)


def test_one_run_each() -> None:
    for compare in (compare_paired, compare_unpaired):
        c = compare([100.0], [131.2], ComparisonSettings(scale="ratio", better="higher", margin=3))
        assert (c.verdict, c.low, c.high, c.p, c.sd_d) == ("inconclusive", None, None, None, None)
        assert c.estimate == pytest.approx(31.2)
        assert any(warning.startswith("n=1: ") for warning in c.warnings)
        assert "+31.2 % (no interval, n=1" in sentence(c)


def test_one_run_against_many_is_still_one_run() -> None:
    c = compare_unpaired(
        [100.0], np.linspace(130, 140, 60), ComparisonSettings(scale="ratio", better="higher", margin=3)
    )
    assert (c.verdict, c.low, c.p, c.n, c.n_arm) == ("inconclusive", None, None, 1, 60)


def test_unpaired_says_so() -> None:
    rng = np.random.default_rng(1)
    c = compare_unpaired(
        rng.normal(100, 1, 8),
        rng.normal(120, 1, 9),
        ComparisonSettings(scale="ratio", better="higher", margin=3, arm_name="new"),
    )
    assert (c.paired, c.verdict, c.n, c.n_baseline, c.n_arm) == (False, "better", 8, 8, 9)
    assert "unpaired, drift not controlled" in c.warnings
    assert sentence(c).endswith("n = 8 and 9 runs, p < 0.001, unpaired, drift not controlled)")
    assert (c.smallest_detectable_effect, c.drift, c.sd_d, c.points) == (None, None, None, ())


def test_holm_takes_back_what_does_not_survive() -> None:
    six = throughput(31.2, n=6)
    assert (six.verdict, six.p) == ("better", 0.03125)
    alone, *_ = with_holm([six])
    assert (alone.verdict, alone.p_adjusted) == ("better", 0.03125)
    first, second, silent = with_holm([six, throughput(5), throughput(31.2, n=1)])
    assert first.p_adjusted == 0.0625
    assert (first.verdict, first.small_but_real) == ("inconclusive", False)
    assert "p = 0.031, adjusted p = 0.062" in sentence(first)
    assert second.p_adjusted == pytest.approx(3 * 2 / 2**10)
    assert second.verdict == "better"
    assert silent.p_adjusted is None
    assert (first.family, first.smallest_detectable_effect) == (3, None)
    assert replace(first, p_adjusted=None, verdict="better", family=1) == six


def test_a_metric_that_only_explains_is_not_judged() -> None:
    c = throughput(31.2, better=None)
    assert c.verdict is None
    assert sentence(c).startswith("patched against vanilla: +31.2 % (95 % CI +30.2 to +32.2 %")
    assert sentence(c).endswith("; informational")


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_no_ratio_of_zero(value: float) -> None:
    baseline, arm = [10.0, 12, 11, 10, 12, 11], [20.0, 21, 19, value, 22, 23]
    c = compare_paired(baseline, arm, ComparisonSettings(scale="ratio", better="higher", margin=10, unit="Mbit/s"))
    assert (c.scale, c.unit) == ("difference", "Mbit/s")
    assert c.margin == pytest.approx(1.1)
    assert "some values are 0 or negative" in c.warnings[0]
    assert all(math.isfinite(point) for point in c.points)
    assert "Mbit/s" in sentence(c)


def test_no_margin_when_the_baseline_is_zero() -> None:
    c = compare_paired([0.0] * 8, [0.0] * 7 + [1.0], ComparisonSettings(scale="ratio", better="lower", margin=10))
    assert (c.scale, c.margin, c.verdict, c.small_but_real) == ("difference", 0.0, "inconclusive", False)
    assert "no margin applies" in c.warnings[0]


def test_percentages_differ_by_percentage_points() -> None:
    c = compare_paired(
        [30.0, 31, 33, 30.5, 32, 35.2],
        [10.0, 11, 9, 12, 10.5, 11.3],
        ComparisonSettings(scale="difference", better="lower", margin=2, unit="%"),
    )
    assert sentence(c).startswith("arm is 21.2 percentage points better (lower) than baseline")


def test_a_drifting_effect_is_said() -> None:
    baseline = np.full(8, 100.0)
    c = compare_paired(
        baseline, baseline + np.arange(1.0, 9) ** 1.1, ComparisonSettings(scale="ratio", better="higher", margin=3)
    )
    assert c.drift is not None
    assert (c.drift.rho, c.drift.exact) == (1, True)
    assert any("the effect grows from block to block" in warning for warning in c.warnings)
    seeds = compare_paired(
        baseline,
        baseline + np.arange(1.0, 9) ** 1.1,
        ComparisonSettings(scale="ratio", better="higher", margin=3, in_time=False),
    )
    assert seeds.drift is None
    assert not any("from block to block" in warning for warning in seeds.warnings)
    assert (seeds.estimate, seeds.p, seeds.verdict) == (c.estimate, c.p, c.verdict)


def test_a_far_block_is_marked_and_kept() -> None:
    baseline = np.full(10, 100.0)
    arm = 120 + WOBBLE
    arm[3] = 300
    c = compare_paired(baseline, arm, ComparisonSettings(scale="ratio", better="higher", margin=3))
    assert c.marked == (3,)
    assert c.n == 10
    assert any(
        "block 4 far from the others; kept, and without it the estimate is +19.9 %" in warning for warning in c.warnings
    )


def test_identical_runs_are_no_replicates() -> None:
    c = compare_paired([100.0] * 10, [110.0] * 10, ComparisonSettings(scale="difference", better="higher", margin=3))
    assert any("not independent replicates" in warning for warning in c.warnings)
    assert (c.sd_d, c.smallest_detectable_effect, c.drift) == (0.0, None, None)


@pytest.mark.parametrize(
    ("baseline", "arm", "match"),
    [
        ([], [], "baseline: there are no values"),
        ([1.0, 2.0], [1.0], "do not form blocks"),
        ([1.0, math.nan], [1.0, 2.0], "baseline: value 2 of 2 is not a number"),
        ([1.0, 2.0], [math.inf, 2.0], "arm: value 1 of 2 is inf"),
    ],
)
def test_what_cannot_be_compared(baseline: list[float], arm: list[float], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        compare_paired(baseline, arm, ComparisonSettings(scale="ratio", better="higher", margin=3))


@pytest.mark.parametrize("margin", [-1.0, math.nan, math.inf])
def test_bad_margin(margin: float) -> None:
    with pytest.raises(ValueError, match="margin"):
        throughput(1, margin=margin)


positive = st.floats(1e-3, 1e6)
blocks = st.lists(st.tuples(positive, positive), min_size=2, max_size=25)


@given(blocks)
def test_the_ratio_scale_is_the_test_on_logarithms(pairs: list[tuple[float, float]]) -> None:
    baseline, arm = np.array(pairs).T
    c = compare_paired(baseline, arm, ComparisonSettings(scale="ratio", better="higher", margin=3))
    d = signed_rank(np.log(arm) - np.log(baseline))
    assert c.p == pytest.approx(d.p, abs=1e-12)
    assert c.estimate == pytest.approx(100 * math.expm1(d.estimate), rel=1e-9, abs=1e-9)


@given(blocks)
def test_swapping_the_arms_turns_better_into_worse(pairs: list[tuple[float, float]]) -> None:
    baseline, arm = np.array(pairs).T
    there = compare_paired(baseline, arm, ComparisonSettings(scale="difference", better="higher", margin=3))
    back = compare_paired(arm, baseline, ComparisonSettings(scale="difference", better="higher", margin=3))
    mirrored = {"better": "worse", "worse": "better"}
    assert back.verdict == mirrored.get(there.verdict or "", there.verdict)
    assert (back.p, back.small_but_real, back.blocks_needed) == (there.p, there.small_but_real, there.blocks_needed)


@given(blocks, st.sampled_from(["ratio", "difference"]), st.floats(0, 20))
def test_verdicts_mean_what_they_say(pairs: list[tuple[float, float]], scale: str, margin: float) -> None:
    baseline, arm = np.array(pairs).T
    c = compare_paired(baseline, arm, ComparisonSettings(scale=scale, better="higher", margin=margin))  # type: ignore[arg-type]
    if c.verdict in ("better", "worse"):
        assert c.p is not None
        assert c.p <= 0.05 + 1e-12
        assert abs(c.estimate) >= c.margin
        assert (c.estimate > 0) == (c.verdict == "better")
    if c.verdict == "equivalent":
        assert c.low is not None
        assert c.high is not None
        assert -c.margin < c.low <= c.high < c.margin
    assert sentence(c)
    assert "\n" not in sentence(c)


@given(
    st.lists(st.tuples(st.floats(-4e99, 4e99), st.floats(-4e99, 4e99)), min_size=1, max_size=12),
    st.sampled_from(["ratio", "difference"]),
    st.floats(0, 1e100),
)
def test_any_finite_numbers_give_a_comparison(pairs: list[tuple[float, float]], scale: str, margin: float) -> None:
    baseline, arm = np.array(pairs).T
    settings = ComparisonSettings(scale=scale, better="lower", margin=margin)  # type: ignore[arg-type]
    for compare in (compare_paired, compare_unpaired):
        c = compare(baseline, arm, settings)
        assert not math.isnan(c.estimate)
        assert "nan" not in sentence(c)
