"""Selected Walsh averages against all of them in a list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from txop.stats import walsh
from txop.stats.samples import ROUNDING
from txop.stats.walsh import WalshAverages


def listed(d):
    """Every average, in order."""
    first, second = np.triu_indices(d.size)
    averages = d[first] / 2 + d[second] / 2
    averages[np.abs(averages) <= ROUNDING * np.abs(d).max()] = 0.0
    return np.sort(averages)


def same(d, ranks):
    expected, found = listed(d), WalshAverages(d)
    assert found.count == expected.size
    assert [found.at(k) for k in ranks] == [expected[k] for k in ranks]
    assert found.median() == np.median(expected)
    assert found.negative() == np.count_nonzero(expected < 0)


@pytest.fixture(params=["listed", "selected"])
def way(request, monkeypatch):
    monkeypatch.setattr(walsh, "LISTED", 1000 if request.param == "listed" else 0)
    monkeypatch.setattr(walsh, "_LEFT", 1)


@pytest.mark.usefixtures("way")
@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.floats(-1e9, 1e9) | st.integers(-3, 3).map(float) | st.floats(-1e-12, 1e-12) | st.sampled_from([0.1, 0.3]),
        min_size=1,
        max_size=60,
    ),
    st.data(),
)
def test_an_average_of_any_rank_is_that_of_the_list(values, data):
    d = np.array(values)
    last = d.size * (d.size + 1) // 2 - 1
    same(d, [0, last, *data.draw(st.lists(st.integers(0, last), max_size=3))])


@pytest.mark.parametrize("kind", ["continuous", "tied", "few values", "heavy tails"])
def test_a_thousand_differences(kind):
    dice = np.random.default_rng(3)
    d = dice.normal(0.1, 1, 1000)
    if kind == "tied":
        d = np.round(d, 1)
    elif kind == "few values":
        d = np.sign(d)
    elif kind == "heavy tails":
        d = dice.lognormal(0, 3, 1000) - 1
    same(d, [0, 1, 1234, 250_000, 468_000, 500_499])
