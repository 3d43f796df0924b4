"""Warm-up, trend and autocorrelation; marks, distribution functions and quantile shifts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from txop.stats import spread, steady
from txop.stats.drift import drift

finite = st.floats(-1e100, 1e100)


def ar1(n: int, rho: float, rng: np.random.Generator) -> np.ndarray:
    x = np.empty(n)
    x[0] = rng.normal()
    for i in range(1, n):
        x[i] = rho * x[i - 1] + rng.normal() * math.sqrt(1 - rho * rho)
    return x


def mser5_by_the_book(x: np.ndarray) -> int:
    """The definition, without the shortcuts: argmin over d of sum (z_i - mean)^2 / (k - d)^2."""
    z = [float(np.mean(x[i : i + 5])) for i in range(0, len(x) // 5 * 5, 5)]
    errors = []
    for d in range(len(z) // 2 + 1):
        kept = z[d:]
        mean = sum(kept) / len(kept)
        errors.append(sum((value - mean) ** 2 for value in kept) / len(kept) ** 2)
    return 5 * errors.index(min(errors))


@pytest.mark.parametrize("ramp", [0, 4, 10, 18])
def test_mser5_is_its_definition_and_finds_the_ramp(ramp: int) -> None:
    for seed in range(20):
        x = 100 + np.random.default_rng(seed).normal(0, 2, 60)
        x[:ramp] *= np.linspace(0.2, 0.8, ramp)
        cut = steady.mser5(x)
        assert cut is not None
        assert cut.samples == mser5_by_the_book(x)
        assert cut.samples >= ramp - 2


def test_mser5_knows_when_there_is_no_steady_part() -> None:
    cut = steady.mser5(np.linspace(1, 100, 60))
    assert cut is not None
    assert cut.at_limit
    assert steady.mser5(np.ones(49)) is None


def test_moving_averages_of_the_responsiveness_draft() -> None:
    x = [0.0, 0, 0, 10, 20, 30, 40, 50, 60, 70]
    averages = [(10 + 20 + 30 + 40) / 4, (20 + 30 + 40 + 50) / 4, (30 + 40 + 50 + 60) / 4, (40 + 50 + 60 + 70) / 4]
    assert steady.moving_sd_share(x) == pytest.approx(np.std(averages) / 55)
    assert steady.moving_sd_share(x[:6]) is None
    assert steady.moving_sd_share([0.0] * 10) is None
    assert steady.moving_sd_share([100.0] * 10) == pytest.approx(0)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 0.9])
def test_effective_sample_size_of_ar1(rho: float) -> None:
    """n (1 - rho) / (1 + rho)."""
    rng = np.random.default_rng(7)
    found = np.median([steady.effective_sample_size(ar1(4000, rho, rng)) for _ in range(20)])
    assert found == pytest.approx(4000 * (1 - rho) / (1 + rho), rel=0.12)


def test_trend_is_found_and_autocorrelation_is_no_trend() -> None:
    rng = np.random.default_rng(11)
    without = [ar1(300, 0.6, rng) for _ in range(1000)]
    plain = np.mean([stats.kendalltau(np.arange(300), x).pvalue < 0.05 for x in without[:200]])
    found = [steady.trend(x) for x in without]
    assert plain > 0.2
    assert np.mean([trend is not None and trend.p < 0.05 for trend in found]) < 0.09
    assert np.mean([trend is not None and trend.p < steady.TREND_P for trend in found]) < 0.025
    seen = [steady.trend(x + np.linspace(0, 4, 300)) for x in without[:200]]
    assert np.mean([trend is not None and trend.p < steady.TREND_P for trend in seen]) > 0.9
    assert steady.trend(np.ones(100)) is None
    assert steady.trend([1.0, 2.0, 3.0]) is None


def test_assess_speaks() -> None:
    rng = np.random.default_rng(2)
    good = steady.assess(100 + rng.normal(0, 1, 60), warm_up=5)
    assert (good.n, good.warnings) == (55, ())
    slow = 100 + rng.normal(0, 1, 60)
    slow[:14] = np.linspace(10, 90, 14)
    assert any(
        "warm-up lasts 15 samples by MSER-5; 5 were declared" in w for w in steady.assess(slow, warm_up=5).warnings
    )
    falling = steady.assess(np.linspace(100, 20, 60) + rng.normal(0, 1, 60))
    assert any("falls with time" in w for w in falling.warnings)
    assert any("not steady at the end" in w for w in falling.warnings)
    assert any("no steady part" in w for w in falling.warnings)
    with pytest.raises(ValueError, match="leaves nothing"):
        steady.assess([1.0], warm_up=1)


@given(st.lists(finite, min_size=1, max_size=120))
def test_any_series_can_be_assessed(x: list[float]) -> None:
    found = steady.assess(x)
    assert 1 <= found.effective_n <= len(x)
    assert found.moving_sd_share is None or found.moving_sd_share >= 0


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12))
def test_drift_is_a_rank_correlation(d: list[float]) -> None:
    found, mirrored = drift(d), drift([-x for x in d])
    if found is None:
        assert mirrored is None
        assert len(d) < 4 or max(d) - min(d) <= 1e-9 * max(map(abs, d))
        return
    assert mirrored is not None
    assert found.rho == pytest.approx(-mirrored.rho, abs=1e-12)
    assert found.p == pytest.approx(mirrored.p)
    assert 0 <= found.p <= 1
    assert -1 <= found.rho <= 1


def test_marks() -> None:
    marks = spread.mark_far([10.0, 10.2, 9.9, 10.1, 9.8, 30.0])
    assert marks.far.tolist() == [False] * 5 + [True]
    assert marks.median == pytest.approx(10.05)
    assert marks.mad == pytest.approx(0.15)
    edge = spread.mark_far([-1.0, 0.0, 1.0, 5 * 1.4826 + 0.001, -5 * 1.4826 + 0.001, 0.5, -0.5])
    assert edge.far.tolist() == [False] * 3 + [True] + [False] * 3
    same = spread.mark_far([5.0, 5.0, 5.0, 7.0])
    assert not same.far.any()
    assert "1 others are not judged" in same.warnings[0]


def test_distribution_function_with_loss() -> None:
    assert spread.ecdf([1.0, 2.0, 2.0, math.inf], [0.5, 1, 2, 1e9]).tolist() == [0, 0.25, 0.75, 0.75]


def test_band() -> None:
    rng = np.random.default_rng(3)
    runs = [rng.exponential(1 + 0.3 * i, 500) for i in range(12)]
    grid = np.linspace(0, 6, 50)
    band = spread.cdf_band(runs, grid, seed=1)
    again = spread.cdf_band(runs, grid, seed=1)
    assert np.array_equal(band.low, again.low)
    assert np.all(band.low <= band.mean)
    assert np.all(band.mean <= band.high)
    assert np.all(np.diff(band.mean) >= 0)
    np.testing.assert_allclose(band.mean, np.mean([spread.ecdf(run, grid) for run in runs], axis=0))
    # The band is about the spread between runs: +-1.96 standard errors of their mean.
    width = (band.high - band.low)[10]
    assert width == pytest.approx(2 * 1.96 * band.per_run[:, 10].std() / math.sqrt(12), rel=0.1)
    assert band.warnings == spread.cdf_band(runs[:10], grid, seed=1).warnings == ()
    assert spread.cdf_band(runs[:9], grid, seed=1).warnings == ("9 runs: the band is too narrow",)
    assert spread.cdf_band(runs[:3], grid, seed=1).warnings == ("3 runs: the band is too narrow",)
    with pytest.raises(ValueError, match="runs"):
        spread.cdf_band([], grid, seed=1)
    with pytest.raises(ValueError, match="draws"):
        spread.cdf_band(runs, grid, seed=1, draws=10**9)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50), st.floats(0, 1))
def test_quantile_is_the_smallest_value_with_enough_at_or_below(x: list[float], probability: float) -> None:
    found = spread.quantile(x, probability)
    assert found in x
    assert sum(value <= found for value in x) >= probability * len(x) - 1e-6
    assert sum(value < found for value in x) <= max(0.0, probability * len(x) + 1e-6)


def test_shift_of_quantiles() -> None:
    rng = np.random.default_rng(4)
    before = [rng.exponential(10, 2000) for _ in range(8)]
    after = [rng.exponential(10, 2000) + 3 for _ in range(8)]
    shifts = spread.quantile_shifts(before, after)
    assert [shift.probability for shift in shifts] == list(spread.PROBABILITIES)
    for shift in shifts[:9]:
        assert shift.low is not None
        assert shift.high is not None
        assert shift.low <= (shift.estimate or 0) <= shift.high
        assert shift.estimate == pytest.approx(3, abs=1.5)
    assert sum((s.low or 0) <= 3 <= (s.high or 0) for s in shifts) >= 9


def test_lost_packets_are_never_dropped() -> None:
    clean = [np.arange(1.0, 101)] * 6
    lossy = [np.concatenate([np.arange(1.0, 86), [math.inf] * 15])] * 6
    by_probability = {shift.probability: shift for shift in spread.quantile_shifts(clean, lossy)}
    assert by_probability[0.8].estimate == 0
    assert by_probability[0.9].estimate == math.inf
    assert by_probability[0.9].low is None
    assert "infinite (lost packets) in 6 of 6 blocks" in by_probability[0.9].warnings[0]
    both = {shift.probability: shift for shift in spread.quantile_shifts(lossy, lossy)}
    assert both[0.95].estimate is None
    assert spread.quantile_shifts([[1.0, 2.0]], [[3.0, 4.0]])[0].low is None
    with pytest.raises(ValueError, match="do not form blocks"):
        spread.quantile_shifts(clean, lossy[:2])
    with pytest.raises(ValueError, match="not a number"):
        spread.quantile_shifts([[math.nan]], [[1.0]])
    with pytest.raises(ValueError, match="between 0 and 1"):
        spread.quantile([1.0], 1.5)
