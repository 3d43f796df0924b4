"""Smallest detectable effect and blocks needed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from txop.stats.limits import MAX_BLOCKS
from txop.stats.power import blocks_needed, smallest_detectable_effect
from txop.stats.power_table import SMALLEST_EFFECT


def effect(n: int, confidence: float = 0.95) -> float:
    found = smallest_detectable_effect(n, 1.0, confidence=confidence)
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
def test_more_pairs_see_more_and_the_tail_joins(confidence: float) -> None:
    first = SMALLEST_EFFECT[confidence][0]
    effects = [effect(n, confidence) for n in range(first, 90)]
    assert all(later < earlier for earlier, later in itertools.pairwise(effects))
    quantiles = stats.norm.ppf(1 - (1 - confidence) / 2) + stats.norm.ppf(0.8)
    assert effect(400, confidence) == pytest.approx(quantiles * math.sqrt(math.pi / 3 / 400), rel=0.03)


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


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_bad_input_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        smallest_detectable_effect(10, bad)
    with pytest.raises(ValueError, match="finite"):
        blocks_needed(bad, 1.0)
    with pytest.raises(ValueError, match="at least 1 block"):
        smallest_detectable_effect(0, 1.0)
