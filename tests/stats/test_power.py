"""Smallest detectable effect and blocks needed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from txop.stats.comparison import Comparison
from txop.stats.limits import MAX_BLOCKS
from txop.stats.power import blocks_needed, blocks_to_decide, smallest_detectable_effect
from txop.stats.power_table import SMALLEST_EFFECT
from txop.stats.settings import ComparisonSettings
from txop.stats.verdict import compare_paired, with_holm


def effect(n: int, confidence: float = 0.95, family: int = 1) -> float:
    found = smallest_detectable_effect(n, 1.0, confidence=confidence, family=family)
    assert found is not None
    return found


@pytest.mark.parametrize(("n", "confidence"), [(6, 0.95), (5, 0.90), (8, 0.99)])
def test_where_only_all_positive_counts_the_effect_is_known_exactly(n: int, confidence: float) -> None:
    """With the fewest pairs, the interval excludes 0 only if all differences have one sign: P(all > 0) = 0.8."""
    assert effect(n, confidence) == pytest.approx(stats.norm.ppf(0.8 ** (1 / n)), rel=0.004)


@pytest.mark.parametrize(
    ("n", "known"), [(6, 1.77), (8, 1.25), (10, 1.01), (12, 0.93), (16, 0.79), (20, 0.67), (30, 0.55)]
)
def test_known_table(n: int, known: float) -> None:
    """A bisection over simulations with 1500 samples each, made independently; its own error is 1 to 2 %."""
    assert effect(n) == pytest.approx(known, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "confidence"), [(7, 0.95), (10, 0.95), (20, 0.9), (20, 0.99), (49, 0.95), (100, 0.95)])
def test_power_is_80_percent_by_scipy(n: int, confidence: float) -> None:
    rng = np.random.default_rng(5)
    count = 8000
    d = rng.normal(effect(n, confidence), 1, (count, n))
    p = stats.wilcoxon(d, axis=1, method="exact").pvalue
    assert np.mean(p <= 1 - confidence + 1e-12) == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / count) + 0.005)


@pytest.mark.parametrize("confidence", sorted(SMALLEST_EFFECT))
@pytest.mark.parametrize("family", [*sorted(SMALLEST_EFFECT[0.95]), 200])
def test_more_pairs_see_more_and_the_tail_joins(confidence: float, family: int) -> None:
    first = math.ceil(round(math.log2(2 * family / (1 - confidence)), 9))
    effects = [effect(n, confidence, family) for n in range(first, 90)]
    assert all(later < earlier * 1.003 for earlier, later in itertools.pairwise(effects))  # the table is simulated
    assert smallest_detectable_effect(first - 1, 1.0, confidence=confidence, family=family) is None
    quantiles = stats.norm.ppf(1 - (1 - confidence) / family / 2) + stats.norm.ppf(0.8)
    assert effect(400, confidence, family) == pytest.approx(quantiles * math.sqrt(math.pi / 3 / 400), rel=0.06)


@given(st.integers(1, 100), st.integers(2, 100), st.sampled_from(sorted(SMALLEST_EFFECT)))
def test_a_larger_family_never_sees_more(n: int, family: int, confidence: float) -> None:
    alone = smallest_detectable_effect(n, 1.0, confidence=confidence, family=family - 1)
    found = smallest_detectable_effect(n, 1.0, confidence=confidence, family=family)
    assert found is None or (alone is not None and found >= alone)


@pytest.mark.parametrize(("n", "family"), [(7, 3), (10, 5), (20, 12)])
def test_power_within_a_family_is_80_percent_by_holm(n: int, family: int) -> None:
    """One of several figures moves by its detectable effect, the others by nothing; scipy's test, Holm's first step."""
    rng = np.random.default_rng(6)
    count = 4000
    least = effect(n, family=family)
    p = stats.wilcoxon(rng.normal(least, 1, (count, n)), axis=1, method="exact").pvalue
    share = float(np.mean(p <= 0.05 / family + 1e-12))
    size = next(size for size in sorted(SMALLEST_EFFECT[0.95]) if size >= family)
    if size == family:
        assert share == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / count) + 0.005)
    else:
        assert share >= 0.8 - 4 * math.sqrt(0.16 / count)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "family", "sd"), [(6, 1, 0.02), (7, 3, 0.02), (10, 3, 0.04), (20, 2, 0.06)])
def test_the_blocks_that_are_promised_decide(n: int, family: int, sd: float) -> None:
    """Campaigns without a verdict go on to the number of blocks that they are told: 4 of 5 or more have one then."""
    rng = np.random.default_rng(7)
    decided = []
    for _ in range(400):
        d = rng.normal(rng.choice([0, 0.01, 0.02, 0.05, 0.08, -0.04]), sd, (family, MAX_BLOCKS))
        first = _judged(d, n)
        if first.verdict == "inconclusive" and first.blocks_needed is not None:
            decided.append(_judged(d, first.blocks_needed).verdict != "inconclusive")
    assert len(decided) > 50
    assert np.mean(decided) >= 0.8 - 2 * math.sqrt(0.16 / len(decided))


def _judged(d: np.ndarray, n: int) -> Comparison:
    base = np.full(n, 100.0)
    rows = [
        compare_paired(base, base * np.exp(x[:n]), ComparisonSettings(scale="ratio", better="higher", margin=3.0))
        for x in d
    ]
    return with_holm(rows)[0]


@given(st.floats(0.01, 50), st.floats(0.1, 50), st.sampled_from(sorted(SMALLEST_EFFECT)))
def test_blocks_needed_is_the_inverse(margin: float, sd: float, confidence: float) -> None:
    n = blocks_needed(margin, sd, confidence=confidence)
    if n is None:
        least = smallest_detectable_effect(MAX_BLOCKS, sd, confidence=confidence)
        assert least is not None
        assert least > margin * (1 - 1e-9)
        return
    found = smallest_detectable_effect(n, sd, confidence=confidence)
    assert found is not None
    assert found <= margin * (1 + 1e-9)
    fewer = smallest_detectable_effect(n - 1, sd, confidence=confidence)
    assert fewer is None or fewer > margin * (1 - 1e-9)


def test_what_cannot_be_said_is_none() -> None:
    assert smallest_detectable_effect(5, 1.0) is None
    assert smallest_detectable_effect(10, 0.0) is None
    assert smallest_detectable_effect(10, 1.0, confidence=0.97) is None
    assert blocks_needed(0.0, 1.0) is None
    assert blocks_needed(1e-9, 1.0) is None
    assert blocks_needed(3.0, 1.0, confidence=0.97) is None
    assert blocks_needed(3.0, 0.0) == 6
    assert blocks_to_decide(3.0, 1.0, 1, margin=1.0) is None
    assert blocks_to_decide(3.0, 1.0, 2, margin=1.0) == 10


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_bad_input_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        smallest_detectable_effect(10, bad)
    with pytest.raises(ValueError, match="finite"):
        blocks_needed(bad, 1.0)
    with pytest.raises(ValueError, match="at least 1 block"):
        smallest_detectable_effect(0, 1.0)
