"""What a seed changes."""

from __future__ import annotations

import statistics

from hypothesis import given
from hypothesis import strategies as st

from txop.guest.perturbation import MAX_LOSS, PERIOD_US, perturbation


@given(st.integers(0, 2**31 - 1))
def test_every_seed_is_within_what_is_stated_and_is_always_the_same(seed: int) -> None:
    drawn = perturbation(seed)
    assert 0 <= drawn.phase_us < PERIOD_US
    assert 0 <= drawn.start_us < PERIOD_US
    assert 0.0 <= drawn.loss < MAX_LOSS
    assert drawn == perturbation(seed)
    assert all(" " not in str(value) and "e" not in str(value) for value in drawn.settings().values())


def test_the_values_are_spread_over_their_ranges_and_independent() -> None:
    drawn = [perturbation(seed) for seed in range(1, 2001)]
    for values, largest in (
        ([each.phase_us for each in drawn], PERIOD_US),
        ([each.start_us for each in drawn], PERIOD_US),
        ([each.loss for each in drawn], MAX_LOSS),
    ):
        # a uniform distribution: mean 1/2, standard deviation 1/sqrt(12) of the range; 2000 draws are within 5 %
        assert abs(statistics.mean(values) / largest - 0.5) < 0.025
        assert abs(statistics.stdev(values) / largest - 12**-0.5) < 0.015
    losses = [each.loss for each in drawn]
    assert abs(statistics.correlation([float(each.phase_us) for each in drawn], losses)) < 0.1


def test_seed_0_is_the_guest_as_it_is() -> None:
    assert perturbation(0).settings() == {"phase_us": 0, "start_us": 0, "loss": "0.000000"}
