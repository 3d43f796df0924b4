"""How an effect divides among its causes."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from txop.stats.shapley import MIN_SAMPLES, alone, effect, last, shapley, together, whole


def game(causes: int, seed: int) -> dict[frozenset[int], float]:
    draw = random.Random(seed)  # noqa: S311
    sets = (frozenset(c) for size in range(causes + 1) for c in itertools.combinations(range(causes), size))
    return {each: draw.uniform(-100, 100) for each in sets}


@given(st.integers(1, 6), st.integers())
def test_shares_are_the_mean_over_all_orders_and_sum_to_the_whole(causes, seed):
    value = game(causes, seed)
    found = shapley(value, causes)
    assert sum(found) == pytest.approx(whole(value, causes), abs=1e-9)
    orders = list(itertools.permutations(range(causes)))
    for cause in range(causes):
        added = [
            value[frozenset(order[: order.index(cause) + 1])] - value[frozenset(order[: order.index(cause)])]
            for order in orders
        ]
        assert found[cause] == pytest.approx(sum(added) / len(added), abs=1e-9)


@given(st.integers(2, 6), st.integers())
def test_what_does_nothing_has_no_share(causes, seed):
    value = game(causes - 1, seed)
    value = {corner | extra: number for corner, number in value.items() for extra in (set(), {causes - 1})}
    assert shapley(value, causes)[-1] == pytest.approx(0, abs=1e-9)
    assert alone(value, causes - 1) == last(value, causes - 1, causes) == 0


def test_two_causes_that_help_each_other_share_what_they_do_together():
    value = {frozenset(): 10.0, frozenset({0}): 26.1, frozenset({1}): 12.8, frozenset({0, 1}): 31.2}
    assert together(value, 2) == pytest.approx(2.3)
    assert shapley(value, 2) == pytest.approx([16.1 + 1.15, 2.8 + 1.15])


def test_an_interval_holds_the_truth_about_as_often_as_it_says():
    held = 0
    for seed in range(200):
        draw = random.Random(seed)  # noqa: S311
        found = effect([draw.gauss(5, 1) for _ in range(12)])
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 5 <= found.high
    # percentile intervals of a few samples are a little narrow
    assert 170 <= held <= 198


def test_few_samples_have_no_interval():
    found = effect([2.0] * (MIN_SAMPLES - 1))
    assert (found.mean, found.low, found.high) == (2.0, None, None)
