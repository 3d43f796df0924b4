"""Skewed differences: seen as scipy sees them, and judged by the sign test as scipy judges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from txop.compare.infinite import compare_values
from txop.stats.settings import ComparisonSettings
from txop.stats.skew import sign_test, skewness
from txop.stats.verdict import compare_paired

RNG = np.random.default_rng(19)
HOW = {"scale": "difference", "better": "higher", "margin": 1.0}


@pytest.mark.parametrize("n", [8, 10, 30, 500])
@pytest.mark.parametrize(
    "draw", [RNG.normal, lambda a, b, n: RNG.exponential(b, n), lambda a, b, n: -RNG.lognormal(a, b, n)]
)
def test_skewness_and_its_p_value_are_those_of_scipy(draw, n):
    d = draw(0, 1, n)
    found = skewness(d)
    assert found is not None
    assert found[0] == pytest.approx(stats.skew(d))
    assert found[1] == pytest.approx(stats.skewtest(d).pvalue)


def test_few_and_equal_differences_have_no_skewness():
    assert skewness(np.arange(7.0)) is None
    assert skewness(np.full(20, 3.5)) is None
    assert skewness(np.zeros(20)) is None


@given(st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=40))
def test_the_sign_test_is_that_of_scipy(values):
    d = np.array(values)
    found = sign_test(d, confidence=0.95)
    above, left = int((d > 0).sum()), int((d != 0).sum())
    assert found.p == pytest.approx(stats.binomtest(above, left).pvalue if left else 1.0)
    assert found.n == left
    if found.low is not None:
        assert found.low <= found.median <= found.high
        assert found.attained_confidence >= 0.95


@pytest.mark.parametrize(("n", "k", "attained"), [(6, 1, 0.96875), (10, 2, 0.978515625), (20, 6, 0.9586105)])
def test_the_interval_of_the_median_is_the_one_of_the_tables(n, k, attained):
    """Hollander, Wolfe and Chicken, table A.2: of 20 values the 6th from each end, 95.9 %."""
    d = np.arange(1.0, n + 1)
    found = sign_test(d, confidence=0.95)
    assert (found.low, found.high) == (k, n + 1 - k)
    assert found.attained_confidence == pytest.approx(attained)
    assert sign_test(d[:5], confidence=0.95).low is None


def test_one_sided_stalls_are_said_and_the_sign_test_is_offered():
    d = np.array([0.3, -0.2, 0.1, 0.4, -0.1, 0.2, -0.3, 0.05, -19.0, -24.0])
    found = compare_paired(np.zeros(10), d, ComparisonSettings(**HOW))
    assert found.skewness == pytest.approx(stats.skew(d))
    assert found.sign == sign_test(d, confidence=0.95)
    (said,) = [text for text in found.warnings if "skewed" in text]
    assert "the sign test holds: median -0.025 (-19 to +0.3, 97.9 %), p = 1" in said
    assert compare_paired(np.zeros(10), RNG.normal(0, 1, 10), ComparisonSettings(**HOW)).sign is None


def test_figures_beyond_every_number_have_no_skewness():
    d = [10.0 + 0.1 * n for n in range(9)] + [math.inf]
    settings = ComparisonSettings(scale="ratio", better="lower", margin=10, baseline_name="a", arm_name="b", unit="ms")
    found = compare_values([10.0 + 0.13 * (n % 4) for n in range(10)], d, settings, paired=True).comparison
    assert (found.sign, found.skewness) == (None, None)
    assert not any("skewed" in text for text in found.warnings)
