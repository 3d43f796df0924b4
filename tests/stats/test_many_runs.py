"""Beyond the exact distributions: one limit, and the normal approximation, against scipy and against the exact ones."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from txop.plan.model import Design
from txop.stats import limits, normal, power
from txop.stats import signed_rank as one
from txop.stats import two_sample as two
from txop.stats.sentence import sentence
from txop.stats.settings import ComparisonSettings
from txop.stats.signed_rank import MANY_PAIRS, signed_rank
from txop.stats.two_sample import MANY_RUNS, mann_whitney
from txop.stats.verdict import compare_paired

RNG = np.random.default_rng(18)


@pytest.mark.parametrize("digits", [9, 1], ids=["untied", "tied"])
def test_more_pairs_than_are_counted_are_taken_as_scipy_and_r_take_them(digits):
    d = np.round(RNG.normal(0.05, 1, 600), digits)
    found = signed_rank(d)
    expected = stats.wilcoxon(d, method="approx", correction=True, zero_method="wilcox")
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.warnings[0] == MANY_PAIRS
    assert found.low < found.estimate < found.high
    assert found.attained_confidence == pytest.approx(0.95, abs=1e-3)


@pytest.mark.parametrize("digits", [9, 1], ids=["untied", "tied"])
def test_more_runs_than_are_counted_are_taken_as_scipy_and_r_take_them(digits):
    x, y = np.round(RNG.normal(0, 1, 150), digits), np.round(RNG.normal(0.2, 1, 90), digits)
    found = mann_whitney(x, y)
    expected = stats.mannwhitneyu(x, y, method="asymptotic", use_continuity=True)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert MANY_RUNS in found.warnings


@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01])
def test_the_approximation_begins_where_it_is_as_good_as_counting(alpha):
    pairs, runs = limits.EXACT_PAIRS, limits.EXACT_RUNS
    exact, cdf = one.null_cdf(pairs), normal.signed_ranks(pairs)
    assert cdf.tail_count(alpha) == pytest.approx(one.tail_count(exact, alpha), rel=2e-4)
    k = one.tail_count(exact, alpha)
    assert cdf.two_sided_p(k) == pytest.approx(one.two_sided_p(exact, k), rel=0.01)
    exact, cdf = two.null_cdf(runs, runs), normal.two_samples(runs, runs)
    assert cdf.tail_count(alpha) == pytest.approx(one.tail_count(exact, alpha), rel=1e-3)
    k = one.tail_count(exact, alpha)
    assert cdf.two_sided_p(k) == pytest.approx(one.two_sided_p(exact, k), rel=0.03)


def test_one_limit_is_known_to_plans_comparisons_and_advice():
    most = limits.MAX_BLOCKS
    assert Design(blocks=most).blocks == most
    with pytest.raises(ValidationError, match=f"less than or equal to {most}"):
        Design(blocks=most + 1)
    pair = {"scale": "difference", "better": "higher", "margin": 0.01}
    wide = np.random.default_rng(1).normal(0, 1, most)
    found = compare_paired(np.zeros(most), wide, ComparisonSettings(**pair))
    assert found.n == most
    assert not found.exact
    with pytest.raises(ValueError, match=f"more than the {most}"):
        compare_paired(np.zeros(most + 1), RNG.normal(0, 1, most + 1), ComparisonSettings(**pair))
    assert power.blocks_needed(0.01, 1) is None
    few = compare_paired(np.zeros(20), wide[:20], ComparisonSettings(**pair))
    assert (few.verdict, few.blocks_needed, few.beyond_limit) == ("inconclusive", None, True)
    assert f"more than {most} blocks would be needed" in sentence(few)
    near = compare_paired(np.zeros(20), wide[:20], ComparisonSettings(**pair | {"margin": 0.3}))
    assert near.blocks_needed is not None
    assert 20 < near.blocks_needed <= most
    assert not near.beyond_limit


def test_without_ends_nothing_is_excluded_and_without_spread_nothing_is_unlikely():
    assert normal.signed_ranks(9).attained(0) == 1.0
    assert normal.Approximation(3.0, 0.0).two_sided_p(7.0) == 1.0
