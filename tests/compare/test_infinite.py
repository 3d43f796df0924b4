"""Figures beyond every number keep the comparison exact in ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from txop.compare.infinite import compare_values
from txop.stats.settings import ComparisonSettings

FIGURES = st.one_of(st.floats(0.01, 1e4), st.just(math.inf))
PAIRS = st.lists(st.tuples(FIGURES, FIGURES), min_size=1, max_size=12)
OPTIONS = {
    "better": "lower",
    "margin": 10.0,
    "confidence": 0.95,
    "baseline_name": "a",
    "arm_name": "b",
    "unit": "ms",
}


def judge(x, y, *, paired=True, scale="ratio"):
    return compare_values(x, y, ComparisonSettings(scale=scale, **OPTIONS), paired=paired)


@given(PAIRS, st.booleans(), st.sampled_from(["ratio", "difference"]))
def test_no_figure_is_lost_and_nothing_is_nan(pairs, paired, scale):
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    judged = judge(x, y, paired=paired, scale=scale)
    c = judged.comparison
    assert c.n == len(pairs)
    ends = [judged.shown(value) for value in (c.low, c.estimate, c.high)]
    assert not any(value is not None and math.isnan(value) for value in ends)
    low, middle, high = ends
    if low is not None:
        assert low <= middle + 1e-9 * abs(middle) if math.isfinite(middle) else low <= middle
        assert middle <= high or middle == pytest.approx(high)


@given(PAIRS)
def test_the_p_value_is_that_of_the_ranks(pairs):
    """Oracle: scipy on the infinite differences themselves, where there are neither ties nor zeros."""
    d = np.array([0.0 if a == b else math.log(b) - math.log(a) for a, b in pairs])
    sizes = np.abs(d)
    if len(set(sizes)) < len(d) or 0.0 in sizes or len(d) < 2 or np.diff(np.sort(sizes)).min() < 1e-6:
        return
    c = judge([a for a, _ in pairs], [b for _, b in pairs]).comparison
    assert c.p == pytest.approx(stats.wilcoxon(d, method="exact").pvalue)


@pytest.mark.parametrize("far", [1e6, 1e9])
def test_finite_results_are_those_of_any_figure_large_enough(far):
    x = [10.0, 11.0, math.inf, 12.0, 13.0, 10.5, 11.5, 12.5]
    y = [8.0, 9.1, 9.0, 9.2, 10.1, 8.8, 9.3, 10.2]
    real = judge(x, y)
    large = judge([far if math.isinf(v) else v for v in x], y)
    assert real.comparison.estimate == pytest.approx(large.comparison.estimate)
    assert real.comparison.high == pytest.approx(large.comparison.high)
    assert real.comparison.p == large.comparison.p
    assert real.shown(real.comparison.low) == pytest.approx(-100.0)


def test_infinite_against_infinite_is_no_difference():
    judged = judge([math.inf] * 8, [math.inf] * 8)
    assert judged.comparison.estimate == 0
    assert judged.comparison.verdict != "worse"


def test_mostly_infinite_is_an_infinite_effect():
    judged = judge([10.0 + i / 10 for i in range(8)], [math.inf] * 7 + [11.0])
    assert judged.shown(judged.comparison.estimate) == math.inf
    assert judged.comparison.verdict == "worse"


@given(st.lists(st.tuples(st.floats(0.1, 1e3), st.floats(0.1, 1e3)), min_size=6, max_size=10), st.floats(0.01, 100))
def test_the_unit_of_a_ratio_does_not_matter(pairs, factor):
    plain = judge([a for a, _ in pairs], [b for _, b in pairs]).comparison
    scaled = judge([a * factor for a, _ in pairs], [b * factor for _, b in pairs]).comparison
    assert scaled.estimate == pytest.approx(plain.estimate, rel=1e-6, abs=1e-6)


def test_figures_too_far_apart_are_refused():
    with pytest.raises(ValueError, match="too different"):
        judge([1e-30, math.inf], [1e30, 1.0])
